"""Columns brought to one scale, if asked for, and whether a few of them decide all.

Distances add up columns as they are: one in grams beside one in kilometres does not
count. ``scale="standard"`` gives every column the standard deviation one,
``scale="robust"`` the same distance between its quartiles, which far rows do not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap.geometry.blocks import blocks

Scale = Literal["none", "standard", "robust"]
SCALES: Final = ("none", "standard", "robust")

# Numbers whose quartiles are found at once.
COLUMNS: Final = 1 << 22

# A few columns decide the distances if so many of at least so many hold so much of the
# sum of squares that distances are made of.
FEW: Final = 3
OF_AT_LEAST: Final = 5
SHARE: Final = 0.95


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """What is taken off each column, and what the rest is divided by."""

    shift: NDArray[np.float64]
    spread: NDArray[np.float64]

    def apply(self, block: Any) -> Any:
        """Return rows with scaled columns; those of sparse rows are not shifted."""
        if issparse(block):
            return csr_array(block).multiply(1.0 / self.spread).tocsr()
        return (block - self.shift) / self.spread


def scaling_of(X: Any, scale: str) -> ColumnScaling | None:
    """Measure how the columns of X are to be scaled; constant ones stay."""
    if scale == "none":
        return None
    if scale == "robust":
        if issparse(X):
            msg = (
                "scale='robust' needs quartiles, which sparse data would be filled in "
                "for; use scale='standard'."
            )
            raise ValueError(msg)
        low, shift, high = _quartiles(X)
        # Quartiles of the normal distribution are 1.349 standard deviations apart.
        spread = (high - low) / 1.349
        flat = spread == 0  # more than half of the cells are equal: no quartiles
        if flat.any():
            spread[flat] = np.sqrt(_moments(X).variance[flat])
    else:
        shift, variance = _moments(X)
        spread = np.sqrt(variance)
    spread[spread == 0] = 1.0
    return ColumnScaling(np.zeros(X.shape[1]) if issparse(X) else shift, spread)


class Moments(NamedTuple):
    """Mean and variance of each column."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


def _moments(X: Any) -> Moments:
    """Return mean and variance of each column, a block of rows at a time."""
    n = X.shape[0]
    if issparse(X):
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).ravel()
        return Moments(mean, np.maximum(squares - mean**2, 0.0))
    mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in blocks(X):
        mean += X[rows].sum(axis=0, dtype=np.float64) / n
    for rows in blocks(X):  # around the mean, so that large means cost no digits
        squares += ((X[rows] - mean) ** 2).sum(axis=0) / n
    return Moments(mean, squares)


def _quartiles(X: Any) -> NDArray[np.float64]:
    n, D = X.shape
    width = max(1, COLUMNS // n)
    parts = [
        np.quantile(np.asarray(X[:, at : at + width], np.float64), (0.25, 0.5, 0.75), 0)
        for at in range(0, D, width)
    ]
    return np.concatenate(parts, axis=1)


class Dominance(NamedTuple):
    """The columns that decide distances, and their share."""

    columns: tuple[int, ...]
    share: float


def dominant_columns(X: Any) -> Dominance | None:
    """Tell which few columns make nearly all of the distances, if any do.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> dominant_columns(X) is None
    True
    >>> X[:, 4] *= 1000
    >>> dominant_columns(X).columns
    (4,)
    """
    D = X.shape[1]
    if D < OF_AT_LEAST:
        return None
    variance = _moments(X).variance
    total = float(variance.sum())
    if not 0.0 < total < np.inf:
        return None
    order = np.argsort(variance)[::-1][: min(FEW, D // OF_AT_LEAST)]
    shares = np.cumsum(variance[order]) / total
    if shares[-1] < SHARE:
        return None
    few = int(np.argmax(shares >= SHARE)) + 1
    return Dominance(tuple(map(int, order[:few])), float(shares[few - 1]))
