"""The only door to compiled code.

Every index array is checked once before native code sees it, every array gets the
layout the core expects, and no caller's array is written to unless its name says so.
The same functions stand in `_reference` in plain NumPy.
"""

from localmap.kernels.arrays import (
    Floats,
    Ints,
    check_finite_map,
    core_file,
    instruction_set,
    thread_count,
)
from localmap.kernels.cells import (
    CellRows,
    Centres,
    Probing,
    cell_centres,
    cell_homes,
    cell_probes,
    check_cells,
    find_for_others,
    find_in_cells,
    pack_cells,
    packed_shape,
    probing,
)
from localmap.kernels.descent import Circles, Descent, PairLists, Weights, forces
from localmap.kernels.maps import medoids, project, relax, silhouette
from localmap.kernels.pairs import (
    Around,
    Trusting,
    further,
    local_further,
    mean_shares,
    means,
    mid_near,
    near,
    shared_neighbors,
    shared_within,
    trusted_first,
)
from localmap.kernels.products import ByteProducts
from localmap.kernels.search import (
    MISSED,
    Missed,
    compare_each_two,
    exact_neighbors,
    let_in,
    missed_neighbors,
    neighbors_of,
)

__all__ = [
    "MISSED",
    "Around",
    "ByteProducts",
    "CellRows",
    "Centres",
    "Circles",
    "Descent",
    "Floats",
    "Ints",
    "Missed",
    "PairLists",
    "Probing",
    "Trusting",
    "Weights",
    "cell_centres",
    "cell_homes",
    "cell_probes",
    "check_cells",
    "check_finite_map",
    "compare_each_two",
    "core_file",
    "exact_neighbors",
    "find_for_others",
    "find_in_cells",
    "forces",
    "further",
    "instruction_set",
    "let_in",
    "local_further",
    "mean_shares",
    "means",
    "medoids",
    "mid_near",
    "missed_neighbors",
    "near",
    "neighbors_of",
    "pack_cells",
    "packed_shape",
    "probing",
    "project",
    "relax",
    "shared_neighbors",
    "shared_within",
    "silhouette",
    "thread_count",
    "trusted_first",
]
