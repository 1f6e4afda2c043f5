"""The whole method on one screen, in the order of the paper."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from tqdm.auto import tqdm

from localmap import kernels
from localmap.initialize import initialize
from localmap.optimize import optimize
from localmap.pairs import (
    EXTRA_CANDIDATES,
    PairCounts,
    automatic_neighbors,
    pair_counts,
    sample_pairs,
    scales,
)
from localmap.parameters import Parameters
from localmap.place import FittedMap
from localmap.proximal import measured_reach, sure_first
from localmap.schedule import schedule
from localmap.space import space_of


@dataclass(frozen=True, eq=False)
class Embedding:
    """A map and how it came about."""

    fitted: FittedMap
    counts: PairCounts
    neighbor_recall: float
    reach: float
    n_iter: int
    seconds: dict[str, float]


def embed(X: Any, params: Parameters, key: int) -> Embedding:
    """Run LocalMAP on finite numbers `X`; `key` decides all that is random."""
    watch = Stopwatch()
    n, n_threads = X.shape[0], params.n_threads
    n_neighbors = params.n_neighbors
    if n_neighbors == "auto":
        n_neighbors = automatic_neighbors(n)
    counts = pair_counts(n, n_neighbors, params.mid_near_ratio, params.further_ratio)

    space = space_of(X, params.metric, params.pca_components, n_threads)
    watch.lap("preprocess")
    k = min(n - 1, counts.near + EXTRA_CANDIDATES)
    graph = space.neighbors(k, n_threads, at=counts.near)
    n_candidates, recall = graph.indices.shape[1], graph.recall
    watch.lap("neighbors")
    if params.verbose:
        how = "exact" if recall == 1 else f"recall@{counts.near} about {recall:.3f}"
        tqdm.write(
            f"{n:,} rows, {n_candidates} neighbors of each ({how}), "
            f"{n_threads} threads",
            file=sys.stderr,
        )
    pairs = sample_pairs(space, graph, counts, key, n_threads)
    row_scales = scales(graph.distances)
    sure = None
    if params.measured:
        near, sure = sure_first(graph, pairs.near, n_threads)
        pairs = pairs._replace(near=near)
        del near
    del graph
    watch.lap("pairs")
    descent = kernels.Descent(
        initialize(space, params.init, params.n_components, key),
        *pairs,
        params.learning_rate,
        n_threads,
        sure=sure,
        ordered=0 < params.locality < 1,
    )
    del pairs
    phases = schedule(
        params.n_iters, params.locality, params.strength, params.redraw_every
    )
    n_iter = optimize(
        descent,
        phases,
        proximal_distance=params.proximal_distance,
        key=key,
        callback=params.callback,
        verbose=params.verbose,
    )
    watch.lap("optimize")
    reach = params.proximal_distance
    if reach == "auto":
        reach = measured_reach(descent.Y, key)
    fitted = FittedMap(
        space.kept,
        row_scales,
        descent.Y,
        n_neighbors=counts.near,
        n_candidates=n_candidates,
        n_further=counts.further,
        weights=phases[-1].weights(1),
        reach=reach if params.locality else None,
        learning_rate=params.learning_rate,
        key=key,
    )
    return Embedding(fitted, counts, recall, reach, n_iter, watch.seconds)


class Stopwatch:
    """Seconds between laps, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Book the time since the last lap under `name`."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now
