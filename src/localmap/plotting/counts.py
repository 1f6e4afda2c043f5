"""Maps of more points than a picture has room for: counts, with colours mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from localmap.plotting.colors import to_light, to_srgb

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Cells along the longer side: dots of one to three pixels. The finest is taken that
# leaves something to see where all points lie in few places.
CELLS: Final = (720, 480, 320)
LEAST_FILLED: Final = 0.03  # of all cells
FAINTEST: Final = 0.35  # opacity of a cell with a single point
FULL_AT: Final = 0.9  # share of filled cells below the count that is opaque


class Bins:
    """The cells of an image, and the cell of each point."""

    def __init__(
        self,
        Y: NDArray[np.float64],
        limits: tuple[float, float, float, float],
        cells: int = CELLS[0],
    ) -> None:
        left, right, bottom, top = limits
        side = max(right - left, top - bottom) / cells
        self.limits = limits
        self.columns = max(1, round((right - left) / side))
        self.rows = max(1, round((top - bottom) / side))
        column = ((Y[:, 0] - left) / (right - left) * self.columns).astype(np.int64)
        row = ((Y[:, 1] - bottom) / (top - bottom) * self.rows).astype(np.int64)
        column = np.clip(column, 0, self.columns - 1)
        self.cell = np.clip(row, 0, self.rows - 1) * self.columns + column

    def total(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Sum of weights, or number of points, in each cell; rows from below."""
        sums = np.bincount(
            self.cell, weights=weights, minlength=self.rows * self.columns
        )
        return sums.reshape(self.rows, self.columns).astype(np.float64)


def visible_bins(
    Y: NDArray[np.float64], limits: tuple[float, float, float, float]
) -> Bins:
    """Return the finest bins whose filled cells can be seen."""
    for cells in CELLS:
        bins = Bins(Y, limits, cells)
        if (bins.total() > 0).mean() >= LEAST_FILLED:
            break
    return bins


def mixed_image(
    bins: Bins, palette: NDArray[np.float64], codes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return red, green, blue and opacity of each cell.

    A cell's colour is the mean, in linear light, of the colours of all its points: a
    cell of two groups shows both in their proportion, whatever the order of drawing.
    Its opacity grows with the logarithm of its count.
    """
    counts = bins.total()
    filled = np.maximum(counts, 1)
    light = to_light(palette)
    mean = np.stack(
        [bins.total(light[codes, channel]) / filled for channel in range(3)], axis=-1
    )
    opaque = np.quantile(counts[counts > 0], FULL_AT)
    strength = np.clip(np.log1p(counts) / np.log1p(max(opaque, 1.0)), 0, 1)
    opacity = np.where(counts > 0, FAINTEST + (1 - FAINTEST) * strength, 0.0)
    return np.dstack([to_srgb(mean), opacity])


def draw_image(ax: Axes, image: NDArray[np.float64], bins: Bins) -> None:
    """Put an image of cells where its points are."""
    aspect = ax.get_aspect()
    ax.imshow(
        image, extent=bins.limits, origin="lower", interpolation="nearest",
        aspect=aspect,
    )  # fmt: skip
    ax.set_xlim(bins.limits[:2], auto=True)
    ax.set_ylim(bins.limits[2:], auto=True)
