"""Further pictures: maps side by side, near pairs, density."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.plotting.canvas import axes_for, frame, new_figure, plain, settle
from localmap.plotting.colors import Theme, look
from localmap.plotting.columns import map_of
from localmap.plotting.counts import Bins
from localmap.plotting.graphs import pairs_of
from localmap.plotting.pictures import plot, point_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS: Final = 4  # maps beside each other
# Pairs of ordinary length that are drawn: more make the same grey and minutes of lines.
MOST_SHORT: Final = 60_000
MOST_LONG: Final = 40_000
# Tukey's rule for values far out: three times the middle half's width above it.
FAR_OUT: Final = 3.0
BANDWIDTH: Final = 0.007  # of the extent: finer than groups, wider than gaps in them


def align(Y: ArrayLike, onto: ArrayLike) -> NDArray[np.float64]:
    """Turn, mirror, scale and move a map so that it lies best on another (Procrustes).

    Parameters
    ----------
    Y : array-like of shape (n_samples, 2)
        The map to move.
    onto : array-like of shape (n_samples, 2)
        The map of the same rows that stays.

    Returns
    -------
    aligned : ndarray of shape (n_samples, 2)
        `Y` at the least squared distance from `onto`; distances within it keep their
        proportions.
    """
    Y, onto = map_of(Y), map_of(onto)
    if len(Y) != len(onto):
        msg = (
            f"maps of the same rows are compared; "
            f"got {len(onto):,} and {len(Y):,} rows."
        )
        raise ValueError(msg)
    centred, target = Y - Y.mean(axis=0), onto - onto.mean(axis=0)
    left, singular, right = np.linalg.svd(centred.T @ target)
    spread = float((centred**2).sum())
    scale = float(singular.sum()) / spread if spread > 0 else 1.0
    aligned: NDArray[np.float64] = scale * centred @ (left @ right) + onto.mean(axis=0)
    return aligned


def compare(
    maps: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    labels: ArrayLike | None = None,
    *,
    axes: Sequence[Axes] | None = None,
    theme: Theme = "light",
    **options: Any,
) -> NDArray[Any]:
    """Draw several maps of the same rows side by side, each aligned to the first.

    Parameters
    ----------
    maps : mapping of title to map, or sequence of maps
        Each of shape (n_samples, n_components).
    labels : array-like of shape (n_samples,) or None
        As for `plot`; the same colours in every map.
    axes : sequence of matplotlib.axes.Axes or None
        Where to draw, one for each map; None makes a new figure.
    theme : {"light", "dark"}
        Colour of the paper.
    **options
        Passed to `plot`.

    Returns
    -------
    axes : ndarray of matplotlib.axes.Axes
        One for each map, in order.
    """
    named = (
        maps
        if isinstance(maps, Mapping)
        else {f"map {i + 1}": Y for i, Y in enumerate(maps)}
    )
    if not named:
        msg = "compare needs at least one map; got none."
        raise ValueError(msg)
    drawn = list(named.values())
    aligned = [map_of(drawn[0]), *(align(Y, drawn[0]) for Y in drawn[1:])]
    if axes is None:
        across = min(ACROSS, len(named))
        down = -(-len(named) // across)
        figure = new_figure((3.6 * across, 3.6 * down), look(theme))
        axes = [figure.add_subplot(down, across, i + 1) for i in range(len(named))]
    if len(axes) != len(named):
        msg = f"axes must be one for each of the {len(named)} maps; got {len(axes)}."
        raise ValueError(msg)
    for ax, title, Y in zip(axes, named, aligned, strict=True):
        plot(Y, labels, ax=ax, title=title, theme=theme, **options)
    return np.array(axes, dtype=object)


def edges(
    Y: ArrayLike,
    neighbors: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    longer_than: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    theme: Theme = "light",
    **options: Any,
) -> Axes:
    """Draw near pairs as lines, those that the map has torn apart highlighted.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    neighbors : array-like of shape (n_samples, k) or sparse graph
        Row numbers of each row's neighbours in the data, -1 for none.
    labels : array-like of shape (n_samples,) or None
        As for `plot`.
    longer_than : float or None
        Length in the map above which a pair is highlighted; None takes lengths that
        are far out by Tukey's rule: above the third quartile plus three times the
        distance between the quartiles.
    ax, title, theme
        As for `plot`.
    **options
        Passed to `plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on; ``ax.collections`` holds the lines, labelled "near pairs"
        and "long near pairs". Of very many pairs a sample is drawn, which the note
        below the picture says.
    """
    Y, colors = map_of(Y), look(theme)
    pairs = pairs_of(neighbors, len(Y))
    if not len(pairs):
        msg = "neighbors holds no pair: every entry is -1 or the row itself."
        raise ValueError(msg)
    length = np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1)
    if longer_than is None:
        low, high = np.quantile(length, [0.25, 0.75])
        longer_than = float(high + FAR_OUT * (high - low))
    long = length > longer_than
    options = {"alpha": 0.8, "size": 0.5 * point_size(len(Y)), **options}
    ax = plot(Y, labels, ax=ax, title=title, theme=theme, **options)
    short_drawn = draw_lines(
        ax, Y, pairs[~long], MOST_SHORT, "near pairs",
        color=colors.faint, linewidths=0.3, alpha=0.5, zorder=1.2,
    )  # fmt: skip
    long_drawn = draw_lines(
        ax, Y, pairs[long], MOST_LONG, "long near pairs",
        color=colors.loud, linewidths=0.5, alpha=0.45, zorder=1.7,
    )  # fmt: skip
    note = (
        f"{long.sum():,} of {len(pairs):,} near pairs ({long.mean():.1%}) are longer "
        f"than {longer_than:.3g}"
    )
    if short_drawn + long_drawn < len(pairs):
        note += f"; {short_drawn + long_drawn:,} drawn"
    ax.set_xlabel(note, fontsize=8, color=colors.ink)
    return ax


def draw_lines(
    ax: Axes, Y: NDArray[np.float64], pairs: NDArray[np.int64], most: int, label: str,
    **style: Any,
) -> int:  # fmt: skip
    """Draw pairs as lines, a sample of very many; return how many."""
    from matplotlib.collections import LineCollection

    if len(pairs) > most:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), most, replace=False)]
    segments = list(Y[pairs])
    ax.add_collection(
        LineCollection(segments, label=label, rasterized=True, **style), autolim=False
    )
    return len(pairs)


def density(
    Y: ArrayLike,
    *,
    bandwidth: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    theme: Theme = "light",
) -> Axes:
    """Draw how densely the points of a map lie, as an image with a bar.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    bandwidth : float or None
        Standard deviation of the Gaussian by which counts are smoothed, in units of the
        map; None is 0.7 % of its extent.
    ax, title, theme
        As for `plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on; the image's values are points per unit of area.
    """
    from matplotlib.colors import LogNorm
    from scipy.ndimage import gaussian_filter

    Y, colors = map_of(Y), look(theme)
    if bandwidth is not None and not bandwidth > 0:
        msg = f"bandwidth must be greater than 0; got {bandwidth!r}."
        raise ValueError(msg)
    ax = axes_for(ax, colors)
    frame(ax, Y, colors, title)
    settle(ax)
    bins = Bins(Y, (*ax.get_xlim(), *ax.get_ylim()))
    side = (bins.limits[1] - bins.limits[0]) / bins.columns
    extent = float(np.ptp(Y, axis=0).max()) or 1.0
    width = (bandwidth or BANDWIDTH * extent) / side
    values = gaussian_filter(bins.total(), width, mode="constant") / side**2
    # Three decades below the top is next to nothing; paper shows there.
    top = float(values.max())
    shown = np.ma.masked_less(values, top / 1000)
    image = ax.imshow(
        shown, extent=bins.limits, origin="lower", aspect="equal",
        interpolation="bilinear", cmap="magma_r" if theme == "light" else "magma",
        norm=LogNorm(top / 1000, top),
    )  # fmt: skip
    ax.set_xlim(bins.limits[:2], auto=True)
    ax.set_ylim(bins.limits[2:], auto=True)
    figure: Any = ax.figure
    bar = figure.colorbar(image, ax=ax, shrink=0.7)
    bar.set_label(plain("points per unit of area"), color=colors.ink, fontsize=8)
    bar.ax.tick_params(colors=colors.ink, labelsize=8, which="both")
    bar.outline.set_visible(False)
    return ax
