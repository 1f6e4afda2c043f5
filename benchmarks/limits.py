"""Where the time of a fit goes, stage by stage, beside what this machine could do.

``python -m benchmarks.limits [DATASET ...]`` measures the machine (products of matrices
in single precision, copying memory), counts the arithmetic that each stage cannot avoid
with the algorithm it uses, and puts the two beside the measured time.
"""

import argparse
import time
from statistics import median

import numpy as np
from scipy.linalg import eigh

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, kernels
from localmap.geometry.neighbors import (
    CELLS_PER_ROOT,
    EXACT_ROWS,
    TARGET_RECALL,
    _true_neighbors,
)
from localmap.geometry.pca import EXACT_PCA, preprocess

ROUNDS = 5


def timed(work):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def machine_speed():
    """Multiply-adds a second in float32, and bytes a second copied."""
    A = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
    B = np.ones(1 << 26, dtype=np.uint8)
    C = np.empty_like(B)
    return {
        "multiply-adds": 2048**3 / timed(lambda: A @ A),
        "bytes": 2 * B.nbytes / timed(lambda: np.copyto(C, B)),
    }


def stages(name, speed):
    X, _ = load(name)
    n, D = X.shape
    runs = [LocalMAP(random_state=0).fit(X).stage_seconds_ for _ in range(ROUNDS)]
    seconds = {stage: median(run[stage] for run in runs) for stage in runs[0]}
    Z, _ = preprocess(X)
    d = Z.shape[1]
    rows = []

    def add(stage, what, limit):
        rows.append(
            {"data": name, "stage": stage, "what": what, "limit": limit}
            | {"seconds": seconds[stage]}
        )

    per_second = speed["multiply-adds"]
    if d < D:
        small = min(n, D)
        decomposition = 0.0
        if small <= EXACT_PCA:
            square = np.cov(
                np.random.default_rng(0).random((small, 2 * small), dtype="f4")
            )
            decomposition = timed(
                lambda: eigh(
                    square.astype(np.float32), subset_by_index=(small - d, small - 1)
                )
            )
        products = (small * n * D / 2 + 2 * n * D * d) / per_second
        reading = (
            3 * 5 * n * D / speed["bytes"]
        )  # three passes that turn bytes to floats
        add(
            "preprocess",
            f"products {products:.2f}, eigenvectors {decomposition:.2f}, "
            f"reading {reading:.2f}",
            products + decomposition + reading,
        )
    else:
        add("preprocess", "reading", 8 * n * D / speed["bytes"])
    if n <= EXACT_ROWS:
        compared = float(n) * n
        what = f"{compared / n:.0f} rows compared with each"
    else:
        cells = int(CELLS_PER_ROOT * n**0.5)
        sample, truth, _ = _true_neighbors(Z, 60, 2)
        probes = kernels.cell_neighbors(
            Z, 60, cells, 2, sample=sample, truth=truth, recall=TARGET_RECALL
        )[2]
        compared = n * (probes * n / cells + 12 * probes)
        what = f"{compared / n:.0f} rows compared with each ({probes} cells)"
    # A squared difference takes two instructions where a product takes one.
    add("neighbors", what, 2 * compared * d / per_second)
    # Mid-near candidates are read from anywhere in the data, a row of d floats each.
    add("pairs", "30 random rows read for each", 30 * n * 4 * d / speed["bytes"])
    pairs = 450 * 30 * n + 200 * 5 * n
    # A pair is 4 bytes; it reads and writes two points of 8 bytes each, in the cache.
    add("optimize", f"{pairs / 1e6:.0f} million pairs", 4 * pairs / speed["bytes"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=("mnist", "coil20", "usps"))
    arguments = parser.parse_args()
    speed = machine_speed()
    rows = [row for name in arguments.datasets for row in stages(name, speed)]
    gigaflops, gigabytes = speed["multiply-adds"] / 1e9, speed["bytes"] / 1e9
    about = (
        f"This machine: {gigaflops:.0f} thousand million multiply-adds a second in "
        f"products of float32 matrices, {gigabytes:.0f} GB a second copied.\n"
    )
    head = "| data | stage | seconds | no less than | of what |\n|---|---|---|---|---|"
    lines = [about, head]
    for row in rows:
        cells = [row["data"], row["stage"], f"{row['seconds']:.2f}"]
        cells += [f"{row['limit']:.2f}", row["what"]]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        "\nThe bound of `optimize` counts only the codes of the pairs streamed from "
        "memory; what takes the time is reading and adding to two points a pair in the "
        "nearest caches, which no bound of this kind shows. The bound of `neighbors` "
        "leaves out choosing the best of what was compared, about a third of its time."
    )
    machine.save(
        "limits", "Where the time goes", machine.describe(), "\n".join(lines), rows
    )


if __name__ == "__main__":
    main()
