"""Insight 1: near pairs that bridge groups become long.

Every near pair is taken once, whichever of its rows found the other. A pair is
*crossing* if its rows have different labels; labels serve to count, not to draw.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.cells import by_row
from localmap.method.adjust import Rule, rule_of
from localmap.method.embed import Problem
from localmap.method.schedule import PHASES, schedule
from localmap.plotting.graphs import pairs_of

# What is compared: PaCMAP, the paper's distance, and the default.
RULES: Final[dict[str, Rule]] = {
    "PaCMAP": Rule(),
    "LocalMAP, distance 10": rule_of(10.0, None, 1.0),
    "LocalMAP, default": rule_of("auto", None, 1.0),
}

# Lengths in the map between which pairs are counted.
BOUNDS: Final = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, np.inf)


class Range(NamedTuple):
    """Near pairs of some lengths: from, to, their share, and how many of them cross."""

    low: float
    high: float
    share: float
    crossing: float


class Doubt(NamedTuple):
    """Shares of pairs that the default does not trust."""

    crossing: float
    others: float


def near_rows(problem: Problem) -> kernels.Ints:
    """Return the near partners of each row, in the order of the data."""
    near = problem.take_near(keep=True)
    order = problem.order
    return near if order is None else by_row(order, order[near])


def near_pairs(problem: Problem) -> NDArray[np.int64]:
    """Return each near pair once, as two rows of the data."""
    near = near_rows(problem)
    return pairs_of(near, len(near))


def crossing(pairs: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs have two labels."""
    return np.asarray(codes[pairs[:, 0]] != codes[pairs[:, 1]])


def lengths(Y: kernels.Floats, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how long pairs are in a map."""
    apart = Y[pairs[:, 0]].astype(np.float64) - Y[pairs[:, 1]]
    return np.asarray(np.linalg.norm(apart, axis=1))


def by_length(
    length: NDArray[np.float64], crosses: NDArray[np.bool_]
) -> tuple[Range, ...]:
    """Count pairs, and those that cross, in ranges of length."""
    found = []
    for low, high in pairwise(BOUNDS):
        inside = (length >= low) & (length < high)
        among = float(crosses[inside].mean()) if inside.any() else float("nan")
        found.append(Range(low, high, float(inside.mean()), among))
    return tuple(found)


def told_apart(length: NDArray[np.float64], crosses: NDArray[np.bool_]) -> float:
    """Return how often a crossing pair is longer than another: the area under ROC."""
    from sklearn.metrics import roc_auc_score

    if crosses.all() or not crosses.any():
        return float("nan")
    return float(roc_auc_score(crosses, length))


def doubted(problem: Problem, codes: NDArray[np.int64]) -> Doubt:
    """Return which near pairs the default does not trust, before there is a map."""
    near, trusted = problem.take_near(keep=True), problem.trusted
    if trusted is None:
        msg = "the problem must be prepared with proximal_distance='auto'."
        raise ValueError(msg)
    own = codes if problem.order is None else codes[problem.order]
    crosses = own[near] != own[:, None]
    doubts = np.arange(near.shape[1]) >= trusted[:, None]
    return Doubt(*(_share(doubts[pairs]) for pairs in (crosses, ~crosses)))


def weight(rule: Rule, length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by what the last phase multiplies PaCMAP's pull on a near pair.

    Of a rule that trusts, this is the weight of pairs that are not trusted.
    """
    last = schedule([phase.n_iters for phase in PHASES], rule)[-1].weights(1)
    return last.near_plain + last.near_local / np.sqrt(length**2 + 1.0)


def pull(rule: Rule, length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the force on a near pair of the last phase."""
    t = length**2 + 1.0
    return weight(rule, length) * 20.0 * length / (10.0 + t) ** 2


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if which.size else float("nan")
