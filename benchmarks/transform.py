"""New rows in a finished map, beside umap-learn and pacmap, in one run.

``python -m benchmarks.transform [DATASET] [--rounds 3] [--methods ...]`` fits on the
first six sevenths of the rows (MNIST: its 60,000 training images), places the rest, and
reports the time of `transform` and how many of the placed rows have the label of most
of their ten nearest training points in the map. Each method runs in a process of its
own; a first transform of a hundred rows wakes its libraries up.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import time
import warnings
from statistics import median

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import machine
from benchmarks.data import load


def localmap(train):
    from localmap import LocalMAP

    model = LocalMAP(random_state=0).fit(train)
    return model.embedding_, model.transform


def pacmap(train, method="PaCMAP"):
    import pacmap as peer

    model = getattr(peer, method)(save_tree=True)
    Y = model.fit_transform(train)
    return Y, lambda X: model.transform(X, basis=train)


def pacmap_localmap(train):
    return pacmap(train, "LocalMAP")


def umap(train):
    from umap import UMAP

    model = UMAP().fit(train)
    return model.embedding_, model.transform


METHODS = {
    "localmap": localmap,
    "pacmap PaCMAP": pacmap,
    "pacmap LocalMAP": pacmap_localmap,
    "umap-learn": umap,
}


def work(method, dataset):
    X, y = load(dataset)
    n = len(X) * 6 // 7
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y, transform = METHODS[method](X[:n])
        transform(X[n : n + 100])
        start = time.perf_counter()
        placed = np.asarray(transform(X[n:]))
        seconds = time.perf_counter() - start
    card = KNeighborsClassifier(10).fit(Y, y[:n])
    result = {"seconds": seconds, "accuracy": card.score(placed, y[n:])}
    if method == "localmap":
        some = np.arange(n, len(X), 101)
        alone = np.vstack([transform(X[i : i + 1]) for i in some])
        result["alone"] = bool(np.array_equal(alone, placed[some - n]))
        result["home"] = bool(np.array_equal(transform(X[:n:101]), Y[::101]))
    print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--worker")
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker, arguments.dataset)
        return
    runs = {method: [] for method in arguments.methods}
    for _ in range(arguments.rounds):
        for method in arguments.methods:
            command = [sys.executable, "-m", "benchmarks.transform", arguments.dataset]
            done = subprocess.run(
                [*command, "--worker", method],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                result = {"failed": done.stderr.strip().splitlines()[-1]}
            else:
                result = json.loads(done.stdout.splitlines()[-1])
            runs[method].append(result)
            print(method, result, flush=True)
    rows = [
        {"data": arguments.dataset, "method": method, "runs": results}
        for method, results in runs.items()
    ]
    machine.save(
        "transform",
        "New rows in a finished map",
        machine.describe("pacmap", "umap-learn"),
        table(rows),
        rows,
    )


def table(rows):
    head = "data | method | transform, s | ours is faster | 10-NN accuracy"
    lines = [f"| {head} |", "|---" * 5 + "|"]
    ours = median([run["seconds"] for run in rows[0]["runs"]])
    for row in rows:
        done = [run for run in row["runs"] if "failed" not in run]
        if not done:
            why = row["runs"][0]["failed"]
            lines.append(f"| {row['data']} | {row['method']} | failed: {why} | | |")
            continue
        seconds = sorted(run["seconds"] for run in done)
        accuracy = np.mean([run["accuracy"] for run in done])
        lines.append(
            f"| {row['data']} | {row['method']} | {median(seconds):.2f} "
            f"({seconds[0]:.2f}-{seconds[-1]:.2f}) | {median(seconds) / ours:.1f} x "
            f"| {accuracy:.4f} |"
        )
    alone = all(run["alone"] and run["home"] for run in rows[0]["runs"])
    lines.append(
        f"\nOurs: rows placed one at a time and training rows placed again are "
        f"{'identical to the bit' if alone else '**not** identical'}."
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
