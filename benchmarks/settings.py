"""Which settings matter: one is changed at a time, and maps are measured.

``python -m benchmarks.settings [DATASET ...] [--seeds 3]``
"""

import argparse

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, metrics

SETTINGS = (
    {},
    {"n_neighbors": 5},
    {"n_neighbors": 20},
    {"n_neighbors": 40},
    {"mid_near_ratio": 0.25},
    {"mid_near_ratio": 1.0},
    {"further_ratio": 1.0},
    {"further_ratio": 4.0},
    {"proximal_distance": 10.0},
    {"near_strength": 1.0},
    {"near_strength": 3.0},
    {"locality": 0.0},
    {"locality": 0.5},
    {"init": "random"},
    {"n_iters": (50, 50, 125)},
    {"n_iters": (200, 200, 500)},
    {"learning_rate": 0.5},
    {"learning_rate": 2.0},
    {"pca_components": 50},
    {"pca_components": None},
    {"metric": "cosine"},
    {"scale": "standard"},
)
MEASURES = ("silhouette", "10-NN", "ARI", "preservation")


def measured(X, y, changed, seed):
    """Return the measures of a map."""
    Y = LocalMAP(random_state=seed, **changed).fit_transform(X)
    return (
        metrics.silhouette(Y, y),
        metrics.knn_accuracy(Y, y),
        metrics.visible_agreement(Y, y),
        metrics.preservation(X, Y),
    )


def told(changed):
    """Return a setting as it is typed."""
    words = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return f"`{words}`" if words else "the default"


def measure(name, seeds):
    """Yield a row for each setting."""
    X, y = load(name)
    for changed in SETTINGS:
        values = np.array([measured(X, y, changed, seed) for seed in range(seeds)])
        yield {"data": name, "method": told(changed)} | {
            measure: {"mean": float(of.mean()), "spread": float(np.ptp(of))}
            for measure, of in zip(MEASURES, values.T, strict=True)
        }


def cells(row, default):
    """Return the means, marked where they leave the spread of the default's seeds."""
    for measure in MEASURES:
        change = row[measure]["mean"] - default[measure]["mean"]
        noise = max(row[measure]["spread"], default[measure]["spread"], 0.01)
        value = f"{row[measure]['mean']:.3f}"
        yield f"**{value}**" if abs(change) > noise else value


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["digits", "usps"])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(arguments)
    rows, texts = [], []
    for name in given.datasets:
        found = list(measure(name, given.seeds))
        lines = [[row["method"], *cells(row, found[0])] for row in found]
        head = " | ".join((f"setting ({name})", *MEASURES))
        texts.append(machine.table(head, lines))
        rows += found
    note = (
        f"Means of {given.seeds} seeds. **Bold**: farther from the default than the "
        "seeds of either are apart, and than 0.01. `ARI`: of the groups that can be "
        "seen without labels; `preservation`: of the ten nearest rows, the share among "
        "the thirty nearest points."
    )
    about = machine.describe("scikit-learn")
    text = "\n\n".join((note, *texts))
    machine.save("settings", "One setting at a time", about, text, rows)


if __name__ == "__main__":
    main()
