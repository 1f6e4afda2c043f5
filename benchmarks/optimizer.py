"""The optimiser alone beside pacmap 0.9.1's and brisc's, in the same run.

``python -m benchmarks.optimizer [--rounds 3] [--threads 2] [DATASET]`` runs 450
iterations of LocalMAP and of PaCMAP, interleaved, after a warm-up. pacmap is given our
pairs and start. Ours draws its mid-near and further pairs and its start itself, which
is counted; so does brisc (LocalMAP only), which is given its neighbours.
"""

import argparse
import importlib.util
from functools import partial

import numpy as np
import pacmap.pacmap as authors

from benchmarks import machine
from benchmarks.data import load
from localmap import kernels
from localmap.bench.methods import brisc_cells
from localmap.bench.timing import beside, interleaved
from localmap.method.embed import lay_out, prepare
from localmap.method.parameters import Parameters
from localmap.method.start import initialize

N_ITERS = Parameters().n_iters
FEW = (2, 2, 12)  # iterations that compile


def flat(pairs):
    rows = np.repeat(np.arange(len(pairs)), pairs.shape[1])
    return np.column_stack([rows, pairs.ravel()]).astype(np.int32)


def theirs(method, problem, n_iters):
    """The authors' loop on our pairs and start."""
    space, near, counts = problem.space, problem.near, problem.counts
    lists = [near, space.mid_near(counts.mid_near, 0, 2)]
    lists.append(kernels.further(near, counts.further, 0, 2))
    start = initialize(space, "pca", 2, 0)
    given = (space.Z, 2, *map(flat, lists), 1.0, n_iters, start)
    given += (False, False, [], False)
    if method == "PaCMAP":
        return partial(authors.pacmap, *given)
    return partial(authors.localmap, *given, 10.0)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="mnist")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(arguments)
    X, _ = load(given.dataset)
    problem = prepare(X, Parameters(proximal_distance=10.0, n_jobs=given.threads))
    rows, lines = [], []
    for method in ("PaCMAP", "LocalMAP"):

        def ours(n_iters=N_ITERS, n_jobs=given.threads, method=method):
            params = Parameters(
                proximal_distance=10.0, locality=float(method == "LocalMAP"),
                n_iters=n_iters, n_jobs=n_jobs,
            )  # fmt: skip
            return partial(lay_out, problem, params, 0)

        works = {
            "ours": ours(),
            "pacmap": theirs(method, problem, N_ITERS),
            "ours, 1 thread": ours(n_jobs=1),
        }
        if method == "LocalMAP":  # as it is by default: no peer has it
            params = Parameters(n_jobs=given.threads)
            works["ours, measured distance"] = partial(
                lay_out, prepare(X, params), params, 0
            )
        if method == "LocalMAP" and importlib.util.find_spec("brisc"):
            cells = brisc_cells(problem.space.Z, given.threads)
            cells = cells.neighbors(QC_column=None)
            works["brisc"] = partial(cells.localmap, QC_column=None)
        theirs(method, problem, FEW)()
        ours(FEW)()
        times = interleaved(works, given.rounds)
        rows.append({"method": method, **times})
        lines += [[method, *line] for line in beside(times, "ours")]
    text = (
        machine.table("method | | seconds | ours is faster", lines)
        + f"\n\n450 iterations on {given.dataset} ({X.shape[0]:,} points, 10 near, 5 "
        f"mid-near and 20 further pairs each), {given.threads} threads, "
        f"{given.rounds} rounds interleaved: median (smallest-largest). Ours and "
        "brisc's count the drawing of pairs; pacmap is given them. LocalMAP's distance "
        "is 10 but where it is measured, as it is by default."
    )
    about = machine.describe("pacmap", "numba", "brisc")
    title = "The optimiser beside the published package and brisc"
    machine.save("optimizer", title, about, text, rows)


if __name__ == "__main__":
    main()
