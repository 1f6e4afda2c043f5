"""Pictures of a comparison: maps side by side, and time against the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from localmap.bench.sets import gap, mixture_rows
from localmap.plotting import group_colors, plain

ACROSS: Final = 5  # maps in a row
MOST_POINTS: Final = 20_000  # drawn of a map

Label = Callable[[dict[str, Any]], str]


def maps(
    folder: Path, dataset: str, rows: Sequence[dict[str, Any]], label: Label
) -> Figure:
    """Draw each method's first map, coloured by the labels."""
    first = _first(rows, label)
    across = max(1, min(ACROSS, len(first)))
    down = -(-len(first) // across)
    figure = Figure(figsize=(3 * across, 3.2 * down), layout="constrained")
    for place, (title, row) in enumerate(first.items()):
        ax = figure.add_subplot(down, across, place + 1)
        score = row["measures"].get("silhouette")
        name = title.replace(" (", "\n(", 1)
        ax.set_title(name if score is None else f"{name}: {score:.2f}", fontsize=9)
        _draw(ax, folder, row)
    figure.suptitle(plain(dataset))
    return figure


def grid(folder: Path, rows: Sequence[dict[str, Any]], label: Label) -> Figure:
    """Draw all data sets, one above the other, by all methods, side by side."""
    titles = tuple(_first(rows, label))
    sets = tuple(dict.fromkeys(row["dataset"] for row in rows))
    size = (1.6 * len(titles), 1.6 * len(sets) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(sets), len(titles), squeeze=False)
    for line, dataset in zip(axes, sets, strict=True):
        line[0].set_ylabel(plain(Path(dataset).stem))
        own = _first([row for row in rows if row["dataset"] == dataset], label)
        for ax, title in zip(line, titles, strict=True):
            ax.set(xticks=[], yticks=[])
            if title in own:
                _draw(ax, folder, own[title])
            else:
                ax.text(0.5, 0.5, "-", ha="center", transform=ax.transAxes)
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title.replace(" (", "\n("), fontsize=8)
    return figure


def kept(folder: Path, rows: Sequence[dict[str, Any]], label: Label) -> list[bool]:
    """Tell of the first map of every method on every set whether it is kept."""
    sets = dict.fromkeys(row["dataset"] for row in rows)
    return [
        (folder / "maps" / f"{row['name']}.npz").exists()
        for dataset in sets
        for row in _first([r for r in rows if r["dataset"] == dataset], label).values()
    ]


def _first(rows: Sequence[dict[str, Any]], label: Label) -> dict[str, dict[str, Any]]:
    """Return the first run of each method."""
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(label(row), row)
    return first


def _draw(ax: Axes, folder: Path, row: dict[str, Any]) -> None:
    """Draw the map of a run, if it is still there."""
    ax.set(xticks=[], yticks=[])
    path = folder / "maps" / f"{row['name']}.npz"
    if not path.exists():
        ax.text(0.5, 0.5, "no map kept", ha="center", transform=ax.transAxes)
        return
    with np.load(path, allow_pickle=False) as archive:
        Y, codes = archive["Y"], archive["codes"]
    scatter(ax, Y, codes)


def scatter(ax: Axes, Y: NDArray[Any], codes: NDArray[Any]) -> None:
    """Draw points in the colours of their labels."""
    some = np.random.default_rng(0).permutation(len(Y))[:MOST_POINTS]
    colors: Any = "#336"
    if len(codes):  # the last is for rows without a label
        palette = np.array([*group_colors(codes.max() + 1), (0.85, 0.85, 0.85)])
        colors = palette[codes[some]]
    size = float(np.clip(4000 / len(some), 0.3, 6))
    ax.scatter(Y[some, 0], Y[some, 1], c=colors, s=size, linewidths=0)
    ax.set_aspect("equal", adjustable="datalim")


def time_against_rows(rows: Sequence[dict[str, Any]], label: Label) -> Figure | None:
    """Draw time and memory of mixtures on logarithmic axes, with exponents."""
    rows = [row for row in rows if mixture_rows(row["dataset"]) is not None]
    if not rows:
        return None
    figure = Figure(figsize=(14, 4.5), layout="constrained")
    shown = {"seconds": "seconds", "peak_mb": "peak MB"}
    titles = tuple(dict.fromkeys(label(row) for row in rows))
    colors = dict(zip(titles, group_colors(len(titles)), strict=True))
    for ax, key in zip(figure.subplots(1, 2), shown, strict=True):
        for title in titles:
            at: dict[int, list[float]] = {}
            for row in rows:
                n = mixture_rows(row["dataset"])
                if label(row) == title and key in row and n is not None:
                    at.setdefault(n, []).append(row[key])
            if at:
                sizes = sorted(at)
                means = [float(np.mean(at[n])) for n in sizes]
                name = title
                if len(sizes) > 1:
                    power = np.polyfit(np.log(sizes), np.log(means), 1)[0]
                    name += f", n^{power:.2f}"
                ax.plot(sizes, means, "o-", label=name, color=colors[title])
        ax.set(
            xscale="log", yscale="log", xlabel="rows (50 columns)", ylabel=shown[key]
        )
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def agreement_against_gap(
    rows: Sequence[dict[str, Any]], label: Label
) -> Figure | None:
    """Draw how well the groups that can be seen are two clouds, and their spread."""
    curves: dict[tuple[str, int], dict[str, dict[float, list[float]]]] = {}
    for row in rows:
        clouds = gap(row["dataset"])
        value = row.get("measures", {}).get("ARI of visible groups")
        if clouds is not None and value is not None:
            kind, d, apart = clouds
            at = curves.setdefault((kind, d), {}).setdefault(label(row), {})
            at.setdefault(apart, []).append(value)
    if not curves:
        return None
    across = min(len(curves), 4)
    down = -(-len(curves) // across)
    figure = Figure(figsize=(3.5 * across, 3.25 * down), layout="constrained")
    axes = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for ax, ((kind, d), titles) in zip(axes, curves.items(), strict=False):
        for title, at in titles.items():
            gaps = sorted(at)
            mean = np.array([np.mean(at[g]) for g in gaps])
            spread = np.array([np.std(at[g]) for g in gaps])
            ax.plot(gaps, mean, "o-", label=title, markersize=3)
            ax.fill_between(gaps, mean - spread, mean + spread, alpha=0.15)
        # Two Gaussians have two peaks of density beyond this, two cubes touch.
        ax.axvline(2.0 if kind == "gauss" else 0.0, color="#999", linestyle=":")
        what = "distance of Gaussians" if kind == "gauss" else "gap of cubes"
        ax.set(title=f"{d} dimensions", xlabel=what, ylim=(-0.05, 1.05))
    axes[0].set_ylabel("ARI of visible groups")
    axes[0].legend()
    return figure


# Pictures of generated sets, by file.
CURVES: Final[dict[str, Callable[..., Figure | None]]] = {
    "time.png": time_against_rows,
    "gap.png": agreement_against_gap,
}
