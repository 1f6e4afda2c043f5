"""The registry of metrics: what each one needs of the data, and how it is computed.

A metric is one record of `METRICS`. Everything else (PCA, sparse rows, neighbours,
mid-near pairs, the estimators, the command) asks the record, never the name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]

# Distances come from the user instead of from rows: no record, but a name.
PRECOMPUTED: Final = "precomputed"

# Normalised rows that differ by no more than this differ by rounding alone.
ROUNDING: Final = 1e-14


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a metric needs of the data, and how it is computed.

    Rows are prepared first: `root`, then `centre_rows`, then `unit_rows`, or `binary`.
    Metrics without `between` are the Euclidean distance of prepared rows: they may be
    reduced by PCA, searched in cells, and given as sparse matrices.
    """

    root: bool = False  # numbers are replaced by their roots; none may be negative
    centre_rows: bool = False  # each row loses its mean
    unit_rows: bool = False  # each row gets the length one
    binary: bool = False  # numbers are replaced by whether they are zero
    centred: bool = True  # columns may be centred: no distance changes by it
    equality: bool = False  # asks which numbers are equal: none may be merged
    scalable: bool = True  # columns may be brought to one scale first
    between: Callable[[Numbers, Numbers], Numbers] | None = None  # all with all
    paired: Callable[[Numbers, Numbers], Numbers] | None = None  # row with row

    @property
    def euclidean(self) -> bool:
        """Whether it is the Euclidean distance of prepared rows."""
        return self.between is None

    @property
    def by_row(self) -> bool:
        """Whether preparing a number takes the whole row it stands in."""
        return self.centre_rows or self.unit_rows

    def prepare(self, block: Numbers) -> Numbers:
        """Return rows as the metric compares them."""
        if self.binary:
            return np.asarray(block != 0)
        if not (self.root or self.by_row):
            return block
        # In one order, whatever that of the data: a row's sums are the row's own.
        return self._prepared(block.astype(np.float64, order="C"))

    def _prepared(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        # Two steps, so that no square leaves the range of float64.
        if self.unit_rows:
            block /= _nonzero(np.abs(block).max(axis=1, initial=0.0))
        if self.root:
            refuse_negative(block)
            np.sqrt(block, out=block)
        if self.centre_rows:
            block -= block.mean(axis=1, keepdims=True)
            # What is left of a constant row is rounding: it has no direction.
            block[np.abs(block).max(axis=1, initial=0.0) <= ROUNDING] = 0.0
        if self.unit_rows:
            block /= _nonzero(np.linalg.norm(block, axis=1))
        return block


def refuse_negative(numbers: Numbers) -> None:
    """Refuse numbers that have no root."""
    lowest = numbers.min(initial=0)
    if lowest < 0:
        msg = (
            "metric='hellinger' compares shares of counts: no number may be negative; "
            f"one is (the lowest share of its row's largest is {lowest:g}). Give "
            "counts or shares, or take another metric."
        )
        raise ValueError(msg)


def _nonzero(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return norms as a column; rows of zeros are divided by one and stay."""
    return np.where(norms > 0, norms, 1.0)[:, None]


def _by_scipy(name: str, queries: Numbers, Z: Numbers) -> Numbers:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(queries, Z, name))


def _jaccard(queries: Numbers, Z: Numbers) -> Numbers:
    """Of zeros and ones, by a product of matrices."""
    both = queries @ Z.T
    either = queries.sum(axis=1)[:, None] + Z.sum(axis=1) - both
    return np.where(either > 0, 1.0 - both / np.maximum(either, 1.0), 0.0)


def _jaccard_paired(one: Numbers, other: Numbers) -> Numbers:
    either = np.maximum(one, other).sum(axis=1)
    both = np.minimum(one, other).sum(axis=1)
    return np.where(either > 0, 1.0 - both / np.maximum(either, 1.0), 0.0)


METRICS: Final[dict[str, Metric]] = {
    "euclidean": Metric(),
    "cosine": Metric(unit_rows=True),
    "correlation": Metric(centre_rows=True, unit_rows=True),
    # Roots of shares: rows of roots, brought to the length one.
    "hellinger": Metric(root=True, unit_rows=True, scalable=False),
    "manhattan": Metric(
        between=partial(_by_scipy, "cityblock"),
        paired=lambda one, other: np.abs(one - other).sum(axis=1, dtype=np.float64),
    ),
    "chebyshev": Metric(
        between=partial(_by_scipy, "chebyshev"),
        paired=lambda one, other: np.abs(one - other).max(axis=1),
    ),
    "hamming": Metric(
        centred=False,
        equality=True,
        scalable=False,
        between=partial(_by_scipy, "hamming"),
        paired=lambda one, other: (one != other).mean(axis=1),
    ),
    "jaccard": Metric(
        binary=True,
        centred=False,
        scalable=False,
        between=_jaccard,
        paired=_jaccard_paired,
    ),
}

# Every name that a user may give.
NAMES: Final = (*METRICS, PRECOMPUTED)

# Metrics whose data may be sparse: zeros need not be filled in.
SPARSE: Final = (*(k for k, m in METRICS.items() if m.euclidean), PRECOMPUTED)
