"""Why a silhouette is not the paper's: packages as the paper may have run them.

``python -m benchmarks.differences [--case NAME] [--seeds 3]``; to be read beside
``localmap bench paper``.
"""

import argparse
import warnings

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap.bench import paper
from localmap.bench.methods import METHODS
from localmap.metrics import silhouette


def scikit_tsne(X, seed):
    """Map with scikit-learn's t-SNE, which the authors' script calls."""
    from sklearn.manifold import TSNE

    return TSNE(random_state=seed, n_jobs=-1).fit_transform(X)


def again(method, **params):
    """Return the method as it is compared, for other seeds or parameters."""
    return lambda X, seed: METHODS[method].embed(X, seed, params)


# h-NNE's second version, its default now, is younger than the paper.
FIRST_HNNE = again("hnne", hnne_version="v1")
CASES = {
    "t-SNE, scikit-learn's": ("tsne", scikit_tsne, ("kang",)),
    "h-NNE, version 1": ("hnne", FIRST_HNNE, ("usps", "coil20", "20ng", "kang")),
    "PHATE": ("phate", again("phate"), ("coil20", "20ng", "kang")),
    "InfoNC-t-SNE": ("infonc", again("infonc"), ("mnist",)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for case in arguments.case or CASES:
        method, embed, datasets = CASES[case]
        for dataset in datasets:
            X, y = load(dataset)
            found = []
            for seed in range(1, 1 + arguments.seeds):  # 0 is the report's
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found.append(silhouette(embed(X, seed), y))
            row = {"data": dataset, "method": case, "silhouette": found}
            rows.append(row | {"paper": paper.printed("silhouette", method, dataset)})
            print(rows[-1], flush=True)
    rows = machine.merged("differences", rows)
    lines = ["| method | data | silhouette | paper |", "|---|---|---|---|"]
    for row in rows:
        mean, spread = np.mean(row["silhouette"]), np.std(row["silhouette"])
        cells = [row["method"], row["data"], f"{mean:.3f} ± {spread:.3f}"]
        lines.append(f"| {' | '.join(cells)} | {row['paper']:.2f} |")
    machine.save(
        "differences",
        "Methods as the paper may have run them",
        machine.describe("scikit-learn", "hnne", "phate", "contrastive-ne"),
        "\n".join(lines),
        rows,
    )


if __name__ == "__main__":
    main()
