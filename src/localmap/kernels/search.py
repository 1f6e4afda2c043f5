"""Nearest rows."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, checked, contiguous

# A row that a list lacks, as the core writes it.
MISSED: Final = np.dtype([("at", "<i4"), ("distance", "<f4"), ("row", "<i4")])
Missed: TypeAlias = NDArray[np.void]


def exact_neighbors(
    Z: Floats, k: int, n_threads: int = 1, queries: Ints | None = None
) -> tuple[Ints, Floats]:
    """Find the k nearest other rows of each row, or of the rows named by `queries`.

    Sorted by distance, then by index.
    """
    n = Z.shape[0]
    _check_k(k, n)
    if queries is None:
        queries = np.arange(n, dtype=np.int32)
    indices, distances = empty_graph(len(queries), k)
    rows = checked(queries[:, None], n, len(queries)).ravel()
    _core.exact_neighbors(contiguous(Z), rows, indices, distances, n_threads)
    return indices, distances


def compare_each_two(
    Z: Floats, order: Ints, k: int, n_threads: int = 1
) -> tuple[Ints, Floats]:
    """Find what `exact_neighbors` finds, comparing each two rows once.

    That is the faster, the more rows that lie together stand together in `order`.
    """
    n = len(Z)
    _check_k(k, n)
    if not np.array_equal(np.sort(order), np.arange(n)):
        msg = f"an order of {n} rows must name each of them once; got {order}."
        raise ValueError(msg)
    order = np.ascontiguousarray(order, dtype=np.int32)
    indices, distances = empty_graph(n, k)
    _core.compare_each_two(contiguous(Z), order, indices, distances, n_threads)
    return indices, distances


def neighbors_of(
    Z: Floats, queries: Floats, k: int, n_threads: int = 1
) -> tuple[Ints, Floats]:
    """Find the k nearest rows of Z for each of other rows `queries`."""
    check_queries(Z, queries, k)
    indices, distances = empty_graph(len(queries), k)
    _core.neighbors_of(
        contiguous(Z), contiguous(queries), indices, distances, n_threads
    )
    return indices, distances


def missed_neighbors(
    indices: Ints, distances: Floats, first: int, last: int, n_threads: int = 1
) -> Missed:
    """Return what the lists of rows `first` to `last` lack, sorted.

    Where i lists j and is nearer to j than the last in j's list, j lacks i.
    """
    n, k = indices.shape
    if distances.shape != (n, k) or indices.max() >= n:
        msg = f"lists of rows below {n} and their distances must have one shape."
        raise ValueError(msg)
    found = _core.missed_neighbors(indices, distances, first, last, n_threads)
    return found.view(MISSED)[:, 0]


def let_in(indices: Ints, distances: Floats, missed: Missed) -> None:
    """Let missed rows into the lists that lack them; changes both arrays."""
    if len(missed) and not 0 <= missed["at"].min() <= missed["at"].max() < len(indices):
        msg = f"rows were missed by lists that are not among {len(indices)}."
        raise ValueError(msg)
    records = np.ascontiguousarray(missed).view(np.uint8)
    _core.let_in(indices, distances, records.reshape(len(missed), MISSED.itemsize))


def check_queries(Z: Floats, queries: Floats, k: int) -> None:
    """Refuse to find more rows than there are, or by other columns."""
    if not 1 <= k <= len(Z) or queries.shape[1] != Z.shape[1]:
        msg = f"{k} neighbours of shape {queries.shape} among {Z.shape}: impossible."
        raise ValueError(msg)


def _check_k(k: int, n: int) -> None:
    if not 1 <= k <= n - 1:
        msg = f"k must be from 1 to {n - 1} for {n} rows; got {k}."
        raise ValueError(msg)


def empty_graph(n: int, k: int) -> tuple[Ints, Floats]:
    """Return room for the rows that are found, and their distances."""
    return np.empty((n, k), dtype=np.int32), np.empty((n, k), dtype=np.float32)
