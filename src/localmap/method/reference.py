"""The specification: every kernel of the compiled core in plain NumPy.

Slow and meant to be read. Random draws come from the same counter-based generator as
the core's, so pairs agree to the last index; forces agree to float precision.
"""

from __future__ import annotations

import itertools
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]

WORD: Final = 2**64 - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
MID_NEAR, FURTHER, LOCAL_FURTHER, LOCAL_LISTED, LOCALITY, DEAL = 1, 2, 3, 4, 5, 7

MID_NEAR_DRAWS: Final = 6
TRIES_PER_SLOT: Final = 8
ROUNDED: Final = 1.0 + 1e-6
DRAWS: Final = 16
CIRCLE, CHOICE, LANES, TOGETHER, ROUNDS = 512, 8, 8, 8, 6


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


class Stream:
    """Random numbers that depend on (key, stage, iteration, row) and nothing else."""

    def __init__(self, key: int, stage: int, iteration: int, row: int) -> None:
        state = _mix((key + GOLDEN * stage) & WORD)
        state = _mix((state + GOLDEN * iteration) & WORD)
        self._state = _mix((state + GOLDEN * row) & WORD)

    def bits64(self) -> int:
        """Draw 64 bits."""
        self._state = (self._state + GOLDEN) & WORD
        return _mix(self._state)

    def _bits(self) -> int:
        return self.bits64() >> 32

    def below(self, bound: int) -> int:
        """Draw from 0 .. bound - 1."""
        return (self._bits() * bound) >> 32

    def unit(self) -> float:
        """Draw from [0, 1)."""
        return self._bits() / 2**32


def forces(
    Y: Array,
    near: Ints,
    mid_near: Ints,
    further: Ints,
    weights: tuple[float, float, float, float, float],
    trusted: NDArray[np.uint16] | None = None,
) -> tuple[Array, float]:
    """Gradient of the layout and PaCMAP's loss, pair by pair.

    ``weights`` are near, mid_near, further, near_plain and near_local. LocalMAP's
    factor ``near_local / sqrt(t)`` weighs PaCMAP's near force. It is deliberately not
    part of a loss that is differentiated: the derivative of the loss printed in the
    paper repels for t > 10 and destroys the map. The first ``trusted[i]`` near pairs of
    point i keep PaCMAP's force.
    """
    if trusted is None:
        trusted = np.zeros(len(Y), dtype=np.uint16)
    w_near, w_mid_near, w_further, plain, local = weights
    gradient = np.zeros(Y.shape)
    loss = 0.0
    for pairs, kind in ((near, "near"), (mid_near, "mid-near"), (further, "further")):
        i = np.repeat(np.arange(len(pairs)), pairs.shape[1])
        j = pairs.ravel()
        away = Y[i].astype(np.float64) - Y[j]
        t = (away**2).sum(axis=1) + 1.0
        if kind == "near":
            is_trusted = (np.arange(pairs.shape[1]) < trusted[:, None]).ravel()
            factor = np.where(is_trusted, 1.0, plain + local / np.sqrt(t))
            force = w_near * 20.0 / (10.0 + t) ** 2 * factor
            loss += w_near * (t / (10.0 + t)).sum()
        elif kind == "mid-near":
            force = w_mid_near * 20000.0 / (10000.0 + t) ** 2
            loss += w_mid_near * (t / (10000.0 + t)).sum()
        else:
            force = -w_further * 2.0 / (1.0 + t) ** 2
            loss += w_further * (1.0 / (1.0 + t)).sum()
        np.add.at(gradient, i, force[:, None] * away)
        np.add.at(gradient, j, -force[:, None] * away)
    return gradient, float(loss)


def adam_step(
    Y: Array,
    gradient: Array,
    m: Array,
    v: Array,
    step: int,
    learning_rate: float = 1.0,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-7,
) -> tuple[Array, Array, Array]:
    """Return Y, m and v after step number `step`, counted from 1."""
    m = m + (1.0 - beta1) * (gradient - m)
    v = v + (1.0 - beta2) * (gradient**2 - v)
    rate = learning_rate * np.sqrt(1.0 - beta2**step) / (1.0 - beta1**step)
    return Y - rate * m / (np.sqrt(v) + epsilon), m, v


