"""Rows in blocks: where arrays, memory maps, sparse rows and chunked arrays meet.

Data of any kind is read a block of rows at a time, ``X[start:stop]``, so that nothing
as large as the data is copied. What a stage asks of data is `Rows`, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

Work = TypeVar("Work")

# Numbers handled at once; a block of rows stays in the cache between its few uses.
BLOCK: Final = 1 << 21

# Blocks worked on at once: more would not be faster, only larger.
MOST_BLOCKS: Final = 4


class Rows(Protocol):
    """Rows of numbers that can be read a slice at a time."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and columns."""

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Return a block of rows, dense or sparse."""


def blocks(X: Rows) -> Iterator[slice]:
    """Yield slices of rows of about `BLOCK` numbers each."""
    n, D = X.shape
    rows = max(64, BLOCK // max(1, D))
    for start in range(0, n, rows):
        yield slice(start, min(n, start + rows))


def in_blocks(
    X: Rows, work: Callable[[Any], Work], n_threads: int
) -> Iterator[tuple[slice, Work]]:
    """Yield slices of rows, in order, with what `work` makes of them.

    As many blocks as there are threads are worked on at once, and no more are held.
    """
    slices = list(blocks(X))
    n_threads = min(n_threads, MOST_BLOCKS)
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(slices), n_threads):
            some = slices[start : start + n_threads]
            made = pool.map(lambda rows: work(X[rows]), some)
            yield from zip(some, made, strict=True)
