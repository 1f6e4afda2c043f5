"""No invented groups: pieces and strays of data that is one piece.

``python -m benchmarks.wholeness [SET ...] [--rows 1000 8000 50000] [--seeds 10 10 3]``
maps each set of `localmap.datasets.ONE_PIECE`, and the mammoth, with PaCMAP, the
paper's distance and the default, another set of points for each seed, and counts what
hangs together (`metrics.pieces`). It ends with what is more than PaCMAP's mean by .3
pieces, or by .3 % of strays.
"""

import argparse

import numpy as np

from benchmarks import machine
from benchmarks.data import load
from localmap import LocalMAP, PaCMAP, metrics
from localmap.datasets import ONE_PIECE, one_piece

RULES = {
    "PaCMAP": PaCMAP,
    "paper, 10 / 5": lambda **how: LocalMAP(proximal_distance=10.0, **how),
    "auto": LocalMAP,
}
MAMMOTHS = {10_000: "mammoth", 50_000: "mammoth_50k"}
MORE_PIECES, MORE_STRAYS = 0.3, 0.003


def points(name, n, seed):
    return load(MAMMOTHS[n])[0] if name == "mammoth" else one_piece(name, n, seed)


def run(name, n, seeds):
    found = {rule: [] for rule in RULES}
    for seed in range(seeds):
        X = points(name, n, seed)
        for rule, make in RULES.items():
            found[rule].append(metrics.pieces(make(random_state=seed).fit_transform(X)))
    rows = [
        {
            "data": f"{name}, {n}", "method": rule, "rows": n, "seeds": seeds,
            "pieces": [p.number for p in ps], "strays": [p.strays for p in ps],
        }
        for rule, ps in found.items()
    ]  # fmt: skip
    print(name, n, *(f"{row['method']} {cell(row)};" for row in rows), flush=True)
    return rows


def cell(row):
    pieces, strays = np.array(row["pieces"]), np.mean(row["strays"])
    text = f"{pieces.mean():.1f}"
    if pieces.std() > 0:
        text += f" ({pieces.std():.1f})"
    return text + (f" + {strays:.1%}" if strays >= 0.0005 else "")


def table(rows):
    by = {(row["data"], row["method"]): row for row in rows}
    names = dict.fromkeys(row["data"].split(",")[0] for row in rows)
    sizes = sorted({row["rows"] for row in rows})
    lines = [
        "| set | "
        + " | ".join(f"{n:,}: {rule}" for n in sizes for rule in RULES)
        + " |",
        "|---" * (len(sizes) * len(RULES) + 1) + "|",
    ]
    for name in names:
        cells = [
            cell(by[key]) if (key := (f"{name}, {n}", rule)) in by else ""
            for n in sizes
            for rule in RULES
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def worse(rows, rule):
    """What has more pieces or strays than PaCMAP."""
    by = {(row["data"], row["method"]): row for row in rows}
    for data in dict.fromkeys(row["data"] for row in rows):
        own, pacmap = by[data, rule], by[data, "PaCMAP"]
        pieces = np.mean(own["pieces"]) - np.mean(pacmap["pieces"])
        strays = np.mean(own["strays"]) - np.mean(pacmap["strays"])
        if pieces > MORE_PIECES + 1e-9 or strays > MORE_STRAYS:
            yield f"{data} rows: {cell(own)}, PaCMAP {cell(pacmap)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=(*ONE_PIECE, "mammoth"))
    parser.add_argument("--rows", type=int, nargs="+", default=(1000, 8000, 50_000))
    parser.add_argument("--seeds", type=int, nargs="+", default=(10, 10, 3))
    arguments = parser.parse_args()
    rows = []
    for n, seeds in zip(arguments.rows, arguments.seeds, strict=True):
        for name in arguments.datasets:
            size = 10_000 if name == "mammoth" and n == 8000 else n
            if name != "mammoth" or size in MAMMOTHS:
                rows += run(name, size, seeds)
    rows = machine.merged("wholeness", rows)
    order = {name: place for place, name in enumerate((*ONE_PIECE, "mammoth"))}
    rows.sort(key=lambda row: (order[row["data"].split(",")[0]], row["rows"]))
    text = (
        f"{table(rows)}\n\nMean number of pieces (standard deviation) + share of "
        "strays, over seeds: ten, and three of 50,000 rows; each seed has points of "
        "its own, but the mammoth.\n"
    )
    for rule in ("paper, 10 / 5", "auto"):
        said = [f"- {line}" for line in worse(rows, rule)] or ["- nothing"]
        text += (
            f"\nMore than PaCMAP by {MORE_PIECES} pieces or {MORE_STRAYS:.1%} strays, "
            f"{rule}:\n\n" + "\n".join(said) + "\n"
        )
    machine.save("wholeness", "No invented groups", machine.describe(), text, rows)


if __name__ == "__main__":
    main()
