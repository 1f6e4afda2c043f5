"""From raw data to picture: time, memory and quality beside the peers.

``python -m benchmarks.speed [--rounds 3] [--datasets ...] [--methods ...] [--scale]``
runs every method in a fresh process, rounds interleaved. ``first`` is the first use in
that process (import and fit), ``warm`` a second fit. Peers that are not installed are
named and left out. Results go to docs/results/speed.{json,md,png}.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from statistics import median

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from benchmarks.peers import brisc_cells

SETS = ("usps", "20ng", "coil20", "kang", "mnist", "fmnist")
SCALE = tuple(f"mixture{n}" for n in (10_000, 30_000, 100_000, 300_000, 1_000_000))
# A second fit tells nothing new where the first took longer than this.
LONG = 40.0


def localmap(X, method="LocalMAP"):
    import localmap as ours

    model = getattr(ours, method)(random_state=0, n_jobs=-1).fit(X)
    return model.embedding_, {
        "stages": model.stage_seconds_,
        "recall": model.neighbor_recall_,
    }


def localmap_pacmap(X):
    return localmap(X, "PaCMAP")


def pacmap(X, method="LocalMAP"):
    import pacmap as peer

    # No seed: a seed would make its neighbour search run on one thread.
    return getattr(peer, method)().fit_transform(X), {}


def pacmap_pacmap(X):
    return pacmap(X, "PaCMAP")


def brisc(X):
    from localmap.geometry.pca import preprocess

    start = time.perf_counter()
    Z, _ = preprocess(X)
    done = time.perf_counter()
    cells = brisc_cells(Z, len(os.sched_getaffinity(0)))
    cells = cells.neighbors(QC_column=None)
    found = time.perf_counter()
    cells = cells.localmap(QC_column=None)
    stages = {
        "preprocess (ours)": done - start,
        "neighbors": found - done,
        "localmap": time.perf_counter() - found,
    }
    return cells.obsm["localmap"], {"stages": stages}


def umap(X):
    from umap import UMAP

    return UMAP().fit_transform(X), {}


def opentsne(X):
    from openTSNE import TSNE

    return np.asarray(TSNE(n_jobs=-1).fit(X)), {}


METHODS = {
    "localmap": (localmap, "localmap"),
    "localmap PaCMAP": (localmap_pacmap, "localmap"),
    "brisc": (brisc, "brisc"),
    "pacmap": (pacmap, "pacmap"),
    "pacmap PaCMAP": (pacmap_pacmap, "pacmap"),
    "umap-learn": (umap, "umap"),
    "openTSNE": (opentsne, "openTSNE"),
}
DEFAULT = ("localmap", "brisc", "pacmap")


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(method, dataset):
    """Run one method on one data set in this process; print the result as JSON."""
    X, y = load(dataset)
    run, _ = METHODS[method]
    before = peak()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        Y, extra = run(X)
        result = {"first": time.perf_counter() - start, "peak_mb": peak()}
        result["warm"] = result["first"]
        if result["first"] < LONG:
            start = time.perf_counter()
            Y, extra = run(X)
            result["warm"] = time.perf_counter() - start
    result |= {"input_mb": X.nbytes / 2**20, "before_mb": before, **extra}
    if y is not None and len(y) <= 100_000:
        from localmap.metrics import silhouette

        result["silhouette"] = silhouette(Y, y)
    print(json.dumps(result))


def run_process(method, dataset, limit):
    command = [sys.executable, "-m", "benchmarks.speed", "--worker", method, dataset]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr.strip().splitlines() or ["no message"])[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=2, metavar=("METHOD", "DATASET"))
    parser.add_argument("--datasets", nargs="*", default=None)
    parser.add_argument("--methods", nargs="*", default=DEFAULT, choices=METHODS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", action="store_true", help="mixtures of 10 k to 1 M")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds a process")
    arguments = parser.parse_args()
    if arguments.worker:
        work(*arguments.worker)
        return
    methods = [m for m in arguments.methods if importlib.util.find_spec(METHODS[m][1])]
    missing = [m for m in arguments.methods if m not in methods]
    datasets = arguments.datasets or (SCALE if arguments.scale else SETS)
    rows = []
    for dataset in datasets:
        runs = {method: [] for method in methods}
        for _ in range(arguments.rounds):
            for method in methods:
                result = run_process(method, dataset, arguments.limit)
                runs[method].append(result)
                print(dataset, method, json.dumps(result), flush=True)
        for method in methods:
            row = {"data": dataset, "method": method, "runs": runs[method]}
            rows.append(row)
    rows = machine.merged("speed", rows)
    ordered = sorted(rows, key=lambda row: order(row["data"]))
    text = table(ordered)
    if missing:
        text += f"\n\nNot installed, left out: {', '.join(missing)}."
    text += (
        "\n\nMedian (smallest-largest) over rounds, two threads, every run in a fresh "
        "process. `first`: import and first fit; `warm`: a second fit in the same "
        "process. Memory is the peak resident size of the process after the first "
        "fit. brisc is given our PCA, whose time is counted for both, and searches 20 "
        "neighbours where we and pacmap search 60.\n\n![time against n](speed.png)"
    )
    peers = ("pacmap", "brisc", "umap-learn", "openTSNE", "numba", "faiss-cpu")
    machine.save(
        "speed", "From raw data to picture", machine.describe(*peers), text, ordered
    )
    draw(ordered)


def order(dataset):
    from benchmarks.data import MIXTURE

    size = 0
    if dataset.startswith(MIXTURE):
        n, _, columns = dataset.removeprefix(MIXTURE).partition("x")
        size = int(n) + int(columns or 0)
    names = (*SETS, "covtype")
    return (size, names.index(dataset) if dataset in names else len(names))


def spread(runs, key):
    values = [run[key] for run in runs if key in run]
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def table(rows):
    head = "data | method | first, s | warm, s | ours is faster (warm) | peak, MB"
    lines = [f"| {head} | silhouette | recall |", "|---" * 8 + "|"]
    warm = {
        (row["data"], row["method"]): median([r["warm"] for r in row["runs"]])
        for row in rows
        if all("warm" in run for run in row["runs"])
    }
    for row in rows:
        key = row["data"], row["method"]
        if key not in warm:
            why = next(r["failed"] for r in row["runs"] if "failed" in r)
            lines.append(f"| {key[0]} | {key[1]} | failed: {why} | | | | | |")
            continue
        ours = warm.get((row["data"], "localmap"))
        ratio = f"{warm[key] / ours:.1f} x" if ours and key[1] != "localmap" else ""
        runs = row["runs"]
        memory = f"{median([r['peak_mb'] for r in runs]):.0f}"
        quality = [r["silhouette"] for r in runs if "silhouette" in r]
        recall = [r["recall"] for r in runs if "recall" in r]
        cells = [
            *key,
            spread(runs, "first"),
            spread(runs, "warm"),
            ratio,
            memory,
            f"{np.mean(quality):.3f}" if quality else "",
            f"{np.mean(recall):.3f}" if recall else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows):
    """Time against n on the mixtures, both axes logarithmic, with fitted exponents."""
    from matplotlib.figure import Figure

    from benchmarks.data import MIXTURE

    ax = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    for method in METHODS:
        points = sorted(
            (int(row["data"].removeprefix(MIXTURE)), r["warm"])
            for row in rows
            if row["method"] == method and row["data"] in SCALE
            for r in row["runs"]
            if "warm" in r
        )
        if not points:
            continue
        n, seconds = np.array(points).T
        label = method
        if len(set(n)) > 1:
            exponent = np.polyfit(np.log(n), np.log(seconds), 1)[0]
            label += f", n^{exponent:.2f}"
            print(f"{method}: time grows as n^{exponent:.3f}")
        ax.plot(n, seconds, "o-", label=label)
    if not ax.lines:
        return
    ax.set(
        xscale="log", yscale="log", xlabel="rows (50 columns)", ylabel="seconds, warm"
    )
    ax.grid(alpha=0.3)
    ax.legend()
    ax.figure.savefig(machine.RESULTS / "speed.png", dpi=120)


if __name__ == "__main__":
    main()
