"""One map as a picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.plotting.canvas import axes_for, frame, plain, settle
from localmap.plotting.colors import (
    MAX_NAMED,
    Look,
    Theme,
    group_colors,
    look,
    rgb,
    scale_colors,
)
from localmap.plotting.columns import (
    Column,
    Groups,
    Scale,
    column_of,
    map_of,
    scale_text,
)
from localmap.plotting.counts import draw_image, mixed_image, visible_bins
from localmap.plotting.names import short, write_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Names: TypeAlias = Literal["auto", "map", "legend", "none"]

# Above this a picture has more points than dots: they are counted instead of drawn.
MOST_DRAWN: Final = 500_000
# Up to this many points matplotlib is quick enough with a colour of each point's own;
# above, layers of one colour each are drawn (20 times faster).
ONE_BY_ONE: Final = 20_000
LAYERS: Final = 128  # drawn at most, so that no group lies on top of all others
SHADES: Final = 64  # of a scale: more are not told apart, and each costs a layer
MOST_ON_MAP: Final = 30  # groups whose names the map itself has room for


@dataclass(frozen=True)
class Paint:
    """Colours, and which of them each point has."""

    palette: NDArray[np.float64]
    codes: NDArray[np.int32]


def plot(
    Y: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    size: float | None = None,
    alpha: float | None = None,
    theme: Theme = "light",
    names: Names = "auto",
    label: str | None = None,
) -> Axes:
    """Draw a map, coloured and labelled by group or by number.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map; its first two columns are drawn. Above 500,000 points the picture is
        an image of counts whose colours are mixed by group.
    labels : array-like of shape (n_samples,) or None
        Group of each point, or numbers of more than 60 different values, which are
        shown as a colour scale. Missing values are grey.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a new figure, which a notebook shows.
    title : str or None
        Title of the picture.
    size : float or None
        Area of a point in square points; None chooses by the number of points.
    alpha : float or None
        Opacity of a point, above 0 and at most 1; None chooses by the number of points.
    theme : {"light", "dark"}
        Colour of the paper.
    names : {"auto", "map", "legend", "none"}
        Where groups are named. "auto" names up to 30 groups on the map where their
        names fit without overlap, and others in a legend.
    label : str or None
        What the labels say: title of the legend, or of the bar of a scale.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from localmap.plotting import plot
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = plot(Y, np.where(Y[:, 0] > 0, "right", "left"))
    >>> sorted(text.get_text() for text in ax.texts)
    ['left', 'right']
    """
    Y = map_of(Y)
    colors = look(theme)
    _check(size, alpha, names)
    column = None if labels is None else column_of(labels, len(Y))
    ax = axes_for(ax, colors)
    frame(ax, Y, colors, title)
    paint = paint_of(column, len(Y), theme)
    if isinstance(column, Groups):
        _name_groups(ax, Y, column, paint, colors, names, label)
    elif column is not None:
        _add_bar(ax, column, colors, label, theme)
    if len(Y) > MOST_DRAWN:
        _draw_counts(ax, Y, paint, by_number=isinstance(column, Scale))
    else:
        _draw_points(ax, Y, paint, size or point_size(len(Y)), alpha or opacity(len(Y)))
    return ax


def point_size(n: int) -> float:
    """Area of a point: about a third of the paper inked, and none too small to see."""
    return float(np.clip(60_000 / n, 0.6, 24))


def opacity(n: int) -> float:
    """Opacity of a point: solid up to 5,000, then falling to 0.4 at half a million."""
    return float(np.clip(1.0 - 0.3 * np.log10(max(n, 1) / 5_000), 0.4, 1.0))


def paint_of(column: Column | None, n: int, theme: Theme) -> Paint:
    """Colours of a column; missing values have the last one, grey."""
    grey = np.array([rgb(look(theme).faint)])
    if column is None:
        one = np.array(group_colors(1, theme=theme))
        return Paint(one, np.zeros(n, dtype=np.int32))
    if isinstance(column, Groups):
        colors = np.array(group_colors(len(column.names), theme=theme)).reshape(-1, 3)
        codes = np.where(column.missing, len(colors), column.codes)
        return Paint(np.vstack([colors, grey]), codes.astype(np.int32))
    shades = scale_colors(SHADES, theme=theme)
    known = np.where(column.missing, column.low, column.values)
    share = np.clip((known - column.low) / (column.high - column.low), 0, 1)
    codes = np.where(column.missing, SHADES, np.round(share * (SHADES - 1)))
    return Paint(np.vstack([shades, grey]), codes.astype(np.int32))


def thumbnail(
    Y: ArrayLike, labels: ArrayLike | None = None, *, theme: Theme = "light"
) -> bytes:
    r"""Return a small picture of a map as PNG, 360 x 320 dots, without names.

    Examples
    --------
    >>> from localmap.plotting import thumbnail
    >>> thumbnail([[0, 0], [1, 1]])[:4]
    b'\x89PNG'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6, 3.2), dpi=100, facecolor=look(theme).paper)
    ax = figure.add_axes((0, 0, 1, 1))
    Y = map_of(Y)
    small = point_size(len(Y)) / 3
    plot(Y, labels, ax=ax, names="none", theme=theme, size=max(small, 0.3))
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def _check(size: float | None, alpha: float | None, names: str) -> None:
    if size is not None and not size > 0:
        msg = f"size must be greater than 0; got {size!r}."
        raise ValueError(msg)
    if alpha is not None and not 0 < alpha <= 1:
        msg = f"alpha must be greater than 0 and at most 1; got {alpha!r}."
        raise ValueError(msg)
    if names not in ("auto", "map", "legend", "none"):
        msg = f"names must be 'auto', 'map', 'legend' or 'none'; got {names!r}."
        raise ValueError(msg)


