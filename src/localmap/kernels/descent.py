"""Forces and the descent: the state that one iteration hands to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import (
    Floats,
    Ints,
    check_finite_map,
    checked,
    contiguous,
    lined,
)

# Adam's constants as PaCMAP uses them; epsilon stands in adam.hpp.
BETA1: Final = 0.9
BETA2: Final = 0.999

# Fewer points than this are moved faster by one thread than by two.
ROWS_PER_THREAD: Final = 4096

# What an entry of a list can name: the other bits of 32 tell how often a pair is there.
MOST_ROWS: Final = 2 ** (32 - _core.CODE_BITS)


class Weights(NamedTuple):
    """Weights of one iteration, in the order in which the core reads them.

    The near force of PaCMAP is multiplied by ``near_plain + near_local / sqrt(t)``:
    (1, 0) is PaCMAP, (0, d / 2) is LocalMAP.
    """

    near: float
    mid_near: float
    further: float
    near_plain: float = 1.0
    near_local: float = 0.0


class PairLists:
    """Pairs of one kind, listed at both their points.

    Every point sums its own forces over its list: the entries from ``starts[i]`` up to
    ``starts[i + 1]``. An entry is the other point, times eight, and a code that tells
    how often the pair is there. The first ``trusted[i]`` partners of row i are trusted:
    near pairs that keep PaCMAP's force.
    """

    def __init__(
        self, pairs: Ints, n_threads: int = 1, trusted: NDArray[np.uint16] | None = None
    ) -> None:
        n, k = pairs.shape
        if n > MOST_ROWS:
            msg = f"{n} rows are more than the {MOST_ROWS} that can be laid out."
            raise ValueError(msg)
        if trusted is not None and (trusted.shape != (n,) or trusted.max() > k):
            msg = f"trusted must tell how many of {pairs.shape} partners are trusted."
            raise ValueError(msg)
        partners = checked(pairs, n)
        nobody = np.empty(0, dtype=np.uint16)
        self.starts = np.empty(n + 1, dtype=np.int64)
        places = _core.count_pairs(partners, self.starts, n_threads)
        entries = np.empty(places + _core.BEYOND, dtype=np.uint32)
        kept = _core.build_lists(
            partners,
            nobody if trusted is None else np.ascontiguousarray(trusted),
            self.starts,
            entries,
            n_threads,
        )
        # A view of the whole: what is not touched takes no memory.
        self.entries = entries[: kept + _core.BEYOND]

    def __len__(self) -> int:
        return len(self.starts) - 1


class Circles:
    """Further pairs by dealing: a point's partners are the next ones of its circle.

    Rows are dealt at random into circles of five hundred and more; of the points that
    follow it in its circle, the first `slots` that lie within reach and are not near
    pairs are a point's partners. Where there are too few, others make up for them.
    """

    def __init__(self, n: int, slots: int) -> None:
        self._n, self._slots = n, slots
        self.dealt = _core.Circles(n, slots)

    def __len__(self) -> int:
        return self._n

    def deal(
        self,
        Y: Floats,
        near: PairLists,
        reach: float,
        key: int,
        iteration: int,
        n_threads: int = 1,
    ) -> None:
        """Deal anew, within `reach` in the map."""
        check_finite_map(Y)
        _check_same_points(Y, near, self)
        self.dealt.deal(
            contiguous(Y), near.starts, near.entries, reach, key, iteration, n_threads
        )

    def partners(self) -> Ints:
        """Return the partners of each point, -1 where it has fewer than `slots`."""
        out = np.empty((self._n, self._slots), dtype=np.int32)
        self.dealt.partners(out)
        return out


def forces(
    Y: Floats,
    near: PairLists,
    mid_near: PairLists,
    further: PairLists | Circles,
    weights: Weights,
    n_threads: int = 1,
) -> tuple[Floats, float]:
    """Gradient of the layout and PaCMAP's loss."""
    _check_same_points(Y, near, mid_near, further)
    gradient = np.empty(Y.shape, dtype=np.float32)
    w = np.array(weights, dtype=np.float32)
    pairs = near, mid_near, _known_to_the_core(further)
    loss = _core.forces(contiguous(Y), pairs, w, gradient, n_threads)
    return gradient, loss


