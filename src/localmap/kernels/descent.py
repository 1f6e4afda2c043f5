"""Forces and the descent: the state that one iteration hands to the next."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, check_finite_map, checked, contiguous

# Adam's constants as PaCMAP uses them; epsilon stands in adam.hpp.
BETA1: Final = 0.9
BETA2: Final = 0.999

# Fewer points than this are moved faster by one thread than by two.
ROWS_PER_THREAD: Final = 4096


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


class TiledPairs:
    """Pairs of one kind, tiled by the blocks of rows that their points belong to.

    Each code holds a pair as two places of 16 bits; `starts` says where the pairs of
    each two blocks begin. The codes take the place of the partner matrix they are
    made from: a pair never takes more than four bytes.

    The first ``trusted[i]`` partners of row i are trusted: near pairs that keep
    PaCMAP's force. They stand first in their tile, up to `middles`.
    """

    def __init__(
        self, pairs: Ints, n_threads: int = 1, trusted: NDArray[np.uint16] | None = None
    ) -> None:
        n = len(pairs)
        blocks = -(-n // _core.block_rows(n))
        self.starts = np.empty(blocks**2 + 1, dtype=np.int64)
        self.middles = np.empty(blocks**2, dtype=np.int64)
        self.codes = checked(pairs, n).view(np.uint32)
        self.trusted = np.empty(0, dtype=np.uint16) if trusted is None else trusted
        if trusted is not None and (
            trusted.shape != (n,) or trusted.max() > self.codes.shape[1]
        ):
            msg = f"trusted must tell how many of {pairs.shape} partners are trusted."
            raise ValueError(msg)
        self.pack(n_threads)

    def pack(self, n_threads: int = 1) -> None:
        """Put codes in the place of the partners."""
        _core.pack_pairs(self.codes, self.trusted, self.starts, self.middles, n_threads)

    def unpack(self, n_threads: int = 1) -> Ints:
        """Put the partners back in the place of the codes and return them."""
        _core.unpack_pairs(self.codes, self.starts, self.middles, n_threads)
        return self.codes.view(np.int32)


def forces(
    Y: Floats,
    near: TiledPairs,
    mid_near: TiledPairs,
    further: TiledPairs,
    weights: Weights,
    n_threads: int = 1,
) -> tuple[Floats, float]:
    """Gradient of the layout and PaCMAP's loss."""
    _check_same_points(Y, near, mid_near, further)
    gradient = np.zeros(Y.shape, dtype=np.float32)
    w = np.array(weights, dtype=np.float32)
    loss = _core.forces(contiguous(Y), near, mid_near, further, w, gradient, n_threads)
    return gradient, loss


class Descent:
    """A map, its pairs and Adam's memory: what one iteration hands to the next.

    The map and the pairs are taken over: their arrays are rewritten.
    The first ``trusted[i]`` near pairs of row i keep PaCMAP's force in every phase.
    Packing forgets which slot a partner stood in. Where `redraw` is to leave some slots
    alone (a locality below one), `ordered` keeps a second copy of the further pairs.
    """

    def __init__(
        self,
        Y: Floats,
        near: Ints,
        mid_near: Ints,
        further: Ints,
        learning_rate: float = 1.0,
        n_threads: int = 1,
        *,
        trusted: NDArray[np.uint16] | None = None,
        ordered: bool = False,
    ) -> None:
        self.Y = contiguous(Y)
        # Starting a thread takes as long as moving a few thousand points.
        self._n_threads = min(n_threads, 1 + len(Y) // ROWS_PER_THREAD)
        self._near = TiledPairs(near, self._n_threads, trusted)
        self._mid_near = TiledPairs(mid_near, self._n_threads)
        self._ordered = further.copy() if ordered else None
        self._further = TiledPairs(further, self._n_threads)
        _check_same_points(self.Y, self._near, self._mid_near, self._further)
        self._forces = np.zeros_like(self.Y)
        self._m = np.zeros_like(self.Y)
        self._v = np.zeros_like(self.Y)
        self._learning_rate = learning_rate
        self._steps = 0

    def step(self, weights: Weights, *, with_loss: bool = False) -> float:
        """Move all points once; return the loss before the move, or nan."""
        self._steps += 1
        rate = (
            self._learning_rate
            * math.sqrt(1.0 - BETA2**self._steps)
            / (1.0 - BETA1**self._steps)
        )
        return _core.step(
            self.Y,
            self._near,
            self._mid_near,
            self._further,
            np.array(weights, dtype=np.float32),
            self._forces,
            self._m,
            self._v,
            rate,
            BETA1,
            BETA2,
            with_loss,
            self._n_threads,
        )

    def redraw(self, reach: float, locality: float, key: int, iteration: int) -> None:
        """Draw the local share of the further pairs anew, within `reach`."""
        if locality < 1 and self._ordered is None:
            msg = f"locality={locality} needs a Descent with ordered=True."
            raise ValueError(msg)
        check_finite_map(self.Y)
        near = self._near.unpack(self._n_threads)
        further = self._further.unpack(self._n_threads)
        drawn = further if self._ordered is None else self._ordered
        # Checked when they were tiled first; what is drawn are rows of the map.
        _core.local_further(
            self.Y, near, reach, locality, key, iteration, drawn, self._n_threads
        )
        if drawn is not further:
            further[:] = drawn
        self._near.pack(self._n_threads)
        self._further.pack(self._n_threads)

    def forget_mid_near(self) -> None:
        """Free the mid-near pairs, once their weight has come to nothing."""
        if self._mid_near.codes.size:
            self._mid_near = TiledPairs(np.empty((len(self.Y), 0), dtype=np.int32))


def _check_same_points(Y: Floats, *kinds: TiledPairs) -> None:
    for pairs in kinds:
        if len(pairs.codes) != len(Y):
            msg = f"pairs are of {len(pairs.codes)} points, the map has {len(Y)}."
            raise ValueError(msg)
