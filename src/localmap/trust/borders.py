"""Borders that a map shows: are they of the data, or would any cut do.

A border is crossed by near pairs. Where a map has torn one piece, or where HDBSCAN has
found a lump in it, the pairs that cross are like any others of the same rows. Where two
groups meet, they are doubted, and few.

- *Depth* of a border: the mean trust of the other pairs of the rows from which pairs
  cross, divided by the mean trust of the pairs that cross. Borders through one piece
  (Gaussians, sheets, rolls, rings, trees) mostly had depths of 0.98 to 1.06, those
  between digits 1.1 to 5. A border that nothing crosses is infinitely deep.
  Rows whose surroundings differ in size have fewer rows in common for that reason
  alone, as the core of a cloud and its halo have: what is expected across is multiplied
  by the square root of the ratio of their sizes, as in `localmap.method.adjust`.
- *Width* of a border: the pairs that cross, divided by those that a straight cut
  through the middle of the smaller group in the map crosses (the median of eight
  directions). Borders through one piece had widths of 0.5 and more.

Groups whose border is neither deep nor narrow are joined, the shallowest first, until
no such border is left. Of one piece nothing remains but that piece.

What remains may still hang on the rest by a narrow bridge, as the leg of a skeleton
does. Few pairs cross a bridge, and they are trusted now more, now less: the data are
said to support a border only if it is deep by two standard errors.

The limits were chosen among five pairs of them, on draws of such pieces and on digits,
USPS, COIL20 and Kang's cells; docs/results/trust.md has other draws, and marks pieces
and sets that had no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.trust.pairs import Pairs

# Depth up to which a border is like most of those through one piece.
SHALLOW: Final = 1.06

# Width from which a border is no bridge: below what borders through one piece have.
WIDE: Final = 0.3

# Depth from which the data support a border, once what chance may add is taken off:
# so many standard errors of the mean trust of the pairs that cross.
DEEP: Final = 1.10
ERRORS: Final = 2.0

# Few pairs may happen to be trusted alike; their spread is at least this.
LEAST_SPREAD: Final = 0.1

# Width up to which next to nothing crosses: a few stray rows make no bridge.
THIN: Final = 0.02

# Directions of the cuts through the middle of a group.
ANGLES: Final = 8

# Trust below this is no trust; borders of such pairs alone would be infinitely deep.
LEAST_TRUST: Final = 0.01


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders of groups: how many pairs cross each, and how they are trusted."""

    crossing: NDArray[np.float64]  # pairs between each two groups, both ways
    trust: NDArray[np.float64]  # sum of their trust
    beside: NDArray[np.float64]  # sum of the trust of the pairs beside them
    leaving: NDArray[np.float64]  # near pairs of each group that lead out of it
    pairs: NDArray[np.float64]  # near pairs of each group

    @property
    def depth(self) -> NDArray[np.float64]:
        """Depth of the border between each two groups."""
        return _depth(self.crossing, self.trust, self.beside)

    @property
    def whole_depth(self) -> NDArray[np.float64]:
        """Depth of the border of each group with all others."""
        sums = (a.sum(axis=1) for a in (self.crossing, self.trust, self.beside))
        return _depth(*sums)


def _depth(
    crossing: NDArray[np.float64],
    trust: NDArray[np.float64],
    beside: NDArray[np.float64],
) -> NDArray[np.float64]:
    far = np.full_like(trust, np.inf)
    return np.divide(beside, trust, out=far, where=crossing > 0)


class _Crossing(NamedTuple):
    """Near pairs from one group to another."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    trust: NDArray[np.float64]
    beside: NDArray[np.float64]  # mean trust of the pairs of both rows in their groups


def _crossing(pairs: Pairs, groups: NDArray[np.int64]) -> _Crossing:
    here = pairs.near >= 0
    same = here & (groups[pairs.near] == groups[:, None])
    trust = np.maximum(pairs.trust, LEAST_TRUST)
    inside = same.sum(axis=1)
    own = (trust * same).sum(axis=1) / np.maximum(inside, 1)
    one, slot = np.nonzero(here & ~same)
    other = pairs.near[one, slot]
    # A row of no pair inside says nothing of what is usual there.
    known = (inside[one] > 0).astype(np.int64) + (inside[other] > 0)
    beside = (own[one] + own[other]) / np.maximum(known, 1)
    beside *= np.sqrt(_ratio(pairs.sizes[one], pairs.sizes[other]))
    crossing = trust[one, slot]
    return _Crossing(one, other, crossing, np.where(known > 0, beside, crossing))


def _ratio(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many times smaller the smaller of two sizes is, at most 1."""
    larger = np.maximum(one, other)
    smaller = np.minimum(one, other)
    # Among duplicates both are 0: the same size.
    return np.divide(smaller, larger, out=np.ones_like(larger), where=larger > 0)