class Descent:
    """A map, its pairs and Adam's memory: what one iteration hands to the next.

    The map given is where it starts. The first ``trusted[i]`` near pairs
    of row i keep PaCMAP's force in every phase. Further pairs are given, or `Circles`
    to deal them in, by `key`.
    """

    def __init__(
        self,
        Y: Floats,
        near: Ints,
        mid_near: Ints,
        further: Ints | Circles,
        learning_rate: float = 1.0,
        n_threads: int = 1,
        *,
        trusted: NDArray[np.uint16] | None = None,
        key: int = 0,
    ) -> None:
        # Points that are dealt together stand in one line (circles.hpp).
        self.Y, self._next, self._forces = (lined(Y.shape) for _ in range(3))
        self.Y[:] = Y
        # Starting a thread takes as long as moving a few thousand points.
        self._n_threads = min(n_threads, 1 + len(Y) // ROWS_PER_THREAD)
        self._near = PairLists(near, self._n_threads, trusted)
        self._mid_near: PairLists | None = PairLists(mid_near, self._n_threads)
        self._further: PairLists | Circles
        if isinstance(further, Circles):
            self._further = further
            further.deal(self.Y, self._near, math.inf, key, 0, self._n_threads)
        else:
            # Redrawn among what is not near.
            self._drawn, self._not_drawn = further, near
            self._further = PairLists(further, self._n_threads)
        _check_same_points(self.Y, self._near, self._mid_near, self._further)
        self._m = np.zeros_like(self.Y)
        self._v = np.zeros_like(self.Y)
        self._learning_rate = learning_rate
        self._steps = 0

    def step(self, weights: Weights, *, with_loss: bool = False) -> float:
        """Move all points once; return the loss before the move, or nan."""
        return self.steps([weights], with_loss=with_loss)

    def steps(self, weights: Sequence[Weights], *, with_loss: bool = False) -> float:
        """Move all points once with each of some weights; threads start but once.

        Returns the loss before the last move, or nan. What is interrupted is lost.
        """
        rates = [self._rate(self._steps + k + 1) for k in range(len(weights))]
        loss = _core.steps(
            self.Y,
            (self._near, self._mid_near, _known_to_the_core(self._further)),
            np.array(weights, dtype=np.float32),
            np.array(rates, dtype=np.float32),
            self._forces,
            self._m,
            self._v,
            self._next,
            BETA1,
            BETA2,
            with_loss,
            self._n_threads,
        )
        self._steps += len(weights)
        if len(weights) % 2:
            self.Y, self._next = self._next, self.Y
        return loss

    def _rate(self, step: int) -> float:
        """Return the rate of a step, counted from 1, with Adam's corrections."""
        corrected = math.sqrt(1.0 - BETA2**step) / (1.0 - BETA1**step)
        return self._learning_rate * corrected

    def redraw(self, reach: float, locality: float, key: int, iteration: int) -> None:
        """Draw the local share of the further pairs anew, within `reach`."""
        threads = self._n_threads
        if isinstance(self._further, Circles):
            if locality < 1:
                msg = f"locality={locality} needs further pairs that are given."
                raise ValueError(msg)
            self._further.deal(self.Y, self._near, reach, key, iteration, threads)
            return
        check_finite_map(self.Y)
        # Checked when they were listed first; what is drawn are rows of the map.
        _core.local_further(
            self.Y,
            self._not_drawn,
            reach,
            locality,
            key,
            iteration,
            self._drawn,
            threads,
        )
        self._further = PairLists(self._drawn, threads)

    def forget_mid_near(self) -> None:
        """Free the mid-near pairs, once their weight has come to nothing."""
        self._mid_near = None


def _known_to_the_core(further: PairLists | Circles) -> PairLists | _core.Circles:
    return further.dealt if isinstance(further, Circles) else further


def _check_same_points(Y: Floats, *kinds: PairLists | Circles) -> None:
    for pairs in kinds:
        if len(pairs) != len(Y):
            msg = f"pairs are of {len(pairs)} points, the map has {len(Y)}."
            raise ValueError(msg)
