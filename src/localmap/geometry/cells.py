"""Rows put in cells: those that lie together in space stand together in memory.

Cells are found by k-means. Data of many rows is laid out in their order, so that the
neighbours of a row, which are searched in its cell and the cells around it, stand near
it: in one cache while they are compared and moved, and in one stretch of a file where
the rows do not fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.geometry.blocks import block_rows, in_order
from localmap.geometry.workshop import Part, Workshop

Number = TypeVar("Number", bound=np.generic)

# Rows in a cell grow as the square root of n: ranking the cells and searching the
# nearest of them then cost about the same.
CELLS_PER_ROOT: Final = 3.0

# Rows of which k-means places a centre.
SAMPLE_PER_CELL: Final = 32

# Rows that are searched as one part.
SEARCHED: Final = 1 << 16

# Rows that are put in their order at once.
GATHERED: Final = 1 << 12

# Codes of cells that fit into 16 bits are sorted much faster.
SHORT: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class Cells:
    """Where cells are, and which rows each holds: ``order[starts[c]:starts[c + 1]]``.

    Rows that were arranged stand in that order already: `order` then counts.
    """

    centres: kernels.Centres
    order: kernels.Ints
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, named: dict[str, NDArray[Any]]) -> Cells:
        """Return the cells of arrays by name."""
        centres = kernels.Centres(named["around"], named["cells"], named["lists"])
        return cls(centres, named["order"], named["starts"])

    def named(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {**self.centres._asdict(), "order": self.order, "starts": self.starts}

    def home_of(self, places: NDArray[Any]) -> kernels.Ints:
        """Return the cells of what stands at places of `order`."""
        found = np.searchsorted(self.starts, places, side="right") - 1
        return np.asarray(found, dtype=np.int32)

    def parts(self) -> list[Part]:
        """Return runs of whole cells of about `SEARCHED` rows, by place."""
        parts, first = [], 0
        for cell in range(1, len(self.starts)):
            rows = self.starts[cell] - self.starts[first]
            if rows >= SEARCHED or cell == len(self.starts) - 1:
                place = slice(int(self.starts[first]), int(self.starts[cell]))
                parts.append(Part(place, slice(first, cell)))
                first = cell
        return parts

    def as_arranged(self) -> Cells:
        """Return the cells of rows that were put in their order."""
        counting = np.arange(len(self.order), dtype=np.int32)
        return Cells(self.centres, counting, self.starts)


def by_row(order: kernels.Ints | None, placed: NDArray[Number]) -> NDArray[Number]:
    """Return what stands in that order in the order of the data."""
    if order is None:
        return placed
    rows = np.empty_like(placed)
    rows[order] = placed
    return rows


def many(n: int) -> int:
    """Return the number of cells for so many rows."""
    return int(CELLS_PER_ROOT * n**0.5)


def group(Z: kernels.Floats, count: int, workshop: Workshop) -> Cells:
    """Put rows in about `count` cells."""
    n = len(Z)
    sampled = min(n, count * SAMPLE_PER_CELL)
    chosen = np.arange(sampled) * n // sampled
    centres = kernels.cell_centres(Z[chosen], count, workshop.n_threads)
    home = workshop.array("homes", (n,), np.int32)
    workshop.run("homes", workshop.parts(Z), _homes, centres, X=Z, into=(home,))
    codes = home.astype(np.uint16) if len(centres.cells) <= SHORT else home
    order = np.argsort(codes, kind="stable").astype(np.int32)
    starts = np.zeros(len(centres.cells) + 1, dtype=np.int64)
    np.cumsum(np.bincount(home, minlength=len(centres.cells)), out=starts[1:])
    workshop.forget("homes")
    return Cells(centres, order, starts)


def _homes(
    part: Part,
    Z: kernels.Floats,
    centres: kernels.Centres,
    home: kernels.Ints,
    n_threads: int,
) -> None:
    del part
    step = block_rows(Z.shape[1])
    for start in range(0, len(Z), step):
        some = slice(start, start + step)
        home[some] = kernels.cell_homes(Z[some], centres, n_threads)


def arrange(Z: kernels.Floats, cells: Cells, workshop: Workshop) -> kernels.Floats:
    """Return the rows in the order of their cells."""
    arranged = workshop.array("arranged", Z.shape, np.float32)
    workshop.run(
        "arrange", workshop.parts(Z), _gather, Z, cells.order, into=(arranged,)
    )
    return arranged


def _gather(
    part: Part,
    Z: kernels.Floats,
    order: kernels.Ints,
    arranged: kernels.Floats,
    n_threads: int,
) -> None:
    rows = order[part.rows]

    def take(start: int) -> None:
        some = slice(start, start + GATHERED)
        # Rows are those of cells, all of them there; only so no copy is made first.
        np.take(Z, rows[some], axis=0, out=arranged[some], mode="clip")

    for _ in in_order(range(0, len(rows), GATHERED), take, n_threads):
        pass


def packed(Z: kernels.Floats, cells: Cells, workshop: Workshop) -> kernels.CellRows:
    """Return the rows as the search reads them."""
    shape = kernels.packed_shape(cells.starts, Z.shape[1])
    room = workshop.array("packed", shape, np.float32)
    rows = kernels.CellRows(Z, cells.order, cells.starts, room)
    kernels.check_cells(rows)
    kernels.pack_cells(rows, 0, len(cells.starts) - 1, workshop.n_threads)
    return rows
