"""Two clouds moved together step by step: when are they still seen as two?

``python -m benchmarks.gap [--rows 6000] [--seeds 5]`` maps two Gaussians, and two
cubes, of 2, 5, 10 and 20 dimensions at several distances with PaCMAP, the paper's
distance and the default. It tells how well the groups that can be seen are the two
clouds, and in how many pieces the map is, and draws the first. Two Gaussians have two
peaks of density if their centres are more than two standard deviations apart; two cubes
touch at 0.
"""

import argparse

import numpy as np

from benchmarks import machine
from benchmarks.wholeness import RULES
from localmap import metrics
from localmap.datasets import two_clouds

GAPS = {
    "gauss": (1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0),
    "cube": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6),
}
DIMENSIONS = (2, 5, 10, 20)


def run(kind, d, gap, n, seeds):
    rows = []
    for rule, make in RULES.items():
        found = []
        for seed in range(seeds):
            X, y = two_clouds(kind, d, gap, n, seed)
            Y = make(random_state=seed).fit_transform(X)
            found.append((metrics.visible_agreement(Y, y), metrics.pieces(Y).number))
        ari, pieces = zip(*found, strict=True)
        rows.append(
            {
                "data": f"{kind} {d}, {gap:g}", "method": rule, "kind": kind,
                "dimensions": d, "gap": gap, "ARI": ari, "pieces": pieces,
            }
        )  # fmt: skip
    said = (f"{r['method']} {np.mean(r['ARI']):.2f}" for r in rows)
    print(kind, d, gap, *said, flush=True)
    return rows


def tables(rows):
    by = {(r["kind"], r["dimensions"], r["gap"], r["method"]): r for r in rows}
    text = ""
    for kind, gaps in GAPS.items():
        text += f"\n## Two {'Gaussians' if kind == 'gauss' else 'cubes'}\n\n"
        text += "| dimensions | rule | " + " | ".join(f"{g:g}" for g in gaps) + " |\n"
        text += "|---" * (len(gaps) + 2) + "|\n"
        for d in DIMENSIONS:
            for rule in RULES:
                own = [by[kind, d, gap, rule] for gap in gaps]
                cells = (
                    f"{np.mean(r['ARI']):.2f} / {np.mean(r['pieces']):.1f}" for r in own
                )
                text += f"| {d} | {rule} | {' | '.join(cells)} |\n"
    return text


def picture(rows):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 6.5), layout="constrained")
    axes = figure.subplots(2, len(DIMENSIONS), sharey=True)
    for line, (kind, gaps) in zip(axes, GAPS.items(), strict=True):
        for ax, d in zip(line, DIMENSIONS, strict=True):
            for rule in RULES:
                own = [
                    r
                    for r in rows
                    if (r["kind"], r["dimensions"], r["method"]) == (kind, d, rule)
                ]
                mean = np.array([np.mean(r["ARI"]) for r in own])
                spread = np.array([np.std(r["ARI"]) for r in own])
                ax.plot(gaps, mean, "o-", label=rule, markersize=3)
                ax.fill_between(gaps, mean - spread, mean + spread, alpha=0.15)
            ax.axvline(2.0 if kind == "gauss" else 0.0, color="#999", linestyle=":")
            names = {"gauss": "distance of two Gaussians", "cube": "gap of two cubes"}
            ax.set(title=f"{d} dimensions", xlabel=names[kind], ylim=(-0.05, 1.05))
        line[0].set_ylabel("ARI of visible groups")
    axes[0, 0].legend()
    figure.savefig(machine.RESULTS / "gap.png", dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    rows = [
        row
        for kind, gaps in GAPS.items()
        for d in DIMENSIONS
        for gap in gaps
        for row in run(kind, d, gap, arguments.rows, arguments.seeds)
    ]
    picture(rows)
    text = (
        f"{arguments.rows:,} rows, mean of {arguments.seeds} seeds: adjusted Rand "
        "index of the visible groups with the two clouds / pieces of the map. "
        "Gaussians have two peaks of density beyond a distance of 2 (dotted line); "
        "cubes touch at 0.\n\n![the same as curves](gap.png)\n" + tables(rows)
    )
    machine.save("gap", "Two clouds and a gap", machine.describe(), text, rows)


if __name__ == "__main__":
    main()
