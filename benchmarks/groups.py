"""Are the groups real? The measured proximal distance beside PaCMAP and the paper's 10.

``python -m benchmarks.groups [--seeds 10] [--big-seeds 3] [DATASET ...]`` maps each set
with every rule and tells, in one table: silhouette and agreement of visible groups with
the labels, accuracy of 10-NN and SVM, preservation of near pairs, trustworthiness,
continuity, random triplets, pieces and strays. Beside each mean stands the spread over
seeds, and how far the visible groups of one seed are those of another, as a whole and
inside the largest label; a few seeds start at random.
``--ablation`` runs the paper's parts alone and draws them. Nothing reads the labels but
the measures.
"""

import argparse

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import machine
from benchmarks.continuations import Problem
from benchmarks.data import load
from localmap import LocalMAP, PaCMAP, kernels, metrics
from localmap.geometry.pca import preprocess
from localmap.method.pairs import scales

BIG = ("mnist", "fmnist")
SETS = ("digits", "usps", "coil20", "kang", "duo4eq", "20ng", *BIG)
RULES = {
    "PaCMAP": PaCMAP,
    "paper, 10 / 5": lambda **how: LocalMAP(proximal_distance=10.0, **how),
    "auto": LocalMAP,
}
# Slow measures are taken for this many seeds.
FEW = 2


