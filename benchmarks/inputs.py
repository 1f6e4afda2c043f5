"""Input that other tools refuse or get wrong, on real data.

``python -m benchmarks.inputs [DATASET] [WORDS]``: near pairs of USPS under the cosine
metric when rows are rescaled, and the whole TF-IDF matrix of 20 Newsgroups (sparse) in
a process of its own, with its peak memory.
"""

import argparse

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP
from localmap.bench.machine import peak_mb
from localmap.bench.timing import seconds
from localmap.geometry.space import space_of
from localmap.geometry.workshop import Workshop
from localmap.metrics import knn_accuracy


def rescaled(name):
    X = load(name)[0].astype(np.float64)
    factors = np.random.default_rng(0).uniform(0.01, 100, (len(X), 1))
    graphs = [
        space_of(data, "cosine", 100).neighbors(10, Workshop(2), at=10).indices
        for data in (X, X * factors)
    ]
    same = np.mean([np.isin(a, b).mean() for a, b in zip(*graphs, strict=True)])
    return {"data": name, "method": "cosine, rows rescaled", "same": float(same)}


def sparse(name):
    """What a fit takes in this process."""
    X, y = load(name)
    before, model = peak_mb(), LocalMAP(metric="cosine", random_state=0)
    row = {"data": name, "method": "sparse", "shape": X.shape, "stored": int(X.nnz)}
    row |= {"seconds": seconds(lambda: model.fit(X)), "before_mb": before}
    row |= {"peak_mb": peak_mb(), "10-NN": knn_accuracy(model.embedding_, y)}
    home = np.array_equal(model.transform(X[:200]), model.embedding_[:200])
    return row | {"stages": model.stage_seconds_, "home": bool(home)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="usps")
    parser.add_argument("words", nargs="?", default="20ng_words")
    given = parser.parse_args(arguments)
    scaled, words = rescaled(given.dataset), machine.fresh(sparse, given.words)
    n, D = words["shape"]
    text = (
        f"- {given.dataset}, cosine: {scaled['same']:.2%} of the ten nearest rows of "
        "each row stay when every row is multiplied by a random number from 0.01 to "
        f"100.\n- {given.words}, {n:,} x {D:,} with {words['stored']:,} numbers that "
        f"are not zero: `LocalMAP(metric='cosine')` takes {words['seconds']:.1f} s; "
        f"the process peaks at {words['peak_mb']:.0f} MB ({words['before_mb']:.0f} MB "
        f"before the fit, from reading the text). 10-NN accuracy {words['10-NN']:.3f}; "
        f"training rows land on themselves: {'yes' if words['home'] else 'NO'}."
    )
    rows = [scaled, words]
    machine.save("inputs", "Unusual input", machine.describe("scipy"), text, rows)


if __name__ == "__main__":
    main()
