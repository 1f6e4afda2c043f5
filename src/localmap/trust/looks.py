"""What another map makes of the groups of the one that is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.trust.borders import joined
from localmap.trust.judged import FOUND, Outcome
from localmap.trust.pairs import Pairs
from localmap.trust.runs import Run
from localmap.trust.seen import groups_seen

# Share of a group that makes a part of it worth naming.
PART: Final = 0.1


@dataclass(frozen=True, eq=False)
class Look:
    """How the rows of each group lie in the groups of another map."""

    seen: NDArray[np.float64]  # rows of each group (line) in each that the map shows
    joined: NDArray[np.float64]  # and in each that the data support in it

    @property
    def overlaps(self) -> NDArray[np.float64]:
        """Best Jaccard overlap of each group with one of the other map."""
        best: NDArray[np.float64] = np.maximum(_best(self.seen), _best(self.joined))
        return best

    @property
    def together(self) -> NDArray[np.float64]:
        """Share of pairs of rows of two groups that are in one group there."""
        share = _shares(self.joined)
        both: NDArray[np.float64] = share @ share.T
        return both


def look_at(run: Run, pairs: Pairs, groups: NDArray[np.int64]) -> Look:
    """Compare groups from 0 with those of another map."""
    seen = groups_seen(run.Y)
    there = joined(pairs.among(run.rows), seen, run.Y).groups
    own = groups if run.rows is None else groups[run.rows]
    count = int(groups.max()) + 1
    return Look(_table(own, seen, count), _table(own, there, count))


def outcomes(number: int, looks: Sequence[Look]) -> tuple[Outcome, ...]:
    """Tell what became of a group wherever it is not the same, commonest first."""
    told: Counter[Any] = Counter()
    first: dict[Any, Outcome] = {}
    for look in looks:
        outcome = _outcome(number, look)
        if outcome is None:
            continue
        kind = outcome.groups or len(outcome.sizes)
        told[kind] += 1
        first.setdefault(kind, outcome)
    return tuple(replace(first[kind], runs=runs) for kind, runs in told.most_common())


def _outcome(number: int, look: Look) -> Outcome | None:
    """Split, if the data support several parts of it; merged, if it did not come back.

    What did not come back and is not in one group with most of another is in parts
    that the data do not support: the map shows pieces.
    """
    rows = look.joined[number]
    own = rows >= FOUND * look.joined.sum(axis=0)
    parts = rows[own & (rows >= PART * rows.sum())]
    if len(parts) > 1:
        return Outcome(1, (), _sorted(parts), supported=True)
    if look.overlaps[number] >= FOUND:
        return None
    share = _shares(look.joined)
    home = int(share[number].argmax())
    mates = np.flatnonzero(share[:, home] >= FOUND)
    mates = mates[mates != number]
    if share[number, home] >= FOUND and len(mates):
        return Outcome(1, tuple((mates + 1).tolist()), ())
    seen = look.seen[number]
    return Outcome(1, (), _sorted(seen[seen >= PART * seen.sum()]))


def _sorted(sizes: NDArray[np.float64]) -> tuple[int, ...]:
    return tuple(np.sort(sizes)[::-1].astype(int).tolist())


def _table(
    own: NDArray[np.int64], other: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    table = np.zeros((count, int(other.max()) + 1))
    np.add.at(table, (own, other), 1)
    return table


def _best(table: NDArray[np.float64]) -> NDArray[np.float64]:
    sizes = table.sum(axis=1, keepdims=True)
    either = sizes + table.sum(axis=0) - table
    best: NDArray[np.float64] = (table / np.maximum(either, 1)).max(axis=1)
    return best


def _shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1))
