"""The optimiser alone beside pacmap 0.9.1's and brisc's, in the same run.

``python -m benchmarks.optimizer [--rounds 3] [--threads 2] [DATASET]`` runs 450
iterations of LocalMAP and of PaCMAP, interleaved, after a warm-up. pacmap and we are
given the same pairs and start; brisc (LocalMAP only) is given its neighbours and draws
its pairs itself, so for it our drawing of pairs is counted too.
"""

import argparse
import importlib.util
import time
from functools import partial
from statistics import median

import numpy as np
import pacmap.pacmap as authors

from benchmarks import machine
from benchmarks.data import load
from benchmarks.peers import brisc_cells
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.space import space_of
from localmap.kernels import Descent
from localmap.method.optimize import optimize
from localmap.method.pairs import PairCounts, sample_pairs
from localmap.method.schedule import schedule
from localmap.method.start import initialize

N_ITERS = (100, 100, 250)


def flat(pairs):
    rows = np.repeat(np.arange(len(pairs)), pairs.shape[1])
    return np.column_stack([rows, pairs.ravel()]).astype(np.int32)


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    X, _ = load(arguments.dataset)
    space = space_of(X, "euclidean", 100)
    Z = space.Z
    graph = nearest_neighbors(Z, 60, arguments.threads)
    pairs = sample_pairs(space, graph, PairCounts(10, 5, 20), 0, arguments.threads)
    start = initialize(space, "pca", 2, 0)
    lists = flat(pairs.near), flat(pairs.mid_near), flat(pairs.further)

    def theirs(method, n_iters=N_ITERS):
        args = (Z, 2, *lists, 1.0, n_iters, start, False, False, [], False)
        run = authors.localmap if method == "LocalMAP" else authors.pacmap
        return lambda: run(*args, *((10.0,) if method == "LocalMAP" else ()))

    def ours(method, n_iters=N_ITERS, threads=arguments.threads):
        phases = schedule(n_iters, float(method == "LocalMAP"), 5.0)
        return lambda: optimize(
            Descent(start.copy(), *(p.copy() for p in pairs), 1.0, threads),
            phases,
            proximal_distance=10.0,
            key=0,
        )

    def with_pairs():
        fresh = sample_pairs(space, graph, PairCounts(10, 5, 20), 0, arguments.threads)
        phases = schedule(N_ITERS, 1.0, 5.0)
        descent = Descent(start.copy(), *fresh, 1.0, arguments.threads)
        optimize(descent, phases, proximal_distance=10.0, key=0)

    rows = []
    for method in ("PaCMAP", "LocalMAP"):
        runs = {
            "ours": ours(method),
            "pacmap": theirs(method),
            "ours, 1 thread": ours(method, threads=1),
        }
        theirs(method, (2, 2, 12))()
        ours(method, (2, 2, 12))()
        if method == "LocalMAP" and importlib.util.find_spec("brisc"):
            cells = brisc_cells(Z, arguments.threads).neighbors(QC_column=None)
            runs["ours, pairs drawn"] = with_pairs
            runs["brisc"] = partial(cells.localmap, QC_column=None)
        times = {name: [] for name in runs}
        for _ in range(arguments.rounds):
            for name, run in runs.items():
                times[name].append(timed(run))
        rows.append({"method": method, **times})
    lines = ["| method | | seconds | ours is faster |", "|---|---|---|---|"]
    for row in rows:
        for name in list(row)[1:]:
            us = "ours, pairs drawn" if name == "brisc" else "ours"
            ratio = median(row[name]) / median(row[us])
            seconds = f"{median(row[name]):.2f}"
            seconds += f" ({min(row[name]):.2f}-{max(row[name]):.2f})"
            lines.append(f"| {row['method']} | {name} | {seconds} | {ratio:.2f} x |")
    note = (
        f"\n\n450 iterations on {arguments.dataset} ({len(Z):,} points, 10 near, 5 "
        f"mid-near and 20 further pairs each), {arguments.threads} threads, "
        f"{arguments.rounds} rounds interleaved: median (smallest-largest). brisc is "
        "compared with our drawing of pairs and optimiser together."
    )
    machine.save(
        "optimizer",
        "The optimiser beside the published package and brisc",
        machine.describe("pacmap", "numba", "brisc"),
        "\n".join(lines) + note,
        rows,
    )


if __name__ == "__main__":
    main()
