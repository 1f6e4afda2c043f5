"""Peak memory of a whole fit, and of the optimiser alone, in fresh processes.

``python -m benchmarks.memory [DATASET ...]``. Peaks are what a process takes beyond
what it had before: for the fit that includes the input, as float32, for the optimiser
its pairs. The kernel's high-water mark is set back before each (Linux only).
"""

import argparse
import os
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, kernels
from localmap.bench.machine import peak_mb, resident_mb
from localmap.method.adjust import rule_of
from localmap.method.optimize import optimize
from localmap.method.schedule import schedule

SETS = ("mnist", "fmnist", "coil20", "covtype", "mixture1000000")
MB = 2**20


def beyond(work, less=0.0):
    """Return what work takes at its peak beyond what there was before, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_mb() - less
    work()
    return (peak_mb() - before) * MB


def fit(name):
    LocalMAP().fit(np.random.default_rng(0).normal(size=(5000, 120)))  # libraries wake
    X = load(name)[0].astype(np.float32)
    taken = beyond(lambda: LocalMAP(random_state=0).fit(X), X.nbytes / MB)
    return {"data": name, "n": X.shape[0], "D": X.shape[1], "fit": taken}


def descend(n):
    rng = np.random.default_rng(0)
    Y = 20 * rng.random((n, 2), dtype=np.float32)
    near = rng.integers(0, n, (n, 10), dtype=np.int32)
    mid_near = near[:, :5].copy()
    descent = kernels.Descent(Y, near, mid_near, kernels.Circles(n, 20), 1.0, 2)
    del near, mid_near, Y
    optimize(descent, schedule((3, 3, 60), rule_of("auto", None, 1.0)), key=0)


def optimizer(n):
    descend(5000)
    return beyond(lambda: descend(n))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    # Freed arrays are given back to the system.
    os.environ["MALLOC_MMAP_THRESHOLD_"] = "65536"
    rows, lines = [], []
    for name in parser.parse_args(arguments).datasets:
        row = machine.fresh(fit, name)
        row["optimizer"] = machine.fresh(optimizer, row["n"])
        rows.append(row)
        n, D, taken = row["n"], row["D"], row["fit"]
        size, z = 4 * n * D, 4 * min(D, 100)
        lines.append(
            [
                f"{name} ({n:,} x {D:,})", f"{size / MB:.0f} MB",
                f"{taken / MB:.0f} MB", f"{taken / size:.2f}",
                f"{(taken - size) / n:.0f}", z + 1024, f"{row['optimizer'] / n:.0f}",
            ]
        )  # fmt: skip
        print(row, flush=True)
    head = (
        "data | input, float32 | peak of a fit, input included | in inputs | "
        "without input, bytes a point | Z + 1 KB | optimiser, bytes a point"
    )
    text = (
        f"{machine.table(head, lines)}\n\nBeyond what the process had after a first "
        "small fit, freed arrays given back."
    )
    machine.save("memory", "Peak memory", machine.describe(), text, rows)


if __name__ == "__main__":
    main()
