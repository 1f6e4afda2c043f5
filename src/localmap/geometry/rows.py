"""Rows of numbers: the space of every metric but given distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry import brute_force
from localmap.geometry.cells import Cells, arrange, group, many
from localmap.geometry.distances import METRICS
from localmap.geometry.mid_near import in_buckets, second_closest
from localmap.geometry.neighbors import (
    EXACT_ROWS,
    CellIndex,
    KNNGraph,
    nearest_neighbors,
)
from localmap.geometry.pca import principal_components
from localmap.geometry.preprocessing import Preprocessing, bring
from localmap.geometry.workshop import Workshop

# Rounding of a projection, in units of what adding up that many terms leaves.
REPEATED: Final = 4.0

# What rounding a distance to float32 may take off it.
ROUNDED: Final = 1.0 + 5e-7

Found: TypeAlias = tuple[kernels.Ints, kernels.Floats]


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Rows of numbers.

    Many rows stand in the order of their cells: the i-th is row ``order[i]`` of the
    data. Few stand as they came, and there is no `order`.
    """

    preprocessing: Preprocessing
    Z: kernels.Floats
    order: kernels.Ints | None = None
    cells: Cells | None = None  # in whose order they stand

    def __len__(self) -> int:
        return len(self.Z)

    @property
    def metric(self) -> str:
        """The metric by which neighbours were searched."""
        return self.preprocessing.metric

    @property
    def kept(self) -> RowSpace:
        """What is there after the fit: new rows are searched in the same cells."""
        Z = np.asarray(self.Z)
        if isinstance(self.Z, np.memmap):
            # The file goes when the fit ends. An array that knows its name would be
            # sent to other processes by that name, as joblib does.
            Z = np.frombuffer(Z.data.cast("B"), np.float32).reshape(Z.shape)
        return replace(self, Z=Z)

    def neighbors(self, k: int, workshop: Workshop, *, at: int) -> KNNGraph:
        """Nearest other rows: found in cells, or by comparing all."""
        if METRICS[self.metric].euclidean:
            return nearest_neighbors(self.Z, k, workshop, at=at, cells=self.cells)
        found = brute_force.nearest(self.Z, k, self.metric, workshop.n_threads)
        return KNNGraph(*found)

    def mid_near(self, slots: int, key: int, n_threads: int) -> kernels.Ints:
        """Mid-near pairs by the metric."""
        if METRICS[self.metric].euclidean:
            return in_buckets(self.Z, slots, key, n_threads)
        return second_closest(
            len(self.Z),
            slots,
            key,
            n_threads,
            lambda partners: brute_force.paired(self.Z, partners, self.metric),
        )

    def principal(self, k: int, n_threads: int = 1) -> NDArray[np.float64]:
        """Principal components; if the data was reduced to them, they are there."""
        if self.preprocessing.components is not None:
            return self.Z[:, :k].astype(np.float64)
        return principal_components(self.Z, min(k, self.Z.shape[1]), n_threads)

    def neighbors_of(self, X: Any, k: int, n_threads: int, *, at: int) -> Found:
        """About the `k` nearest training rows of other rows, each found by itself.

        In large data they are searched in cells, as many as hold the `at` nearest.
        """
        Z = self.preprocessing.apply_by_row(X, n_threads)
        if METRICS[self.metric].euclidean:
            if len(self.Z) > EXACT_ROWS:
                return self._searched(at, n_threads).neighbors(Z, k, n_threads)
            return kernels.neighbors_of(self.Z, Z, k, n_threads)
        return brute_force.nearest_of(self.Z, Z, k, self.metric, n_threads)

    def shared_with(
        self,
        found: kernels.Ints,
        among: int,
        near: kernels.Ints,
        sizes: kernels.Floats,
        n_threads: int = 1,
    ) -> NDArray[np.uint8]:
        """Count which of the first rows `found` for a new one its near pairs have, too.

        A training row has those others that are no farther than its size.
        """
        if METRICS[self.metric].euclidean:
            return kernels.shared_within(self.Z, found, among, near, sizes, n_threads)
        counts = np.zeros(near.shape, dtype=np.uint8)
        for slot, partners in enumerate(near.T):
            rows, most = self.Z[partners], ROUNDED * sizes[partners].astype(np.float64)
            for others in found[:, :among].T:
                away = brute_force.row_by_row(rows, self.Z[others], self.metric)
                counts[:, slot] += (away <= most) & (others != partners)
        return counts

    def prepare(self, at: int, n_threads: int = 1) -> None:
        """Make what `neighbors_of` needs, so that threads that share it need not."""
        if METRICS[self.metric].euclidean and len(self.Z) > EXACT_ROWS:
            self._searched(at, n_threads)

    def _searched(self, at: int, n_threads: int) -> CellIndex:
        """Return the rows in cells: made at the first call, then kept."""
        ready = self.__dict__
        if "_index" not in ready:
            # Two threads may both make it: they make the same, and one is kept.
            ready.setdefault("_index", CellIndex(self.Z, at, n_threads, self.cells))
        index: CellIndex = ready["_index"]
        return index

    def rounding(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """How far a training row may lie from itself when it is projected again."""
        some = self.Z[rows]
        sizes = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64))
        return np.asarray(self._rounding_of_one * sizes)

    @property
    def most_rounding(self) -> float:
        """No training row may lie farther: all are within the unit in each column."""
        return 2.0 * self._rounding_of_one * math.sqrt(len(self.preprocessing.centre))

    @property
    def _rounding_of_one(self) -> float:
        """How far a row of length one may lie from itself."""
        if self.preprocessing.components is None:
            return 0.0
        D = len(self.preprocessing.components)
        return REPEATED * float(np.finfo(np.float32).eps) * math.sqrt(D)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_index"}


def rows_of(X: Any, measured: Preprocessing, workshop: Workshop) -> RowSpace:
    """Bring rows to their space, and put many of them in the order of their cells."""
    n = X.shape[0]
    if n <= EXACT_ROWS or not METRICS[measured.metric].euclidean:
        return RowSpace(measured, bring(X, measured, workshop))
    arranged = workshop.finished("arrange")
    Z = None if arranged else bring(X, measured, workshop)

    def grouped() -> dict[str, NDArray[Any]]:
        rows = bring(X, measured, workshop) if Z is None else Z
        return group(rows, many(n), workshop).named()

    cells = Cells.of(workshop.remembered("cells", grouped))
    if Z is None:
        Z = workshop.array("arranged", (n, measured.n_columns), np.float32)
    else:
        Z = arrange(Z, cells, workshop)
    workshop.forget("rows")
    return RowSpace(measured, Z, cells.order, cells.as_arranged())
