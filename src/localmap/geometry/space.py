"""The space in which rows lie: the distances by which pairs are chosen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.distances import PRECOMPUTED
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.pca import preprocess
from localmap.geometry.precomputed import DistancesOnly, space_of_distances
from localmap.geometry.rows import RowSpace


class Space(Protocol):
    """What pairs and start need to know of the data."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def kept(self) -> RowSpace | DistancesOnly:
        """The part that a fitted model keeps."""

    def neighbors(self, k: int, n_threads: int, *, at: int) -> KNNGraph:
        """About the `k` nearest other rows of each row, at least `at`."""

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """For each row and slot: of six random others, the second closest."""

    def principal(self, k: int) -> NDArray[np.float64]:
        """Up to `k` coordinates along which the rows spread most."""


def space_of(
    X: Any,
    metric: str,
    pca_components: int | None,
    n_threads: int = 1,
    scale: str = "none",
) -> Space:
    """Return the space in which the rows of X lie."""
    if metric == PRECOMPUTED:
        return space_of_distances(X)
    Z, preprocessing = preprocess(X, metric, pca_components, n_threads, scale)
    return RowSpace(preprocessing, Z)
