"""Pictures of a comparison: maps side by side, and time against the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure

from localmap.bench.plan import mixture_rows
from localmap.plotting import COLORS

ACROSS: Final = 5  # maps in a row
MOST_POINTS: Final = 20_000  # drawn of a map

Label = Callable[[dict[str, Any]], str]


def maps(
    folder: Path, dataset: str, rows: Sequence[dict[str, Any]], label: Label
) -> Figure:
    """Draw each method's first map, coloured by the labels."""
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(label(row), row)
    down = -(-len(first) // ACROSS)
    figure = Figure(figsize=(3 * ACROSS, 3.2 * down), layout="constrained")
    for place, (title, row) in enumerate(first.items()):
        ax = figure.add_subplot(down, ACROSS, place + 1)
        path = folder / "maps" / f"{row['name']}.npz"
        ax.set(xticks=[], yticks=[])
        score = row["measures"].get("silhouette")
        ax.set_title(title if score is None else f"{title}: {score:.2f}", fontsize=10)
        if not path.exists():
            continue
        with np.load(path, allow_pickle=False) as archive:
            Y, codes = archive["Y"], archive["codes"]
        some = np.random.default_rng(0).permutation(len(Y))[:MOST_POINTS]
        colors: Any = "#336"
        if len(codes):
            palette = np.array(COLORS, dtype=object)
            colors = palette[codes[some] % len(palette)].tolist()
        size = float(np.clip(4000 / len(some), 0.3, 6))
        ax.scatter(Y[some, 0], Y[some, 1], c=colors, s=size, linewidths=0)
        ax.set_aspect("equal", adjustable="datalim")
    figure.suptitle(dataset)
    return figure


def time_against_rows(rows: Sequence[dict[str, Any]], label: Label) -> Figure:
    """Draw time and memory on logarithmic axes."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for ax, key, name in zip(
        figure.subplots(1, 2),
        ("seconds", "peak_mb"),
        ("seconds", "peak MB"),
        strict=True,
    ):
        for title in dict.fromkeys(label(row) for row in rows):
            points = sorted(
                (mixture_rows(row["dataset"]), row[key])
                for row in rows
                if label(row) == title and key in row
            )
            if points:
                ax.plot(*np.array(points).T, "o-", label=title)
        ax.set(xscale="log", yscale="log", xlabel="rows (50 columns)", ylabel=name)
        ax.grid(alpha=0.3)
        ax.legend()
    return figure
