"""Neighbours alone beside faiss and brisc: 60 of each row, same data, same run.

``python -m benchmarks.neighbors [--rounds 3] [--threads 2] [DATASET]`` takes the data
after our PCA. For faiss each index is tried with growing effort until its recall of the
ten nearest reaches 0.98, and the fastest such setting is kept; brisc runs as it comes.
"""

import argparse
import os
import time
from statistics import median

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from benchmarks.peers import brisc_cells
from localmap import kernels
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.pca import preprocess

K, AT, ENOUGH, SAMPLE = 60, 10, 0.98, 1000


def ours(Z, threads):
    return nearest_neighbors(Z, K, threads).indices


def faiss_ivf(cells, probes):
    import faiss

    def run(Z, threads):
        faiss.omp_set_num_threads(threads)
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(Z.shape[1]), Z.shape[1], cells)
        index.cp.niter = 10
        index.train(Z)
        index.add(Z)
        index.nprobe = probes
        return index.search(Z, K + 1)[1][:, 1:]

    return run


def faiss_hnsw(effort):
    import faiss

    def run(Z, threads):
        faiss.omp_set_num_threads(threads)
        index = faiss.IndexHNSWFlat(Z.shape[1], 32)
        index.hnsw.efSearch = effort
        index.add(Z)
        return index.search(Z, K + 1)[1][:, 1:]

    return run


def brisc(Z, threads):
    cells = brisc_cells(Z, threads).neighbors(QC_column=None, num_neighbors=K)
    return cells.obsm["neighbors"]


def recall(found, truth, rows):
    hits = [
        len(np.intersect1d(f[:AT], t[:AT]))
        for f, t in zip(found[rows], truth, strict=True)
    ]
    return float(np.mean(hits)) / AT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    threads = arguments.threads
    Z, _ = preprocess(load(arguments.dataset)[0])
    rows = (np.arange(SAMPLE) * len(Z) // SAMPLE).astype(np.int32)
    truth, _ = kernels.exact_neighbors(Z, K, threads, rows)

    def once(run):
        start = time.perf_counter()
        found = run(Z, threads)
        return time.perf_counter() - start, recall(found, truth, rows)

    contenders = {"localmap": ours, "brisc": brisc}
    tried = {}
    settings = {
        f"faiss IVF{cells}": [
            (f"faiss IVF{cells}, {p} probes", faiss_ivf(cells, p))
            for p in (4, 6, 8, 12)
        ]
        for cells in (256, 512, 1024)
    }
    settings["faiss HNSW32"] = [
        (f"faiss HNSW32, ef {ef}", faiss_hnsw(ef)) for ef in (32, 64, 96)
    ]
    for options in settings.values():
        for name, run in options:
            seconds, quality = once(run)
            tried[name] = {"seconds": seconds, "recall": quality}
            print(name, tried[name], flush=True)
            if quality >= ENOUGH:
                contenders[name] = run
                break
    faiss_names = sorted(
        (n for n in contenders if "faiss" in n), key=lambda n: tried[n]["seconds"]
    )
    for slower in faiss_names[1:]:
        del contenders[slower]
    results = {name: [] for name in contenders}
    for _ in range(arguments.rounds):
        for name, run in contenders.items():
            results[name].append(once(run))
    alone = [once(lambda Z, _: ours(Z, 1))[0] for _ in range(arguments.rounds)]
    us = median([t for t, _ in results["localmap"]])
    lines = ["| | seconds | recall@10 | ours is faster |", "|---|---|---|---|"]
    for name, runs in results.items():
        times = [t for t, _ in runs]
        lines.append(
            f"| {name} | {median(times):.2f} ({min(times):.2f}-{max(times):.2f}) | "
            f"{runs[0][1]:.4f} | {median(times) / us:.1f} x |"
        )
    note = (
        f"\n\n{arguments.dataset}, {len(Z):,} x {Z.shape[1]}, {K} neighbours of each "
        f"row, {threads} threads, {arguments.rounds} rounds interleaved: median "
        "(smallest-largest). faiss: the fastest of its indices with a recall of at "
        f"least {ENOUGH} among "
        + "; ".join(
            f"{n} {v['seconds']:.1f} s at {v['recall']:.3f}" for n, v in tried.items()
        )
        + f". Ours on one thread: {median(alone):.2f} s, so {threads} threads are "
        f"{median(alone) / us:.2f} x faster."
    )
    machine.save(
        "neighbors",
        "Neighbours alone",
        machine.describe("faiss-cpu", "brisc"),
        "\n".join(lines) + note,
        {"runs": results, "tried": tried, "one thread": alone},
    )


if __name__ == "__main__":
    main()
