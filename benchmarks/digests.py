"""Digests of maps: has a change of the code changed a map?

``python -m benchmarks.digests [--check] [DATASET ...]`` maps digits, USPS and MNIST in
every way that takes another road through the code and prints a digest of each map.
With ``--check`` they are compared with those in docs/results/digests.json, otherwise
they are written there. They are those of one machine: linear algebra rounds otherwise
on another.
"""

import argparse
import hashlib
import json
import sys

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, PaCMAP

SETS = ("digits", "usps", "mnist")
WIDE = 4000  # columns from which sparse data is not filled in


def digest(Y):
    data = np.ascontiguousarray(Y, dtype="<f4").tobytes()
    return hashlib.sha256(data).hexdigest()[:16]


def wide(X):
    """The same numbers among columns of zeros, too many to be filled in."""
    S = csr_array(X.astype(np.float64))
    S.resize((X.shape[0], WIDE))
    return S


def mapped(X, make=LocalMAP, **how):
    return make(random_state=0, **how).fit_transform(X)


def maps(name):
    X = load(name)[0].astype(np.float32)
    split = len(X) * 9 // 10
    yield "dense", lambda: mapped(X)
    yield "PaCMAP", lambda: mapped(X, PaCMAP)
    yield "distance 10", lambda: mapped(X, proximal_distance=10.0)
    yield "locality .5", lambda: mapped(X, locality=0.5)
    yield "cosine", lambda: mapped(X, metric="cosine")
    yield "wide sparse", lambda: mapped(wide(X))
    model = LocalMAP(random_state=0)
    yield "transform", lambda: model.fit(X[:split]).transform(X[split:])
    if len(X) > 20_000:
        return
    yield "manhattan", lambda: mapped(X, metric="manhattan")
    graph = kneighbors_graph(X, 60, mode="distance")
    yield "graph", lambda: mapped(graph, metric="precomputed")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    path = machine.RESULTS / "digests.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    changed = []
    for name in given.datasets:
        for way, make in maps(name):
            key, found = f"{name}, {way}", digest(make())
            if given.check and known.get(key) != found:
                changed.append(key)
            print(f"{key:24s} {found}", "CHANGED" if key in changed else "", flush=True)
            if not given.check:
                known[key] = found
    if not given.check:
        path.write_text(json.dumps(known, indent=1) + "\n")
    sys.exit(f"changed: {', '.join(changed)}" if changed else 0)


if __name__ == "__main__":
    main()
