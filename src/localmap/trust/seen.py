"""The groups that a map shows, each point in one of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from localmap.metrics import visible_groups

# Points among which groups are looked for: HDBSCAN takes half a second of as many, and
# every run asks it.
MOST: Final = 10_000


def groups_seen(Y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the visible groups of a map from 0, the largest first; 0 if there is one.

    Points that HDBSCAN leaves out join the group of the nearest point that has one: a
    reader counts the fringe of a group to it.
    """
    if len(Y) > MOST:
        some = Y[np.arange(MOST) * len(Y) // MOST]
        nearest = cKDTree(some).query(Y, workers=-1)[1]
        return by_size(groups_seen(some)[nearest])
    found = visible_groups(Y)
    inside = found >= 0
    if not inside.any():
        return np.zeros(len(found), dtype=np.int64)
    if not inside.all():
        nearest = cKDTree(Y[inside]).query(Y[~inside], workers=-1)[1]
        found = found.copy()
        found[~inside] = found[inside][nearest]
    return by_size(found)


def by_size(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return groups numbered anew: the largest 0, of equal ones the first."""
    _, first, codes, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    new = np.empty(len(order), dtype=np.int64)
    new[order] = np.arange(len(order))
    return np.asarray(new[codes])
