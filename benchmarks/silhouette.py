"""The exact silhouette of a map beside scikit-learn's, same map, same run.

``python -m benchmarks.silhouette [DATASET] [--rounds 3]``
"""

import argparse

from sklearn.metrics import silhouette_score

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP
from localmap.bench.timing import beside, interleaved
from localmap.metrics import silhouette


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(arguments)
    X, y = load(given.dataset)
    Y = LocalMAP(random_state=0).fit_transform(X)
    ways = {
        "exact": lambda: silhouette(Y, y),
        "10,000 points of it": lambda: silhouette(Y, y, sample=10_000),
        "scikit-learn": lambda: silhouette_score(Y.astype("f8"), y, n_jobs=-1),
    }
    values = {name: float(way()) for name, way in ways.items()}
    times = interleaved(ways, given.rounds)
    rows = [
        {"data": given.dataset, "method": name, "silhouette": values[name]}
        | {"seconds": times[name]}
        for name in ways
    ]
    exact = values["exact"]
    lines = [
        [given.dataset, *line, f"{value:.7f}", f"{abs(value - exact):.1g}"]
        for line, value in zip(beside(times, "exact"), values.values(), strict=True)
    ]
    head = "data | method | seconds | ours is faster | silhouette | from ours"
    about = machine.describe("scikit-learn")
    text = machine.table(head, lines)
    machine.save("silhouette", "Exact silhouette", about, text, rows)


if __name__ == "__main__":
    main()
