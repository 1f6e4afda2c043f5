"""Mid-near pairs by distances that the core does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels

# PaCMAP: a mid-near pair is the second closest of six.
MID_NEAR_DRAWS: Final = 6

# Rows whose pairs are named at once.
STEP: Final = 1 << 16

# Makes the candidates of mid-near pairs another draw than the further pairs.
OTHER_KEY: Final = 0x6A09E667F3BCC909


# Rows among which mid-near candidates of a row are drawn: a random part of larger data,
# so that they can be read together where the data is a file.
BUCKET: Final = 1 << 20

# Makes the draws of one bucket others than those of the next.
NEXT_KEY: Final = 0x9E3779B97F4A7C15


def in_buckets(Z: kernels.Floats, slots: int, key: int, n_threads: int) -> kernels.Ints:
    """Choose mid-near pairs by Euclidean distance.

    Rows are dealt out at random to buckets of at most `BUCKET`, and the candidates of a
    row come from its own: still a uniform draw of the data. There is one bucket, and
    nothing to deal, up to that many rows.
    """
    n = len(Z)
    count = -(-n // BUCKET)
    if count == 1:
        return kernels.mid_near(Z, slots, key, n_threads)
    dealt = np.arange(n, dtype=np.int32)
    np.random.default_rng(key).shuffle(dealt)
    chosen = np.empty((n, slots), dtype=np.int32)
    for number, rows in enumerate(np.array_split(dealt, count)):
        rows.sort()  # as they stand in the data, which may be a file
        own_key = (key + number * NEXT_KEY) % 2**64
        found = kernels.mid_near(Z[rows], slots, own_key, n_threads)
        for start in range(0, len(rows), STEP):
            some = slice(start, start + STEP)
            chosen[rows[some]] = rows[found[some]]
    return chosen


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
