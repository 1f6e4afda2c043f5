"""Step 1 for sparse data with many columns: the same, and no zero is ever filled in.

Rows are kept as ``S - shift`` with a sparse S; `shift`, one number a row, is what
correlation takes off. Centring takes place in the products, not in the data.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, svd
from scipy.sparse import csr_array

from localmap.geometry.distances import METRICS, Metric, refuse_negative

Floats = NDArray[np.float32]

# Columns beyond those asked for, and passes over the data, of the randomised
# decomposition (Halko, Martinsson, Tropp 2011).
SPARE: Final = 10
PASSES: Final = 4


# New rows are brought to at most this many units: squares of distances stay in float32.
FARTHEST: Final = 2.0**40


def prepared(X: Any, metric: Metric) -> tuple[csr_array, NDArray[np.float64]]:
    """Return rows as the metric compares them: a sparse matrix and a shift a row.

    What `Metric.prepare` does to dense rows, by the numbers that are stored.
    """
    S = csr_array(X).astype(np.float64)
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


def centre_and_extent(
    S: csr_array, shift: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Column means, and a bound on how far any number is from them."""
    centre = np.asarray(S.mean(axis=0)).ravel() - shift.mean()
    high = S.max(axis=0).toarray().ravel() - shift.min()
    low = S.min(axis=0).toarray().ravel() - shift.max()
    extent = np.maximum(high / 2 - centre / 2, centre / 2 - low / 2).max()
    return centre, float(extent)


def project(
    X: Any, metric: str, centre: NDArray[np.float64], unit: float, components: Floats
) -> Floats:
    """Centre and project rows, each by itself: the same bits in any batch."""
    S, shift = prepared(X, METRICS[metric])
    S = S / unit
    np.clip(S.data, -FARTHEST, FARTHEST, out=S.data)
    S = S.astype(np.float32)
    constant = (centre / unit) @ components.astype(np.float64)
    along_ones = components.sum(axis=0, dtype=np.float64)
    Z = S @ components
    Z = Z - (np.outer(shift / unit, along_ones) + constant)
    result: Floats = Z.astype(np.float32)
    return result


def principal_axes(
    S: csr_array,
    shift: NDArray[np.float64],
    centre: NDArray[np.float64],
    unit: float,
    k: int,
) -> NDArray[np.float64]:
    """Principal axes by a randomised decomposition, centred in the products."""
    n, D = S.shape
    S = (S / unit).astype(np.float32)
    rows_off, columns_off = shift / unit, centre / unit

    def times(V: NDArray[Any]) -> NDArray[np.float64]:
        off = np.outer(rows_off, V.sum(axis=0)) + columns_off @ V
        product: NDArray[np.float64] = S @ V.astype(np.float32) - off
        return product

    def transposed_times(U: NDArray[Any]) -> NDArray[np.float64]:
        off = np.outer(columns_off, U.sum(axis=0)) + rows_off @ U
        product: NDArray[np.float64] = S.T @ U.astype(np.float32) - off
        return product

    width = min(k + SPARE, n, D)
    span = np.random.default_rng(0).standard_normal((D, width))
    for _ in range(PASSES):
        span = transposed_times(qr(times(span), mode="economic")[0])
        span = qr(span, mode="economic", overwrite_a=True)[0]
    along = svd(times(span), full_matrices=False)[2]
    axes: NDArray[np.float64] = span @ along[:k].T
    return axes
