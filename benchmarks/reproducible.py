"""The same bits on 1, 2 and 4 threads, on digits and MNIST.

``python -m benchmarks.reproducible [DATASET ...]``; exits with 1 if any bit differs.
"""

import hashlib
import sys

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP

THREADS = (1, 2, 4)


def main():
    rows = []
    for dataset in sys.argv[1:] or ("digits", "mnist"):
        X, _ = load(dataset)
        digests = {}
        for n_jobs in THREADS:
            Y = LocalMAP(random_state=0, n_jobs=n_jobs).fit_transform(X)
            digests[n_jobs] = hashlib.sha256(Y.tobytes()).hexdigest()[:16]
            print(dataset, n_jobs, digests[n_jobs], flush=True)
        same = len(set(digests.values())) == 1
        rows.append({"data": dataset, "digests": digests, "same": same})
    head = "| data | " + " | ".join(f"n_jobs={t}" for t in THREADS) + " | same bits |"
    lines = [head, "|---" * (len(THREADS) + 2) + "|"]
    for row in rows:
        cells = [f"`{d}`" for d in row["digests"].values()]
        answer = "yes" if row["same"] else "NO"
        lines.append(f"| {row['data']} | {' | '.join(cells)} | {answer} |")
    note = (
        "\n\nSHA-256 of `LocalMAP(random_state=0, n_jobs=...)`'s embedding, first half."
    )
    machine.save(
        "reproducible",
        "Same bits on any number of threads",
        machine.describe(),
        "\n".join(lines) + note,
        rows,
    )
    sys.exit(not all(row["same"] for row in rows))


if __name__ == "__main__":
    main()
