"""How far each near pair is to be trusted, by the data alone.

Three things are asked of a pair, each answered by a number from 0 to 1:

- what its two rows have in common of their sixty nearest rows, averaged with the near
  pairs around it, as `localmap.method.adjust` counts it;
- the cosine of two random walks of 2 steps that start at its rows, on the graph of
  near pairs: are they of one neighbourhood?
- the same of 32 steps: are they of one group?

What each lacks to 1 is a doubt. Doubts are averaged by a power mean of one quarter,
between their product's root (power 0), in which one good answer hides two bad ones, and
their mean (power 1), in which a walk that almost all pairs pass counts for nothing;
powers from 0.15 to 0.5 do about as well. Trust is 1 minus twice the square of the
doubt: with that, of pairs told to be trusted at about .9 nine in ten or more are within
a class on digits, USPS, MNIST and Kang's cells, but only two in three on COIL20.

The signals, the power and the square were chosen on the seven labelled sets of
docs/results/trust.md, from some fifty combinations; sets that had no part in it are
marked there.

What was tried and left out: the length of a pair in the map, which adds nothing that
the walks do not know and costs .03 of the area under the ROC curve; distance and scaled
distance, which tell nothing of cells and of texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from localmap import kernels
from localmap.method.adjust import AMONG
from localmap.trust.ground import Ground
from localmap.trust.walks import walk_cosines

# Steps of the walks that ask for one neighbourhood, and for one group.
SHORT: Final = 2
LONG: Final = 32

# Power of the mean of the doubts.
POWER: Final = 0.25

# Doubts below this are rounding.
LEAST_DOUBT: Final = 1e-4


@dataclass(frozen=True, eq=False)
class Pairs:
    """Near pairs by row, -1 for none, and how far each of them is trusted."""

    near: NDArray[np.int64]
    trust: NDArray[np.float64]
    shared: NDArray[np.float64]
    sizes: NDArray[np.float64]  # of each row: its distance to its sixtieth neighbour

    def among(self, rows: NDArray[np.int64] | None) -> Pairs:
        """Return the pairs of which both rows are among `rows`, numbered anew."""
        if rows is None:
            return self
        new = np.full(len(self.near) + 1, -1, dtype=np.int64)
        new[rows] = np.arange(len(rows))
        own = (self.trust[rows], self.shared[rows], self.sizes[rows])
        return Pairs(new[self.near[rows]], *own)


def pairs_of(ground: Ground) -> Pairs:
    """Return the near pairs of the ground, by row, with their trust."""
    near = ground.near
    n_threads = ground.params.n_threads
    among = min(AMONG, ground.graph.indices.shape[1])
    counts = kernels.shared_neighbors(ground.graph.indices, among, near, n_threads)
    shared = kernels.mean_shares(near, counts, n_threads).astype(np.float64) / among
    cosines = walk_cosines(pair_graph(near), near, (SHORT, LONG), n_threads)
    trust = trust_of(shared, cosines[SHORT], cosines[LONG])
    by_row = ground.by_row
    return Pairs(
        near=by_row(ground.rows(near).astype(np.int64)),
        trust=by_row(trust),
        shared=by_row(shared),
        sizes=by_row(ground.graph.distances[:, among - 1].astype(np.float64)),
    )


def trust_of(*answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the trust in pairs, of several answers from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> trust_of(np.array([1.0, 0.5, 0.0])).round(2)
    array([1. , 0.5, 0. ])
    """
    mean = sum(np.clip(1.0 - a, LEAST_DOUBT, 1.0) ** POWER for a in answers)
    doubt = (mean / len(answers)) ** (1.0 / POWER)
    trust: NDArray[np.float64] = np.clip(1.0 - 2.0 * doubt**2, 0.0, 1.0)
    return trust


def pair_graph(near: NDArray[Any]) -> csr_array:
    """Return near pairs as a symmetric graph: 1, or 2 where both chose the other."""
    n, k = near.shape
    rows = np.repeat(np.arange(n, dtype=np.int32), k)
    data = np.ones(n * k, dtype=np.float32)
    one_way = coo_array((data, (rows, near.ravel())), shape=(n, n)).tocsr()
    return csr_array(one_way + one_way.T)
