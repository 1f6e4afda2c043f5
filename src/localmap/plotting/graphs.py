"""Near pairs as the page and the pictures take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def neighbors_of(neighbors: Any, n: int) -> NDArray[np.int64]:
    """Return row numbers of shape (n, k), -1 where a row has fewer than k neighbours.

    Accepts such an array, or a sparse graph of shape (n, n) as scikit-learn's
    ``kneighbors_graph`` gives it.
    """
    if hasattr(neighbors, "tocsr"):
        rows = _rows_of_graph(neighbors.tocsr(), n)
    else:
        rows = np.asarray(neighbors)
        if rows.ndim != 2 or len(rows) != n or rows.dtype.kind not in "iu":
            msg = (
                f"neighbors must be row numbers of shape ({n}, k) or a sparse graph of "
                f"shape ({n}, {n}); got {rows.dtype} of shape {rows.shape}."
            )
            raise ValueError(msg)
    rows = rows.astype(np.int64)
    if rows.size and (rows.min() < -1 or rows.max() >= n):
        msg = (
            f"neighbors must be row numbers from 0 to {n - 1}, or -1 for none; "
            f"got {rows.min()} to {rows.max()}."
        )
        raise ValueError(msg)
    return np.where(rows == np.arange(n)[:, None], -1, rows)


def _rows_of_graph(graph: Any, n: int) -> NDArray[np.int64]:
    if graph.shape != (n, n):
        msg = f"neighbors must be a graph of shape ({n}, {n}); got {graph.shape}."
        raise ValueError(msg)
    counts = np.diff(graph.indptr)
    rows = np.full((n, int(counts.max(initial=0))), -1, dtype=np.int64)
    # Nearest first: a graph of distances need not be stored in that order.
    owner = np.repeat(np.arange(n), counts)
    order = np.lexsort((graph.data, owner))
    place = np.arange(len(owner)) - np.repeat(graph.indptr[:-1], counts)
    rows[owner, place] = graph.indices[order]
    return rows


def pairs_of(neighbors: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return each pair of neighbours once, as two columns, the smaller row first."""
    rows = neighbors_of(neighbors, n)
    first = np.repeat(np.arange(n), rows.shape[1])
    second = rows.ravel()
    kept = second >= 0
    low = np.minimum(first, second)[kept]
    high = np.maximum(first, second)[kept]
    keys = np.unique(low * n + high)
    return np.column_stack([keys // n, keys % n])
