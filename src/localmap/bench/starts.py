"""Maps from random starts: how many keep every group whole and alone.

A label is *broken* if its points are seen in more than one group, labels are *joined*
if one group holds most of each: the splits and merges of `localmap.metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from localmap.bench.methods import METHODS
from localmap.bench.pictures import scatter
from localmap.bench.sections import Sheet
from localmap.metrics.clusters import parts_of

Rows = Sequence[dict[str, Any]]


def counts(rows: Rows) -> Sheet:
    """Return how many runs of each method keep all groups apart and whole."""
    kinds = dict.fromkeys((row["dataset"], row["method"]) for row in rows)
    lines = []
    for dataset, method in kinds:
        own = [
            row["measures"]
            for row in rows
            if (row["dataset"], row["method"]) == (dataset, method)
            and {"splits", "merges"} <= {*row.get("measures", {})}
        ]
        if not own:
            continue
        whole = [m["splits"] == 0 for m in own]
        apart = [m["merges"] == 0 for m in own]
        both = sum(w and a for w, a in zip(whole, apart, strict=True))
        spread = [m["silhouette"] for m in own]
        lines.append(
            (
                METHODS[method].title,
                dataset,
                str(len(own)),
                str(both),
                str(sum(whole)),
                str(sum(apart)),
                f"{np.mean(spread):.3f} ({min(spread):.3f} to {max(spread):.3f})",
            )
        )
    head = (
        "method", "set", "runs", "all separate and whole", "none broken",
        "none joined", "silhouette",
    )  # fmt: skip
    return Sheet(head, tuple(lines))


def drawn(folder: Path, rows: Rows, dataset: str, most: int = 5) -> Figure | None:
    """Draw the first runs of each method, with broken and joined groups marked."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["dataset"] == dataset and _map(folder, row).exists():
            by_method.setdefault(row["method"], []).append(row)
    if not by_method:
        return None
    across = min(most, max(len(own) for own in by_method.values()))
    size = (2.6 * across, 2.7 * len(by_method) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(by_method), across, squeeze=False)
    for line, (method, own) in zip(axes, by_method.items(), strict=True):
        line[0].set_ylabel(METHODS[method].title)
        for place, ax in enumerate(line):
            ax.set(xticks=[], yticks=[], visible=place < len(own))
        for ax, row in zip(line, own, strict=False):
            broken, joined = _marked(ax, _map(folder, row))
            ax.set_title(
                f"seed {row['seed']}: {broken} broken, {joined} joined", size=8
            )
    figure.suptitle(f"{dataset}: circles mark broken groups, squares joined ones")
    return figure


def _map(folder: Path, row: dict[str, Any]) -> Path:
    return folder / "maps" / f"{row['name']}.npz"


def _marked(ax: Axes, path: Path) -> tuple[int, int]:
    """Draw a map; ring the parts of broken labels and the homes of joined ones."""
    with np.load(path, allow_pickle=False) as archive:
        Y, codes, groups = archive["Y"], archive["codes"], archive["groups"]
    scatter(ax, Y, codes)
    known = codes >= 0
    Y, codes, groups = Y[known], codes[known], groups[known]
    parts, home = parts_of(codes, groups)
    broken = [
        _middle(Y, (codes == label) & (groups == group))
        for label in np.flatnonzero(parts.sum(axis=1) > 1)
        for group in np.flatnonzero(parts[label])
    ]
    shared = np.flatnonzero(np.bincount(home[home >= 0], minlength=1) > 1)
    joined = [_middle(Y, groups == group) for group in shared]
    for points, shape, color in ((broken, "o", "#c1121f"), (joined, "s", "black")):
        if points:
            x, y = np.array(points).T
            ax.scatter(x, y, s=110, marker=shape, facecolors="none", edgecolors=color)
    return int((parts.sum(axis=1) > 1).sum()), len(shared)


def _middle(Y: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
    return np.asarray(np.median(Y[rows], axis=0))
