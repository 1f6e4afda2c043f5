"""Nearest rows by metrics that are no Euclidean distance: all rows with all rows.

Rows are compared block by block, a block for each thread, by SciPy's distances; those
of yes-or-no columns are products of matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from localmap import kernels

# Our names, and SciPy's.
SCIPY_NAMES: Final = {
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "jaccard": "jaccard",
}
METRICS: Final = tuple(SCIPY_NAMES)

# Above this many rows the time is worth a warning: about a minute for 100 columns.
MANY_ROWS: Final = 20_000

# Distances computed at once, by all threads together.
BLOCK: Final = 1 << 23

# Distances of a block of queries, named by their places, to all rows.
Block = Callable[[slice], NDArray[Any]]


def nearest(
    Z: kernels.Floats, k: int, metric: str, n_threads: int = 1
) -> tuple[kernels.Ints, kernels.Floats]:
    """Find the `k` nearest other rows of each row of Z."""
    n = len(Z)
    if n > MANY_ROWS:
        warnings.warn(
            f"metric={metric!r} compares each of {n} rows with all others, which takes "
            "time in proportion to the square of their number. For large data use "
            "'euclidean', 'cosine' or 'correlation', or give the neighbours found by "
            "another library with metric='precomputed'.",
            UserWarning,
            stacklevel=2,
        )
    return smallest_others(_between(Z, Z, metric), n, k, n_threads)


def nearest_of(
    Z: kernels.Floats, queries: kernels.Floats, k: int, metric: str, n_threads: int = 1
) -> tuple[kernels.Ints, kernels.Floats]:
    """Find the `k` nearest rows of Z for each of other rows."""
    return smallest(_between(queries, Z, metric), len(queries), len(Z), k, n_threads)


def paired(
    Z: kernels.Floats, partners: NDArray[np.integer[Any]], metric: str
) -> NDArray[np.float64]:
    """Distances of each row of Z to the rows that `partners` names for it."""
    away = np.empty(partners.shape)
    for slot in range(partners.shape[1]):
        there = Z[partners[:, slot]]
        if metric == "manhattan":
            away[:, slot] = np.abs(Z - there).sum(axis=1, dtype=np.float64)
        elif metric == "chebyshev":
            away[:, slot] = np.abs(Z - there).max(axis=1)
        elif metric == "hamming":
            away[:, slot] = (there != Z).mean(axis=1)
        else:
            either = np.maximum(Z, there).sum(axis=1)
            both = np.minimum(Z, there).sum(axis=1)
            away[:, slot] = 1.0 - both / np.maximum(either, 1.0)
            away[either == 0, slot] = 0.0
    return away


def smallest_others(
    block: Block, n: int, k: int, n_threads: int = 1
) -> tuple[kernels.Ints, kernels.Floats]:
    """Find the `k` smallest entries of each row but that of the row itself."""

    def others(rows: slice) -> NDArray[Any]:
        distances = block(rows)
        own = np.arange(rows.start, rows.stop)
        distances[own - rows.start, own] = np.inf
        return distances

    return smallest(others, n, n, k, n_threads)


def smallest(
    block: Block, n_queries: int, n_rows: int, k: int, n_threads: int = 1
) -> tuple[kernels.Ints, kernels.Floats]:
    """Find the `k` smallest entries of each row, in order, of what `block` computes."""
    indices = np.empty((n_queries, k), dtype=np.int32)
    found = np.empty((n_queries, k), dtype=np.float32)

    def work(start: int) -> None:
        rows = slice(start, min(n_queries, start + size))
        distances = block(rows)
        best = np.argpartition(distances, min(k, n_rows - 1), axis=1)[:, :k]
        best.sort(axis=1)  # equal distances come in the order of the rows
        values = np.take_along_axis(distances, best, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        indices[rows] = np.take_along_axis(best, order, axis=1)
        found[rows] = np.take_along_axis(values, order, axis=1)

    size = max(1, BLOCK // (n_rows * n_threads))
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, range(0, n_queries, size)):
            pass
    return indices, found


def _between(queries: kernels.Floats, Z: kernels.Floats, metric: str) -> Block:
    if metric == "jaccard":  # Z is zeros and ones
        ones = Z.sum(axis=1)

        def apart(rows: slice) -> NDArray[Any]:
            both = queries[rows] @ Z.T
            either = queries[rows].sum(axis=1)[:, None] + ones - both
            return np.where(either > 0, 1.0 - both / np.maximum(either, 1.0), 0.0)

        return apart
    name = SCIPY_NAMES[metric]
    wide = Z.astype(np.float64)
    return lambda rows: cdist(queries[rows].astype(np.float64), wide, name)
