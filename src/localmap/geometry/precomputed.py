"""Distances that the user has computed: all, or those of near rows.

All rows to all rows make a `MatrixSpace`, a neighbour graph makes a `GraphSpace`. A
model keeps only `DistancesOnly` of such rows: new ones come as distances again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap import kernels
from localmap.geometry import brute_force, landmarks
from localmap.geometry.blocks import blocks
from localmap.geometry.distances import PRECOMPUTED
from localmap.geometry.mid_near import second_closest
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.pca import principal_components
from localmap.geometry.preprocessing import power_of_two
from localmap.geometry.rows import Found
from localmap.geometry.workshop import Workshop

# Share of the largest distance that rounding may make two of them differ by.
ROUNDED: Final = 1e-5


@dataclass(frozen=True, eq=False)
class DistancesOnly:
    """Training rows of which only their number is known; `unit` scales distances."""

    n: int
    unit: float
    metric: ClassVar[str] = PRECOMPUTED

    def __len__(self) -> int:
        return self.n

    # Given distances are not rounded.
    most_rounding: ClassVar[float] = 0.0

    def rounding(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Given distances are not rounded."""
        return np.zeros(len(rows))

    def neighbors_of(self, X: Any, k: int, n_threads: int, *, at: int) -> Found:
        """Nearest training rows by given distances: one row for each new row."""
        del at
        if issparse(X):
            return _first_of_graph(csr_array(X), k, self.unit)
        return brute_force.smallest(
            lambda rows: _floats(X[rows]) / self.unit, len(X), self.n, k, n_threads
        )


@dataclass(frozen=True, eq=False)
class MatrixSpace:
    """Distances of all rows to all rows, in memory or mapped from a file."""

    D: NDArray[Any]
    unit: float

    def __len__(self) -> int:
        return len(self.D)

    @property
    def order(self) -> None:
        """Rows stand as they came."""

    @property
    def kept(self) -> DistancesOnly:
        """The number of rows and the unit."""
        return DistancesOnly(len(self.D), self.unit)

    def neighbors(self, k: int, workshop: Workshop, *, at: int) -> KNNGraph:
        """Read the smallest distances of each row but its own."""
        del at
        n_threads = workshop.n_threads
        found = brute_force.smallest_others(
            lambda rows: _floats(self.D[rows]) / self.unit, len(self.D), k, n_threads
        )
        return KNNGraph(*found)

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """Mid-near pairs by the given distances."""
        own = np.arange(len(self.D))[:, None]
        return second_closest(
            len(self.D), slots, key, n_threads, lambda partners: self.D[own, partners]
        )

    def principal(self, k: int, n_threads: int = 1) -> NDArray[np.float64]:
        """Coordinates by the distances to landmarks."""
        chosen = landmarks.choose(len(self.D))
        Z = landmarks.coordinates(_floats(self.D[:, chosen]) / self.unit, chosen)
        return principal_components(Z, min(k, Z.shape[1]), n_threads)


class GraphSpace:
    """Distances of near rows only, as scikit-learn's neighbour graphs hold them.

    Other distances are taken between places that rows get by their shortest paths to a
    few landmarks (`localmap.geometry.landmarks`): mid-near pairs and the start come
    from them.
    """

    def __init__(self, graph: csr_array, unit: float) -> None:
        self.graph, self.unit = graph, unit
        self._Z: kernels.Floats | None = None

    def __len__(self) -> int:
        return int(self.graph.shape[0])

    @property
    def order(self) -> None:
        """Rows stand as they came."""

    @property
    def kept(self) -> DistancesOnly:
        """The number of rows and the unit."""
        return DistancesOnly(len(self), self.unit)

    def neighbors(self, k: int, workshop: Workshop, *, at: int) -> KNNGraph:
        """Read as many neighbours as all rows have, at most `k`, at least `at`."""
        del workshop
        degrees = np.diff(self.graph.indptr)
        fewest = int(degrees.min())
        if fewest < at:
            msg = (
                f"Each point gets {at} near pairs, but row {degrees.argmin()} of the "
                f"graph has {fewest} neighbours beside itself. Build the graph with "
                f"more of them (n_neighbors + 50 are best), or ask for fewer."
            )
            raise ValueError(msg)
        return KNNGraph(*_first_of_graph(self.graph, min(k, fewest), self.unit))

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """Mid-near pairs by places."""
        return kernels.mid_near(self._places(), slots, key, n_threads)

    def principal(self, k: int, n_threads: int = 1) -> NDArray[np.float64]:
        """Return the widest coordinates of the places."""
        Z = self._places()
        return principal_components(Z, min(k, Z.shape[1]), n_threads)

    def _places(self) -> kernels.Floats:
        if self._Z is None:
            chosen = landmarks.choose(len(self))
            lengths = landmarks.path_lengths(self.graph, chosen) / self.unit
            self._Z = landmarks.coordinates(lengths, chosen)
        return self._Z


