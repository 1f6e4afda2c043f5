"""Rows in cells: grouped by k-means, and searched cell by cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, checked, contiguous
from localmap.kernels.search import check_queries, empty_graph

Starts = NDArray[np.int64]


class Centres(NamedTuple):
    """Where cells are: a few coarse groups, and the cells around each of them."""

    around: Floats
    cells: Floats
    lists: Ints


class CellRows(NamedTuple):
    """Rows of Z in cells: those of cell c are ``order[starts[c] : starts[c + 1]]``.

    `packed` holds them once more, as the search reads them; `packed_shape` tells how
    much room that takes, `pack_cells` fills it.
    """

    Z: Floats
    order: Ints
    starts: Starts
    packed: Floats


class Probing(NamedTuple):
    """How to search: the cells near each cell, and how many of them a row visits."""

    centres: Floats
    lists: Ints
    probes: int


def cell_centres(sample: Floats, cells: int, n_threads: int = 1) -> Centres:
    """Find about as many centres as `cells`, by k-means of some rows."""
    cells = max(1, min(cells, len(sample)))
    return Centres(*_core.cell_centres(contiguous(sample), cells, n_threads))


def cell_homes(X: Floats, centres: Centres, n_threads: int = 1) -> Ints:
    """Tell which cell each row belongs to."""
    out = np.empty(len(X), dtype=np.int32)
    _core.cell_homes(contiguous(X), *centres, out, n_threads)
    return out


def cell_probes(
    centres: Centres,
    queries: Floats,
    home: Ints,
    truth: Ints,
    recall: float,
    n_threads: int = 1,
) -> int:
    """Tell how many cells hold the share `recall` of the true neighbours of some rows.

    `home` are their cells, `truth` those of their neighbours.
    """
    count = len(centres.cells)
    return _core.cell_probes(
        centres.cells,
        contiguous(queries),
        checked(home[:, None], count, len(queries)).ravel(),
        checked(truth, count, len(queries)),
        recall,
        n_threads,
    )


def probing(centres: Centres, probes: int, n_threads: int = 1) -> Probing:
    """Return how to search so many cells for each row."""
    if not 1 <= probes <= len(centres.cells):
        msg = f"probes must be from 1 to {len(centres.cells)}; got {probes}."
        raise ValueError(msg)
    lists = _core.cell_shortlists(centres.cells, probes, n_threads)
    return Probing(centres.cells, lists, probes)


def packed_shape(starts: Starts, d: int) -> tuple[int, int]:
    """Return the shape that rows in cells have once they are packed."""
    return _core.panel_rows(starts), d


def check_cells(rows: CellRows) -> None:
    """Refuse rows in cells that would be read out of bounds."""
    n, starts = len(rows.Z), rows.starts
    checked(rows.order[:, None], n, len(rows.order))
    if (
        starts[0] != 0
        or starts[-1] != len(rows.order)
        or (np.diff(starts) < 0).any()
        or rows.packed.shape != packed_shape(starts, rows.Z.shape[1])
    ):
        msg = f"cells of {len(rows.order)} rows must hold each of them once."
        raise ValueError(msg)


def pack_cells(rows: CellRows, first: int, last: int, n_threads: int = 1) -> None:
    """Pack the rows of cells `first` to `last`."""
    _core.pack_cells(*rows, first, last, n_threads)


def find_in_cells(
    rows: CellRows,
    how: Probing,
    first: int,
    last: int,
    indices: Ints,
    distances: Floats,
    n_threads: int = 1,
) -> None:
    """Write the nearest other rows of each row of cells `first` to `last`.

    Rows whose cells hold too few others have -1 and an infinite distance at the end.
    """
    _core.find_in_cells(*rows, *how, first, last, indices, distances, n_threads)


def find_for_others(
    rows: CellRows,
    how: Probing,
    queries: Floats,
    home: Ints,
    k: int,
    n_threads: int = 1,
) -> tuple[Ints, Floats]:
    """Find about the k nearest rows of other rows, whose cells are `home`."""
    check_queries(rows.Z, queries, k)
    indices, distances = empty_graph(len(queries), k)
    home = checked(home[:, None], len(how.centres), len(queries)).ravel()
    _core.find_for_others(
        *rows, *how, contiguous(queries), home, indices, distances, n_threads
    )
    return indices, distances
