"""Continuations of phase 3: many rules from the same map after phase 2.

A map is laid out to the end of phase 2 once per data set and seed; each rule then
continues it. That makes a rule cost a third of a fit, and the comparison paired.
``python -m benchmarks.continuations [--seeds 1] [DATASET ...]`` sweeps reach and
strength.
"""

import argparse
import copy

import numpy as np

from benchmarks.data import load
from localmap import kernels
from localmap.datasets import ONE_PIECE, one_piece
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.space import space_of
from localmap.method.adjust import trusted_first
from localmap.method.optimize import optimize
from localmap.method.pairs import PairCounts, sample_pairs
from localmap.method.schedule import schedule
from localmap.method.start import initialize


class Problem:
    """Data, labels, near pairs and the descent after phase 2."""

    def __init__(self, name, seed=0, threads=1):
        if name in ONE_PIECE:
            X, self.y = one_piece(name, 5000, seed), None
        else:
            X, self.y = load(name)
        space = space_of(X, "euclidean", 100)
        graph = self.graph(space.Z, threads)
        pairs = sample_pairs(space, graph, PairCounts(10, 5, 20), seed, threads)
        near, self.trusted = trusted_first(graph, pairs.near, threads)
        self.near = near.copy()
        self.seed = seed
        start = initialize(space, "pca", 2, seed)
        pairs = pairs._replace(near=near)
        self.descent = kernels.Descent(
            start, *pairs, 1.0, threads, trusted=self.trusted
        )
        phases = schedule((100, 100, 250), 0.0, 0.0)[:2]
        optimize(self.descent, phases, proximal_distance=1.0, key=seed)

    @staticmethod
    def graph(Z, threads=2):
        return nearest_neighbors(Z, min(60, len(Z) - 1), threads)

    def continued(self, *, trusted=False):
        """A copy to continue; without trusted pairs unless asked for."""
        descent = copy.deepcopy(self.descent)
        if not trusted:
            tiled = descent._near  # noqa: SLF001
            tiled.unpack()
            tiled.trusted = np.empty(0, dtype=np.uint8)
            tiled.pack()
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
    """Reach measured on the map before each redraw."""

    def run(problem):
        descent = problem.continued()
        rng = np.random.default_rng(problem.seed)
        for i in range(n_iters):
            if i % every == 0:
                reach = measure(descent.Y, rng)
                if i:
                    descent.redraw(reach, 1.0, problem.seed, 200 + i)
            weights = (
                kernels.Weights(1.0, 0.0, 1.0, 0.0, strength)
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


def main():
    from benchmarks.groups import measure

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=("digits", "usps", "swiss"))
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    rules = {"PaCMAP": constant(None, 0.0)}
    for reach, strength in ((10, 5), (15, 3), (20, 3), (30, 2), (1e5, 1.5)):
        rules[f"{reach:g} / {strength}"] = constant(reach, strength)
    for share in (0.3, 0.5, 0.8):
        rules[f"quantile {share} / 2"] = followed(pair_quantile(share), 2.0)
    for name in arguments.datasets:
        problems = [Problem(name, seed) for seed in range(arguments.seeds)]
        for title, rule in rules.items():
            runs = [
                measure(rule(p), p.y, None, p.near, slow=False)[0] for p in problems
            ]
            means = (f"{key} {np.mean([r[key] for r in runs]):.3f}" for key in runs[0])
            print(f"{name:8s} {title:16s}", *means, flush=True)


if __name__ == "__main__":
    main()