def _draw_points(
    ax: Axes, Y: NDArray[np.float64], paint: Paint, size: float, alpha: float
) -> None:
    """Draw in random order, so that no group hides another; missing values below."""
    order = np.random.default_rng(0).permutation(len(Y))
    grey = len(paint.palette) - 1 if len(paint.palette) > 1 else -1
    style: dict[str, Any] = {
        "s": size, "linewidths": 0, "rasterized": True, "alpha": alpha,
    }  # fmt: skip
    below = order[paint.codes[order] == grey]
    above = order[paint.codes[order] != grey]
    if len(below):
        color = paint.palette[grey]
        ax.scatter(*Y[below].T, color=color, zorder=1, **style)
    if len(above) <= ONE_BY_ONE:
        face = paint.palette[paint.codes[above]]
        ax.scatter(Y[above, 0], Y[above, 1], c=face, zorder=1.5, **style)
        return
    for code, part in layers_of(paint.codes[above], LAYERS):
        color = paint.palette[code]
        ax.scatter(*Y[above[part]].T, color=color, zorder=1.5, **style)


def layers_of(
    codes: NDArray[np.int32], most: int
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return layers of one colour each, in random order of points: code and members.

    Groups take turns, each with a part of its points, so that none lies on top of all
    others.
    """
    present = np.unique(codes)
    order = np.random.default_rng(0).permutation(len(codes))
    return [
        (int(code), members)
        for part in np.array_split(order, max(1, most // len(present)))
        for code in present
        if len(members := part[codes[part] == code])
    ]


def _draw_counts(
    ax: Axes, Y: NDArray[np.float64], paint: Paint, *, by_number: bool
) -> None:
    settle(ax)
    bins = visible_bins(Y, (*ax.get_xlim(), *ax.get_ylim()))
    image = mixed_image(bins, paint.palette, paint.codes)
    if by_number:
        # The colour of the mean number, not the mean of the colours.
        known = paint.codes < SHADES
        counts = bins.total(known.astype(np.float64))
        sums = bins.total(np.where(known, paint.codes, 0).astype(np.float64))
        mean = np.round(sums / np.maximum(counts, 1)).astype(np.int32)
        image[..., :3] = paint.palette[np.where(counts > 0, mean, SHADES)]
    draw_image(ax, image, bins)


def _name_groups(
    ax: Axes,
    Y: NDArray[np.float64],
    column: Groups,
    paint: Paint,
    colors: Look,
    names: Names,
    label: str | None,
) -> None:
    if names == "none":
        return
    missing = int(column.missing.sum())
    own = [tuple(c) for c in paint.palette[:-1]]
    few = 0 < len(column.names) <= (MOST_ON_MAP if names == "auto" else MAX_NAMED)
    written = (
        names != "legend"
        and few
        and write_names(ax, Y, column.codes, column.names, own, colors)
    )
    shown = [] if written else list(zip(own, column.names, strict=True))[:MAX_NAMED]
    entries = [(color, short(name)) for color, name in shown]
    if missing:
        entries.append((rgb(colors.faint), f"missing ({missing:,})"))
    if entries:
        _add_legend(
            ax,
            entries,
            _legend_title(label, len(column.names), written=written),
            colors,
        )


def _legend_title(label: str | None, groups: int, *, written: bool) -> str | None:
    if written or groups <= MAX_NAMED:
        return label
    rule = f"{MAX_NAMED} of {groups:,} groups,\ncolours repeat"
    return rule if label is None else f"{label}: {rule}"


def _add_legend(
    ax: Axes, entries: list[tuple[Any, str]], title: str | None, colors: Look
) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], ls="", marker="o", ms=5, color=color, label=plain(name))
        for color, name in entries
    ]
    # A name that begins with "_" would be left out of the legend by matplotlib.
    texts = [plain(name) for _, name in entries]
    for handle, text in zip(handles, texts, strict=True):
        handle.set_label(text if not text.startswith("_") else "\u200b" + text)
    legend = ax.legend(
        handles=handles, title=None if title is None else plain(title),
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8,
        title_fontsize=8, labelcolor=colors.ink, ncols=1 + (len(handles) - 1) // 31,
    )  # fmt: skip
    legend.get_title().set_color(colors.ink)


def _add_bar(
    ax: Axes, column: Scale, colors: Look, label: str | None, theme: Theme
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.ticker import FuncFormatter

    shades = ListedColormap(scale_colors(SHADES, theme=theme))
    scale = ScalarMappable(Normalize(column.low, column.high), shades)
    figure: Any = ax.figure
    bar = figure.colorbar(scale, ax=ax, shrink=0.7, extend=column.beyond)
    if column.date:
        bar.ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: scale_text(value, column)[:10])
        )
    bar.ax.tick_params(colors=colors.ink, labelsize=8)
    bar.outline.set_visible(False)
    if label is not None:
        bar.set_label(plain(label), color=colors.ink)
    missing = int(column.missing.sum())
    if missing:
        _add_legend_below(bar.ax, missing, colors)


def _add_legend_below(ax: Axes, missing: int, colors: Look) -> None:
    ax.text(
        0, -0.06, f"● missing\n    ({missing:,})", transform=ax.transAxes, va="top",
        fontsize=8, color=colors.ink,
    )  # fmt: skip
