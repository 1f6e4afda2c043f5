"""Mid-near pairs by distances that the core does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels

# PaCMAP: a mid-near pair is the second closest of six.
MID_NEAR_DRAWS: Final = 6

# Makes the candidates of mid-near pairs another draw than the further pairs.
OTHER_KEY: Final = 0x6A09E667F3BCC909


def second_closest(
    n: int,
    slots: int,
    key: int,
    n_threads: int,
    distances: Callable[[kernels.Ints], NDArray[Any]],
) -> kernels.Ints:
    """Choose mid-near pairs by any distances: candidates of a row are all distinct."""
    if slots == 0:
        return np.empty((n, 0), dtype=np.int32)
    draws = min(MID_NEAR_DRAWS, (n - 1) // slots)
    nobody = np.empty((n, 0), dtype=np.int32)
    drawn = kernels.further(nobody, slots * draws, key ^ OTHER_KEY, n_threads)
    chosen = np.empty((n, slots), dtype=np.int32)
    for slot in range(slots):
        partners = drawn[:, slot * draws : (slot + 1) * draws]
        order = np.argsort(distances(partners), axis=1, kind="stable")
        second = order[:, min(1, draws - 1)]
        chosen[:, slot] = np.take_along_axis(partners, second[:, None], axis=1)[:, 0]
    return chosen
