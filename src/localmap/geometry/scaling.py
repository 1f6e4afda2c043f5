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

from localmap.geometry.blocks import blocks, come_sparse

Scale = Literal["none", "standard", "robust"]
SCALES: Final = ("none", "standard", "robust")

# Standard deviation of a column, in units of its largest number, that is rounding.
ROUNDING: Final = 1e-14

# Numbers whose quartiles are found at once.
COLUMNS: Final = 1 << 22

# A few columns decide the distances if so many of at least so many hold so much of the
# sum of squares that distances are made of.
FEW: Final = 3
OF_AT_LEAST: Final = 5
SHARE: Final = 0.95


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """What each column is divided by.

    Nothing is taken off: that would change no distance but those of metrics that
    normalise rows, and there sparse rows would differ from dense ones.
    """

    spread: NDArray[np.float64]

    def apply(self, block: Any) -> Any:
        """Return rows with scaled columns."""
        if issparse(block):
            return csr_array(block).multiply(1.0 / self.spread).tocsr()
        # New rows may be anywhere: what leaves the numbers is brought back later.
        with np.errstate(over="ignore"):
            return block / self.spread


def scaling_of(X: Any, scale: str) -> ColumnScaling | None:
    """Measure how the columns of X are to be scaled; constant ones stay."""
    if scale == "none":
        return None
    units = _units(X)
    if scale == "robust":
        if issparse(X):
            msg = (
                "scale='robust' needs quartiles, which sparse data would be filled in "
                "for; use scale='standard'."
            )
            raise ValueError(msg)
        low, high = _quartiles(X, units)
        # Quartiles of the normal distribution are 1.349 standard deviations apart.
        spread = (high - low) / 1.349
        flat = spread == 0  # more than half of the cells are equal: no quartiles
        if flat.any():
            spread[flat] = _moments(X, units).spread[flat]
    else:
        spread = _moments(X, units).spread
    # What is left of a constant column is rounding.
    spread[spread <= ROUNDING] = 1.0
    return ColumnScaling(spread * units)


class Moments(NamedTuple):
    """Mean and standard deviation of each column, in units of their own."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]


def _units(X: Any) -> NDArray[np.float64]:
    """Return a power of two for each column, so that no square leaves the numbers."""
    largest = np.zeros(X.shape[1])
    for rows in blocks(X):
        block = X[rows]
        if issparse(block):
            highest = abs(csr_array(block)).max(axis=0).toarray().ravel()
        else:
            highest = np.abs(np.asarray(block).astype(np.float64)).max(axis=0)
        np.maximum(largest, highest, out=largest)
    exponents = np.clip(np.frexp(largest)[1], -1000, 1000)
    return np.where(largest > 0, np.ldexp(1.0, exponents), 1.0)


def _moments(X: Any, units: NDArray[np.float64]) -> Moments:
    """Return mean and spread of each column, a block of rows at a time."""
    n = X.shape[0]
    mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if come_sparse(X):
        for rows in blocks(X):
            S = csr_array(X[rows]).astype(np.float64).multiply(1.0 / units).tocsr()
            S.sum_duplicates()
            mean += np.asarray(S.sum(axis=0)).ravel() / n
            squares += np.asarray(S.multiply(S).sum(axis=0)).ravel() / n
        return Moments(mean, np.sqrt(np.maximum(squares - mean**2, 0.0)))
    for rows in blocks(X):
        mean += (np.asarray(X[rows]) / units).sum(axis=0) / n
    for rows in blocks(X):  # around the mean, so that large means cost no digits
        squares += ((np.asarray(X[rows]) / units - mean) ** 2).sum(axis=0) / n
    return Moments(mean, np.sqrt(squares))


def _quartiles(X: Any, units: NDArray[np.float64]) -> NDArray[np.float64]:
    n, D = X.shape
    width = max(1, COLUMNS // n)
    parts = []
    for start in range(0, D, width):
        some = slice(start, start + width)
        block = X[:, some]
        numbers = (block.toarray() if issparse(block) else block) / units[some]
        parts.append(np.quantile(numbers, (0.25, 0.75), axis=0))
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
    units = _units(X)
    spread = _moments(X, units).spread * (units / units.max())
    if not spread.any():
        return None
    variance = (spread / spread.max()) ** 2
    total = float(variance.sum())
    order = np.argsort(variance)[::-1][: min(FEW, D // OF_AT_LEAST)]
    shares = np.cumsum(variance[order]) / total
    if shares[-1] < SHARE:
        return None
    few = int(np.argmax(shares >= SHARE)) + 1
    return Dominance(tuple(map(int, order[:few])), float(shares[few - 1]))
