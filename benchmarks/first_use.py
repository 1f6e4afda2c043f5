"""Import plus a fit of 1,000 x 50 in a fresh process after a fresh install.

``python -m benchmarks.first_use [--rounds 5]`` makes a virtual environment each for us,
pacmap 0.9.1 and umap-learn, then runs the first use in each, interleaved. The
very first run after installing is reported apart: it pays for caches (Numba's,
Python's) once.
"""

import argparse
import subprocess
import tempfile
import time
import venv
from pathlib import Path
from statistics import median

from benchmarks import machine

ROOT = Path(__file__).parent.parent
CODE = """
import numpy as np
X = np.random.default_rng(0).normal(size=(1000, 50)).astype("float32")
from {package} import {method}
{method}(random_state=0).fit_transform(X)
"""
PEERS = {
    "localmap": (str(ROOT), "localmap", "LocalMAP"),
    "pacmap": ("pacmap==0.9.1", "pacmap", "LocalMAP"),
    "umap-learn": ("umap-learn", "umap", "UMAP"),
}


def install(folder, requirement):
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", requirement], check=True)
    return python


def seconds(python, name):
    _, package, method = PEERS[name]
    start = time.perf_counter()
    subprocess.run(
        [python, "-c", CODE.format(package=package, method=method)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        pythons = {
            name: install(Path(folder) / name, requirement)
            for name, (requirement, *_) in PEERS.items()
        }
        first = {name: seconds(python, name) for name, python in pythons.items()}
        later = {name: [] for name in PEERS}
        for _ in range(rounds):
            for name, python in pythons.items():
                later[name].append(seconds(python, name))
    lines = ["| | first run after install | later fresh processes |", "|---|---|---|"]
    for name in PEERS:
        runs = later[name]
        spread = f"{median(runs):.2f} s ({min(runs):.2f}-{max(runs):.2f})"
        lines.append(f"| {name} | {first[name]:.2f} s | {spread} |")
    for name in ("pacmap", "umap-learn"):
        ratio = median(later[name]) / median(later["localmap"])
        at_first = first[name] / first["localmap"]
        lines.append(f"| {name} / ours | {at_first:.1f} x | {ratio:.1f} x |")
    machine.save(
        "first_use",
        "First use: import and fit 1,000 x 50",
        machine.describe("pacmap", "umap-learn"),
        "\n".join(lines),
        {"first": first, "later": later},
    )


if __name__ == "__main__":
    main()
