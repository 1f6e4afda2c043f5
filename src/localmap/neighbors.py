"""Step 2a: the nearest rows of each row."""

from __future__ import annotations

from dataclasses import dataclass

from localmap import kernels


@dataclass(frozen=True, eq=False)
class KNNGraph:
    """The nearest other rows of each row, closest first, equal ones by index."""

    indices: kernels.Ints
    distances: kernels.Floats


def nearest_neighbors(Z: kernels.Floats, k: int, n_threads: int = 1) -> KNNGraph:
    """Find the `k` nearest other rows of each row of `Z` by Euclidean distance.

    Exact. A row is left out of its own list by its index, so duplicates are each
    other's neighbours. The same bits for any number of threads.
    """
    return KNNGraph(*kernels.exact_neighbors(Z, k, n_threads))
