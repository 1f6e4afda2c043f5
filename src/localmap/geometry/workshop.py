"""Where work on large data is done: part by part, into arrays that may be files.

A stage is a pure function of a part of its input. Here parts are done one after the
other and arrays lie in memory; `localmap.scale` has workshops whose arrays are files,
and whose parts are done by the workers of a cluster. What a stage computes does not
depend on the workshop: parts follow from the shape of the data alone, and their results
come in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from localmap.geometry.blocks import Rows, block_rows

# Blocks of rows in a part: about 256 MB of numbers.
BLOCKS: Final = 32


class Part(NamedTuple):
    """Rows to read or to write, and (where a stage asks for them) their cells."""

    rows: slice
    cells: slice = slice(0)


def parts_of(X: Rows) -> list[Part]:
    """Return the parts of data: whole blocks of rows, by its shape alone."""
    n, D = X.shape
    size = BLOCKS * block_rows(D)
    return [Part(slice(a, min(n, a + size))) for a in range(0, n, size)]


class Workshop:
    """Arrays in memory, and parts one after the other."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array to write to; in other workshops a file of that name."""
        del name
        return np.empty(shape, dtype=dtype)

    def forget(self, *names: str) -> None:
        """Say that arrays are not needed any more."""

    def finished(self, stage: str) -> bool:
        """Tell whether an earlier run has done all of a stage."""
        del stage
        return False

    def each(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., Any],
        *shared: Any,
        X: Rows | None = None,
        into: Sequence[NDArray[Any]] = (),
    ) -> Iterator[Any]:
        """Do the work on each part; yield what it returns, in order.

        `work` is given the part, its rows of `X` if there is one, `shared`, its rows of
        the arrays in `into`, which it fills, and a number of threads.
        """
        del stage
        for part in parts:
            read = () if X is None else (X[part.rows],)
            filled = [array[part.rows] for array in into]
            yield work(part, *read, *shared, *filled, self.n_threads)

    def run(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., None],
        *shared: Any,
        X: Rows | None = None,
        into: Sequence[NDArray[Any]] = (),
    ) -> None:
        """Do the work on all parts."""
        for _ in self.each(stage, parts, work, *shared, X=X, into=into):
            pass
