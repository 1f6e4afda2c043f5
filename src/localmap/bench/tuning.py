"""Which parameters the tuned methods are tried with, and in which order.

The rivals get the paper's grids; ours has a small one of its own. Where time runs out
the same share of every grid has been tried, spread over all of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from localmap.bench import paper

Values = dict[str, Any]

# The packages' names of the paper's parameters, in its order. torchdr's LargeVis finds
# its neighbours exactly: there is nothing to propagate, and of the paper's 75
# combinations 25 differ.
NAMES: Final[dict[str, tuple[str | None, ...]]] = {
    "tsne": ("perplexity", "learning_rate"),
    "umap": ("n_neighbors", "min_dist"),
    "phate": ("knn", "decay"),
    "largevis": ("perplexity", None, "repulsion_strength"),
}

# Ours, so that tuned meets tuned.
OURS: Final[dict[str, tuple[Any, ...]]] = {
    "n_neighbors": (5, 10, 15, 20, 30),
    "proximal_distance": ("auto", 5, 10, 20, 40),
}
METHODS: Final = (*NAMES, "localmap")

# A set that the paper does not have gets the parameters of the one most like it.
LIKE: Final = {"digits": "usps"}

# Powers of the inverse of the plastic number, whose multiples fill a square evenly.
STEPS: Final = (0.7548776662466927, 0.5698402909980532)


def named(method: str, values: Sequence[float]) -> Values:
    """Return the paper's values by the names that the package gives them."""
    pairs = zip(NAMES[method], values, strict=True)
    return {name: value for name, value in pairs if name is not None}


def grid(method: str) -> list[Values]:
    """Return the combinations of a method, any first part of them spread over all.

    Those whose sum of steps along the axes falls into the first tenth of the unit
    interval come first, and so on: a lattice that is the finer the more of it is done.
    """
    if method in NAMES:
        axes = {
            name: tuple(values)
            for name, values in zip(
                NAMES[method], paper.GRIDS[method].values(), strict=True
            )
            if name is not None
        }
    else:
        axes = OURS
    places = itertools.product(*(range(len(values)) for values in axes.values()))
    ordered = sorted(
        places,
        key=lambda place: sum(i * s for i, s in zip(place, STEPS, strict=True)) % 1.0,
    )
    return [
        {name: axes[name][i] for name, i in zip(axes, place, strict=True)}
        for place in ordered
    ]


def at_best(method: str, dataset: str) -> list[Values]:
    """Return the paper's best parameters, by each measure; of ours the default."""
    if method not in NAMES:
        return [{}]
    found: list[Values] = []
    for measure in paper.BEST:
        values = paper.best(measure, method, LIKE.get(dataset, dataset))
        if values is not None and named(method, values) not in found:
            found.append(named(method, values))
    return found


def in_shares(
    datasets: Sequence[str], methods: Sequence[str]
) -> list[tuple[str, str, Values]]:
    """Return set, method and parameters: the paper's best, then all grids in step."""
    first = [
        (dataset, method, values)
        for dataset in datasets
        for method in methods
        for values in at_best(method, dataset)
    ]
    after = []
    for order, (dataset, method) in enumerate(itertools.product(datasets, methods)):
        whole = grid(method)
        for done, values in enumerate(whole):
            if (dataset, method, values) not in first:
                share = (done + 0.5) / len(whole)
                after.append((share, order, (dataset, method, values)))
    return [*first, *(tried for *_, tried in sorted(after, key=lambda of: of[:2]))]
