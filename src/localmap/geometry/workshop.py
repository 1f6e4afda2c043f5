"""Where work on large data is done: part by part, into arrays that may be files.

A stage is a pure function of a part of its input. Here parts are done one after the
other and arrays lie in memory; `localmap.scale` has workshops whose arrays are files,
and whose parts are done by the workers of a cluster. What a stage computes does not
depend on the workshop: parts follow from the shape of the data alone wherever sums are
taken, and their results come in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from localmap.geometry.blocks import Rows, block_rows

# Blocks of rows in a part: about 256 MB of numbers.
BLOCKS: Final = 32

# Parts from which a stage takes long enough to be watched.
SHOWN: Final = 4


class Part(NamedTuple):
    """Rows to read or to write, and (where a stage asks for them) their cells."""

    rows: slice
    cells: slice = slice(0)


def parts_of(X: Rows, most: int = BLOCKS) -> list[Part]:
    """Return the parts of data: whole blocks of rows, by its shape alone."""
    n, D = X.shape
    size = min(most, BLOCKS) * block_rows(D)
    return [Part(slice(a, min(n, a + size))) for a in range(0, n, size)]


class Workshop:
    """Arrays in memory, and parts one after the other."""

    def __init__(self, n_threads: int = 1, *, verbose: bool = False) -> None:
        self.n_threads = n_threads
        self.verbose = verbose

    def __enter__(self) -> Self:
        """Begin; what was made is put away when the work ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """There is nothing to put away in memory."""

    def parts(self, X: Rows) -> list[Part]:
        """Return the parts of data for stages that may be divided in any way.

        Others, whose results are added up, take `parts_of`.
        """
        return parts_of(X)

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike
    ) -> NDArray[Any]:
        """Return an array to write to; in other workshops a file of that name."""
        del name
        return np.empty(shape, dtype=dtype)

    def forget(self, *names: str) -> None:
        """Say that arrays are not needed any more."""

    def remembered(
        self, name: str, make: Callable[[], dict[str, NDArray[Any]]]
    ) -> dict[str, NDArray[Any]]:
        """Return what an earlier run has made of that name, or make it."""
        del name
        return make()

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
        here: bool = False,
    ) -> Iterator[Any]:
        """Do the work on each part; yield what it returns, in order.

        `work` is given the part, its rows of `X` if there is one, `shared`, its rows of
        the arrays in `into`, which it fills, and a number of threads. `here` says that
        it is no work for others: it changes what it is given, or is done at once.
        """
        del here
        with self.progress(stage, len(parts)) as done:
            for part in parts:
                read = () if X is None else (X[part.rows],)
                filled = [array[part.rows] for array in into]
                yield work(part, *read, *shared, *filled, self.n_threads)
                done()

    def run(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., None],
        *shared: Any,
        X: Rows | None = None,
        into: Sequence[NDArray[Any]] = (),
        here: bool = False,
    ) -> None:
        """Do the work on all parts."""
        for _ in self.each(stage, parts, work, *shared, X=X, into=into, here=here):
            pass

    @contextmanager
    def progress(self, stage: str, count: int) -> Iterator[Callable[[], object]]:
        """Show the parts of a stage and the time left; yields what counts one."""
        if not self.verbose or count < SHOWN:
            yield lambda: None
            return
        from tqdm.auto import tqdm

        with tqdm(total=count, desc=stage, unit="part", leave=False) as bar:
            yield bar.update
