"""How alike the surroundings of two rows are: random walks on the graph of near pairs.

Two walks that start in one group soon are anywhere in it, whichever row they started
from; across a gap they stay apart. The cosine of where two walks are after a few steps
tells rows of one neighbourhood, after many steps rows of one group.

Walks of all rows at once are a matrix of n x n numbers. Only their angles are wanted,
and these survive a random projection to some columns (Johnson and Lindenstrauss): a
cosine c is off by about (1 - c^2) / 11, least where it is near 1.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from localmap.kernels import Floats, Ints

# Columns of the projection, and of those that one thread walks with: few enough that
# the places of a row and of its partners stay in the cache.
COLUMNS: Final = 128
AT_ONCE: Final = 16

# Rows compared at a time.
BLOCK: Final = 1 << 14


def walk_cosines(
    graph: csr_array, near: Ints, steps: tuple[int, ...], n_threads: int = 1
) -> dict[int, NDArray[np.float64]]:
    """Return the cosine of the walks of each near pair, after each number of steps."""
    degrees = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1.0)
    step = csr_array(graph.multiply(1.0 / degrees[:, None])).astype(np.float32)
    products = {t: np.zeros(near.shape) for t in steps}
    lengths = {t: np.zeros(len(near)) for t in steps}
    with ThreadPoolExecutor(n_threads) as pool:
        walked = partial(_walk, step, near, steps)
        # Sums in one order: the same bits for any number of threads.
        for found in pool.map(walked, range(COLUMNS // AT_ONCE)):
            for taken, (part, length) in found.items():
                products[taken] += part
                lengths[taken] += length
    cosines = {}
    for taken, product in products.items():
        root = np.sqrt(np.maximum(lengths[taken], np.finfo(np.float32).tiny))
        cosines[taken] = product / root[:, None] / root[near]
    return cosines


def _walk(
    step: csr_array, near: Ints, steps: tuple[int, ...], part: int
) -> dict[int, tuple[Floats, Floats]]:
    """Walk with some columns; return products of near pairs and squared lengths."""
    rng = np.random.default_rng([0, part])  # always the same columns
    places = rng.standard_normal((len(near), AT_ONCE), dtype=np.float32)
    found = {}
    for taken in range(1, max(steps) + 1):
        places = step @ places
        if taken in steps:
            length = np.einsum("ij,ij->i", places, places)
            found[taken] = _products(places, near), length
    return found


def _products(places: NDArray[Any], near: Ints) -> Floats:
    out = np.empty(near.shape, dtype=np.float32)
    for start in range(0, len(near), BLOCK):
        rows = slice(start, start + BLOCK)
        np.einsum("ij,isj->is", places[rows], places[near[rows]], out=out[rows])
    return out
