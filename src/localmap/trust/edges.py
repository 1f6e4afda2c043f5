"""How far each near pair of a fit is to be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from localmap.estimators.base import MapEstimator
from localmap.trust.ground import Ground, ground_of
from localmap.trust.pairs import Pairs, pairs_of


class Edge(NamedTuple):
    """A near pair and what is known of it."""

    row: int
    other: int
    trust: float
    shared: float  # of their sixty nearest rows, averaged with the pairs around
    length: float  # in the map, in units of the median near pair


@dataclass(frozen=True, eq=False)
class Edges:
    """The near pairs of a fit; see `edges`."""

    trust: csr_array
    near: NDArray[np.int64]  # partners of each row
    values: NDArray[np.float64]  # trust in each of them
    shared: NDArray[np.float64]
    lengths: NDArray[np.float64]

    def worst(self, n: int = 20) -> list[Edge]:
        """Return the pairs trusted least, of equal ones the longer first."""
        if n < 1:
            msg = f"n must be at least 1; got {n}."
            raise ValueError(msg)
        slots = self.near.shape[1]
        order = np.lexsort((-self.lengths.ravel(), self.values.ravel()))
        chosen, seen = [], set()
        for place in order:
            row, slot = divmod(int(place), slots)
            other = int(self.near[row, slot])
            pair = (min(row, other), max(row, other))
            if pair in seen:  # both chose each other
                continue
            seen.add(pair)
            at = (row, slot)
            numbers = (self.values[at], self.shared[at], self.lengths[at])
            chosen.append(Edge(row, other, *map(float, numbers)))
            if len(chosen) == n:
                break
        return chosen


def edges(model: MapEstimator, *, maps: Sequence[ArrayLike] = ()) -> Edges:
    """Tell how far each near pair of a fit is to be trusted, from 0 to 1.

    Trust asks the data, not the map: what two rows have in common of their nearest
    rows, and how alike random walks are that start at them (`localmap.trust.pairs` has
    the rule and its reasons). It needs no labels. Of pairs trusted at about .9, nine in
    ten or more were within one class on four of five sets of separable classes.

    Parameters
    ----------
    model : LocalMAP or PaCMAP
        A fitted model, also one that was loaded. Its near pairs are found again from
        the rows that it keeps; one of given distances keeps none.
    maps : sequence of array-like of shape (n_samples, n_components), default=()
        Other maps of the same rows, as ``trust.groups(...).maps``: lengths are then
        means over all of them.

    Returns
    -------
    edges : Edges
        ``trust`` is a sparse matrix of shape (n_samples, n_samples): row i holds the
        trust in the near pairs of training row i. ``worst(n)`` lists the pairs that are
        trusted least, with what they share and their length in the map.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP, trust
    >>> model = LocalMAP(random_state=0).fit(load_digits().data)
    >>> found = trust.edges(model)
    >>> found.trust.shape, found.trust.nnz
    ((1797, 1797), 17970)
    >>> [round(edge.trust, 2) for edge in found.worst(2)]
    [0.0, 0.0]
    """
    ground = ground_of_model(model)
    return edges_of(pairs_of(ground), [ground.Y, *maps])


def ground_of_model(model: Any) -> Ground:
    """Return what is judged of a fitted model, and of nothing else."""
    if not isinstance(model, MapEstimator):
        msg = (
            "A fitted LocalMAP or PaCMAP is needed, as its own map is looked at; got "
            f"{type(model).__name__}. Fit one: LocalMAP().fit(X)."
        )
        raise TypeError(msg)
    return ground_of(model)


def edges_of(pairs: Pairs, maps: Sequence[Any]) -> Edges:
    """Return near pairs with their lengths in maps."""
    n, k = pairs.near.shape
    lengths = np.mean([_lengths(Y, pairs.near) for Y in maps], axis=0)
    starts = np.arange(0, n * k + 1, k)
    trust = csr_array((pairs.trust.ravel(), pairs.near.ravel(), starts), shape=(n, n))
    return Edges(trust, pairs.near, pairs.trust, pairs.shared, lengths)


def _lengths(Y: Any, near: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return lengths of pairs in a map, in units of their median."""
    points = np.asarray(Y, dtype=np.float64)
    if len(points) != len(near):
        msg = f"maps must be of the {len(near)} training rows; got {len(points)}."
        raise ValueError(msg)
    length = np.empty(near.shape)
    for slot in range(near.shape[1]):
        length[:, slot] = np.linalg.norm(points - points[near[:, slot]], axis=1)
    return length / max(float(np.median(length)), np.finfo(np.float64).tiny)
