"""Step 2a: the nearest rows of each row.

Small data is compared with itself, all rows with all rows. Larger data is grouped into
cells by k-means, and each row is compared with the rows of its nearest cells. How many
cells that takes is measured, not assumed: the true neighbours of a few hundred rows
are found first, and every row searches as many cells as hold the share `TARGET_RECALL`
of them; of all `k`, because near pairs are chosen among all by scaled distance.

Then rows that were found tell those that found them. A search in cells misses what
lies just beyond the last cell, always on the same side, and LocalMAP turns such cuts
into gaps: on 20 Newsgroups a recall of 0.98 without this step cost 0.009 of 10-NN
accuracy, while leaving out 2 % of all neighbours at random cost nothing. With it the
share of near pairs kept rises from 0.979 to 0.994 and the loss is within noise.

Both ways give the same bits for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from localmap import kernels

# Up to this many rows comparing all takes about a second, and nothing is missed.
EXACT_ROWS: Final = 20_000

# Above this many rows they are compared cell by cell, nearest cells first: the same
# result in half the time.
PLAIN_ROWS: Final = 2_000

# Rows whose true neighbours are found, to choose the number of cells and to tell how
# good the search was: the standard error of a recall of 0.98 is 0.002.
SAMPLE: Final = 500

# Share of true neighbours that the searched cells must hold; what is missed on one
# side only comes on top.
TARGET_RECALL: Final = 0.98

# Rows in a cell grow as the square root of n: ranking the cells and searching the
# nearest of them then cost about the same.
CELLS_PER_ROOT: Final = 3.0


@dataclass(frozen=True, eq=False)
class KNNGraph:
    """The nearest other rows of each row, closest first, equal ones by index."""

    indices: kernels.Ints
    distances: kernels.Floats
    recall: float = 1.0  # estimated share of true neighbours; 1 if exact


def index_of(Z: kernels.Floats, k: int, n_threads: int = 1) -> kernels.CellIndex:
    """Put rows in cells, as many of them searched as hold the `k` nearest rows."""
    sample, truth, _ = _true_neighbors(Z, k, n_threads)
    return kernels.CellIndex(
        Z,
        int(CELLS_PER_ROOT * len(Z) ** 0.5),
        n_threads,
        sample=sample,
        truth=truth,
        recall=TARGET_RECALL,
    )


def _true_neighbors(
    Z: kernels.Floats, k: int, n_threads: int
) -> tuple[kernels.Ints, kernels.Ints, kernels.Floats]:
    """Return rows spread over the data, their true neighbours and the distances."""
    n = len(Z)
    sample = (np.arange(SAMPLE) * n // SAMPLE).astype(np.int32)
    return sample, *kernels.exact_neighbors(Z, k, n_threads, sample)


def nearest_neighbors(
    Z: kernels.Floats, k: int, n_threads: int = 1, *, at: int = 10
) -> KNNGraph:
    """Find the `k` nearest other rows of each row of `Z` by Euclidean distance.

    A row is left out of its own list by its index, so duplicates are each other's
    neighbours. The recall told is that of the `at` nearest.
    """
    n = Z.shape[0]
    if n <= PLAIN_ROWS:
        return KNNGraph(*kernels.exact_neighbors(Z, k, n_threads))
    if n <= EXACT_ROWS:
        return KNNGraph(*kernels.cell_neighbors(Z, k, int(n**0.5), n_threads)[:2])
    sample, truth, true_distances = _true_neighbors(Z, k, n_threads)
    indices, distances, _ = kernels.cell_neighbors(
        Z,
        k,
        int(CELLS_PER_ROOT * n**0.5),
        n_threads,
        sample=sample,
        truth=truth,
        recall=TARGET_RECALL,
    )
    incomplete = np.flatnonzero(indices[:, -1] < 0).astype(np.int32)
    if incomplete.size:  # their cells hold fewer than k rows: compare them with all
        found = kernels.exact_neighbors(Z, k, n_threads, incomplete)
        indices[incomplete], distances[incomplete] = found
    kernels.add_reverse_neighbors(indices, distances, n_threads)
    # Equal distances may come in another order: what counts is the distance.
    at = min(at, k)
    recall = float((distances[sample, :at] <= true_distances[:, at - 1 : at]).mean())
    return KNNGraph(indices, distances, recall)
