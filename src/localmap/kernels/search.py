"""Nearest rows."""

from __future__ import annotations

import numpy as np

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, checked, contiguous


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
    indices, distances = _graph(len(queries), k)
    rows = checked(queries[:, None], n, len(queries)).ravel()
    _core.exact_neighbors(contiguous(Z), rows, indices, distances, n_threads)
    return indices, distances


def neighbors_of(
    Z: Floats, queries: Floats, k: int, n_threads: int = 1
) -> tuple[Ints, Floats]:
    """Find the k nearest rows of Z for each of other rows `queries`."""
    _check_queries(Z, queries, k)
    indices, distances = _graph(len(queries), k)
    _core.neighbors_of(
        contiguous(Z), contiguous(queries), indices, distances, n_threads
    )
    return indices, distances


def cell_neighbors(
    Z: Floats,
    k: int,
    cells: int,
    n_threads: int = 1,
    *,
    sample: Ints | None = None,
    truth: Ints | None = None,
    recall: float = 1.0,
) -> tuple[Ints, Floats, int]:
    """Find the k nearest other rows of each row by searching in cells.

    As many cells are searched as hold the share `recall` of the true neighbours
    `truth` of the rows `sample`; their number is returned last. Rows whose cells hold
    fewer than k others have -1 and an infinite distance at the end. Without a sample
    every cell is searched, and the result is that of `exact_neighbors`, faster.
    """
    n = Z.shape[0]
    _check_k(k, n)
    if sample is None or truth is None:
        sample, truth = np.empty(0, dtype=np.int32), np.empty((0, k), dtype=np.int32)
    indices, distances = _graph(n, k)
    probes = _core.cell_neighbors(
        contiguous(Z),
        min(cells, n),
        checked(sample[:, None], n, len(sample)).ravel(),
        checked(truth, n, len(sample)),
        recall,
        indices,
        distances,
        n_threads,
    )
    return indices, distances, probes


class CellIndex:
    """Rows in cells, to find the nearest of them for other rows.

    As many cells are searched as hold the share `recall` of the true neighbours `truth`
    of the rows `sample`. What a row finds does not depend on the others.
    """

    def __init__(
        self,
        Z: Floats,
        cells: int,
        n_threads: int = 1,
        *,
        sample: Ints,
        truth: Ints,
        recall: float,
    ) -> None:
        n = len(Z)
        self._Z = contiguous(Z)
        self._core = _core.Index(
            self._Z,
            min(cells, n),
            checked(sample[:, None], n, len(sample)).ravel(),
            checked(truth, n, len(sample)),
            recall,
            n_threads,
        )

    def neighbors(
        self, queries: Floats, k: int, n_threads: int = 1
    ) -> tuple[Ints, Floats]:
        """Find about the k nearest rows of each query."""
        _check_queries(self._Z, queries, k)
        indices, distances = _graph(len(queries), k)
        self._core.neighbors(contiguous(queries), indices, distances, n_threads)
        incomplete = np.flatnonzero(indices[:, -1] < 0)
        if incomplete.size:  # their cells hold fewer than k rows: compare them with all
            found = neighbors_of(self._Z, queries[incomplete], k, n_threads)
            indices[incomplete], distances[incomplete] = found
        return indices, distances


def add_reverse_neighbors(indices: Ints, distances: Floats, n_threads: int = 1) -> None:
    """Let rows into the lists of those that they found; changes both arrays.

    Where i lists j and is nearer to j than the last in j's list, j lists i as well.
    """
    n, k = indices.shape
    if distances.shape != (n, k) or indices.max() >= n:
        msg = f"lists of rows below {n} and their distances must have one shape."
        raise ValueError(msg)
    _core.add_reverse_neighbors(indices, distances, n_threads)


def _check_queries(Z: Floats, queries: Floats, k: int) -> None:
    if not 1 <= k <= len(Z) or queries.shape[1] != Z.shape[1]:
        msg = f"{k} neighbours of shape {queries.shape} among {Z.shape}: impossible."
        raise ValueError(msg)


def _check_k(k: int, n: int) -> None:
    if not 1 <= k <= n - 1:
        msg = f"k must be from 1 to {n - 1} for {n} rows; got {k}."
        raise ValueError(msg)


def _graph(n: int, k: int) -> tuple[Ints, Floats]:
    return np.empty((n, k), dtype=np.int32), np.empty((n, k), dtype=np.float32)
