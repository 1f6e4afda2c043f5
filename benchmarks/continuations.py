"""Continuations of phase 3: many rules from the same map after phase 2.

A map is laid out to the end of phase 2 once per data set and seed; each rule then
continues it. That makes a rule cost a third of a fit, and the comparison paired.
"""

import copy

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import load
from localmap import kernels
from localmap.initialize import initialize
from localmap.metrics import (
    knn_accuracy,
    pieces,
    preservation,
    silhouette,
    visible_groups,
)
from localmap.neighbors import nearest_neighbors
from localmap.optimize import optimize
from localmap.pairs import PairCounts, sample_pairs
from localmap.preprocess import preprocess
from localmap.proximal import sure_first
from localmap.schedule import schedule


def shapes(name, n=5000, seed=0):
    """Data whose right answer is one piece."""
    rng = np.random.default_rng(seed)
    if name == "square":
        return rng.random((n, 2))
    if name == "gauss50":
        return rng.normal(size=(n, 50))
    if name == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        return ring + 0.05 * rng.normal(size=(n, 2))
    if name == "swiss":
        t = 1.5 * np.pi * (1 + 2 * rng.random(n))
        return np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    raise KeyError(name)


ONE_PIECE = ("square", "swiss", "mammoth", "gauss50", "ring")


class Problem:
    """Data, labels, near pairs and the descent after phase 2."""

    def __init__(self, name, seed=0, threads=1):
        if name in ("square", "gauss50", "ring", "swiss"):
            X, self.y = shapes(name, seed=seed), None
        else:
            X, self.y = load(name)
        Z, _ = preprocess(X)
        graph = self.graph(Z, threads)
        pairs = sample_pairs(Z, graph, PairCounts(10, 5, 20), seed, threads)
        near, self.sure = sure_first(graph.indices, pairs.near, threads)
        self.near = near.copy()
        self.seed = seed
        start = initialize(Z, "pca", 2, seed)
        pairs = pairs._replace(near=near)
        self.descent = kernels.Descent(start, *pairs, 1.0, threads, sure=self.sure)
        phases = schedule((100, 100, 250), 0.0, 0.0)[:2]
        optimize(self.descent, phases, proximal_distance=1.0, key=seed)

    @staticmethod
    def graph(Z, threads=2):
        return nearest_neighbors(Z, min(60, len(Z) - 1), threads)

    def continued(self, *, sure=False):
        """A copy to continue; without sure pairs unless asked for."""
        descent = copy.deepcopy(self.descent)
        if not sure:
            filed = descent._near  # noqa: SLF001
            filed.unfile()
            filed.sure = np.empty(0, dtype=np.uint8)
            filed.file()
        return descent


def constant(reach, strength):
    """The paper's rule with both constants free; no reach: PaCMAP."""

    def run(problem):
        descent = problem.continued()
        phases = schedule((100, 100, 250), float(reach is not None), strength)[2:]
        optimize(descent, phases, proximal_distance=reach or 1.0, key=problem.seed)
        return descent.Y

    return run


def followed(measure, strength, every=10, n_iters=250):
    """Reach (and strength) measured on the map before each redraw."""

    def run(problem):
        descent = problem.continued()
        rng = np.random.default_rng(problem.seed)
        for i in range(n_iters):
            if i % every == 0:
                reach, s = measure(descent.Y, rng), strength
                if callable(strength):
                    s = strength(reach)
                if i:
                    descent.redraw(reach, 1.0, problem.seed, 200 + i)
            weights = (
                kernels.Weights(1.0, 0.0, 1.0, 0.0, s)
                if i
                else kernels.Weights(1.0, 0.0, 1.0)
            )
            descent.step(weights)
        return descent.Y

    return run


def pair_quantile(q, size=2000):
    """Radius within which the average point sees the share q of all points."""

    def measure(Y, rng):
        a = Y[rng.integers(0, len(Y), size * 10)]
        b = Y[rng.integers(0, len(Y), size * 10)]
        return float(np.quantile(np.linalg.norm(a - b, axis=1), q))

    return measure


def scores(Y, problem):
    """All that a rule is judged by, in one row."""
    shown = pieces(Y)
    out = {
        "preservation": preservation(problem.near, Y),
        "pieces": shown.number,
        "strays": shown.strays,
        "extent": float(np.quantile(np.abs(Y - np.median(Y, axis=0)), 0.99)),
    }
    if problem.y is not None:
        groups = visible_groups(Y)
        out |= {
            "silhouette": silhouette(Y, problem.y),
            "10-NN": knn_accuracy(Y, problem.y),
            "ARI": adjusted_rand_score(problem.y, groups),
            "groups": int(groups.max() + 1),
        }
    return out
