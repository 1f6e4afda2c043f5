"""What could trust do at best? Trusted pairs chosen with the labels, as no rule can.

``python -m benchmarks.oracle [--seeds 3] [DATASET ...]`` lays out the same near pairs
with other pairs trusted: those of the rule, those of one label, both, none, all. Where
even the labels do not reach a figure, no rule that trusts or doubts pairs will.
"""

import argparse
from dataclasses import replace

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import machine
from benchmarks.data import load
from localmap import metrics
from localmap.method.embed import lay_out, prepare
from localmap.method.parameters import Parameters

SETS = ("digits", "usps", "coil20", "duo4eq")
CHOICES = {
    "the rule": lambda rule, _: rule,
    "same label": lambda _, same: same,
    "the rule and same label": lambda rule, same: rule & same,
    "none": lambda rule, _: np.zeros_like(rule),
    "all": lambda rule, _: np.ones_like(rule),
}


def chosen(problem, y, choice):
    """The problem with other pairs trusted."""
    rule = np.arange(problem.near.shape[1]) < problem.trusted[:, None]
    trusted = choice(rule, y[problem.near] == y[:, None])
    order = np.argsort(~trusted, axis=1, kind="stable")
    near = np.take_along_axis(problem.near, order, axis=1)
    return replace(problem, near=near, trusted=trusted.sum(axis=1).astype(np.uint16))


def run(name, seeds):
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    params = Parameters()
    problem = prepare(X, params)
    for title, choice in CHOICES.items():
        other = chosen(problem, y, choice)
        maps = [lay_out(other, params, seed).Y for seed in range(seeds)]
        groups = [metrics.visible_groups(Y) for Y in maps]
        row = {
            "data": name, "method": title, "seeds": seeds,
            "silhouette": [metrics.silhouette(Y, y) for Y in maps],
            "ARI": [float(adjusted_rand_score(y, g)) for g in groups],
            "agreement": metrics.agreement(groups, y).groups,
        }  # fmt: skip
        print(name, cell(row), title, flush=True)
        yield row


def cell(row):
    means = np.mean(row["silhouette"]), np.mean(row["ARI"]), row["agreement"]
    return " / ".join(f"{mean:.3f}" for mean in means)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args(arguments)
    rows = [row for name in given.datasets for row in run(name, given.seeds)]
    by = {(row["data"], row["method"]): cell(row) for row in rows}
    lines = [[t, *(by[name, t] for name in given.datasets)] for t in CHOICES]
    text = (
        machine.table(" | ".join(["trusted pairs", *given.datasets]), lines)
        + "\n\nSilhouette / ARI of visible groups / agreement between seeds, "
        f"{given.seeds} seeds. The labels are used for this table alone."
    )
    title = "What trust could do at best"
    machine.save("oracle", title, machine.describe(), text, rows)


if __name__ == "__main__":
    main()
