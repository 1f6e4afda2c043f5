"""Pictures of what is doubtful in a map: groups, near pairs, runs that disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.plotting.canvas import axes_for, plain
from localmap.plotting.colors import Look, Theme, look
from localmap.plotting.columns import map_of
from localmap.plotting.pictures import plot, point_size
from localmap.plotting.views import MOST_LONG, draw_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# An outline runs where the smoothed density of a group falls to this share of what it
# has around its typical point: close to the group, across holes in it.
LEVEL: Final = 0.08
CELLS: Final = 160  # of the grid on which a group is smoothed, along its longer side
WIDTH: Final = 0.03  # of the group's extent, by which it is smoothed
BEYOND: Final = 0.25  # of its extent, added on each side of the grid

# Trust below which a pair is drawn.
DOUBTED: Final = 0.5
FEW: Final = 300  # lines that need not be thinner for one another


def outlines(
    Y: ArrayLike,
    groups: ArrayLike,
    solid: Sequence[float],
    labels: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    theme: Theme = "light",
    **options: Any,
) -> Axes:
    """Draw a map with an outline around each group, as solid as the group is.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    groups : array-like of shape (n_samples,)
        Group of each point: 1, 2, ...; 0 is none.
    solid : sequence of float
        How solid each group is, from 0 (dotted and faint) to 1 (a solid line); from
        0.75 a line is solid, from 0.4 dashed, below dotted.
    labels : array-like of shape (n_samples,) or None, default=None
        As for `plot`; None colours by group.
    names : sequence of str or None, default=None
        What is written in each group; None writes its number.
    ax, title, theme
        As for `plot`.
    **options
        Passed to `plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from localmap.plotting import outlines
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(size=(50, 2)), 20 + rng.normal(size=(50, 2))])
    >>> ax = outlines(Y, np.repeat([1, 2], 50), [1.0, 0.2])
    >>> [text.get_text() for text in ax.texts]
    ['1', '2']
    """
    Y, codes, colors = map_of(Y), np.asarray(groups), look(theme)
    count = int(codes.max(initial=0))
    if codes.shape != (len(Y),) or codes.dtype.kind not in "iu" or codes.min() < 0:
        msg = (
            f"groups must be {len(Y):,} numbers from 0, a group of each point; got "
            f"{codes.dtype} of shape {codes.shape}."
        )
        raise ValueError(msg)
    if len(solid) != count or (names is not None and len(names) != count):
        told = f"{len(solid)} and {count if names is None else len(names)}"
        msg = f"solid and names must be one for each of {count} groups; got {told}."
        raise ValueError(msg)
    shown = codes.astype(str) if labels is None else labels
    options = {"alpha": 0.7, "names": "none", **options}
    ax = plot(Y, shown, ax=ax, title=title, theme=theme, **options)
    for number in range(1, count + 1):
        own = Y[codes == number]
        if len(own):
            name = str(number) if names is None else names[number - 1]
            _outline(ax, own, float(solid[number - 1]), plain(name), colors)
    return ax


def _outline(
    ax: Axes, own: NDArray[np.float64], solid: float, name: str, colors: Look
) -> None:
    from matplotlib.patheffects import withStroke

    style = "solid" if solid >= 0.75 else "dashed" if solid >= 0.4 else "dotted"
    xs, ys, density = _smoothed(own)
    middle = np.median(own, axis=0)
    inside = density[
        np.clip(np.searchsorted(ys, own[:, 1]), 0, len(ys) - 1),
        np.clip(np.searchsorted(xs, own[:, 0]), 0, len(xs) - 1),
    ]
    ax.contour(
        xs, ys, density, levels=[LEVEL * float(np.median(inside))], colors=[colors.ink],
        linewidths=0.8 + 1.0 * solid, linestyles=[style], alpha=0.5 + 0.5 * solid,
        zorder=2.5,
    )  # fmt: skip
    x, y = own[np.linalg.norm(own - middle, axis=1).argmin()].tolist()
    weight = "bold" if style == "solid" else "normal"
    ax.text(
        x, y, name, ha="center", va="center", fontsize=10, color=colors.ink,
        weight=weight, zorder=3,
        path_effects=[withStroke(linewidth=2.5, foreground=colors.paper)],
    )  # fmt: skip


def _smoothed(
    own: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a grid around a group and how densely its points lie there."""
    from scipy.ndimage import gaussian_filter

    extent = float(np.ptp(own, axis=0).max()) or 1.0
    low, high = own.min(axis=0) - BEYOND * extent, own.max(axis=0) + BEYOND * extent
    side = extent * (1 + 2 * BEYOND) / CELLS
    bins = [np.arange(a, b + side, side) for a, b in zip(low, high, strict=True)]
    counts, xs, ys = np.histogram2d(own[:, 0], own[:, 1], bins=(bins[0], bins[1]))
    # Fewer points are smoothed more, so that each outline is one line.
    width = WIDTH * max(1.0, (2000 / len(own)) ** 0.25) * extent / side
    density = gaussian_filter(counts.T, width, mode="constant")
    return (xs[1:] + xs[:-1]) / 2, (ys[1:] + ys[:-1]) / 2, density


def doubted(
    Y: ArrayLike,
    near: ArrayLike,
    trust: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    below: float = DOUBTED,
    ax: Axes | None = None,
    title: str | None = None,
    theme: Theme = "light",
    **options: Any,
) -> Axes:
    """Draw the near pairs that are not trusted as lines over a map.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    near : array-like of shape (n_samples, k)
        Near pairs: partners of each row, as in ``trust.edges(model).near``.
    trust : array-like of shape (n_samples, k)
        Trust in each of them, as in ``trust.edges(model).values``.
    labels : array-like of shape (n_samples,) or None, default=None
        As for `plot`.
    below : float, default=0.5
        Pairs that are trusted less are drawn.
    ax, title, theme
        As for `plot`.
    **options
        Passed to `plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on; the note below the picture counts the pairs.
    """
    Y, colors = map_of(Y), look(theme)
    partners, told = np.asarray(near), np.asarray(trust, dtype=np.float64)
    if partners.shape != told.shape or len(partners) != len(Y):
        msg = (
            f"near and trust must have one row for each of {len(Y):,} points; got "
            f"shapes {partners.shape} and {told.shape}."
        )
        raise ValueError(msg)
    one, slot = np.nonzero((told < below) & (partners >= 0))
    pairs = np.column_stack([one, partners[one, slot]])
    options = {"alpha": 0.8, "size": 0.5 * point_size(len(Y)), **options}
    ax = plot(Y, labels, ax=ax, title=title, theme=theme, **options)
    # Few lines are to be seen, many are to be seen through.
    many = float(np.sqrt(FEW / max(FEW, len(pairs))))
    drawn = draw_lines(
        ax, Y, pairs, MOST_LONG, "doubted near pairs",
        color=colors.loud, linewidths=max(0.2, 0.6 * many), alpha=0.4 * many,
        zorder=1.7,
    )  # fmt: skip
    note = (
        f"{len(pairs):,} of {told.size:,} near pairs ({len(pairs) / told.size:.1%}) "
        f"are trusted less than {below:g}"
    )
    note += f"; {drawn:,} drawn" if drawn < len(pairs) else ""
    ax.set_xlabel(note, fontsize=8, color=colors.ink)
    return ax


def together(
    shares: ArrayLike,
    names: Sequence[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    theme: Theme = "light",
) -> Axes:
    """Draw in what share of the runs the rows of two groups are in one group.

    Parameters
    ----------
    shares : array-like of shape (n_groups, n_groups)
        From 0 to 1, as in ``trust.groups(X).together``.
    names : sequence of str
        Names of the groups.
    ax, title, theme
        As for `plot`.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.
    """
    values, colors = np.asarray(shares, dtype=np.float64), look(theme)
    if values.shape != (len(names), len(names)):
        msg = (
            f"shares must have a row and a column for each of {len(names)} groups; got "
            f"shape {values.shape}."
        )
        raise ValueError(msg)
    ax = axes_for(ax, colors)
    image = ax.imshow(
        values, vmin=0, vmax=1, cmap="magma_r" if theme == "light" else "magma"
    )
    ticks = range(len(names))
    ax.set_xticks(ticks, [plain(name) for name in names], rotation=90)
    ax.set_yticks(ticks, [plain(name) for name in names])
    ax.tick_params(colors=colors.ink, labelsize=8, length=0)
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_visible(False)
    if len(names) <= 15:
        for row, column in np.ndindex(values.shape):
            dark = (values[row, column] > 0.5) == (theme == "light")
            ax.text(
                column, row, f"{values[row, column]:.2f}", ha="center", va="center",
                fontsize=7, color="#ffffff" if dark else "#1b1d21",
            )  # fmt: skip
    if title is not None:
        ax.set_title(plain(title), fontsize=12, loc="left", color=colors.ink)
    figure: Any = ax.figure
    bar = figure.colorbar(image, ax=ax, shrink=0.7)
    bar.set_label("share of the runs in one group", color=colors.ink, fontsize=8)
    bar.ax.tick_params(colors=colors.ink, labelsize=8)
    bar.outline.set_visible(False)
    return ax
