"""The paper a map is drawn on: figures, frames, limits, files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files.atomic import atomic_file
from localmap.plotting.colors import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE: Final = (7.2, 6.4)  # inches
MARGIN: Final = 0.04  # of the map's extent, left free on each side


def new_figure(size: tuple[float, float], colors: Look) -> Figure:
    """Return an empty figure that shows itself where pictures are looked at.

    In IPython, and wherever pyplot is in use, the figure is pyplot's: a notebook shows
    it, and ``plt.show`` and ``plt.savefig`` find it. Elsewhere it belongs to nobody,
    so that a program that draws a thousand maps keeps none of them.
    """
    if "matplotlib.pyplot" in sys.modules or _in_ipython():
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained", facecolor=colors.paper)
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained", facecolor=colors.paper)


def _in_ipython() -> bool:
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def axes_for(ax: Axes | None, colors: Look) -> Axes:
    """Return the axes given, or those of a new figure."""
    return new_figure(SIZE, colors).subplots() if ax is None else ax


def frame(ax: Axes, Y: NDArray[np.float64], colors: Look, title: str | None) -> None:
    """Set limits, equal aspect and title; a map's axes have no unit, so no ticks."""
    ax.margins(MARGIN)
    ax.update_datalim(np.array([Y.min(axis=0), Y.max(axis=0)]))
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_facecolor(colors.paper)
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_visible(False)
    if title is not None:
        ax.set_title(plain(title), fontsize=12, loc="left", color=colors.ink)


def settle(ax: Axes) -> None:
    """Lay the figure out now, so that what follows knows the size of a pixel."""
    figure: Any = ax.figure
    figure.draw_without_rendering()
    ax.apply_aspect()


def save(ax: Axes, path: Path, dpi: int = 150) -> None:
    """Write the picture that `ax` belongs to: PNG, SVG or PDF, by the path's suffix.

    The same picture gives the same file: no date is written into it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Any = ax.figure
    if figure.canvas.manager is None:
        FigureCanvasAgg(figure)
    path = Path(path)
    kind = path.suffix.lstrip(".").lower() or "png"
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with atomic_file(path) as aside:
        figure.savefig(aside, dpi=dpi, format=kind, metadata=dated.get(kind))


def plain(text: str) -> str:
    """Return text that is not read as a formula."""
    return text.replace("$", r"\$")