def visible(Y):
    """Return `metrics.visible_groups`, by a faster program if it is there."""
    try:
        from fast_hdbscan import HDBSCAN
    except ImportError:
        return metrics.visible_groups(Y)
    size = max(15, len(Y) // 150)
    return HDBSCAN(min_cluster_size=size, min_samples=5).fit_predict(Y.astype(float))


def near_pairs(X):
    Z, _ = preprocess(X)
    graph = Problem.graph(Z)
    own = scales(graph.distances)
    return Z, kernels.near(graph.indices, graph.distances, own, 10, 2)


def measure(Y, y, Z, near, *, slow):
    whole = metrics.pieces(Y)
    row = {"pieces": whole.number, "strays": whole.strays}
    row["preservation"] = metrics.kept(near, Y)
    if y is None:
        return row, None
    groups = visible(Y)
    row |= {
        "silhouette": metrics.silhouette(Y, y),
        "ARI": float(adjusted_rand_score(y, groups)),
        "groups": int(groups.max() + 1),
        "10-NN": metrics.knn_accuracy(Y, y),
    }
    if slow:
        some = np.random.default_rng(0).permutation(len(Y))[:10_000]
        row |= {
            "SVM": metrics.svm_accuracy(Y[some], y[some]),
            "trust": metrics.trustworthiness(Z, Y),
            "continuity": metrics.continuity(Z, Y),
            "triplets": metrics.random_triplets(Z, Y),
        }
    return row, groups


def run(name, seeds, rules):
    rows = []
    X, y = load(name)
    Z, near = near_pairs(X)
    for rule in rules:
        make = RULES[rule]
        results, all_groups = [], []
        for seed in range(seeds):
            Y = make(random_state=seed).fit_transform(X)
            row, groups = measure(Y, y, Z, near, slow=seed < FEW)
            if seed < FEW:
                Y = make(random_state=seed, init="random").fit_transform(X)
                random, _ = measure(Y, y, Z, near, slow=False)
                row |= {
                    "silhouette, random start": random["silhouette"],
                    "ARI, random start": random["ARI"],
                }
            results.append(row)
            all_groups.append(groups)
        row = {"data": name, "method": rule, "seeds": seeds, "runs": results}
        if len(all_groups) > 1:
            row["agreement"], row["inside"] = metrics.agreement(all_groups, y)
        shown = (f"{key} {cell(row, key)}" for key in ("silhouette", "ARI"))
        print(name, rule, *shown, f"agreement {row.get('agreement')}", flush=True)
        rows.append(row)
    return rows


def cell(row, key):
    values = [r[key] for r in row["runs"] if key in r]
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ({np.std(values):.3f})"


COLUMNS = (
    "silhouette", "ARI", "groups", "preservation", "10-NN", "SVM", "trust",
    "continuity", "triplets", "pieces", "strays", "silhouette, random start",
    "ARI, random start",
)  # fmt: skip


def table(rows):
    lines = [
        f"| data | rule | {' | '.join(COLUMNS)} | agreement | inside |",
        "|---" * (len(COLUMNS) + 4) + "|",
    ]
    order = {name: i for i, name in enumerate(SETS)}
    for row in sorted(rows, key=lambda r: order[r["data"]]):
        cells = [cell(row, key) for key in COLUMNS]
        for key in ("agreement", "inside"):
            cells += [f"{row[key]:.3f}" if key in row else ""]
        lines.append(f"| {row['data']} | {row['method']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ablation(name="usps", seed=0):
    """The paper's parts alone: what each does to the same map."""
    from matplotlib.figure import Figure

    problem = Problem(name, seed, 2)
    plain, local = kernels.Weights(1, 0, 1), kernels.Weights(1, 0, 1, 0, 5)
    measured = kernels.Weights(1, 0, 1, 0, proximal.STRENGTH)
    parts = {
        "PaCMAP": (plain, None, False),
        "near weights only": (local, None, False),
        "local further pairs only": (plain, 10.0, False),
        "both (10 / 5)": (local, 10.0, False),
        "auto without trusted pairs": (measured, "auto", False),
        "auto": (measured, "auto", True),
    }
    figure = Figure(figsize=(13, 8.5), layout="constrained")
    lines = [
        "| part | silhouette | ARI | groups | preservation |",
        "|---|---|---|---|---|",
    ]
    for place, (title, (weights, reach, with_trust)) in enumerate(parts.items()):
        descent = problem.continued(trusted=with_trust)
        for i in range(250):
            descent.step(weights if i else plain)
            every = proximal.REDRAW_EVERY if reach == "auto" else 10
            if reach is not None and i and i % every == 0:
                at = (
                    proximal.measured_reach(descent.Y, seed)
                    if reach == "auto"
                    else reach
                )
                descent.redraw(at, 1.0, seed, 200 + i)
        Y = descent.Y
        row, _ = measure(Y, problem.y, None, problem.near, slow=False)
        lines.append(
            f"| {title} | {row['silhouette']:.3f} | {row['ARI']:.3f} | "
            f"{row['groups']} | {row['preservation']:.3f} |"
        )
        ax = figure.add_subplot(2, 3, place + 1)
        codes = np.unique(problem.y, return_inverse=True)[1]
        ax.scatter(*Y.T, c=codes, s=2, cmap="tab20", linewidths=0)
        ax.set(title=f"{title}: {row['silhouette']:.2f} / {row['ARI']:.2f}")
        ax.set(xticks=[], yticks=[], aspect="equal")
    figure.suptitle(f"{name}: silhouette / agreement of visible groups with the labels")
    figure.savefig(machine.RESULTS / f"ablation_{name}.png", dpi=80)
    return (
        f"\n\n## The parts alone: {name}\n\n"
        + "\n".join(lines)
        + (f"\n\n![the same maps](ablation_{name}.png)")
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS)
    parser.add_argument("--rules", nargs="*", default=tuple(RULES), choices=RULES)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--big-seeds", type=int, default=3)
    parser.add_argument("--ablation", nargs="*", default=("digits", "usps", "kang"))
    arguments = parser.parse_args()
    rows = []
    for name in arguments.datasets:
        seeds = arguments.big_seeds if name in BIG else arguments.seeds
        rows += run(name, seeds, arguments.rules)
    text = table(machine.merged("groups", rows))
    text += (
        "\n\nMean (standard deviation) over seeds, two or three for MNIST and FMNIST, "
        "ten for the others; SVM, trust, continuity, triplets and random starts over "
        f"{FEW}. "
        "SVM: of 10,000 points at most. ARI: agreement of the groups that HDBSCAN "
        "sees in the map with the labels. "
        "Agreement: adjusted Rand index of the visible groups of one seed with those "
        "of another, mean of all pairs of seeds; inside: the same among the rows of "
        "the largest label. Data that is one piece: [wholeness](wholeness.md)."
    )
    for name in arguments.ablation:
        text += ablation(name)
    machine.save(
        "groups", "Groups that are real", machine.describe(), text,
        machine.merged("groups", rows),
    )  # fmt: skip


if __name__ == "__main__":
    main()
