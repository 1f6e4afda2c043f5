"""The weights of every iteration: all that PaCMAP and LocalMAP differ in.

========  ===========  ============================  =======
phase     near         mid-near                      further
========  ===========  ============================  =======
1         2            from 1000 towards 3, linear   1
2         3            3                             1
3         1            0                             1
========  ===========  ============================  =======

LocalMAP multiplies the near force of phase 3 by ``near_strength / sqrt(t)`` and
redraws further pairs within the proximal distance after every tenth iteration. As
the authors' code runs it, the first iteration of phase 3 is still PaCMAP's and the
first redraw follows iteration 10 of the phase.

A phase is an entry of `PHASES`: another one is another entry, and another number in
``n_iters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from localmap.kernels import Weights
from localmap.method.adjust import Rule

# No adjustment: PaCMAP.
PLAIN: Final = Rule()


@dataclass(frozen=True)
class Phase:
    """A run of iterations under one rule."""

    name: str
    n_iters: int
    near: float
    mid_near: tuple[float, float]  # at the first iteration, and where it is heading
    further: float = 1.0
    adjusts: bool = False  # whether the graph is adjusted in it
    rule: Rule = PLAIN  # how; by default not at all

    def weights(self, iteration: int) -> Weights:
        """Weights of an iteration of this phase, counted from 0."""
        start, end = self.mid_near
        done = iteration / max(1, self.n_iters)
        strength = self.rule.strength
        locality = self.rule.locality if iteration > 0 and strength is not None else 0.0
        return Weights(
            near=self.near,
            mid_near=(1.0 - done) * start + done * end,
            further=self.further,
            near_plain=1.0 - locality,
            near_local=locality * (strength or 0.0),
        )

    def redraws_after(self, iteration: int) -> bool:
        """Tell whether further pairs are redrawn once this iteration is done."""
        every = self.rule.redraw_every if self.rule.locality > 0 else None
        return every is not None and iteration > 0 and iteration % every == 0

    @property
    def needs_mid_near(self) -> bool:
        """Whether mid-near pairs pull in any iteration of it."""
        return self.n_iters > 0 and self.mid_near != (0.0, 0.0)


PHASES: Final = (
    Phase("global", 100, near=2.0, mid_near=(1000.0, 3.0)),
    Phase("refine", 100, near=3.0, mid_near=(3.0, 3.0)),
    Phase("local", 250, near=1.0, mid_near=(0.0, 0.0), adjusts=True),
)


class Step(NamedTuple):
    """One iteration of the loop."""

    iteration: int
    phase: Phase
    weights: Weights
    redraw: bool
    last_mid_near: bool  # no later iteration needs the mid-near pairs


def schedule(n_iters: Sequence[int], rule: Rule) -> tuple[Phase, ...]:
    """Return the phases, with as many iterations as asked for, adjusted by `rule`."""
    return tuple(
        replace(phase, n_iters=count, rule=rule if phase.adjusts else phase.rule)
        for phase, count in zip(PHASES, n_iters, strict=True)
    )


def steps(phases: Sequence[Phase]) -> Iterator[Step]:
    """Yield every iteration of all phases in order."""
    needing = [place for place, phase in enumerate(phases) if phase.needs_mid_near]
    last = max(needing, default=-1)
    iteration = 0
    for place, phase in enumerate(phases):
        for i in range(phase.n_iters):
            ends = place > last or (place == last and i == phase.n_iters - 1)
            weights, redraw = phase.weights(i), phase.redraws_after(i)
            yield Step(iteration, phase, weights, redraw, ends)
            iteration += 1
