"""Step 1 for sparse data with many columns: the same, and no zero is ever filled in.

Rows are kept as ``S - shift`` with a sparse S; `shift`, one number a row, is what
correlation takes off. Centring takes place in the products, not in the data.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from localmap.geometry.distances import Metric, refuse_negative

Floats = NDArray[np.float32]

# New rows are brought to at most this many units: squares of distances stay in float32.
FARTHEST: Final = 2.0**40


def prepared(X: Any, metric: Metric) -> tuple[csr_array, NDArray[np.float64]]:
    """Return rows as the metric compares them: a sparse matrix and a shift a row.

    What `Metric.prepare` does to dense rows, by the numbers that are stored.
    """
    S = csr_array(X).astype(np.float64)
    S.sum_duplicates()  # in one order, whatever that of the data
    n, D = S.shape
    shift = np.zeros(n)
    if not metric.unit_rows:
        if metric.root or metric.centre_rows or metric.binary:
            msg = "sparse rows are prepared as they are, or brought to the length one"
            raise NotImplementedError(msg)
        return S, shift
    lengths = np.diff(S.indptr)
    largest = np.zeros(n)
    filled = lengths > 0
    if S.nnz:
        starts = S.indptr[:-1][filled]
        largest[filled] = np.maximum.reduceat(np.abs(S.data), starts)
    largest[largest == 0] = 1.0
    S.data /= np.repeat(largest, lengths)  # so that no square leaves the range
    if metric.root:
        refuse_negative(S.data)
        np.sqrt(S.data, out=S.data)
    sums = np.asarray(S.sum(axis=1)).ravel()
    squares = np.asarray((S * S).sum(axis=1)).ravel()
    if metric.centre_rows:
        shift = sums / D
        squares = np.maximum(squares - D * shift**2, 0.0)
    norms = np.sqrt(squares)
    norms[norms <= 1e-12 * np.sqrt(D)] = np.inf  # no direction: a row of zeros
    S.data /= np.repeat(norms, lengths)
    return S, shift / norms


def extent(
    S: csr_array, shift: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the numbers of each column, and their sums."""
    low = S.min(axis=0).toarray().ravel() - shift.max()
    high = S.max(axis=0).toarray().ravel() - shift.min()
    return low, high, np.asarray(S.sum(axis=0)).ravel() - shift.sum()


def project(
    S: csr_array,
    shift: NDArray[np.float64],
    centre: NDArray[np.float64],
    unit: float,
    components: Floats,
) -> Floats:
    """Centre and project rows, each by itself: the same bits in any batch."""
    S = S / unit
    np.clip(S.data, -FARTHEST, FARTHEST, out=S.data)
    S = S.astype(np.float32)
    constant = (centre / unit) @ components.astype(np.float64)
    along_ones = components.sum(axis=0, dtype=np.float64)
    Z = S @ components
    Z = Z - (np.outer(shift / unit, along_ones) + constant)
    result: Floats = Z.astype(np.float32)
    return result


def second_moments(
    S: csr_array,
    shift: NDArray[np.float64],
    centre: NDArray[np.float64],
    unit: float,
    span: Floats,
) -> NDArray[np.float64]:
    """Second moments of centred columns times `span`, centred in the products."""
    S = (S / unit).astype(np.float32)
    rows_off, columns_off = shift / unit, centre / unit
    along = S @ span - np.outer(rows_off, span.sum(axis=0, dtype=np.float64))
    along -= columns_off @ span
    product = S.T @ along.astype(np.float32) - np.outer(columns_off, along.sum(axis=0))
    result: NDArray[np.float64] = product - rows_off @ along
    return result
