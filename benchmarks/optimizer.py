"""The optimiser alone beside pacmap 0.9.1's: same pairs, same start, same run.

``python -m benchmarks.optimizer [--rounds 3] [--threads 2] [DATASET]`` runs 450
iterations of LocalMAP and of PaCMAP, interleaved, after a warm-up of both.
"""

import argparse
import time
from statistics import median

import numpy as np
import pacmap.pacmap as authors

from benchmarks import machine
from benchmarks.data import load
from localmap.initialize import initialize
from localmap.kernels import Descent
from localmap.neighbors import nearest_neighbors
from localmap.optimize import optimize
from localmap.pairs import PairCounts, sample_pairs
from localmap.preprocess import preprocess
from localmap.schedule import schedule

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
    Z, _ = preprocess(X)
    graph = nearest_neighbors(Z, 60, arguments.threads)
    pairs = sample_pairs(Z, graph, PairCounts(10, 5, 20), 0, arguments.threads)
    start = initialize(Z, "pca", 2, 0)
    lists = flat(pairs.near), flat(pairs.mid_near), flat(pairs.further)

    def theirs(method, n_iters=N_ITERS):
        args = (Z, 2, *lists, 1.0, n_iters, start, False, False, [], False)
        run = authors.localmap if method == "LocalMAP" else authors.pacmap
        return lambda: run(*args, *((10.0,) if method == "LocalMAP" else ()))

    def ours(method, n_iters=N_ITERS):
        phases = schedule(n_iters, float(method == "LocalMAP"), 5.0)
        threads = arguments.threads
        return lambda: optimize(
            Descent(start, *(p.copy() for p in pairs), 1.0, threads),
            phases,
            proximal_distance=10.0,
            key=0,
        )

    rows = []
    for method in ("PaCMAP", "LocalMAP"):
        theirs(method, (2, 2, 12))()
        ours(method, (2, 2, 12))()
        times = {"pacmap": [], "localmap": []}
        for _ in range(arguments.rounds):
            times["localmap"].append(timed(ours(method)))
            times["pacmap"].append(timed(theirs(method)))
        rows.append({"method": method, **times})
    lines = [
        "| method | pacmap 0.9.1 | ours | times faster (median) |",
        "|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"{median(row[w]):.2f} s ({min(row[w]):.2f}-{max(row[w]):.2f})"
            for w in ("pacmap", "localmap")
        ]
        ratio = median(row["pacmap"]) / median(row["localmap"])
        lines.append(f"| {row['method']} | {' | '.join(cells)} | {ratio:.1f} |")
    note = (
        f"\n\n450 iterations on {arguments.dataset} ({len(Z):,} points, 10 near, 5 "
        f"mid-near and 20 further pairs each), {arguments.threads} threads, "
        f"{arguments.rounds} rounds interleaved: median (smallest-largest)."
    )
    machine.save(
        "optimizer",
        "The optimiser beside the published package",
        machine.describe("pacmap", "numba"),
        "\n".join(lines) + note,
        rows,
    )


if __name__ == "__main__":
    main()
