"""Silhouette and 10-NN accuracy beside pacmap 0.9.1, same data, same run.

``python -m benchmarks.quality [--seeds 10] [--big-seeds 3] [DATASET ...]``
"""

import argparse
import contextlib
import io
import warnings

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, PaCMAP
from localmap.metrics import knn_accuracy, silhouette

BIG = ("mnist", "mnist_unit", "fmnist")
SETS = ("usps", "20ng", "coil20", "coil20_unit", "kang", *BIG)


def authors(name, X, seed):
    import pacmap

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(pacmap, name)(random_state=seed).fit_transform(X)


def ours(name, X, seed):
    if name == "PaCMAP":
        return PaCMAP(random_state=seed).fit_transform(X)
    return LocalMAP(proximal_distance=10.0, random_state=seed).fit_transform(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--big-seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for dataset in arguments.datasets or SETS:
        X, y = load(dataset)
        X = X.astype(np.float32)
        seeds = arguments.big_seeds if dataset in BIG else arguments.seeds
        for name in ("PaCMAP", "LocalMAP"):
            row = {"data": dataset, "method": name, "seeds": seeds}
            for who, run in (("pacmap", authors), ("localmap", ours)):
                maps = [run(name, X, seed) for seed in range(seeds)]
                row[f"{who}_silhouette"] = [silhouette(Y, y) for Y in maps]
                row[f"{who}_10nn"] = [knn_accuracy(Y, y) for Y in maps]
            rows.append(row)
            print(format_row(row), flush=True)
    places = {name: place for place, name in enumerate(SETS)}
    rows = machine.merged("quality", rows)
    rows.sort(key=lambda row: places.get(row["data"], len(SETS)))
    head = (
        "| data | method | seeds | silhouette, pacmap 0.9.1 | silhouette, ours | "
        "difference | 10-NN, pacmap 0.9.1 | 10-NN, ours | difference |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    table = "\n".join([head, *map(format_row, rows)])
    note = "\n\nMean and standard deviation over seeds; `proximal_distance=10`."
    machine.save(
        "quality",
        "Quality beside the published package",
        machine.describe("pacmap", "scikit-learn"),
        table + note,
        rows,
    )


def format_row(row):
    cells = [row["data"], row["method"], str(row["seeds"])]
    for metric in ("silhouette", "10nn"):
        theirs, mine = row[f"pacmap_{metric}"], row[f"localmap_{metric}"]
        cells += [f"{np.mean(v):.3f} ± {np.std(v):.3f}" for v in (theirs, mine)]
        cells.append(f"{np.mean(mine) - np.mean(theirs):+.3f}")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
