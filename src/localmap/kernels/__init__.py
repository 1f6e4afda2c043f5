"""The only door to compiled code.

Every index array is checked once before native code sees it, every array gets the
layout the core expects, and no caller's array is written to unless its name says so.
The same functions stand in `_reference` in plain NumPy.
"""

from localmap.kernels.arrays import Floats, Ints, check_finite_map, thread_count
from localmap.kernels.descent import Descent, TiledPairs, Weights, forces
from localmap.kernels.maps import medoids, project, relax, silhouette
from localmap.kernels.pairs import (
    further,
    local_further,
    mean_shares,
    mid_near,
    near,
    shared_neighbors,
    shared_within,
)
from localmap.kernels.search import (
    CellIndex,
    add_reverse_neighbors,
    cell_neighbors,
    exact_neighbors,
    neighbors_of,
)

__all__ = [
    "CellIndex",
    "Descent",
    "Floats",
    "Ints",
    "TiledPairs",
    "Weights",
    "add_reverse_neighbors",
    "cell_neighbors",
    "check_finite_map",
    "exact_neighbors",
    "forces",
    "further",
    "local_further",
    "mean_shares",
    "medoids",
    "mid_near",
    "near",
    "neighbors_of",
    "project",
    "relax",
    "shared_neighbors",
    "shared_within",
    "silhouette",
    "thread_count",
]
