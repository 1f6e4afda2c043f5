"""The space in which rows lie: the distances by which pairs are chosen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.distances import PRECOMPUTED
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.precomputed import DistancesOnly, space_of_distances
from localmap.geometry.preprocessing import measure
from localmap.geometry.rows import RowSpace, rows_of
from localmap.geometry.workshop import Workshop


class Space(Protocol):
    """What pairs and start need to know of the data."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def kept(self) -> RowSpace | DistancesOnly:
        """The part that a fitted model keeps."""

    @property
    def order(self) -> kernels.Ints | None:
        """The row of the data at each place, where rows do not stand as they came."""

    def neighbors(self, k: int, workshop: Workshop, *, at: int) -> KNNGraph:
        """About the `k` nearest other rows of each row, at least `at`."""

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """For each row and slot: of six random others, the second closest."""

    def principal(self, k: int, n_threads: int = 1) -> NDArray[np.float64]:
        """Up to `k` coordinates along which the rows spread most."""


def space_of(
    X: Any,
    metric: str,
    pca_components: int | None,
    scale: str = "none",
    workshop: Workshop | None = None,
) -> Space:
    """Return the space in which the rows of X lie."""
    if metric == PRECOMPUTED:
        return space_of_distances(X)
    workshop = workshop or Workshop()
    measured = measure(X, metric, pca_components, scale, workshop)
    return rows_of(X, measured, workshop)
