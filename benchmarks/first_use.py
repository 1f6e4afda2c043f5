"""Import plus a fit of 1,000 x 50 in a fresh process after a fresh install.

``python -m benchmarks.first_use [--rounds 5] [--methods ...]`` makes a virtual
environment each for us, pacmap 0.9.1 and umap-learn, then runs the first use in each,
interleaved. The very first run after installing is reported apart: it pays for caches
(Numba's, Python's) once.
"""

import argparse
import subprocess
import tempfile
import venv
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import machine
from localmap.bench.timing import interleaved, spread

ROOT = Path(__file__).parent.parent
CODE = """
import numpy as np
X = np.random.default_rng(0).normal(size=(1000, 50)).astype("float32")
from {} import {}
{}(random_state=0).fit_transform(X)
"""
PEERS = {
    "localmap": (str(ROOT), "localmap", "LocalMAP"),
    "pacmap": ("pacmap==0.9.1", "pacmap", "LocalMAP"),
    "umap-learn": ("umap-learn", "umap", "UMAP"),
}


def installed(folder, name):
    """Return the first use, in an environment that has only this package."""
    requirement, package, method = PEERS[name]
    venv.create(folder / name, with_pip=True)
    python = folder / name / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", requirement], check=True)
    code = CODE.format(package, method, method)
    return partial(
        subprocess.run, [python, "-c", code], check=True, capture_output=True
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=tuple(PEERS), choices=PEERS)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        uses = {name: installed(Path(folder), name) for name in given.methods}
        first = {name: time for name, (time,) in interleaved(uses, 1).items()}
        later = interleaved(uses, given.rounds)
    lines = [[name, f"{first[name]:.2f}", spread(later[name])] for name in uses]
    lines += [
        [
            f"{name} / ours", f"{first[name] / first['localmap']:.1f} x",
            f"{median(later[name]) / median(later['localmap']):.1f} x",
        ]
        for name in uses
        if name != "localmap"
    ]  # fmt: skip
    head = " | first run after install, s | later fresh processes, s"
    about = machine.describe("pacmap", "umap-learn")
    text, rows = machine.table(head, lines), {"first": first, "later": later}
    title = "First use: import and fit 1,000 x 50"
    machine.save("first_use", title, about, text, rows)


if __name__ == "__main__":
    main()
