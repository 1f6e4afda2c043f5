"""Coordinates for data that comes as distances alone.

A few rows are landmarks. Classical scaling places them, and every other row is placed
by its distances to them (de Silva and Tenenbaum, 2004, "Sparse multidimensional scaling
using landmark points"). If only the distances of near rows are known, those to the
landmarks are lengths of shortest paths, as in Isomap.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.csgraph import dijkstra

from localmap import kernels

LANDMARKS: Final = 32

# Rows with no path to a landmark are this many times as far as the farthest that has.
NO_PATH: Final = 2.0

# Axes with a smaller share of the largest eigenvalue than this are rounding.
ROUNDING: Final = 1e-6


def choose(n: int) -> NDArray[np.int64]:
    """Choose rows that are spread over the data as it is ordered."""
    m = min(n, LANDMARKS)
    return np.arange(m) * n // m


def path_lengths(graph: Any, landmarks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the length of the shortest path from each row to each landmark."""
    lengths = dijkstra(graph, directed=False, indices=landmarks).T
    reached = np.isfinite(lengths)
    lengths[~reached] = NO_PATH * lengths[reached].max()
    result: NDArray[np.float64] = np.ascontiguousarray(lengths)
    return result


def coordinates(
    distances: NDArray[Any], landmarks: NDArray[np.int64]
) -> kernels.Floats:
    """Place each row by its distances to the landmarks, widest axis first."""
    squared = distances.astype(np.float64) ** 2
    among = squared[landmarks]
    among = (among + among.T) / 2
    mean = among.mean(axis=0)
    products = (mean + mean[:, None] - mean.mean() - among) / 2
    values, vectors = eigh(products)
    if values[-1] <= 0:
        msg = (
            "The rows that stand for the others, spaced evenly over the data, reach "
            "each other only at distance 0: the graph says nothing of their places. "
            "Shuffle the rows, leave out duplicates, or give more neighbours."
        )
        raise ValueError(msg)
    kept = values > ROUNDING * values[-1]
    axes = (vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1]
    places: kernels.Floats = ((mean - squared) @ axes / 2).astype(np.float32)
    return places
