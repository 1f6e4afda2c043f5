"""Input that other tools refuse or get wrong, on real data.

``python -m benchmarks.inputs``: near pairs of USPS under the cosine metric when rows
are rescaled, and the whole TF-IDF matrix of 20 Newsgroups (sparse) in a process of its
own, with its peak memory.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks import machine
from benchmarks.data import load


def rescaled():
    from localmap.geometry.space import space_of

    X, _ = load("usps")
    factors = np.random.default_rng(0).uniform(0.01, 100, (len(X), 1))
    graphs = [
        space_of(data, "cosine", 100).neighbors(10, 2, at=10).indices
        for data in (X.astype(np.float64), X * factors)
    ]
    same = np.mean(
        [len(np.intersect1d(*rows)) / 10 for rows in zip(*graphs, strict=True)]
    )
    return {"data": "usps", "method": "cosine, rows rescaled", "same": float(same)}


def sparse():
    """Fit in this process; print what it took as JSON."""
    from localmap import LocalMAP
    from localmap.datasets import load as load_set
    from localmap.metrics import knn_accuracy

    words = load_set("20ng_words")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    model = LocalMAP(metric="cosine", random_state=0).fit(words.X)
    row = {
        "data": "20ng words",
        "method": "sparse",
        "shape": words.X.shape,
        "stored": int(words.X.nnz),
        "seconds": time.perf_counter() - start,
        "before_mb": before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "10-NN": knn_accuracy(model.embedding_, words.y),
        "stages": model.stage_seconds_,
    }
    placed = model.transform(words.X[:200])
    row["home"] = bool(np.array_equal(placed, model.embedding_[:200]))
    print(json.dumps(row))


def main():
    if sys.argv[1:] == ["sparse"]:
        sparse()
        return
    command = [sys.executable, "-m", "benchmarks.inputs", "sparse"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [rescaled(), json.loads(done.stdout.splitlines()[-1])]
    scaled, words = rows
    n, D = words["shape"]
    home = "yes" if words["home"] else "NO"
    text = (
        f"- USPS, cosine: {scaled['same']:.2%} of the ten nearest rows of each row "
        "stay when every row is multiplied by a random number from 0.01 to 100.\n"
        f"- 20 Newsgroups, TF-IDF, {n:,} x {D:,} with {words['stored']:,} numbers that "
        f"are not zero: `LocalMAP(metric='cosine')` takes {words['seconds']:.1f} s; "
        f"the process peaks at {words['peak_mb']:.0f} MB ({words['before_mb']:.0f} MB "
        f"before the fit, from reading the text). 10-NN accuracy {words['10-NN']:.3f}; "
        f"training rows land on themselves: {home}."
    )
    machine.save("inputs", "Unusual input", machine.describe("scipy"), text, rows)


if __name__ == "__main__":
    main()
