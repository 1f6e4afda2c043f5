"""Rows in blocks: where arrays, memory maps, sparse rows and chunked arrays meet.

Data of any kind is read a block of rows at a time, ``X[start:stop]``, so that nothing
as large as the data is copied. What a stage asks of data is `Rows`, no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

from scipy.sparse import issparse

from localmap.geometry.blas import hold_this_thread

Work = TypeVar("Work")
Item = TypeVar("Item")

# Numbers handled at once; a block of rows stays in the cache between its few uses.
BLOCK: Final = 1 << 21

# Blocks worked on at once: more would be larger, some tens of megabytes each.
MOST_BLOCKS: Final = 16


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


def come_sparse(X: Rows) -> bool:
    """Tell whether blocks of these rows are sparse."""
    return bool(issparse(X) or getattr(X, "sparse", False))


def block_rows(D: int) -> int:
    """Return the number of rows in a block of so many columns."""
    return max(64, BLOCK // max(1, D))


def blocks(X: Rows) -> Iterator[slice]:
    """Yield slices of rows of about `BLOCK` numbers each."""
    n, D = X.shape
    rows = block_rows(D)
    for start in range(0, n, rows):
        yield slice(start, min(n, start + rows))


def in_blocks(
    X: Rows, work: Callable[[Any], Work], n_threads: int
) -> Iterator[tuple[slice, Work]]:
    """Yield slices of rows, in order, with what `work` makes of them."""
    slices = list(blocks(X))
    made = in_order(slices, lambda rows: work(X[rows]), n_threads)
    yield from zip(slices, made, strict=True)


def in_order(
    items: Sequence[Item], work: Callable[[Item], Work], n_threads: int
) -> Iterator[Work]:
    """Yield what `work` makes of the items, in order.

    As many as there are threads are worked on at once, also while the caller is at
    what it was given, and no more than these are held.
    """
    n_threads = min(n_threads, MOST_BLOCKS)
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads, initializer=hold_this_thread) as pool:
        begun: deque[Future[Work]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > n_threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
