"""Where rows lie: the distances by which pairs are chosen, from any kind of input.

Rows of numbers lie in a `RowSpace`; distances that the user has computed, all or those
of near rows, make a `MatrixSpace` or a `GraphSpace`. What a fitted model keeps to find
the neighbours of new rows is a `RowSpace`, or a `GivenSpace` for rows that again come
as distances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap import compared, kernels, landmarks
from localmap.neighbors import EXACT_ROWS, KNNGraph, index_of, nearest_neighbors
from localmap.preprocess import (
    ROW_METRICS,
    Preprocessing,
    blocks,
    power_of_two,
    preprocess,
    principal_components,
)

PRECOMPUTED: Final = "precomputed"
METRICS: Final = (*ROW_METRICS, *compared.METRICS, PRECOMPUTED)

# PaCMAP: a mid-near pair is the second closest of six.
MID_NEAR_DRAWS: Final = 6

# Makes the candidates of mid-near pairs another draw than the further pairs.
OTHER_KEY: Final = 0x6A09E667F3BCC909

# Rounding of a projection, in units of what adding up that many terms leaves.
REPEATED: Final = 4.0

Found: TypeAlias = tuple[kernels.Ints, kernels.Floats]


class Space(Protocol):
    """What pairs and start need to know of the data."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def kept(self) -> RowSpace | GivenSpace:
        """The part that a fitted model keeps."""

    def neighbors(self, k: int, n_threads: int, *, at: int) -> KNNGraph:
        """About the `k` nearest other rows of each row, at least `at`."""

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """For each row and slot: of six random others, the second closest."""

    def principal(self, k: int) -> NDArray[np.float64]:
        """Up to `k` coordinates along which the rows spread most."""


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Rows of numbers."""

    preprocessing: Preprocessing
    Z: kernels.Floats

    def __len__(self) -> int:
        return len(self.Z)

    @property
    def metric(self) -> str:
        """The metric by which neighbours were searched."""
        return self.preprocessing.metric

    @property
    def kept(self) -> RowSpace:
        """All of it."""
        return self

    def neighbors(self, k: int, n_threads: int, *, at: int) -> KNNGraph:
        """Nearest other rows: found in cells, or by comparing all."""
        if self.preprocessing.metric in ROW_METRICS:
            return nearest_neighbors(self.Z, k, n_threads, at=at)
        metric = self.preprocessing.metric
        return KNNGraph(*compared.nearest(self.Z, k, metric, n_threads))

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """Mid-near pairs by the metric."""
        if self.preprocessing.metric in ROW_METRICS:
            return kernels.mid_near(self.Z, slots, key, n_threads)
        metric = self.preprocessing.metric
        return _second_closest(
            len(self.Z),
            slots,
            key,
            n_threads,
            lambda partners: compared.paired(self.Z, partners, metric),
        )

    def principal(self, k: int) -> NDArray[np.float64]:
        """Principal components; if the data was reduced to them, they are there."""
        if self.preprocessing.components is not None:
            return self.Z[:, :k].astype(np.float64)
        return principal_components(self.Z, min(k, self.Z.shape[1]))

    def neighbors_of(self, X: Any, k: int, n_threads: int, *, at: int) -> Found:
        """About the `k` nearest training rows of other rows, each found by itself.

        In large data they are searched in cells, as many as hold the `at` nearest.
        """
        Z = self.preprocessing.apply_by_row(X, n_threads)
        metric = self.preprocessing.metric
        if metric in ROW_METRICS:
            if len(self.Z) > EXACT_ROWS:
                return self._index(at, n_threads).neighbors(Z, k, n_threads)
            return kernels.neighbors_of(self.Z, Z, k, n_threads)
        return compared.nearest_of(self.Z, Z, k, metric, n_threads)

    def _index(self, at: int, n_threads: int) -> kernels.CellIndex:
        """Return the rows in cells: made at the first call, then kept."""
        ready = self.__dict__
        if "_cells" not in ready:
            # Two threads may both make it: they make the same, and one is kept.
            ready.setdefault("_cells", index_of(self.Z, at, n_threads))
        index: kernels.CellIndex = ready["_cells"]
        return index

    def rounding(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """How far a training row may lie from itself when it is projected again."""
        if self.preprocessing.components is None:
            return np.zeros(len(rows))
        D = len(self.preprocessing.components)
        sizes = np.linalg.norm(self.Z[rows].astype(np.float64), axis=1)
        one = REPEATED * float(np.finfo(np.float32).eps) * math.sqrt(D)
        return np.asarray(one * sizes)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_cells"}


@dataclass(frozen=True, eq=False)
class GivenSpace:
    """Training rows of which only their number is known; `unit` scales distances."""

    n: int
    unit: float
    metric: ClassVar[str] = PRECOMPUTED

    def __len__(self) -> int:
        return self.n

    def rounding(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Given distances are not rounded."""
        return np.zeros(len(rows))

    def neighbors_of(self, X: Any, k: int, n_threads: int, *, at: int) -> Found:
        """Nearest training rows by given distances: one row for each new row."""
        del at
        if issparse(X):
            return _first_of_graph(csr_array(X), k, self.unit)
        return compared.smallest(
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
    def kept(self) -> GivenSpace:
        """The number of rows and the unit."""
        return GivenSpace(len(self.D), self.unit)

    def neighbors(self, k: int, n_threads: int, *, at: int) -> KNNGraph:
        """Read the smallest distances of each row but its own."""
        del at
        found = compared.smallest_others(
            lambda rows: _floats(self.D[rows]) / self.unit, len(self.D), k, n_threads
        )
        return KNNGraph(*found)

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """Mid-near pairs by the given distances."""
        own = np.arange(len(self.D))[:, None]
        return _second_closest(
            len(self.D), slots, key, n_threads, lambda partners: self.D[own, partners]
        )

    def principal(self, k: int) -> NDArray[np.float64]:
        """Coordinates by the distances to landmarks."""
        chosen = landmarks.choose(len(self.D))
        Z = landmarks.coordinates(_floats(self.D[:, chosen]) / self.unit, chosen)
        return principal_components(Z, min(k, Z.shape[1]))


class GraphSpace:
    """Distances of near rows only, as scikit-learn's neighbour graphs hold them.

    Other distances are taken between places that rows get by their shortest paths to a
    few landmarks (`localmap.landmarks`): mid-near pairs and the start come from them.
    """

    def __init__(self, graph: csr_array, unit: float) -> None:
        self.graph, self.unit = graph, unit
        self._Z: kernels.Floats | None = None

    def __len__(self) -> int:
        return int(self.graph.shape[0])

    @property
    def kept(self) -> GivenSpace:
        """The number of rows and the unit."""
        return GivenSpace(len(self), self.unit)

    def neighbors(self, k: int, n_threads: int, *, at: int) -> KNNGraph:
        """Read as many neighbours as all rows have, at most `k`, at least `at`."""
        del n_threads
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

    def principal(self, k: int) -> NDArray[np.float64]:
        """Return the widest coordinates of the places."""
        return principal_components(self._places(), min(k, self._places().shape[1]))

    def _places(self) -> kernels.Floats:
        if self._Z is None:
            chosen = landmarks.choose(len(self))
            lengths = landmarks.path_lengths(self.graph, chosen) / self.unit
            self._Z = landmarks.coordinates(lengths, chosen)
        return self._Z


def space_of(
    X: Any, metric: str, pca_components: int | None, n_threads: int = 1
) -> Space:
    """Return the space in which the rows of X lie."""
    if metric != PRECOMPUTED:
        Z, preprocessing = preprocess(X, metric, pca_components, n_threads)
        return RowSpace(preprocessing, Z)
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
    if issparse(X):
        return GraphSpace(_without_self(csr_array(X)), unit)
    return MatrixSpace(X, unit)


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


def _second_closest(
    n: int, slots: int, key: int, n_threads: int, distances: Any
) -> kernels.Ints:
    """Choose mid-near pairs by any distances: candidates of a row are all distinct."""
    if slots == 0:
        return np.empty((n, 0), dtype=np.int32)
    draws = min(MID_NEAR_DRAWS, (n - 1) // slots)
    nobody = np.empty((n, 0), dtype=np.int32)
    drawn = kernels.further(nobody, slots * draws, key ^ OTHER_KEY, n_threads)
    chosen = np.empty((n, slots), dtype=np.int32)
    for slot in range(slots):
        partners = drawn[:, slot * draws : (slot + 1) * draws]
        order = np.argsort(distances(partners), axis=1, kind="stable")
        second = order[:, min(1, draws - 1)]
        chosen[:, slot] = np.take_along_axis(partners, second[:, None], axis=1)[:, 0]
    return chosen
