"""Steps 2 to 4: near, mid-near and further pairs."""

from __future__ import annotations

import math
import warnings
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels

# More pairs than any machine holds: where a ratio is beyond all reason.
MOST: Final = 2**31

# Smallest scale of a row in near pairs, in units of the preprocessed data.
SCALE_FLOOR: Final = 1e-10

# Neighbours searched beyond n_neighbors, to choose from by scaled distance.
EXTRA_CANDIDATES: Final = 50


class PairCounts(NamedTuple):
    """How many pairs of each kind a point has."""

    near: int
    mid_near: int
    further: int


def automatic_neighbors(n: int) -> int:
    """Choose `n_neighbors` as PaCMAP's authors do: 10 up to 10,000 rows, then more."""
    return 10 if n <= 10_000 else round(10 + 15 * (math.log10(n) - 4))


def pair_counts(
    n: int, n_neighbors: int, mid_near_ratio: float, further_ratio: float
) -> PairCounts:
    """Return the number of pairs a point has; fewer, with a warning, if n is small.

    A point's partners are distinct, so there are at most ``n - 1``. If more are asked
    for, all three counts are multiplied by ``(n - 1) / (number asked for)`` and
    rounded down, near pairs to at least one.
    """
    asked = PairCounts(
        n_neighbors,
        round(min(n_neighbors * mid_near_ratio, MOST)),
        round(min(n_neighbors * further_ratio, MOST)),
    )
    if sum(asked) <= n - 1:
        return asked
    share = (n - 1) / sum(asked)
    near, mid_near, further = (int(count * share) for count in asked)
    counts = PairCounts(max(1, near), mid_near, further)
    warnings.warn(
        f"{n} samples cannot give each point {asked.near} near, {asked.mid_near} "
        f"mid-near and {asked.further} further partners; using {counts.near}, "
        f"{counts.mid_near} and {counts.further}.",
        UserWarning,
        stacklevel=2,
    )
    return counts


def scales(distances: kernels.Floats) -> NDArray[np.float64]:
    """Mean distance of each row to its 4th to 6th neighbour (PaCMAP, section 4).

    Duplicates have none: the floor is far below the unit to which preprocessing brings
    all data.
    """
    m = distances.shape[1]
    mean = distances[:, min(3, m - 1) : 6].mean(axis=1, dtype=np.float64)
    result: NDArray[np.float64] = np.maximum(mean, SCALE_FLOOR)
    return result