def borders_of(pairs: Pairs, groups: NDArray[np.int64]) -> Borders:
    """Measure the borders of groups 0, 1, ... that hold all rows."""
    count = int(groups.max()) + 1
    one, other, trust, beside = _crossing(pairs, groups)

    def both_ways(values: NDArray[np.float64]) -> NDArray[np.float64]:
        table = np.zeros((count, count))
        np.add.at(table, (groups[one], groups[other]), values)
        return np.asarray(table + table.T)

    leaving = np.bincount(groups[one], minlength=count).astype(np.float64)
    known = (pairs.near >= 0).sum(axis=1)
    total = np.bincount(groups, weights=known, minlength=count)
    return Borders(
        crossing=both_ways(np.ones(len(one))),
        trust=both_ways(trust),
        beside=both_ways(beside),
        leaving=leaving,
        pairs=total.astype(np.float64),
    )


def sure_depth(pairs: Pairs, groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the depth of each group's border, less what chance may have added.

    Pairs of one row are alike: half of the rows count, not the pairs.
    """
    one, other, trust, beside = _crossing(pairs, groups)
    count = int(groups.max()) + 1
    depth = np.full(count, np.inf)
    for number in range(count):
        own = (groups[one] == number) | (groups[other] == number)
        if not own.any():
            continue
        rows = len(np.union1d(one[own], other[own])) / 2
        spread = max(float(trust[own].std()), LEAST_SPREAD)
        most = trust[own].mean() + ERRORS * spread / np.sqrt(rows)
        depth[number] = beside[own].mean() / most
    return depth


def middle_cut(pairs: Pairs, Y: NDArray[Any], rows: NDArray[np.int64]) -> float:
    """Return how many pairs a straight cut through the middle of a group crosses."""
    inside = pairs.among(rows).near
    one, slot = np.nonzero(inside >= 0)
    other = inside[one, slot]
    crossed = []
    for angle in np.arange(ANGLES) * np.pi / ANGLES:
        first, second = Y[rows, 0], Y[rows, min(1, Y.shape[1] - 1)]
        along = np.cos(angle) * first + np.sin(angle) * second
        side = along > np.median(along)
        crossed.append(np.count_nonzero(side[one] != side[other]))
    return float(max(1.0, np.median(crossed)))


@dataclass(frozen=True, eq=False)
class Joined:
    """Groups of a map, joined where the data do not divide them."""

    groups: NDArray[np.int64]  # of each row, from 0
    homes: NDArray[np.int64]  # the joined group of each group that the map shows
    borders: Borders
    widths: NDArray[np.float64]  # of the border of each group with all others
    deep: NDArray[np.bool_]  # whether the data support the border of each


def joined(pairs: Pairs, seen: NDArray[np.int64], Y: NDArray[Any]) -> Joined:
    """Join the groups that a map shows wherever a border is neither deep nor narrow."""
    homes = np.arange(int(seen.max()) + 1)
    cuts = {int(g): middle_cut(pairs, Y, np.flatnonzero(seen == g)) for g in set(homes)}
    while True:
        names, codes = np.unique(homes, return_inverse=True)
        groups = codes[seen]
        borders = borders_of(pairs, groups)
        middle = np.array([cuts[int(name)] for name in names])
        widths = borders.crossing / np.minimum(middle[:, None], middle[None, :])
        depth = borders.depth
        shallow = np.where((widths >= WIDE) & (depth < SHALLOW), depth, np.inf)
        if not np.isfinite(shallow).any():
            whole = borders.crossing.sum(axis=1) / middle
            deep = (sure_depth(pairs, groups) >= DEEP) | (whole <= THIN)
            return Joined(groups, codes, borders, whole, deep)
        one, other = np.sort(np.unravel_index(shallow.argmin(), shallow.shape))
        homes[homes == names[other]] = names[one]
        rows = np.flatnonzero(homes[seen] == names[one])
        cuts[int(names[one])] = middle_cut(pairs, Y, rows)
