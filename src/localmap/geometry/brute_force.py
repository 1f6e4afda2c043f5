"""Nearest rows by metrics that are no Euclidean distance: all rows with all rows.

Rows are compared block by block, a block for each thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.distances import METRICS

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
        quick = ", ".join(repr(k) for k, other in METRICS.items() if other.euclidean)
        warnings.warn(
            f"metric={metric!r} compares each of {n} rows with all others, which takes "
            "time in proportion to the square of their number. For large data use "
            f"{quick}, or give the neighbours found by another library with "
            "metric='precomputed'.",
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
        away[:, slot] = row_by_row(Z, Z[partners[:, slot]], metric)
    return away


def row_by_row(one: kernels.Floats, other: kernels.Floats, metric: str) -> NDArray[Any]:
    """Distance of each row of one array to the same row of another."""
    compare = METRICS[metric].paired
    if compare is None:
        msg = f"metric={metric!r} is Euclidean: its pairs are compared by the core."
        raise ValueError(msg)
    return compare(one, other)


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
    between, binary = METRICS[metric].between, METRICS[metric].binary
    if between is None:
        msg = f"metric={metric!r} is Euclidean: its rows are compared by the core."
        raise ValueError(msg)
    rows: NDArray[Any] = Z if binary else Z.astype(np.float64)
    return lambda some: between(queries[some].astype(rows.dtype), rows)
