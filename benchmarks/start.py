"""Silhouette against the spread of the start: is there one that is best for all?

``python -m benchmarks.start [--seeds 5] [DATASET ...]``
"""

import argparse
from unittest.mock import patch

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, PaCMAP
from localmap.metrics import silhouette

SPREADS = (1e-4, 1e-2, 1.0, 2.0, 4.0, 10.0, 20.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    sets = ("digits", "coil20", "usps", "kang", "20ng", "duo4eq")
    parser.add_argument("datasets", nargs="*", default=sets)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    head = " | ".join(f"{s:g}" for s in SPREADS)
    lines = [f"| data | method | {head} |", "|---" * (len(SPREADS) + 2) + "|"]
    rows = []
    for dataset in arguments.datasets or sets:
        X, y = load(dataset)
        for estimator in (PaCMAP, LocalMAP):
            means = []
            for spread in SPREADS:
                with patch.object(initialize, "START_SPREAD", spread):
                    maps = [
                        estimator(random_state=seed).fit_transform(X)
                        for seed in range(arguments.seeds)
                    ]
                means.append(float(np.mean([silhouette(Y, y) for Y in maps])))
            name = estimator.__name__
            rows.append({"data": dataset, "method": name, "silhouette": means})
            cells = " | ".join(f"{mean:.3f}" for mean in means)
            lines.append(f"| {dataset} | {name} | {cells} |")
            print(lines[-1], flush=True)
    note = (
        f"\n\nMean over {arguments.seeds} seeds; the spread is the standard deviation "
        f"of the start along its widest axis. {initialize.START_SPREAD:g} is ours."
    )
    machine.save(
        "start",
        "The spread of the start",
        machine.describe(),
        "\n".join(lines) + note,
        rows,
    )


if __name__ == "__main__":
    main()
