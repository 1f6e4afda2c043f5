"""Products of bytes, exact: the same bits on every CPU."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core

Doubles = NDArray[np.float64]

# Sums of so many products of two bytes are exact in single precision.
EXACT: Final = (1 << 24) // (255 * 255)


class ByteProducts:
    """Products of columns of bytes, or of rows, with each other, and their sums.

    All are whole numbers and exact, so that the order in which they are added up does
    not matter. Of the products the upper half alone: the other is the same.
    """

    def __init__(self, count: int, *, by_rows: bool = False) -> None:
        self.products: Doubles = np.zeros((count, count))
        self.sums: NDArray[np.int64] = np.zeros(count, dtype=np.int64)
        self._by_rows = by_rows

    def add(self, X: NDArray[np.uint8]) -> None:
        """Add those of more bytes, by one thread."""
        if X.shape[0 if self._by_rows else 1] != len(self.sums):
            msg = f"{X.shape} bytes do not go with {len(self.sums)} sums."
            raise ValueError(msg)
        if _core.multiplies_bytes():
            some = np.ascontiguousarray(X)
            _core.byte_products(some, self._by_rows, self.products, self.sums)
            return
        columns = X.T if self._by_rows else X
        for start in range(0, len(columns), EXACT):
            rows = columns[start : start + EXACT].astype(np.float32)
            self.products += rows.T @ rows
        self.sums += columns.sum(axis=0, dtype=np.int64)
