"""Pictures of maps. Needs matplotlib: ``pip install "localmap[cli]"``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Twelve colours that stay apart on white, also for most colour-blind readers; further
# groups take colours spread over the hues.
COLORS: Final = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
    "#ee8866", "#77aadd", "#994455", "#44bb99", "#997700", "#bbbbbb",
)  # fmt: skip

# More groups than this are named in a legend only as far as they fit.
MAX_NAMED: Final = 40


def plot(
    Y: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    size: float | None = None,
) -> Axes:
    """Draw a map, coloured and labelled by group.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map; its first two columns are drawn.
    labels : array-like of shape (n_samples,) or None
        Group of each point. Groups are named where their points are, or in a legend
        when there are many; floating-point labels are shown as a colour scale.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the picture.
    size : float or None
        Size of a point; None chooses by the number of points.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes drawn on.
    """
    from matplotlib.figure import Figure

    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[0] == 0:
        msg = f"a map has one row for each point; got shape {Y.shape}."
        raise ValueError(msg)
    if Y.shape[1] == 1:
        Y = np.column_stack([Y, np.zeros(len(Y))])
    if ax is None:
        ax = Figure(figsize=(7.2, 6.4), layout="constrained").subplots()
    # About a third of the picture inked at most, and no point too small to see.
    size = size or float(np.clip(40_000 / len(Y), 0.4, 24))
    style: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": True}
    if labels is None:
        ax.scatter(Y[:, 0], Y[:, 1], color=COLORS[0], **style)
    elif _is_scale(values := np.asarray(labels)):
        points = ax.scatter(Y[:, 0], Y[:, 1], c=values, cmap="viridis", **style)
        ax.figure.colorbar(points, ax=ax, shrink=0.7)
    else:
        _draw_groups(ax, Y, values, style)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_visible(False)
    if title is not None:
        ax.set_title(plain(title), fontsize=12, loc="left")
    return ax


def save(ax: Axes, path: Path, dpi: int = 150) -> None:
    """Write the picture that `ax` belongs to."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Any = ax.figure
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=dpi, format=path.suffix.lstrip(".").lower() or "png")


def group_colors(n: int) -> list[tuple[float, float, float]]:
    """Return colours for `n` groups, red, green and blue from 0 to 1."""
    from matplotlib.colors import hsv_to_rgb, to_rgb

    if n <= len(COLORS):
        return [to_rgb(color) for color in COLORS[:n]]
    hues = np.linspace(0, 1, n, endpoint=False)
    tones = np.where(np.arange(n) % 2, 0.72, 0.92)
    return [tuple(hsv_to_rgb((h, 0.75, v))) for h, v in zip(hues, tones, strict=True)]


def _is_scale(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind == "f" and len(np.unique(labels)) > MAX_NAMED


def _draw_groups(
    ax: Axes, Y: NDArray[np.float64], labels: NDArray[Any], style: dict[str, Any]
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke

    # Numbers in the order of numbers, everything else by name.
    values = labels if labels.dtype.kind in "biuf" else labels.astype(str)
    groups, codes = np.unique(values, return_inverse=True)
    names = [str(group) for group in groups]
    colors = group_colors(len(names))
    # One scatter in random order, so that no group hides another.
    order = np.random.default_rng(0).permutation(len(Y))
    face = np.array(colors)[codes]
    ax.scatter(Y[order, 0], Y[order, 1], c=face[order], **style)
    if len(names) <= 12 and max(map(len, names)) <= 12:
        for code, name in enumerate(names):
            at = _heart(Y[codes == code])
            ax.annotate(
                plain(name), at, ha="center", va="center", fontsize=12, weight="bold",
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )  # fmt: skip
        return
    handles = [
        Line2D([], [], ls="", marker="o", ms=5, color=c, label=plain(n))
        for c, n in zip(colors, names[:MAX_NAMED], strict=False)
    ]
    title = None if len(names) <= MAX_NAMED else f"{MAX_NAMED} of {len(names)} groups"
    ax.legend(
        handles=handles, title=title, loc="center left", bbox_to_anchor=(1.0, 0.5),
        frameon=False, fontsize=8, ncols=1 + len(handles) // 26,
    )  # fmt: skip


def _heart(points: NDArray[np.float64]) -> tuple[float, float]:
    """Return the member closest to the median: a name stands on its own group."""
    middle = np.median(points, axis=0)
    x, y = points[((points - middle) ** 2).sum(axis=1).argmin()][:2]
    return float(x), float(y)


def plain(text: str) -> str:
    """Return text that is not read as a formula."""
    return text.replace("$", r"\$")
