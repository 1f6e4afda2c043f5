"""Neighbours alone beside faiss and brisc: 60 of each row, same data, same run.

``python -m benchmarks.neighbors [--rounds 3] [--threads 2] [DATASET]`` takes the data
after our PCA. For faiss each index is tried with growing effort until its recall of the
ten nearest reaches 0.99, and the fastest such setting is kept; brisc runs as it comes.
What is not installed is left out.
"""

import argparse
import importlib.util
import os
from functools import partial
from statistics import median

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import kernels
from localmap.bench.methods import brisc_cells
from localmap.bench.timing import beside, interleaved, seconds
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.preprocessing import preprocess
from localmap.geometry.workshop import Workshop

K, AT, ENOUGH, SAMPLE = 60, 10, 0.99, 1000


def ours(Z, threads):
    return nearest_neighbors(Z, K, Workshop(threads)).indices


def faiss_ivf(cells, probes, Z, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(Z.shape[1]), Z.shape[1], cells)
    index.cp.niter = 10
    index.train(Z)
    index.add(Z)
    index.nprobe = probes
    return index.search(Z, K + 1)[1][:, 1:]


def faiss_hnsw(effort, Z, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexHNSWFlat(Z.shape[1], 32)
    index.hnsw.efSearch = effort
    index.add(Z)
    return index.search(Z, K + 1)[1][:, 1:]


def brisc(Z, threads):
    cells = brisc_cells(Z, threads).neighbors(QC_column=None, num_neighbors=K)
    return cells.obsm["neighbors"]


INDICES = [
    {
        f"faiss IVF{cells}, {probes} probes": partial(faiss_ivf, cells, probes)
        for probes in (4, 6, 8, 12)
    }
    for cells in (256, 512, 1024)
] + [{f"faiss HNSW32, ef {ef}": partial(faiss_hnsw, ef) for ef in (32, 64, 96)}]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args(arguments)
    threads = given.threads
    Z, _ = preprocess(load(given.dataset)[0])
    sample = (np.arange(SAMPLE) * len(Z) // SAMPLE).astype(np.int32)
    truth, _ = kernels.exact_neighbors(Z, K, threads, sample)

    def recall(run):
        found = run(Z, threads)[sample, :AT]
        pairs = zip(found, truth[:, :AT], strict=True)
        return float(np.mean([np.isin(f, t).mean() for f, t in pairs]))

    works, tried = {"localmap": ours}, {}
    if importlib.util.find_spec("brisc"):
        works["brisc"] = brisc
    for options in INDICES if importlib.util.find_spec("faiss") else ():
        for name, run in options.items():
            tried[name] = {"recall": recall(run)}
            tried[name]["seconds"] = seconds(partial(run, Z, threads))
            print(name, tried[name], flush=True)
            if tried[name]["recall"] >= ENOUGH:
                break
    enough = {n: t["seconds"] for n, t in tried.items() if t["recall"] >= ENOUGH}
    runs = {name: run for options in INDICES for name, run in options.items()}
    works |= {name: runs[name] for name in sorted(enough, key=enough.get)[:1]}
    quality = {name: recall(run) for name, run in works.items()}
    timed = {name: partial(run, Z, threads) for name, run in works.items()}
    times = interleaved(timed | {"one thread": partial(ours, Z, 1)}, given.rounds)
    alone, us = median(times["one thread"]), median(times["localmap"])
    shown = {name: times[name] for name in works}
    lines = [[*line, f"{quality[line[0]]:.4f}"] for line in beside(shown, "localmap")]
    head = " | seconds | ours is faster | recall@10"
    settings = "; ".join(
        f"{name} {found['seconds']:.1f} s at {found['recall']:.3f}"
        for name, found in tried.items()
    )
    text = (
        f"{machine.table(head, lines)}\n\n{given.dataset}, {len(Z):,} x {Z.shape[1]}, "
        f"{K} neighbours of each row, {threads} threads, {given.rounds} rounds "
        "interleaved: median (smallest-largest). faiss: the fastest of its indices "
        f"with a recall of at least {ENOUGH} among {settings or 'none'}. Ours on one "
        f"thread: {alone:.2f} s, so {threads} threads are {alone / us:.2f} x faster."
    )
    rows = {"seconds": times, "recall": quality, "tried": tried}
    about = machine.describe("faiss-cpu", "brisc")
    machine.save("neighbors", "Neighbours alone", about, text, rows)


if __name__ == "__main__":
    main()
