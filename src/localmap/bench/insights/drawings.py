"""The pictures of the insights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from localmap import kernels
from localmap.bench.insights.balance import Count, slope
from localmap.bench.insights.joined import Joined
from localmap.bench.insights.lengths import RULES, pull, weight
from localmap.plotting import edges, group_colors, plain, plot
from localmap.plotting.pictures import point_size

Maps = dict[str, kernels.Floats]

# Pairs longer than this are drawn red: the paper's proximal distance.
LONG: Final = 10.0
ROWS_DRAWN: Final = 2_000  # whose near pairs are drawn: those of 70,000 cover the map
QUANTILES: Final = 200  # points of a curve against length
COLORS: Final = dict(zip(RULES, ("#0072b2", "#e69f00", "#c1121f"), strict=True))


def near_pairs(maps: Maps, near: kernels.Ints, labels: NDArray[Any]) -> Figure:
    """Draw each map, and below it the same with near pairs of up to 2,000 rows."""
    n = len(near)
    drawn = np.full_like(near, -1)
    some = np.arange(min(n, ROWS_DRAWN)) * n // min(n, ROWS_DRAWN)
    drawn[some] = near[some]
    figure = Figure(figsize=(5.0 * len(maps), 10.2), layout="constrained")
    axes = figure.subplots(2, len(maps), squeeze=False)
    for (title, Y), above, below in zip(maps.items(), *axes, strict=True):
        plot(Y, labels, ax=above, title=title)
        edges(Y, drawn, labels, ax=below, longer_than=LONG, names="none")
    return figure


def crossing_by_length(
    lengths: dict[str, NDArray[np.float64]], crosses: NDArray[np.bool_]
) -> Figure:
    """Draw how long pairs are, and how many pairs of each length cross."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for title, length in lengths.items():
        color = COLORS[title]
        for kind, which, style in (
            ("crossing", crosses, "-"),
            ("others", ~crosses, ":"),
        ):
            if which.any():
                own = np.sort(length[which])
                beyond = 1.0 - np.arange(len(own)) / len(own)
                left.plot(own, beyond, style, color=color, label=f"{title}: {kind}")
        order = np.argsort(length)
        parts = np.array_split(order, min(QUANTILES, len(order)))
        at = [float(np.median(length[part])) for part in parts]
        share = [float(crosses[part].mean()) for part in parts]
        right.plot(at, share, ".-", color=color, markersize=3, label=title)
    for ax in (left, right):
        ax.set(xscale="log", xlabel="length of a near pair in the map")
        ax.axvline(LONG, color="#999", linestyle="--", linewidth=0.8)
        ax.grid(alpha=0.3)
    left.legend(fontsize=8, loc="lower left")
    right.legend(fontsize=8, loc="upper left")
    left.set(yscale="log", ylabel="share of pairs that are longer", xlim=(0.05, None))
    right.set(ylabel="share that crosses two classes", ylim=(0, 1), xlim=(0.05, None))
    return figure


def weights(length: NDArray[np.float64]) -> Figure:
    """Draw the weight of a near pair, and the pull that comes of it (figure 3)."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for title, rule in RULES.items():
        name = f"{title}, pairs not trusted" if rule.trust else title
        left.plot(length, weight(rule, length), color=COLORS[title], label=name)
        right.plot(length, pull(rule, length), color=COLORS[title], label=name)
    left.set(yscale="log", ylabel="weight of a near pair")
    right.set(ylabel="pull of a near pair, last phase")
    for ax in (left, right):
        ax.set(xlabel="length in the map", xlim=(0, float(length.max())))
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    return figure


def alone(
    maps: Maps, found: Sequence[Joined], codes: NDArray[np.int64], names: Sequence[str]
) -> Figure:
    """Draw PaCMAP of all rows, of each joined group alone, and the default's map."""
    panels = {"PaCMAP of all": (maps["PaCMAP"], codes)}
    for group in found:
        told = ", ".join(names[one] for one in group.classes)
        panels[f"PaCMAP of {told} alone"] = (group.alone, codes[group.rows])
    panels["LocalMAP of all"] = (maps["LocalMAP, default"], codes)
    figure = Figure(figsize=(4.2 * len(panels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, (Y, own)) in zip(axes, panels.items(), strict=True):
        ax.set_title(plain(title), fontsize=11, loc="left")
        _same_colors(ax, Y, own, names)
    return figure


def _same_colors(
    ax: Axes, Y: kernels.Floats, codes: NDArray[np.int64], names: Sequence[str]
) -> None:
    """Draw a map of some classes, each in the colour that it has among all."""
    order = np.random.default_rng(0).permutation(len(Y))
    colors = np.array(group_colors(len(names)))
    across, up = Y[order].T
    style: dict[str, Any] = {"s": point_size(len(Y)) / 2, "linewidths": 0}
    ax.scatter(across, up, c=colors[codes[order]], rasterized=True, **style)
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")
    for one in np.unique(codes):
        own = Y[codes == one]
        away = np.linalg.norm(own - np.median(own, axis=0), axis=1)
        x, y = own[away.argmin()]
        paper = {"facecolor": "white", "alpha": 0.75, "pad": 1.0, "linewidth": 0}
        ax.text(x, y, plain(names[one]), ha="center", va="center", bbox=paper)


def balance(growths: dict[str, Sequence[Count]]) -> Figure:
    """Draw near pairs for each further pair between two classes against n."""
    figure = Figure(figsize=(5.5 * len(growths), 4.6), layout="constrained")
    axes = figure.subplots(1, len(growths), squeeze=False, sharey=True)[0]
    for ax, (how, found) in zip(axes, growths.items(), strict=True):
        n = np.array([c.n for c in found])
        for title in RULES:
            ratio = np.array([c.ratio(title) for c in found])
            name = f"{title}: n^{slope(found, title):.2f}"
            ax.plot(n, ratio, "o-", color=COLORS[title], markersize=4, label=name)
        growth = found[0].p / (2 * found[0].slots)
        ax.plot(n, growth * n, "k:", label="the theorem, p as in the first")
        ax.set(xscale="log", yscale="log", xlabel=f"n: {how}")
        ax.grid(alpha=0.3, which="both")
        ax.legend(fontsize=8)
    axes[0].set_ylabel("near pairs for each further pair")
    return figure