def space_of_distances(X: Any) -> MatrixSpace | GraphSpace:
    """Return the space of given distances: a square matrix, or a neighbour graph."""
    n, width = X.shape
    if n != width:
        msg = (
            "metric='precomputed' needs the distances of all rows to all rows, or a "
            f"square neighbour graph; got shape {X.shape}."
        )
        raise ValueError(msg)
    check_distances(X)
    largest = _largest(X)
    if largest == 0:
        msg = "All given distances are 0: there is no structure to map."
        raise ValueError(msg)
    unit = power_of_two(largest)
    if not issparse(X):
        _refuse_similarities(X, largest)
    if issparse(X):
        return GraphSpace(_without_self(csr_array(X)), unit)
    return MatrixSpace(X, unit)


def _refuse_similarities(X: Any, largest: float) -> None:
    """Refuse what is no distance of rows to rows: similarities, halves of a matrix."""
    own = np.abs(np.asarray(X.diagonal(), dtype=np.float64))
    if own.max() > ROUNDED * largest:
        msg = (
            f"A row has no distance to itself; row {own.argmax()} has {own.max():g}. "
            "Similarities are no distances: give 1 - similarity, for example."
        )
        raise ValueError(msg)
    for rows in blocks(X):
        other = np.asarray(X[:, rows], dtype=np.float64).T
        if np.abs(X[rows] - other).max() > ROUNDED * largest:
            msg = (
                "Distances of all rows to all rows must be symmetric; these are not. "
                "Give (D + D.T) / 2, or D + D.T if one half is empty."
            )
            raise ValueError(msg)


def check_distances(X: Any) -> None:
    """Refuse given distances that are negative."""
    lowest = (
        X.data.min(initial=0) if issparse(X) else min(X[b].min() for b in blocks(X))
    )
    if lowest < 0:
        msg = f"Given distances must not be negative; the smallest is {lowest:g}."
        raise ValueError(msg)


def _floats(D: NDArray[Any]) -> NDArray[np.float64]:
    """Return a copy in which no unit is out of range."""
    return np.array(D, dtype=np.float64)


def _largest(X: Any) -> float:
    if issparse(X):
        return float(X.data.max(initial=0))
    return float(max(X[rows].max() for rows in blocks(X)))


def _without_self(graph: csr_array) -> csr_array:
    """Drop each row from its own neighbours, by its index; stored zeros stay."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    kept = rows != graph.indices
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    # SciPy 1.11 finds paths only where places and starts are of one type.
    starts = starts.astype(graph.indices.dtype)
    data, indices = graph.data[kept], graph.indices[kept]
    return csr_array((data, indices, starts), shape=graph.shape)


def _first_of_graph(graph: csr_array, k: int, unit: float) -> Found:
    """Return the `k` nearest of the neighbours that each row of a graph has."""
    degrees = np.diff(graph.indptr)
    if len(degrees) and degrees.min() < k:
        msg = (
            f"Each row needs {k} neighbours in the graph, as many as in the fit; one "
            f"has {degrees.min()}."
        )
        raise ValueError(msg)
    rows = np.repeat(np.arange(graph.shape[0]), degrees)
    order = np.lexsort((graph.indices, graph.data, rows))
    first = order[graph.indptr[:-1, None] + np.arange(k)]
    distances = graph.data[first].astype(np.float64) / unit
    return graph.indices[first].astype(np.int32), distances.astype(np.float32)
