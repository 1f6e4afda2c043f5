"""The whole method on one screen, in the order of the paper.

`embed` is `prepare` (steps 1 and 2: nothing random) and `lay_out` (steps 3 to 7: all
that depends on the seed). Several seeds or rules on one graph share what `prepare`
made.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.cells import by_row
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.rows import RowSpace
from localmap.geometry.space import Space, space_of
from localmap.geometry.workshop import Workshop
from localmap.method.adjust import Rule, Trust, trusted_first
from localmap.method.optimize import optimize, say
from localmap.method.out_of_sample import FittedMap, usual_distance
from localmap.method.pairs import (
    EXTRA_CANDIDATES,
    PairCounts,
    automatic_neighbors,
    pair_counts,
    scales,
)
from localmap.method.parameters import Parameters
from localmap.method.schedule import schedule
from localmap.method.start import initialize


@dataclass(eq=False)
class Problem:
    """What is laid out: rows in their space, their near pairs, and whom to trust.

    All of it is in the order of the space (`Space.order`); a `Layout` is in that of the
    data.
    """

    space: Space
    counts: PairCounts
    near: kernels.Ints | None  # trusted ones first; None once they were given away
    trusted: NDArray[np.uint16] | None  # how many
    trust: Trust | None  # and by what
    scales: NDArray[np.float64]
    far: float  # what `usual_distance` says of the rows
    n_candidates: int
    recall: float

    @property
    def order(self) -> kernels.Ints | None:
        """The row of the data at each place, where rows do not stand as they came."""
        return self.space.order

    def by_row(self, placed: kernels.Floats) -> kernels.Floats:
        """Return what stands in the order of the space in that of the data."""
        return by_row(self.order, placed)

    def take_near(self, *, keep: bool) -> kernels.Ints:
        """Return near pairs to rewrite: a copy, or these, which are then gone."""
        if self.near is None:
            msg = "The near pairs were given away: lay out with keep=True before."
            raise ValueError(msg)
        near = self.near.copy() if keep else self.near
        self.near = self.near if keep else None
        return near


@dataclass(frozen=True, eq=False)
class Layout:
    """A map and how it came about."""

    Y: kernels.Floats  # in the order of the data
    placed: kernels.Floats  # the same in that of the space
    n_iter: int
    weights: kernels.Weights  # of the last phase
    reach: float  # of the local further pairs at the end


@dataclass(frozen=True, eq=False)
class Embedding:
    """A fitted map and how it came about."""

    Y: kernels.Floats
    fitted: FittedMap
    counts: PairCounts
    neighbor_recall: float
    n_iter: int
    seconds: dict[str, float]


def embed(
    X: Any, params: Parameters, key: int, workshop: Workshop | None = None
) -> Embedding:
    """Run LocalMAP on finite numbers `X`; `key` decides all that is random."""
    watch = Stopwatch()
    problem = prepare(X, params, watch, workshop)
    layout = lay_out(problem, params, key, keep=False, watch=watch)
    kept = problem.space.kept
    fitted = FittedMap(
        kept,
        problem.scales,
        layout.placed,
        n_neighbors=problem.counts.near,
        n_candidates=problem.n_candidates,
        n_further=problem.counts.further,
        weights=layout.weights,
        rule=params.rule,
        # New rows that come as distances have none among each other's neighbours.
        trust=problem.trust if isinstance(kept, RowSpace) else None,
        reach=layout.reach,
        far=problem.far,
        learning_rate=params.learning_rate,
        key=key,
    )
    return Embedding(
        layout.Y, fitted, problem.counts, problem.recall, layout.n_iter, watch.seconds
    )


def prepare(
    X: Any,
    params: Parameters,
    watch: Stopwatch | None = None,
    workshop: Workshop | None = None,
) -> Problem:
    """Find what does not depend on the seed: the space, neighbours and near pairs."""
    watch = watch or Stopwatch()
    workshop = workshop or Workshop(params.n_threads)
    problem = problem_of(*searched(X, params, watch, workshop), params)
    workshop.forget("neighbors", "distances")
    watch.lap("pairs")
    return problem


def searched(
    X: Any, params: Parameters, watch: Stopwatch, workshop: Workshop
) -> tuple[Space, KNNGraph, PairCounts]:
    """Find the space, the neighbours, and how many pairs of each kind there will be."""
    n, n_neighbors = X.shape[0], params.n_neighbors
    if n_neighbors == "auto":
        n_neighbors = automatic_neighbors(n)
    counts = pair_counts(n, n_neighbors, params.mid_near_ratio, params.further_ratio)
    space = space_of(X, params.metric, params.pca_components, params.scale, workshop)
    watch.lap("preprocess")
    k = min(n - 1, counts.near + EXTRA_CANDIDATES)
    graph = space.neighbors(k, workshop, at=counts.near)
    watch.lap("neighbors")
    if params.verbose:
        recall, at, k = graph.recall, counts.near, graph.indices.shape[1]
        how = "exact" if recall == 1 else f"recall@{at} about {recall:.3f}"
        say(f"{n:,} rows, {k} neighbors of each ({how}), {params.n_threads} threads")
    return space, graph, counts


def problem_of(
    space: Space, graph: KNNGraph, counts: PairCounts, params: Parameters
) -> Problem:
    """Choose near pairs among the neighbours, and whom to trust."""
    n_threads = params.n_threads
    own = scales(graph.distances)
    near = kernels.near(graph.indices, graph.distances, own, counts.near, n_threads)
    trusted, trust = None, None
    if params.rule.trust:
        near, trusted, trust = trusted_first(graph, near, n_threads)
    return Problem(
        space=space,
        counts=counts,
        near=near,
        trusted=trusted,
        trust=trust,
        scales=own,
        far=usual_distance(own, near, n_threads),
        n_candidates=graph.indices.shape[1],
        recall=graph.recall,
    )


def lay_out(
    problem: Problem,
    params: Parameters,
    key: int,
    *,
    rule: Rule | None = None,
    keep: bool = True,
    watch: Stopwatch | None = None,
) -> Layout:
    """Draw the other pairs and move the points; by `rule`, or that of `params`.

    Without `keep` the problem cannot be laid out again: its near pairs, 40 bytes a row,
    are not copied.
    """
    watch = watch or Stopwatch()
    rule = rule or params.rule
    counts, space, n_threads = problem.counts, problem.space, params.n_threads
    near = problem.take_near(keep=keep)
    # Dealt, unless they are to lie within a short reach, or only some of them.
    further: kernels.Ints | kernels.Circles
    if rule.from_anywhere:
        further = kernels.Circles(len(near), counts.further)
    else:
        further = kernels.further(near, counts.further, key, n_threads)
    descent = kernels.Descent(
        initialize(space, params.init, params.n_components, key, n_threads),
        near,
        space.mid_near(counts.mid_near, key, n_threads),
        further,
        params.learning_rate,
        n_threads,
        trusted=problem.trusted if rule.trust else None,
        key=key,
    )
    del near, further
    watch.lap("pairs")
    phases = schedule(params.n_iters, rule)
    n_iter = optimize(
        descent,
        phases,
        key=key,
        callback=params.callback,
        by_row=problem.by_row,
        verbose=params.verbose,
    )
    watch.lap("optimize")
    reach = rule.reach_in(descent.Y, key)
    Y = problem.by_row(descent.Y)
    return Layout(Y, descent.Y, n_iter, phases[-1].weights(1), reach)


class Stopwatch:
    """Seconds between laps, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Book the time since the last lap under `name`."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now
