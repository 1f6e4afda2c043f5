"""What the paper fixes at 10, measured: ``proximal_distance="auto"``.

The paper's constant plays three parts; each gets a rule of its own.

**Which near pairs may lose their pull.** LocalMAP stops trusting a near pair that has
become long. That separates groups, and it also tears sheets and rolls where they are
stretched. Length alone cannot tell the two apart, but the data can: rows of one group,
or side by side on one sheet, have most of their own neighbours in common, false
neighbours have few. A pair is *sure*, and keeps PaCMAP's force, if half of the thirty
nearest rows of one are among the thirty nearest of the other. (Two points of a flat
sheet, each just among the other's thirty nearest, share 39 %; near pairs are closer.)
Where neighbours hardly know each other at all, as in noise of many dimensions, there is
no group to take apart: pairs between two such rows keep PaCMAP's force as well.

**Strength.** Pairs that are not sure are pulled by ``strength / sqrt(t)`` times
PaCMAP's force. The strength is chosen so that the strongest pull of a pair, at whatever
length it occurs, is PaCMAP's: short pairs reach it sooner, long ones lose it.

**Reach.** Further pairs are redrawn within the distance that four fifths of all pairs
of points are below: all but the far side of the map. It follows the map as it grows. A
shorter reach concentrates the repulsion on a point's own group, the more so the fewer
points there are, and breaks groups to pieces. Pairs from most of the map do not go
stale as points move: they are redrawn every 50 iterations, not every 10 (10, 20 and 30
gave the same scores on eight sets, 25 and 50 on six).

Where this fails: groups that overlap so much that their rows share half of their
neighbours stay together, as in PaCMAP; and data with fewer than a few dozen rows in a
group has too few neighbours to count.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels

# Nearest rows in which common ones are counted.
AMONG: Final = 30

# Share of common neighbours from which a pair is sure.
SURE: Final = 0.5

# Mean share of common neighbours below which a row is in no group.
NO_GROUP: Final = 0.2

# PaCMAP's pull, d / (11 + d^2)^2, is strongest at d^2 = 11 / 3. Divided by
# sqrt(1 + d^2) it is so where 4 u^2 + 3 u = 11, with u = d^2.
_LONG: Final = 11.0 / 3.0
_SHORT: Final = (math.sqrt(185.0) - 3.0) / 8.0
STRENGTH: Final = (
    math.sqrt(_LONG / _SHORT)
    * math.sqrt(1.0 + _SHORT)
    * ((11.0 + _SHORT) / (11.0 + _LONG)) ** 2
)

REDRAW_EVERY: Final = 50

# Share of pairs of points that are closer than the reach, and pairs it is measured on.
WITHIN: Final = 0.8
MEASURED_ON: Final = 20_000

# Rows put in order at a time.
BLOCK: Final = 1 << 16

# Maps of one crowded ball are only a few units wide: there the reach is the whole map.
LEAST_REACH: Final = 20.0


def sure_first(
    indices: kernels.Ints, near: kernels.Ints, n_threads: int = 1
) -> tuple[kernels.Ints, NDArray[np.uint8]]:
    """Put the sure pairs of each row first; return the pairs and how many are sure."""
    n, k = near.shape
    among = min(AMONG, indices.shape[1])
    shared = kernels.shared_neighbors(indices, among, near, n_threads)
    alone = shared.sum(axis=1, dtype=np.int32) < NO_GROUP * among * k
    ordered = np.empty_like(near)
    count = np.empty(n, dtype=np.uint8)
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        sure = shared[rows] >= SURE * among
        sure |= alone[rows, None] & alone[near[rows]]
        order = np.argsort(~sure, axis=1, kind="stable")
        ordered[rows] = np.take_along_axis(near[rows], order, axis=1)
        count[rows] = sure.sum(axis=1)
    return ordered, count


def measured_reach(Y: kernels.Floats, key: int) -> float:
    """Measure the distance that the share `WITHIN` of all pairs of points is below."""
    rng = np.random.default_rng(key)
    n = len(Y)
    one = rng.integers(0, n, MEASURED_ON)
    other = (one + rng.integers(1, n, MEASURED_ON)) % n
    apart = np.linalg.norm(Y[one].astype(np.float64) - Y[other], axis=1)
    return max(LEAST_REACH, float(np.quantile(apart, WITHIN)))
