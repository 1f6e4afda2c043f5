"""How the graph is adjusted in the last phase: the rule, and what it trusts.

A `Rule` is made once from the parameters and used by fit and transform alike. What the
paper fixes at 10 is measured where ``proximal_distance="auto"``.

The paper's constant plays three parts; each gets a rule of its own.

**Which near pairs may lose their pull.** LocalMAP stops trusting a near pair that has
become long. That separates groups; it also tears whatever is stretched, and where most
pairs may be torn, it tears one homogeneous cloud to pieces, at another place for each
seed. Length alone cannot tell a gap from a tear, but the data can: rows of one group
have more of their nearest rows in common than false neighbours have.

How much is "more" depends on the place. Of 8,000 near rows of a flat sheet have four
fifths of their sixty nearest rows in common, those of a five-dimensional cube one half,
those of noise of fifty dimensions one seventh: so no constant will do, and each pair is
compared with what is usual around it.

- *What a pair shares* is the share of their sixty nearest rows that its two rows have
  in common, averaged with that of the near pairs around it (from the partners of one to
  the partners of the other). Across a gap all pairs share little, elsewhere only some
  do, by chance: the mean tells the two apart.
- *What is usual* for a row is the mean over all near pairs of the sixty rows around it,
  or of its own if that is more: a row between two groups is measured by the rows inside
  them. Of the two rows of a pair the larger counts. Rows whose surroundings differ in
  size have fewer in common for that reason alone, as in heavy tails: what is usual is
  multiplied by the square root of the ratio of their distances to the sixtieth row. (By
  nothing, tails of 1,000 rows tear off; by the ratio itself, dense groups hide.)
- A pair is *trusted*, and keeps PaCMAP's force, if it shares nine tenths of what is
  usual, or as much less as chance explains: half a standard deviation of a count.
  That matters where little is shared at all, in noise of many dimensions. In one cloud
  all but a few per cent (a sheet) to a quarter (fifty dimensions) of the pairs are
  trusted; the others lie anywhere in it, and no cut runs through them alone.

**Strength.** Pairs that are not trusted are pulled by ``strength / sqrt(t)`` times
PaCMAP's force. The strength is chosen so that the strongest pull of a pair, at whatever
length it occurs, is PaCMAP's: short pairs reach it sooner, long ones lose it.

**Reach.** Further pairs are redrawn within the distance that six tenths of all pairs of
points are below: the nearer part of the map. It follows the map as it grows. A shorter
reach concentrates the repulsion on a point's own group, the more so the fewer points
there are, and breaks groups to pieces; a longer one drives groups apart that are apart
already, which lifts the silhouette and loses neighbours. Pairs from most of the map do
not go stale as points move: they are redrawn every 50 iterations, not every 10.

Where this fails: groups that touch stay together, as in PaCMAP, also where labels say
that they are two; groups of fewer than about sixty rows have too few neighbours to
count, and of data of as few rows all pairs are trusted. Rows far from all others, whose
surroundings are many times larger than theirs, keep their pairs whatever these share,
as do pairs to a heap of duplicates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.neighbors import KNNGraph

# Nearest rows in which common ones are counted, and over which the usual is averaged.
AMONG: Final = 60

# Share of what is usual from which a pair is trusted; standard deviations of a count
# below the usual that make no difference.
ENOUGH: Final = 0.9
CHANCE: Final = 0.5

# PaCMAP's pull, d / (11 + d^2)^2, is strongest at d^2 = 11 / 3. Divided by
# sqrt(1 + d^2) it is so where 4 u^2 + 3 u = 11, with u = d^2.
_LONG: Final = 11.0 / 3.0
_SHORT: Final = (math.sqrt(185.0) - 3.0) / 8.0
STRENGTH: Final = (
    math.sqrt(_LONG / _SHORT)
    * math.sqrt(1.0 + _SHORT)
    * ((11.0 + _SHORT) / (11.0 + _LONG)) ** 2
)

# Iterations from one redraw of the further pairs to the next: the paper's, and with a
# reach that is measured.
PAPER_REDRAWS: Final = 10
REDRAWS: Final = 50

# Share of pairs of points that are closer than the reach, and pairs it is measured on.
WITHIN: Final = 0.6
MEASURED_ON: Final = 20_000

# Maps of one crowded ball are only a few units wide: there the reach is the whole map.
LEAST_REACH: Final = 20.0


@dataclass(frozen=True)
class Rule:
    """What the last phase does to the graph of pairs."""

    locality: float = 0.0  # 0 is PaCMAP, 1 is LocalMAP
    reach: float | None = None  # of local further pairs; None: measured on the map
    strength: float | None = None  # of near pairs; None: they keep PaCMAP's force
    redraw_every: int | None = None  # iterations; None: further pairs stay
    trust: bool = False  # near pairs that share enough keep PaCMAP's force

    @property
    def from_anywhere(self) -> bool:
        """Whether further pairs come from all, or most, of the map."""
        return self.locality in {0.0, 1.0} and (
            self.locality == 0 or self.reach is None
        )

    def reach_in(self, Y: kernels.Floats, key: int) -> float:
        """Return the reach of the local further pairs in a map."""
        return measured_reach(Y, key) if self.reach is None else self.reach


def rule_of(
    proximal_distance: float | Literal["auto"],
    near_strength: float | None,
    locality: float,
) -> Rule:
    """Return the rule that the parameters ask for."""
    auto = proximal_distance == "auto"
    if near_strength is None:
        # Half the distance, as in the paper.
        near_strength = STRENGTH if auto else float(proximal_distance) / 2.0
    return Rule(
        locality=locality,
        reach=None if auto else float(proximal_distance),
        strength=near_strength,
        redraw_every=REDRAWS if auto else PAPER_REDRAWS,
        trust=auto and locality > 0,
    )


class Trust(NamedTuple):
    """What trust is measured by: two numbers a row, and of how many neighbours."""

    among: int
    usual: kernels.Floats  # what near pairs share around a row
    sizes: kernels.Floats  # distance of a row to the last of its neighbours


def trusted_first(
    graph: KNNGraph, near: kernels.Ints, n_threads: int = 1
) -> tuple[kernels.Ints, NDArray[np.uint16], Trust]:
    """Put the trusted pairs of each row first; tell how many they are, and by what."""
    among = min(AMONG, graph.indices.shape[1])
    counts = kernels.shared_neighbors(graph.indices, among, near, n_threads)
    shares = kernels.mean_shares(near, counts, n_threads)
    del counts
    shares /= among
    usual = usual_share(graph.indices, among, shares, n_threads)
    sizes = graph.distances[:, among - 1].astype(np.float64)
    ordered, count = kernels.trusted_first(
        near,
        shares,
        _trusting(among),
        kernels.Around(usual, sizes),
        n_threads=n_threads,
    )
    kept = Trust(among, usual.astype(np.float32), sizes.astype(np.float32))
    return ordered, count, kept


def trusted_of_new(
    trust: Trust,
    found: kernels.Ints,
    distances: kernels.Floats,
    near: kernels.Ints,
    counts: NDArray[np.uint8],
    n_threads: int = 1,
) -> tuple[kernels.Ints, NDArray[np.uint16]]:
    """Do the same for rows that are placed in a finished map.

    `found` are their nearest training rows, `counts` tells how many of these each of
    their near pairs has among its own. What a new row's pairs share is not averaged
    with pairs around them: it has none.
    """
    among = trust.among
    shares = counts.astype(np.float32) / np.float32(among)
    around = kernels.means(trust.usual, found, among, n_threads)
    usual = np.maximum(around, shares.mean(axis=1, dtype=np.float64))
    sizes = distances[:, among - 1].astype(np.float64)
    return kernels.trusted_first(
        near,
        shares,
        _trusting(among),
        kernels.Around(usual, sizes),
        kernels.Around(trust.usual, trust.sizes),
        n_threads,
    )


def _trusting(among: int) -> kernels.Trusting:
    return kernels.Trusting(ENOUGH, CHANCE, among)


def usual_share(
    indices: kernels.Ints, among: int, shares: kernels.Floats, n_threads: int = 1
) -> NDArray[np.float64]:
    """Return what near pairs share around each row, or its own if that is more."""
    own = shares.mean(axis=1, dtype=np.float64)
    usual: NDArray[np.float64] = np.maximum(
        kernels.means(own, indices, among, n_threads), own
    )
    return usual


def measured_reach(Y: kernels.Floats, key: int) -> float:
    """Measure the distance that the share `WITHIN` of all pairs of points is below."""
    rng = np.random.default_rng(key)
    n = len(Y)
    one = rng.integers(0, n, MEASURED_ON)
    other = (one + rng.integers(1, n, MEASURED_ON)) % n
    apart = np.linalg.norm(Y[one].astype(np.float64) - Y[other], axis=1)
    return max(LEAST_REACH, float(np.quantile(apart, WITHIN)))
