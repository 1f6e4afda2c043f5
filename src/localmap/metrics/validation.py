"""Maps and labels as the measures read them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from localmap import kernels

# Rows that are compared with all others. A row's share lies between 0 and 1, so the
# standard error of a mean over them is at most 0.5 / sqrt(2000) = 0.011.
SAMPLE: Final = 2000


def as_map(Y: ArrayLike) -> kernels.Floats:
    """Return finite points in float32."""
    points: kernels.Floats = check_array(Y, dtype=np.float32)
    return points


def labelled(
    Y: ArrayLike, labels: ArrayLike
) -> tuple[kernels.Floats, NDArray[np.int64]]:
    """Return the map and the labels as numbers from 0, in the order they sort."""
    points, names = as_map(Y), column_or_1d(labels)
    check_consistent_length(points, names)
    return points, codes_of(names)


def codes_of(labels: ArrayLike) -> NDArray[np.int64]:
    """Return labels as numbers from 0, in the order they sort; refuse missing ones."""
    names = column_or_1d(labels)
    gone = missing(names)
    if gone.any():
        msg = (
            f"{gone.sum()} of {len(names)} labels are missing, the first in row "
            f"{gone.argmax()}. Leave those rows out, or give them a label of their own."
        )
        raise ValueError(msg)
    if names.dtype == object:  # numbers and words do not sort
        names = names.astype(str)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which labels are None or not a number."""
    if labels.dtype.kind == "f":
        gone: NDArray[np.bool_] = np.isnan(labels)
        return gone
    if labels.dtype == object:
        return np.array([x is None or x != x for x in labels], dtype=bool)  # noqa: PLR0124
    return np.zeros(len(labels), dtype=bool)


def sampled(n: int, random_state: int) -> NDArray[np.int32]:
    """Return the rows that are compared with all others: all, or a sample, in order."""
    if n <= SAMPLE:
        return np.arange(n, dtype=np.int32)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n, SAMPLE, replace=False)).astype(np.int32)


def nearest(points: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Find the `k` nearest others of each point of a map."""
    n = len(points)
    if not 1 <= k < n:
        msg = f"k must be from 1 to {n - 1} for {n} points; got {k}."
        raise ValueError(msg)
    found = cKDTree(points).query(points, k=k + 1, workers=-1)[1]
    # Among many duplicates a point may not find itself: then the last one goes.
    own = found == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    others: NDArray[np.intp] = found[~own].reshape(n, k)
    return others
