"""Import, and import plus a fit of 1,000 x 50, in fresh processes.

``python -m benchmarks.first_use [--rounds 5] [--methods ...] [--folder F [--install]]``
makes a virtual environment each for us, pacmap 0.9.1 and umap-learn, then runs the
first use in each, interleaved. The very first run after installing is reported apart:
it pays for caches (Numba's, Python's) once. Imports, twice as many, are told beyond
what a process that imports NumPy takes. ``--install`` only makes the environments, in a
folder to be given again: installing needs no quiet machine.
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
# What no estimator that follows scikit-learn's conventions can do without.
BASE = "from sklearn.base import BaseEstimator"
PEERS = {
    "localmap": (str(ROOT), "localmap", "LocalMAP"),
    "pacmap": ("pacmap==0.9.1", "pacmap", "LocalMAP"),
    "umap-learn": ("umap-learn", "umap", "UMAP"),
}


def installed(folder, name):
    """Return the Python of an environment that has only this package."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", PEERS[name][0]], check=True
        )
    return python


def process(python, code):
    """Return what runs a piece of code in a fresh process."""
    return partial(
        subprocess.run, [python, "-c", code], check=True, capture_output=True
    )


def imports(pythons):
    """Return what imports each package and its method, and NumPy alone, by name."""
    codes = {}
    for name, python in pythons.items():
        _, package, method = PEERS[name]
        codes[f"{name}: numpy"] = process(python, "import numpy")
        own = (f"import {package}", f"from {package} import {method}")
        for code in (*own, BASE) if name == "localmap" else own:
            codes[f"{name}: {code}"] = process(python, f"import numpy; {code}")
    return codes


def beyond_numpy(times):
    """Return the differences to NumPy of the same round, by the same names."""
    told = {}
    for what, found in times.items():
        name, _, code = what.partition(": ")
        if code != "numpy":
            base = times[f"{name}: numpy"]
            told[what] = [a - b for a, b in zip(found, base, strict=True)]
    return told


def measured(pythons, rounds):
    """Return seconds of the first runs, of later ones, and of imports."""
    uses = {}
    for name, python in pythons.items():
        _, package, method = PEERS[name]
        uses[name] = process(python, CODE.format(package, method, method))
    first = {name: time for name, (time,) in interleaved(uses, 1).items()}
    later = interleaved(uses, rounds)
    return first, later, interleaved(imports(pythons), 2 * rounds)


def told(first, later, imported):
    """Return the tables of a run."""
    lines = [[name, f"{first[name]:.2f}", spread(later[name])] for name in first]
    lines += [
        [
            f"{name} / ours", f"{first[name] / first['localmap']:.1f} x",
            f"{median(later[name]) / median(later['localmap']):.1f} x",
        ]
        for name in first
        if name != "localmap"
    ]  # fmt: skip
    head = " | first run after install, s | later fresh processes, s"
    beyond = [
        [f"`{what.partition(': ')[2]}`", spread(times)]
        for what, times in beyond_numpy(imported).items()
    ]
    table = machine.table("import | beyond numpy, s", beyond)
    least = median(imported[f"localmap: {BASE}"])
    bounds = "".join(
        f" {name} / that: {median(later[name]) / least:.1f} x."
        for name in first
        if name != "localmap"
    )
    return (
        f"{machine.table(head, lines)}\n\n{table}\n\nNumPy and scikit-learn's base "
        f"class alone take {least:.2f} s, which no estimator can go below.{bounds}"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=tuple(PEERS), choices=PEERS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--install", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as passing:
        folder = (given.folder or Path(passing)).resolve()
        pythons = {name: installed(folder, name) for name in given.methods}
        if given.install:
            return
        first, later, imported = measured(pythons, given.rounds)
    rows = {"first": first, "later": later, "imports": imported}
    about = machine.describe("pacmap", "umap-learn")
    title = "First use: import, and import and fit 1,000 x 50"
    machine.save("first_use", title, about, told(first, later, imported), rows)


if __name__ == "__main__":
    main()
