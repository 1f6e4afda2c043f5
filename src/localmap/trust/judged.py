"""What is told of a group: the numbers, and the verdict in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["supported", "unsure", "one piece"]

# Overlap (Jaccard) below which Hennig calls a cluster dissolved.
FOUND: Final = 0.5


@dataclass(frozen=True)
class Outcome:
    """What became of a group in runs that do not show it as it is."""

    runs: int
    groups: tuple[int, ...]  # it merged with; empty if it split
    sizes: tuple[int, ...]  # of the parts it split into; empty if it merged
    supported: bool = False  # whether the data keep the parts apart


@dataclass(frozen=True)
class Group:
    """A group of the map that is judged."""

    number: int  # from 1, by size
    size: int
    parts: tuple[int, ...]  # sizes of the groups the map shows it as
    overlap: float  # best Jaccard overlap with a group of another run, the mean
    found: int  # runs in which that is at least one half
    runs: int  # other runs
    leaves: float  # share of its near pairs that lead out of it
    chance: float  # the same for as many rows drawn at random
    depth: float  # of its border: see `localmap.trust.borders`
    deep: bool  # whether the data support that border
    nearest: int | None  # the group that most of the pairs which leave it lead to
    outcomes: tuple[Outcome, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether data and maps support it."""
        if self.chance == 0.0:
            return "one piece"
        if self.deep and self.overlap >= FOUND:
            return "supported"
        return "unsure"

    @property
    def solid(self) -> float:
        """How solid it is, to draw: its overlap, half of it without a deep border."""
        return self.overlap if self.deep else 0.5 * self.overlap

    @property
    def sentence(self) -> str:
        """The verdict in words, with the numbers behind it."""
        told = [f"Group {self.number} ({self.size:,} rows): {self.verdict}."]
        if self.verdict != "one piece":
            told += [self._border(), self._runs()]
        told += [self._parts()] if len(self.parts) > 1 else []
        told += [self._told(outcome) for outcome in self.outcomes]
        return " ".join(told)

    def _border(self) -> str:
        leaves = f"{self.leaves:.1%} of its neighbour pairs lead out of it"
        leaves += f" ({self.chance:.0%} by chance)"
        if math.isinf(self.depth):
            return f"{leaves}."
        across = f"trusted {1.0 / self.depth:.2f} of those beside them"
        told = f"{leaves}, most of them to group {self.nearest}, and are {across}"
        if self.deep:
            return f"{told}."
        return f"{told}, which does not tell this border from one through one piece."

    def _runs(self) -> str:
        return (
            f"It comes back in {self.found} of {self.runs} other maps (mean overlap "
            f"{self.overlap:.2f})."
        )

    def _parts(self) -> str:
        return (
            f"The map shows it as {len(self.parts)} groups ({listed(self.parts)} "
            "rows): the data do not support the borders between them."
        )

    @staticmethod
    def _told(outcome: Outcome) -> str:
        maps = f"In {outcome.runs} {'map' if outcome.runs == 1 else 'maps'} it"
        if outcome.groups:
            kind = "group" if len(outcome.groups) == 1 else "groups"
            return f"{maps} merges with {kind} {listed(outcome.groups)}."
        if len(outcome.sizes) < 2:
            return f"{maps} has no group of its own."
        apart = ", which the data keep apart" if outcome.supported else ""
        return f"{maps} splits into parts of {listed(outcome.sizes)} rows{apart}."


def listed(numbers: tuple[int, ...]) -> str:
    """Return numbers as a sentence lists them.

    Examples
    --------
    >>> listed((1, 2, 3000))
    '1, 2 and 3,000'
    """
    told = [f"{number:,}" for number in numbers]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
