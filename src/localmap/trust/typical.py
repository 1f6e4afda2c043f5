"""Of several seeds, the map most like the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.estimators.base import MapEstimator
from localmap.kernels import Floats
from localmap.trust.ground import ground_of
from localmap.trust.runs import check_runs, seeds


@dataclass(frozen=True, eq=False)
class Typical:
    """The map most like the others, and how far all are from each other."""

    Y: Floats
    seed: int  # random_state of that map
    chosen: int  # its place among the maps
    maps: tuple[Floats, ...]
    distances: NDArray[np.float64]  # between each two maps, 0 to 1


class Choice(NamedTuple):
    """Which map is most like the others, and how far all are from each other."""

    chosen: int
    distances: NDArray[np.float64]


def typical(
    data: Any, *, runs: int = 10, estimator: MapEstimator | None = None
) -> Typical:
    """Lay the same graph out with several seeds; return the map most like the others.

    On small noisy data the arrangement of groups depends on the seed. The typical map
    is the one whose mean Procrustes distance to the others is least. It costs one
    layout a run: neighbours and near pairs are found once.

    Parameters
    ----------
    data : array-like, table, sparse matrix or fitted LocalMAP or PaCMAP
        The data, or a model of it, whose own map is then the first.
    runs : int, default=10
        Number of maps, at least 2.
    estimator : LocalMAP, PaCMAP or None, default=None
        The parameters of the maps, for data; None is ``LocalMAP(random_state=0)``.

    Returns
    -------
    typical : Typical
        ``Y`` is the map, ``seed`` the ``random_state`` with which a fit makes it,
        ``distances`` are those of all maps: what aligning two of them by Procrustes
        leaves of the squared extent, 0 to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP, trust
    >>> X = load_digits().data[:500]
    >>> found = trust.typical(X, runs=3)
    >>> Y = LocalMAP(random_state=found.seed).fit_transform(X)
    >>> bool((Y == found.Y).all())
    True
    """
    ground = ground_of(data, estimator)
    check_runs(runs, 0, len(ground))
    laid = list(seeds(ground, runs))
    maps = tuple(run.Y for run in laid)
    chosen, distances = most_typical(maps)
    return Typical(maps[chosen], laid[chosen].seed, chosen, maps, distances)


def most_typical(maps: Sequence[ArrayLike]) -> Choice:
    """Choose the map whose mean distance to the others is least."""
    ready = [_unit(Y) for Y in maps]
    distances = np.zeros((len(ready), len(ready)))
    for one in range(len(ready)):
        for other in range(one):
            away = _apart(ready[one], ready[other])
            distances[one, other] = distances[other, one] = away
    return Choice(int(distances.sum(axis=1).argmin()), distances)


def _unit(Y: ArrayLike) -> NDArray[np.float64]:
    """Return a map around 0, of extent 1: the place and size of a map mean nothing."""
    points = np.asarray(Y, dtype=np.float64)
    points = points - points.mean(axis=0)
    return np.asarray(points / max(np.linalg.norm(points), np.finfo(float).tiny))


def _apart(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return what is left of the extent once one map lies best on the other."""
    alike = np.linalg.svd(one.T @ other, compute_uv=False).sum()
    return float(max(0.0, 1.0 - alike**2))
