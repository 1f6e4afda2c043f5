"""The same bits on 1, 2 and 4 threads, on digits and MNIST.

``python -m benchmarks.reproducible [DATASET ...]``; exits with 1 if any bit differs.
"""

import argparse
import sys

from benchmarks import machine
from benchmarks.data import load
from benchmarks.digests import digest
from localmap import LocalMAP

THREADS = (1, 2, 4)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=("digits", "mnist"))
    rows = []
    for dataset in parser.parse_args(arguments).datasets:
        X, _ = load(dataset)
        digests = {
            n: digest(LocalMAP(random_state=0, n_jobs=n).fit_transform(X))
            for n in THREADS
        }
        same = len(set(digests.values())) == 1
        rows.append({"data": dataset, "digests": digests, "same": same})
    lines = [
        [
            row["data"],
            *(f"`{d}`" for d in row["digests"].values()),
            "yes" if row["same"] else "NO",
        ]
        for row in rows
    ]
    head = " | ".join(["data", *(f"n_jobs={t}" for t in THREADS), "same bits"])
    text = (
        f"{machine.table(head, lines)}\n\nSHA-256 of "
        "`LocalMAP(random_state=0, n_jobs=...)`'s embedding, its beginning."
    )
    title = "Same bits on any number of threads"
    machine.save("reproducible", title, machine.describe(), text, rows)
    sys.exit(not all(row["same"] for row in rows))


if __name__ == "__main__":
    main()
