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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from localmap.kernels import Weights

REDRAW_EVERY: Final = 10


@dataclass(frozen=True)
class Phase:
    """A run of iterations under one rule."""

    name: str
    n_iters: int
    near: float
    mid_near: tuple[float, float]  # at the first iteration, and where it is heading
    further: float = 1.0
    locality: float = 0.0
    near_strength: float = 0.0
    redraw_every: int = REDRAW_EVERY

    def weights(self, iteration: int) -> Weights:
        """Weights of an iteration of this phase, counted from 0."""
        start, end = self.mid_near
        done = iteration / max(1, self.n_iters)
        locality = self.locality if iteration > 0 else 0.0
        return Weights(
            near=self.near,
            mid_near=(1.0 - done) * start + done * end,
            further=self.further,
            near_plain=1.0 - locality,
            near_local=locality * self.near_strength,
        )

    def redraws_after(self, iteration: int) -> bool:
        """Tell whether further pairs are redrawn once this iteration is done."""
        return (
            self.locality > 0 and iteration > 0 and iteration % self.redraw_every == 0
        )


class Step(NamedTuple):
    """One iteration of the loop."""

    iteration: int
    phase: Phase
    weights: Weights
    redraw: bool


def schedule(
    n_iters: tuple[int, int, int],
    locality: float,
    near_strength: float,
    redraw_every: int = REDRAW_EVERY,
) -> tuple[Phase, ...]:
    """Return the three phases.

    `locality` mixes the two methods in phase 3: the near force is ``1 - locality``
    parts PaCMAP's and ``locality`` parts LocalMAP's, and the share ``locality`` of the
    further pairs is redrawn locally. 0 is PaCMAP, 1 is LocalMAP.
    """
    one, two, three = n_iters
    return (
        Phase("global", one, near=2.0, mid_near=(1000.0, 3.0)),
        Phase("refine", two, near=3.0, mid_near=(3.0, 3.0)),
        Phase(
            "local",
            three,
            near=1.0,
            mid_near=(0.0, 0.0),
            locality=locality,
            near_strength=near_strength,
            redraw_every=redraw_every,
        ),
    )


def steps(phases: tuple[Phase, ...]) -> Iterator[Step]:
    """Yield every iteration of all phases in order."""
    iteration = 0
    for phase in phases:
        for i in range(phase.n_iters):
            yield Step(iteration, phase, phase.weights(i), phase.redraws_after(i))
            iteration += 1
