"""Names of groups on the map: each on its own group, none on another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.plotting.canvas import plain, settle
from localmap.plotting.colors import RGB, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST: Final = 28  # letters of a name on the map; longer ones are cut
MEDIAN_OF: Final = 20_000  # points of a group that are asked where its middle is
# A name may move this many of its own heights away before a legend serves better.
FARTHEST: Final = 9
GAP: Final = 2.0  # pixels between two names
LINE_FROM: Final = 1.2  # heights moved from which a line leads back to the group


class Placed(NamedTuple):
    """Where a name's middle goes, and the point it speaks of, in pixels."""

    at: NDArray[np.float64]
    heart: NDArray[np.float64]


def write_names(
    ax: Axes,
    Y: NDArray[np.float64],
    codes: NDArray[np.int32],
    names: tuple[str, ...],
    colors: list[RGB],
    look: Look,
) -> bool:
    """Write each group's name on it; False, and none written, where they do not fit."""
    from matplotlib.patheffects import withStroke

    present = [code for code in range(len(names)) if (codes == code).any()]
    texts = {code: plain(short(names[code])) for code in present}
    size = 12 if len(present) <= 12 else 9.5
    style: dict[str, Any] = {"fontsize": size, "weight": "bold"}
    settle(ax)
    boxes = {code: _extent(ax, texts[code], style) for code in present}
    hearts = {code: np.array(heart(Y[codes == code])) for code in present}
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    # The largest group is named first: it has the best claim to its own middle.
    order = sorted(present, key=lambda code: -counts[code])
    pixels = {code: ax.transData.transform(hearts[code]) for code in order}
    placed = _place(order, pixels, boxes, np.array(ax.get_window_extent().extents))
    if placed is None:
        return False
    back = ax.transData.inverted()
    for code in order:
        at, point = placed[code]
        moved = np.linalg.norm(at - point) > LINE_FROM * boxes[code][1]
        ax.annotate(
            texts[code], tuple(hearts[code]), xytext=tuple(back.transform(at)),
            ha="center", va="center", color=look.ink, **style,
            path_effects=[withStroke(linewidth=3, foreground=look.paper)],
            arrowprops={"arrowstyle": "-", "color": colors[code], "lw": 1.2,
                        "shrinkA": 0, "shrinkB": 0} if moved else None,
        )  # fmt: skip
    return True


def short(name: str) -> str:
    """Return a name of one line, cut where it is longer than a map has room for."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def heart(points: NDArray[np.float64]) -> tuple[float, float]:
    """Return the member closest to the median: a name stands on its own group."""
    step = 1 + len(points) // MEDIAN_OF
    points = points[::step]
    middle = np.median(points, axis=0)
    x, y = points[((points - middle) ** 2).sum(axis=1).argmin()][:2]
    return float(x), float(y)


def _extent(ax: Axes, text: str, style: dict[str, Any]) -> NDArray[np.float64]:
    """Width and height of a text in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Any = ax.figure
    canvas = FigureCanvasAgg(figure) if figure.canvas.manager is None else figure.canvas
    probe = ax.text(0, 0, text, **style)
    box = probe.get_window_extent(canvas.get_renderer())
    probe.remove()
    return np.array([box.width + GAP, box.height + GAP])


def _place(
    order: list[int],
    pixels: dict[int, NDArray[np.float64]],
    boxes: dict[int, NDArray[np.float64]],
    inside: NDArray[np.float64],
) -> dict[int, Placed] | None:
    """Put each name at the free place nearest to its point."""
    taken: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    placed: dict[int, Placed] = {}
    for code in order:
        half = boxes[code] / 2
        for offset in _outward(boxes[code]):
            at = np.clip(pixels[code] + offset, inside[:2] + half, inside[2:] - half)
            if all((np.abs(at - other) >= half + room).any() for other, room in taken):
                taken.append((at, half))
                placed[code] = Placed(at, pixels[code])
                break
        else:
            return None
    return placed


def _outward(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places around a point, nearest first; steps of half a line, 16 directions."""
    radii = np.arange(0, 2 * FARTHEST + 1) / 2
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False) + np.pi / 2
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([np.zeros((1, 2)), *(r * box[1] * ring for r in radii[1:])])
