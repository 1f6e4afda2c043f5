"""The exact silhouette of MNIST's map beside scikit-learn's, same map, same run.

``python -m benchmarks.silhouette [DATASET] [--rounds 3]``
"""

import argparse
import time
from statistics import median

from sklearn.metrics import silhouette_score

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP
from localmap.metrics import silhouette


def timed(work):
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    X, y = load(arguments.dataset)
    Y = LocalMAP(random_state=0).fit_transform(X)
    ours, sampled, theirs = [], [], []
    for _ in range(arguments.rounds):
        ours.append(timed(lambda: silhouette(Y, y)))
        sampled.append(timed(lambda: silhouette(Y, y, sample=10_000)))
        theirs.append(timed(lambda: silhouette_score(Y.astype("f8"), y, n_jobs=-1)))
        print(ours[-1], theirs[-1], flush=True)
    rows = []
    for name, runs in (("ours", ours), ("sample", sampled), ("scikit-learn", theirs)):
        row = {"data": arguments.dataset, "method": name, "silhouette": runs[0][1]}
        rows.append(row | {"seconds": [seconds for seconds, _ in runs]})
    head = "| data | method | seconds | ours is faster | silhouette | from ours |"
    lines = [head, "|---|---|---|---|---|---|"]
    fast, exact = median(rows[0]["seconds"]), rows[0]["silhouette"]
    names = {"ours": "exact", "sample": "10,000 points of it"}
    for row in rows:
        middle, name = median(row["seconds"]), names.get(row["method"], row["method"])
        spread = f"{middle:.2f} ({min(row['seconds']):.2f}-{max(row['seconds']):.2f})"
        cells = [row["data"], name, spread, f"{middle / fast:.1f} x"]
        value = row["silhouette"]
        cells += [f"{value:.7f}", f"{abs(value - exact):.1g}"]
        lines.append(f"| {' | '.join(cells)} |")
    machine.save(
        "silhouette",
        "Exact silhouette",
        machine.describe("scikit-learn"),
        "\n".join(lines),
        rows,
    )


if __name__ == "__main__":
    main()
