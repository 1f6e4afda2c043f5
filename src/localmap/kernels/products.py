"""Products of columns of bytes, exact: the same bits on every CPU."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core

Doubles = NDArray[np.float64]

# Sums of so many products of two bytes are exact in single precision.
EXACT: Final = (1 << 24) // (255 * 255)


def byte_products(X: NDArray[np.uint8]) -> tuple[Doubles, NDArray[np.int64]]:
    """Return ``X.T @ X`` and the sums of the columns, all exact, by one thread.

    Of the products the upper half alone: the other is the same.
    """
    if not _core.multiplies_bytes():
        return _byte_products_in_floats(X)
    D = X.shape[1]
    products, sums = np.zeros((D, D)), np.zeros(D, dtype=np.int64)
    _core.byte_products(np.ascontiguousarray(X), products, sums)
    return products, sums


def _byte_products_in_floats(
    X: NDArray[np.uint8],
) -> tuple[Doubles, NDArray[np.int64]]:
    products = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), EXACT):
        rows = X[start : start + EXACT].astype(np.float32)
        products += rows.T @ rows
    return products, X.sum(axis=0, dtype=np.int64)