def near(indices: Ints, distances: Array, n_neighbors: int) -> Ints:
    """Of the nearest rows, those with the smallest scaled distance (PaCMAP, 4)."""
    first = min(3, distances.shape[1] - 1)
    sigma = np.maximum(distances[:, first:6].mean(axis=1, dtype=np.float64), 1e-10)
    distances = distances.astype(np.float64)
    scaled = distances**2 / (sigma[:, None] * sigma[indices])
    order = np.argsort(scaled, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(indices, order, axis=1)


def shared_neighbors(indices: Ints, among: int, near: Ints) -> Ints:
    """Count the rows that two near partners have in common among their nearest."""
    lists = [set(row[:among].tolist()) for row in indices]
    return np.array(
        [[len(lists[i] & lists[j]) for j in row] for i, row in enumerate(near)],
        dtype=np.int32,
    )


def shared_within(Z: Array, found: Ints, near: Ints, sizes: Array) -> Ints:
    """Count which of the rows `found` for new ones lie around their near pairs, too."""
    counts = np.zeros(near.shape, dtype=np.int32)
    for i, row in enumerate(near):
        for s, j in enumerate(row):
            others = found[i][found[i] != j]
            away = np.linalg.norm(Z[others].astype(np.float64) - Z[j], axis=1)
            counts[i, s] = (away**2 <= ROUNDED * float(sizes[j]) ** 2).sum()
    return counts


def mean_shares(near: Ints, shared: Ints) -> Array:
    """Average each pair's count with those of the near pairs around it.

    Around i and j are the pairs (a, b) with a a partner of i and b one of j; the pair
    itself counts as often as a row has partners.
    """
    n, k = near.shape
    out = np.empty((n, k))
    for i in range(n):
        for s, j in enumerate(near[i]):
            around = shared[near[i]][np.isin(near[near[i]], near[j])]
            out[i, s] = (k * shared[i, s] + around.sum()) / (k + len(around))
    return out


def least_share(
    usual: Array, sizes: Array, enough: float, chance: float, among: int
) -> Array:
    """Return the share from which a pair is trusted.

    `usual` is what is shared around its two rows, one in ``usual[0]`` and one in
    ``usual[1]``, `sizes` their distances to the last of the `among` rows counted.
    """
    smaller, larger = np.sort(sizes, axis=0)
    # Among duplicates both are 0: the same size.
    ratio = np.divide(smaller, larger, out=np.ones_like(larger), where=larger > 0)
    here = np.max(usual, axis=0) * np.sqrt(ratio)
    deviation = np.sqrt(here * (1.0 - here) / among)
    least: Array = np.minimum(enough * here, here - chance * deviation)
    return least


def trusted_first(
    near: Ints, shares: Array, least: Array
) -> tuple[Ints, NDArray[np.uint16]]:
    """Put the pairs of each row that share enough first; count them."""
    order = np.argsort(shares < least, axis=1, kind="stable")
    count = (shares >= least).sum(axis=1).astype(np.uint16)
    return np.take_along_axis(near, order, axis=1), count


def mid_near(Z: Array, slots: int, key: int) -> Ints:
    """For each slot draw six points that are not mid-near yet; keep the second."""
    n = len(Z)
    out = np.empty((n, slots), dtype=np.int32)
    for i in range(n):
        stream = Stream(key, MID_NEAR, 0, i)
        for s in range(slots):
            taken = {i, *out[i, :s].tolist()}
            drawn: list[int] = []
            while len(drawn) < min(MID_NEAR_DRAWS, n - 1 - s):
                j = stream.below(n)
                if j not in taken:
                    taken.add(j)
                    drawn.append(j)
            distances = ((Z[drawn] - Z[i]).astype(np.float64) ** 2).sum(axis=1)
            out[i, s] = drawn[np.argsort(distances, kind="stable")[1]]
    return out


def further(near: Ints, slots: int, key: int) -> Ints:
    """Distinct random points, neither the point itself nor one of its near pairs."""
    n = len(near)
    out = np.empty((n, slots), dtype=np.int32)
    for i in range(n):
        stream = Stream(key, FURTHER, 0, i)
        taken = {i, *near[i].tolist()}
        for s in range(slots):
            j = stream.below(n)
            while j in taken:
                j = stream.below(n)
            taken.add(j)
            out[i, s] = j
    return out


def shuffled(n: int, key: int, iteration: int, which: int = 0) -> list[int]:
    """Return numbers in a random order: a Feistel network on as many bits as n needs.

    Numbers beyond n are permuted again. `which` tells orders of one iteration apart.
    """
    bits = max(2, (n - 1).bit_length())
    low_bits = bits // 2
    low_mask, high_mask = (1 << low_bits) - 1, (1 << (bits - low_bits)) - 1
    keys = [
        Stream(key, DEAL, iteration, which * ROUNDS + round_).bits64()
        for round_ in range(ROUNDS)
    ]

    def row(number: int) -> int:
        low, high = number & low_mask, number >> low_bits
        for even, odd in zip(keys[::2], keys[1::2], strict=True):
            high ^= (_mix(even ^ low) >> 32) & high_mask
            low ^= (_mix(odd ^ high) >> 32) & low_mask
        number = high << low_bits | low
        return number if number < n else row(number)

    return [row(place) for place in range(n)]


def rings(n: int, slots: int, key: int, iteration: int) -> list[list[list[int]]]:
    """Return the circles of each ring, of which each has one in a lane.

    Runs of rows are dealt to rings at random, and the rows of a ring to its circles.
    """
    least = max(CIRCLE, CHOICE * slots)
    count, lanes = max(1, n // (LANES * least)), min(LANES, max(1, n // least))
    runs = n // TOGETHER
    order = shuffled(runs, key, iteration, count) if runs else []
    found = []
    for r in range(count):
        some = sorted(order[r * runs // count : (r + 1) * runs // count])
        rows = [TOGETHER * run + i for run in some for i in range(TOGETHER)]
        if r == count - 1:
            rows += range(runs * TOGETHER, n)
        size = len(rows)
        mixed = [rows[place] for place in shuffled(size, key, iteration, r)]
        ends = [lane * size // lanes for lane in range(lanes + 1)]
        found.append([mixed[a:b] for a, b in itertools.pairwise(ends)])
    return found


def dealt(
    Y: NDArray[np.float32],
    near: Ints,
    slots: int,
    reach: float,
    key: int,
    iteration: int,
) -> list[list[int]]:
    """Further pairs by dealing: the next ones of a point's circle that will do.

    Rows are dealt at random into circles. Of those that follow it in its circle, a
    point takes the first that lie within `reach` and are no near pairs, of either
    point; where there are too few, the first of the others make up for them.
    """
    n = len(Y)
    partners: list[list[int]] = [[] for _ in range(n)]
    lists = [set(row.tolist()) for row in near]
    for circle in itertools.chain.from_iterable(rings(n, slots, key, iteration)):
        for p, i in enumerate(circle):
            others = circle[p + 1 :] + circle[:p]
            free = [j for j in others if j not in lists[i] and i not in lists[j]]
            local = [_within(Y, i, j, np.float32(reach)) for j in free]
            first = [j for j, is_local in zip(free, local, strict=True) if is_local]
            last = [j for j, is_local in zip(free, local, strict=True) if not is_local]
            partners[i] = (first + last)[:slots]
    return partners


def local_slots(locality: float, slots: int, key: int, row: int) -> int:
    """How many of a point's further pairs are local; `locality * slots` on average."""
    return int(locality * slots + Stream(key, LOCALITY, 0, row).unit())


def _grid_side(n: int, axes: int) -> int:
    side = 8
    while (2 * side) ** axes <= n:
        side *= 2
    return side


def local_further(
    Y: NDArray[np.float32],
    near: Ints,
    further: Ints,
    reach: float,
    locality: float,
    key: int,
    iteration: int,
) -> Ints:
    """Redraw the local slots among the points within `reach` in the map.

    Candidates are the points of the cells around a point, on a grid half as wide as
    `reach` over the first three axes, wrapped around. Up to eight tries a slot draw
    from them; after that, or when they are few, the valid ones are shuffled.
    Slots for which no valid point is left keep the partner they have.
    """
    n, dim = Y.shape
    limit = np.float32(reach)
    axes = min(dim, 3)
    side = _grid_side(n, axes)
    cells = np.floor(Y[:, :axes].astype(np.float64) / (float(limit) * 1.000001 / 2))
    cells = (cells % side).astype(np.int64)
    members: dict[tuple[int, ...], list[int]] = {}
    for i, cell in enumerate(cells):
        members.setdefault(tuple(cell.tolist()), []).append(i)

    out = further.copy()
    slots = further.shape[1]
    for i in range(n):
        wanted = local_slots(locality, slots, key, i)
        stream = Stream(key, LOCAL_FURTHER, iteration, i)
        taken = {i, *near[i].tolist()}
        candidates: list[int] = []
        for offset in itertools.product((-2, -1, 0, 1, 2), repeat=axes):
            cell = tuple((c + o) % side for c, o in zip(cells[i], offset, strict=True))
            candidates += members.get(cell, [])
        found = 0
        tries = TRIES_PER_SLOT * wanted
        if len(candidates) > tries:
            for _ in range(-(-tries // DRAWS) * DRAWS):
                if found == wanted:
                    break
                j = candidates[stream.below(len(candidates))]
                if j not in taken and _within(Y, i, j, limit):
                    taken.add(j)
                    out[i, found] = j
                    found += 1
        if found == wanted:
            continue
        listed = [j for j in candidates if j not in taken and _within(Y, i, j, limit)]
        stream = Stream(key, LOCAL_LISTED, iteration, i)
        for s in range(min(len(listed), wanted - found)):
            other = s + stream.below(len(listed) - s)
            listed[s], listed[other] = listed[other], listed[s]
            out[i, found] = listed[s]
            found += 1
    return out


def _within(Y: NDArray[np.float32], i: int, j: int, limit: np.float32) -> bool:
    squared = np.float32(0.0)
    for a in range(Y.shape[1]):
        squared += (Y[i, a] - Y[j, a]) ** 2
    return bool(squared <= limit * limit)
