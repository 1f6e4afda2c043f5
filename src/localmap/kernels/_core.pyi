from typing import Protocol

import numpy as np
from numpy.typing import NDArray

BEYOND: int
CODE_BITS: int

class _Listed(Protocol):
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def entries(self) -> NDArray[np.uint32]: ...

class Circles:
    def __init__(self, n: int, slots: int, /) -> None: ...
    def deal(
        self,
        Y: NDArray[np.float32],
        starts: NDArray[np.int64],
        entries: NDArray[np.uint32],
        reach: float,
        key: int,
        iteration: int,
        threads: int,
        /,
    ) -> None: ...
    def partners(self, out: NDArray[np.int32], /) -> None: ...

def instruction_set() -> str: ...
def count_pairs(
    pairs: NDArray[np.int32], starts: NDArray[np.int64], threads: int
) -> int: ...
def build_lists(
    pairs: NDArray[np.int32],
    trusted: NDArray[np.uint16],
    starts: NDArray[np.int64],
    entries: NDArray[np.uint32],
    threads: int,
) -> int: ...
def shared_neighbors(
    indices: NDArray[np.int32],
    among: int,
    near: NDArray[np.int32],
    out: NDArray[np.uint8],
    threads: int,
) -> None: ...
def shared_within(
    Z: NDArray[np.float32],
    sizes: NDArray[np.float32],
    found: NDArray[np.int32],
    among: int,
    near: NDArray[np.int32],
    out: NDArray[np.uint8],
    threads: int,
) -> None: ...
def mean_shares(
    near: NDArray[np.int32],
    shared: NDArray[np.uint8],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def means(
    values: NDArray[np.float64],
    named: NDArray[np.int32],
    among: int,
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def trusted_first(
    near: NDArray[np.int32],
    shares: NDArray[np.float32],
    enough: float,
    chance: float,
    among: int,
    usual: NDArray[np.float64],
    sizes: NDArray[np.float64],
    partners_usual: NDArray[np.float64],
    partners_sizes: NDArray[np.float64],
    ordered: NDArray[np.int32],
    count: NDArray[np.uint16],
    threads: int,
) -> None: ...
def forces(
    Y: NDArray[np.float32],
    pairs: tuple[_Listed, _Listed | None, _Listed | Circles],
    weights: NDArray[np.float32],
    gradient: NDArray[np.float32],
    threads: int,
) -> float: ...
def steps(
    Y: NDArray[np.float32],
    pairs: tuple[_Listed, _Listed | None, _Listed | Circles],
    weights: NDArray[np.float32],
    rates: NDArray[np.float32],
    gradient: NDArray[np.float32],
    m: NDArray[np.float32],
    v: NDArray[np.float32],
    moved: NDArray[np.float32],
    beta1: float,
    beta2: float,
    with_loss: bool,
    threads: int,
) -> float: ...
def near(
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    own: NDArray[np.float64],
    scales: NDArray[np.float64],
    out: NDArray[np.int32],
    threads: int,
) -> None: ...
def mid_near(
    Z: NDArray[np.float32], key: int, out: NDArray[np.int32], threads: int
) -> None: ...
def further(
    near: NDArray[np.int32], key: int, out: NDArray[np.int32], threads: int
) -> None: ...
def local_further(
    Y: NDArray[np.float32],
    near: NDArray[np.int32],
    reach: float,
    locality: float,
    key: int,
    iteration: int,
    out: NDArray[np.int32],
    threads: int,
) -> None: ...
def exact_neighbors(
    Z: NDArray[np.float32],
    queries: NDArray[np.int32],
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    threads: int,
) -> None: ...
def compare_each_two(
    Z: NDArray[np.float32],
    order: NDArray[np.int32],
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    threads: int,
) -> None: ...
def cell_centres(
    sample: NDArray[np.float32], cells: int, threads: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]: ...
def cell_homes(
    X: NDArray[np.float32],
    around: NDArray[np.float32],
    cells: NDArray[np.float32],
    lists: NDArray[np.int32],
    out: NDArray[np.int32],
    threads: int,
) -> None: ...
def cell_probes(
    cells: NDArray[np.float32],
    queries: NDArray[np.float32],
    home: NDArray[np.int32],
    truth: NDArray[np.int32],
    recall: float,
    threads: int,
) -> int: ...
def cell_shortlists(
    cells: NDArray[np.float32], probes: int, threads: int
) -> NDArray[np.int32]: ...
def panel_rows(starts: NDArray[np.int64]) -> int: ...
def pack_cells(
    Z: NDArray[np.float32],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    packed: NDArray[np.float32],
    first: int,
    last: int,
    threads: int,
) -> None: ...
def find_in_cells(
    Z: NDArray[np.float32],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    packed: NDArray[np.float32],
    centres: NDArray[np.float32],
    lists: NDArray[np.int32],
    probes: int,
    first: int,
    last: int,
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    threads: int,
) -> None: ...
def find_for_others(
    Z: NDArray[np.float32],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    packed: NDArray[np.float32],
    centres: NDArray[np.float32],
    lists: NDArray[np.int32],
    probes: int,
    queries: NDArray[np.float32],
    home: NDArray[np.int32],
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    threads: int,
) -> None: ...
def neighbors_of(
    Z: NDArray[np.float32],
    queries: NDArray[np.float32],
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    threads: int,
) -> None: ...
def multiplies_bytes() -> bool: ...
def byte_products(
    X: NDArray[np.uint8],
    by_rows: bool,
    out: NDArray[np.float64],
    sums: NDArray[np.int64],
) -> None: ...
def project(
    rows: NDArray[np.float32],
    components: NDArray[np.float32],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def relax(
    Y: NDArray[np.float32],
    near: NDArray[np.int32],
    trusted: NDArray[np.uint16],
    weights: NDArray[np.float32],
    reach: float,
    rate: float,
    beta1: float,
    beta2: float,
    iterations: int,
    redraw_every: int,
    slots: int,
    key: int,
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def missed_neighbors(
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    first: int,
    last: int,
    threads: int,
) -> NDArray[np.uint8]: ...
def let_in(
    indices: NDArray[np.int32],
    distances: NDArray[np.float32],
    missed: NDArray[np.uint8],
) -> None: ...
def silhouette(
    axes: NDArray[np.float32],
    starts: NDArray[np.int64],
    places: NDArray[np.int64],
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def medoids(
    Y: NDArray[np.float32],
    near: NDArray[np.int32],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
