"""Peak memory of a whole fit, and of the optimiser alone, in fresh processes.

``python -m benchmarks.memory [DATASET ...]``. Peaks are what a process takes beyond
what it had before: for the fit that includes the input, as float32, for the optimiser
its pairs. The kernel's high-water mark is set back before each (Linux only).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.data import load

SETS = ("mnist", "fmnist", "coil20", "covtype", "mixture1000000")


def resident(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def fit(name):
    from localmap import LocalMAP

    rng = np.random.default_rng(0)
    LocalMAP(n_jobs=-1).fit(rng.normal(size=(5000, 120)))  # libraries wake up
    X = load(name)[0].astype(np.float32)
    n, D = X.shape
    forget_peak()
    before = resident("VmRSS") - X.nbytes
    LocalMAP(random_state=0, n_jobs=-1).fit(X)
    return {"data": name, "n": n, "D": D, "fit": resident("VmHWM") - before}


def optimizer(n):
    from localmap import kernels
    from localmap.method.optimize import optimize
    from localmap.method.schedule import schedule

    def run(n):
        """Return the peak beyond what there was before the pairs were made."""
        rng = np.random.default_rng(0)
        forget_peak()
        before = resident("VmRSS")
        Y = (20 * rng.random((n, 2), dtype=np.float32)).astype(np.float32, copy=False)
        further = rng.integers(0, n, (n, 20), dtype=np.int32)
        near, mid_near = further[:, :10].copy(), further[:, :5].copy()
        descent = kernels.Descent(Y, near, mid_near, further, 1.0, 2)
        del near, mid_near, further, Y
        optimize(descent, schedule((3, 3, 25), 1.0, 5.0), proximal_distance=10.0, key=0)
        return resident("VmHWM") - before

    run(5000)
    return run(n)


def work(task, argument):
    print(json.dumps(fit(argument) if task == "fit" else optimizer(int(argument))))


def process(task, argument):
    """Run in a fresh process that gives freed arrays back to the system."""
    command = [sys.executable, "-m", "benchmarks.memory", "--worker", task, argument]
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--worker", nargs=2, metavar=("TASK", "ARGUMENT"))
    arguments = parser.parse_args()
    if arguments.worker:
        work(*arguments.worker)
        return
    rows = []
    for name in arguments.datasets:
        rows.append(process("fit", name))
        rows[-1]["optimizer"] = process("optimizer", str(rows[-1]["n"]))
        print(rows[-1], flush=True)
    head = "data | input, float32 | peak of a fit, input included | in inputs | "
    head += "without input, bytes a point | Z + 1 KB | optimiser, bytes a point"
    lines = [
        f"| {head} |",
        "|---" * 7 + "|",
    ]
    for row in rows:
        size, z = 4 * row["n"] * row["D"], 4 * min(row["D"], 100)
        lines.append(
            f"| {row['data']} ({row['n']:,} x {row['D']:,}) | {size / 2**20:.0f} MB | "
            f"{row['fit'] / 2**20:.0f} MB | {row['fit'] / size:.2f} | "
            f"{(row['fit'] - size) / row['n']:.0f} | {z + 1024} | "
            f"{row['optimizer'] / row['n']:.0f} |"
        )
    note = (
        "Beyond what the process had after a first small fit, freed arrays given back."
    )
    machine.save(
        "memory",
        "Peak memory",
        machine.describe(),
        "\n".join(lines) + "\n\n" + note,
        rows,
    )


if __name__ == "__main__":
    main()
