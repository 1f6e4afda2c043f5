"""New rows in a finished map.

A new row goes through the stages of a fit by itself: it is preprocessed like the
training rows, finds its nearest among them, keeps the near pairs by scaled distance,
starts among them and moves under the forces of the last phase, while the map stays. So
its place depends on that row and the map alone, not on the batch it comes in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.cells import by_row
from localmap.geometry.precomputed import DistancesOnly
from localmap.geometry.rows import RowSpace
from localmap.method.adjust import Rule, Trust, trusted_of_new
from localmap.method.pairs import scales

# A point that starts among its neighbours has come to rest by then.
N_ITERS: Final = 50

# Rows closer to a training row than this share of its scale are that row.
SAME: Final = 1e-5

# Share of the training rows that are no farther than is usual.
USUAL: Final = 0.95

# Rows placed at once.
ROWS: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class FittedMap:
    """A map and all that is needed to place new rows in it.

    All in the order of the space, which may be another than that of the data.
    """

    space: RowSpace | DistancesOnly
    scales: NDArray[np.float64]
    Y: kernels.Floats
    n_neighbors: int
    n_candidates: int  # nearest rows of which near pairs are chosen
    n_further: int
    weights: kernels.Weights
    rule: Rule
    trust: Trust | None  # where the rule trusts pairs
    reach: float  # of the local further pairs at the end of the fit
    far: float  # distance, as `place` tells it, of all but 5 % of the training rows
    learning_rate: float
    key: int

    @property
    def by_row(self) -> kernels.Floats:
        """The map in the order of the data."""
        order = self.space.order if isinstance(self.space, RowSpace) else None
        return by_row(order, self.Y)


def usual_distance(
    scales: NDArray[np.float64], near: kernels.Ints, n_threads: int = 1
) -> float:
    """Return the distance, as `place` tells it, that 95 % of these rows are below."""
    return float(np.quantile(scaled_away(scales, near, scales, n_threads), USUAL))


def scaled_away(
    own: NDArray[np.float64],
    near: kernels.Ints,
    scales: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]:
    """Return the scale of each row in units of those of its near pairs."""
    return own / kernels.means(scales, near, near.shape[1], n_threads)


def place(
    fitted: FittedMap, X: Any, n_threads: int = 1
) -> tuple[kernels.Floats, kernels.Floats]:
    """Return the place of each row of X and how far it is from rows seen in training.

    That distance is the row's own scale (its mean distance to its 4th to 6th nearest
    training row) in units of the scales of its near pairs: about 1 for rows like those
    seen, many times that for rows unlike any.
    """
    Y = np.empty((X.shape[0], fitted.Y.shape[1]), dtype=np.float32)
    away = np.empty(X.shape[0], dtype=np.float32)
    for start in range(0, X.shape[0], ROWS):
        rows = slice(start, start + ROWS)
        Y[rows], away[rows] = _place_rows(fitted, X[rows], n_threads)
    return Y, away


def _place_rows(
    fitted: FittedMap, X: Any, n_threads: int
) -> tuple[kernels.Floats, kernels.Floats]:
    found, distances = fitted.space.neighbors_of(
        X, fitted.n_candidates, n_threads, at=fitted.n_neighbors
    )
    # Side by side those whose neighbours lie side by side, in memory as well.
    order = np.argsort(found[:, 0], kind="stable")
    found, distances = found[order], distances[order]
    own = scales(distances)
    near = kernels.near(
        found, distances, own, fitted.n_neighbors, n_threads, scales=fitted.scales
    )
    away = scaled_away(own, near, fitted.scales, n_threads)
    trusted = None
    if fitted.trust is not None and isinstance(fitted.space, RowSpace):
        among, _, sizes = fitted.trust
        counts = fitted.space.shared_with(found, among, near, sizes, n_threads)
        near, trusted = trusted_of_new(
            fitted.trust, found, distances, near, counts, n_threads
        )
    Y = kernels.relax(
        fitted.Y,
        near,
        kernels.medoids(fitted.Y, near, n_threads),
        fitted.weights,
        trusted=trusted,
        reach=_reach(fitted),
        learning_rate=fitted.learning_rate,
        n_iters=N_ITERS,
        redraw_every=fitted.rule.redraw_every or N_ITERS,
        slots=fitted.n_further,
        key=fitted.key,
        n_threads=n_threads,
    )
    known = _known(fitted, found[:, 0], distances[:, 0])
    Y[known] = fitted.Y[found[known, 0]]
    ordered = order.astype(np.int32)
    return by_row(ordered, Y), by_row(ordered, away.astype(np.float32))


def _known(
    fitted: FittedMap, nearest: kernels.Ints, distances: kernels.Floats
) -> NDArray[np.int64]:
    """Return which new rows are training rows, those nearest to them."""
    same = SAME * fitted.scales[nearest]
    may_be = np.maximum(same, fitted.space.most_rounding)
    close = np.flatnonzero(distances <= may_be)
    same = np.maximum(same[close], fitted.space.rounding(nearest[close]))
    return close[distances[close] <= same]


def _reach(fitted: FittedMap) -> float:
    """Return how far further pairs of a placed row may lie; PaCMAP's lie anywhere."""
    if fitted.rule.locality > 0:
        return fitted.reach
    return float(4.0 * np.abs(fitted.Y).max() + 1.0)
