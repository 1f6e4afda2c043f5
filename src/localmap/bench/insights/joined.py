"""Insight 2: classes that PaCMAP joins in a map of all come apart when mapped alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels, metrics
from localmap.bench.insights.lengths import RULES
from localmap.method.embed import lay_out, prepare
from localmap.method.parameters import Parameters
from localmap.metrics.clusters import pieces_of


class Seen(NamedTuple):
    """How well some classes can be told apart in a map."""

    silhouette: float
    ari: float
    pieces: int


class Joined(NamedTuple):
    """Classes that share a piece of PaCMAP's map: in maps of all rows, and alone."""

    classes: tuple[int, ...]
    rows: NDArray[np.int64]
    seen: dict[str, Seen]  # by map
    alone: kernels.Floats  # PaCMAP's map of these rows


def joined_classes(
    Y: kernels.Floats, codes: NDArray[np.int64]
) -> list[tuple[int, ...]]:
    """Return classes that share a piece of the map, most classes first.

    A class belongs to the piece that holds most of its points.
    """
    piece = pieces_of(Y)
    held = piece >= 0
    table = np.zeros((codes.max() + 1, piece.max(initial=0) + 1), dtype=np.int64)
    np.add.at(table, (codes[held], piece[held]), 1)
    home = np.where(table.any(axis=1), table.argmax(axis=1), -1)
    groups = [
        tuple(int(one) for one in np.flatnonzero(home == place))
        for place in range(table.shape[1])
    ]
    return sorted((g for g in groups if len(g) > 1), key=lambda g: (-len(g), g))


def seen_in(Y: kernels.Floats, codes: NDArray[np.int64]) -> Seen:
    """Judge a map of the rows of some classes."""
    return Seen(
        metrics.silhouette(Y, codes),
        metrics.visible_agreement(Y, codes),
        metrics.pieces(Y).number,
    )


def map_alone(
    X: Any,
    codes: NDArray[np.int64],
    maps: dict[str, kernels.Floats],
    params: Parameters,
    key: int,
) -> list[Joined]:
    """Map the classes that PaCMAP joins alone, beside the maps of all rows."""
    found = []
    for classes in joined_classes(maps["PaCMAP"], codes):
        rows = np.flatnonzero(np.isin(codes, classes))
        problem = prepare(X[rows], params)
        alone = lay_out(problem, params, key, rule=RULES["PaCMAP"]).Y
        own = codes[rows]
        seen = {f"{title}, of all": seen_in(Y[rows], own) for title, Y in maps.items()}
        seen["PaCMAP, of these alone"] = seen_in(alone, own)
        found.append(Joined(classes, rows, seen, alone))
    return found
