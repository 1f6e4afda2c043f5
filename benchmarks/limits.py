"""Where the time of a fit goes, stage by stage, beside what this machine could do.

``python -m benchmarks.limits [DATASET ...]`` measures the machine (products of matrices
in single precision, copying memory), counts the arithmetic that each stage cannot avoid
with the algorithm it uses, and puts the two beside the measured time.
"""

import argparse
from functools import partial
from statistics import median

import numpy as np
from scipy.linalg import eigh

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP
from localmap.bench.timing import seconds
from localmap.geometry.cells import group, many
from localmap.geometry.neighbors import EXACT_ROWS, probing_for, true_neighbors
from localmap.geometry.pca import EXACT_PCA
from localmap.geometry.preprocessing import preprocess
from localmap.geometry.workshop import Workshop

ROUNDS = 5


def timed(work):
    return median(seconds(work) for _ in range(ROUNDS))


def machine_speed():
    """Multiply-adds a second in float32, and bytes a second copied."""
    A = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
    B = np.ones(1 << 26, dtype=np.uint8)
    copied = timed(partial(np.copyto, np.empty_like(B), B))
    return 2048**3 / timed(lambda: A @ A), 2 * B.nbytes / copied


def preprocessing(n, D, d, products_a_second, bytes_a_second):
    if d == D:
        return "reading", 8 * n * D / bytes_a_second
    small, eigenvectors = min(n, D), 0.0
    if small <= EXACT_PCA:
        rows = np.random.default_rng(0).random((small, 2 * small), dtype="f4")
        square = np.cov(rows).astype(np.float32)
        largest = (small - d, small - 1)
        eigenvectors = timed(lambda: eigh(square, subset_by_index=largest))
    products = (small * n * D / 2 + 2 * n * D * d) / products_a_second
    reading = 3 * 5 * n * D / bytes_a_second  # three passes that turn bytes to floats
    what = (
        f"products {products:.2f}, eigenvectors {eigenvectors:.2f}, "
        f"reading {reading:.2f}"
    )
    return what, products + eigenvectors + reading


def searching(Z, products_a_second):
    n, d = Z.shape
    what, compared = f"{n} rows compared with each", float(n)
    if n > EXACT_ROWS:
        workshop = Workshop(2)
        cells = group(Z, many(n), workshop)
        truth = true_neighbors(Z, 60, workshop)
        probes = probing_for(Z, cells, truth, workshop).probes
        compared = probes * n / len(cells.centres.cells) + 12 * probes
        what = f"{compared:.0f} rows compared with each ({probes} cells)"
    # A squared difference takes two instructions where a product takes one.
    return what, 2 * n * compared * d / products_a_second


def stages(name, products_a_second, bytes_a_second):
    X, _ = load(name)
    runs = [LocalMAP(random_state=0).fit(X).stage_seconds_ for _ in range(ROUNDS)]
    Z, _ = preprocess(X)
    n, d = Z.shape
    pairs = 450 * 30 * n + 200 * 5 * n
    bounds = {
        "preprocess": preprocessing(
            n, X.shape[1], d, products_a_second, bytes_a_second
        ),
        "neighbors": searching(Z, products_a_second),
        # Mid-near candidates are read from anywhere in the data, d floats each.
        "pairs": ("30 random rows read for each", 30 * n * 4 * d / bytes_a_second),
        # A pair is 4 bytes; it reads and writes two points, in the cache.
        "optimize": (f"{pairs / 1e6:.0f} million pairs", 4 * pairs / bytes_a_second),
    }
    return [
        {"data": name, "stage": stage, "what": what, "limit": limit}
        | {"seconds": median(run[stage] for run in runs)}
        for stage, (what, limit) in bounds.items()
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=("mnist", "coil20", "usps"))
    speed = machine_speed()
    names = parser.parse_args(arguments).datasets
    rows = [row for name in names for row in stages(name, *speed)]
    lines = [
        [
            row["data"],
            row["stage"],
            f"{row['seconds']:.2f}",
            f"{row['limit']:.2f}",
            row["what"],
        ]
        for row in rows
    ]
    head = "data | stage | seconds | no less than | of what"
    text = (
        f"This machine: {speed[0] / 1e9:.0f} thousand million multiply-adds a second "
        f"in products of float32 matrices, {speed[1] / 1e9:.0f} GB a second copied.\n\n"
        f"{machine.table(head, lines)}\n\n"
        "The bound of `optimize` counts only the codes of the pairs streamed from "
        "memory; what takes the time is reading and adding to two points a pair in the "
        "nearest caches, which no bound of this kind shows. The bound of `neighbors` "
        "leaves out choosing the best of what was compared, about a third of its time."
    )
    machine.save("limits", "Where the time goes", machine.describe(), text, rows)


if __name__ == "__main__":
    main()
