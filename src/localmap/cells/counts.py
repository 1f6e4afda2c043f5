"""Tell counts from values that somebody has already normalised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Numbers looked at together, so that no copy of a large matrix is made.
AT_ONCE: Final = 1 << 22


def why_not_counts(matrix: Any) -> str | None:
    """Return what shows that these are no counts, or None if all may be."""
    for numbers in _numbers(matrix):
        if numbers.dtype.kind in "bu":
            return None
        if numbers.size == 0:
            continue
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            return "some values are NaN or infinite"
        lowest = numbers.min()
        if lowest < 0:
            return f"some values are negative, such as {lowest:g}, as after scaling"
        if numbers.dtype.kind == "f":
            parts = numbers[numbers != np.rint(numbers)]
            if parts.size:
                return f"some values are no whole numbers, such as {parts[0]:g}"
    return None


def _numbers(matrix: Any) -> Iterator[NDArray[Any]]:
    values = matrix.data if issparse(matrix) else np.asarray(matrix)
    if values.ndim == 1:
        for start in range(0, len(values), AT_ONCE):
            yield values[start : start + AT_ONCE]
        return
    rows = max(1, AT_ONCE // max(1, values.shape[1]))
    for start in range(0, len(values), rows):
        yield values[start : start + rows].ravel()
