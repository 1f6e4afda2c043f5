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
    return hashlib.sha256(np.ascontiguousarray(Y, dtype="<f4").tobytes()).hexdigest()[
        :16
    ]


def wide(X):
    """The same numbers among columns of zeros, too many to be filled in."""
    S = csr_array(X.astype(np.float64))
    S.resize((X.shape[0], WIDE))
    return S


def maps(name):
    X, _ = load(name)
    X = X.astype(np.float32)
    default = LocalMAP(random_state=0)
    split = len(X) * 9 // 10
    yield "dense", lambda: default.fit_transform(X)
    yield "PaCMAP", lambda: PaCMAP(random_state=0).fit_transform(X)
    yield (
        "distance 10",
        lambda: LocalMAP(proximal_distance=10.0, random_state=0).fit_transform(X),
    )
    yield "locality .5", lambda: LocalMAP(locality=0.5, random_state=0).fit_transform(X)
    yield "cosine", lambda: LocalMAP(metric="cosine", random_state=0).fit_transform(X)
    yield "wide sparse", lambda: default.fit_transform(wide(X))
    yield (
        "transform",
        lambda: LocalMAP(random_state=0).fit(X[:split]).transform(X[split:]),
    )
    if len(X) > 20_000:
        return
    yield (
        "manhattan",
        lambda: LocalMAP(metric="manhattan", random_state=0).fit_transform(X),
    )
    yield (
        "graph",
        lambda: LocalMAP(metric="precomputed", random_state=0).fit_transform(
            kneighbors_graph(X, 60, mode="distance")
        ),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    path = machine.RESULTS / "digests.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    changed = []
    for name in arguments.datasets:
        for way, make in maps(name):
            key, found = f"{name}, {way}", digest(make())
            if arguments.check and known.get(key) != found:
                changed.append(key)
            print(f"{key:24s} {found}", "CHANGED" if key in changed else "", flush=True)
            if not arguments.check:
                known[key] = found
    if not arguments.check:
        path.write_text(json.dumps(known, indent=1) + "\n")
    sys.exit(f"changed: {', '.join(changed)}" if changed else 0)


if __name__ == "__main__":
    main()
