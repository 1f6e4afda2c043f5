"""How well the surroundings of each point are those of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from localmap.estimators.base import MapEstimator
from localmap.geometry import brute_force
from localmap.geometry.distances import METRICS
from localmap.geometry.rows import RowSpace
from localmap.metrics.validation import nearest, sampled
from localmap.trust.edges import ground_of_model
from localmap.trust.ground import Ground
from localmap.trust.pairs import pairs_of

# Neighbours by which surroundings are compared, as in `localmap.metrics`.
NEIGHBORS: Final = 10
AMONG: Final = 30

# Rows compared at a time with the sample by which ranks are told.
BLOCK: Final = 2048

# Distances that differ by the rounding of centred float32 rows are the same.
ROUNDED: Final = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class Points:
    """Numbers a point, each from 0 to 1, 1 the best; see `points`."""

    trustworthiness: NDArray[np.float64]
    continuity: NDArray[np.float64]
    kept: NDArray[np.float64]
    edges: NDArray[np.float64]
    agreement: NDArray[np.float64] | None

    @property
    def trust(self) -> NDArray[np.float64]:
        """The mean of what is known of each point."""
        known = [self.trustworthiness, self.continuity, self.kept, self.edges]
        known += [] if self.agreement is None else [self.agreement]
        mean: NDArray[np.float64] = np.mean(known, axis=0)
        return mean


def points(model: MapEstimator, *, maps: Sequence[ArrayLike] = ()) -> Points:
    """Tell of each point how well its surroundings in the map are those of the data.

    Parameters
    ----------
    model : LocalMAP or PaCMAP
        A fitted model, also one that was loaded.
    maps : sequence of array-like of shape (n_samples, n_components), default=()
        Maps of the same rows by other seeds, as ``trust.groups(...).maps``.

    Returns
    -------
    points : Points
        Of each point, from 0 to 1: ``trustworthiness`` and ``continuity``, its own
        share of Venna and Kaski's measures (of more than 2,000 rows ranks are told
        among 2,000 of them); ``kept``, the share of its near pairs that are among its
        30 nearest points; ``edges``, the mean trust in its near pairs; with `maps` also
        ``agreement``, the share of its 30 nearest points that are the same in another
        map. ``trust`` is the mean of these.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP, trust
    >>> model = LocalMAP(random_state=0).fit(load_digits().data)
    >>> trust.points(model).trust.shape
    (1797,)
    """
    ground = ground_of_model(model)
    Y = np.asarray(model.embedding_, dtype=np.float64)
    n = len(Y)
    shown = nearest(Y, min(AMONG, n - 1))
    pairs = pairs_of(ground)
    k = min(NEIGHBORS, (n - 1) // 2)
    true = ground.by_row(ground.rows(ground.graph.indices[:, :k]))
    others = [nearest(_checked(other, n), shown.shape[1]) for other in maps]
    return Points(
        trustworthiness=_own_share(_Rows(ground), shown[:, :k]),
        continuity=_own_share(_Plane(Y), true),
        kept=_share_in(pairs.near, shown),
        edges=pairs.trust.mean(axis=1),
        agreement=(
            np.mean([_share_in(shown, other) for other in others], axis=0)
            if others
            else None
        ),
    )


def _checked(Y: ArrayLike, n: int) -> NDArray[np.float64]:
    other = np.asarray(Y, dtype=np.float64)
    if other.ndim != 2 or len(other) != n:
        msg = f"maps must be of the {n} training rows; got shape {other.shape}."
        raise ValueError(msg)
    return other


def _share_in(wanted: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of each row's `wanted` that are among its `found`."""
    hits = np.zeros(len(wanted))
    for slot in range(wanted.shape[1]):
        hits += (found == wanted[:, slot, None]).any(axis=1)
    return np.asarray(hits / wanted.shape[1])


class _Plane:
    """Distances in the map."""

    def __init__(self, Y: NDArray[np.float64]) -> None:
        self.rows = Y

    def to_all(self, rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """Return distances of some rows to some others, all to all."""
        return np.asarray(cdist(self.rows[rows], self.rows[others]))

    def to_own(self, rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """Return distances of rows to those that `others` names for each."""
        apart = self.rows[rows][:, None, :] - self.rows[others]
        return np.asarray(np.linalg.norm(apart, axis=2))


class _Rows(_Plane):
    """Distances in the data, by row."""

    def __init__(self, ground: Ground) -> None:
        space = ground.problem.space
        if not isinstance(space, RowSpace):  # a model has no other
            msg = f"distances of a {type(space).__name__} are not known."
            raise TypeError(msg)
        Z = ground.by_row(space.Z)
        super().__init__(Z if METRICS[space.metric].binary else Z.astype(np.float64))
        self.metric = space.metric

    def to_all(self, rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """Return distances of some rows to some others, by the metric."""
        between = METRICS[self.metric].between
        if between is None:  # a Euclidean one
            return super().to_all(rows, others)
        return np.asarray(between(self.rows[rows], self.rows[others]))

    def to_own(self, rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
        """Return distances of rows to those that `others` names for each."""
        if METRICS[self.metric].paired is None:
            return super().to_own(rows, others)
        own = self.rows[rows]
        away = [
            brute_force.row_by_row(own, self.rows[other], self.metric)
            for other in others.T
        ]
        return np.column_stack(away)


def _own_share(space: _Plane, found: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 minus how far, in ranks of a space, the rows found are too far."""
    n, k = found.shape
    sample = sampled(n, 0)
    share = np.empty(n)
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(n, start + BLOCK))
        away = space.to_own(rows, found[rows]) * ROUNDED
        there = space.to_all(rows, sample)
        there[sample == rows[:, None]] = np.inf  # a row is not its own neighbour
        there.sort(axis=1)
        closer = [np.searchsorted(t, a) for t, a in zip(there, away, strict=True)]
        rank = 1.0 + np.array(closer) * (n / len(sample))
        share[rows] = np.maximum(rank - k, 0.0).sum(axis=1)
    return np.asarray(1.0 - 2.0 * share / (k * (2 * n - 3 * k - 1)))
