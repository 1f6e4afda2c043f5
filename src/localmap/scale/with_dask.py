"""Dask: parts as tasks, on whatever scheduler is active.

A task is a pure function of a slice of the input, files of the scratch folder and a
part: a worker that dies costs a rerun. What tasks share goes to the workers as a file
too, once a stage. The folder must be one that all workers see.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy.sparse import issparse

from localmap.geometry.blocks import Rows
from localmap.geometry.finite import listed, refuse_columns
from localmap.geometry.workshop import Part, parts_of
from localmap.scale.scratch import OnDisk, bytes_in, checksum_of

# Tasks that are asked for at once: their results are held until all are there.
AT_ONCE: Final = 32

# Blocks of rows in a task: 32 MB of numbers, so that all workers have some to do.
BLOCKS_OF_A_TASK: Final = 4

# Rows in a chunk of data that workers read from its file.
ROWS: Final = 1 << 17


class DaskRows:
    """A Dask array of rows: known numbers of them, all columns in one chunk."""

    def __init__(self, source: Any) -> None:
        if source.ndim != 2:
            msg = f"X must have two axes, rows and columns; got shape {source.shape}."
            raise ValueError(msg)
        if np.isnan(source.shape[0]):
            source = source.compute_chunk_sizes()
        self.source = source.rechunk({1: -1})
        self.shape: tuple[int, ...] = tuple(map(int, source.shape))
        self.dtype = np.dtype(source.dtype)
        self.sparse = issparse(getattr(source, "_meta", None))
        if self.dtype.kind not in "biuf":
            msg = f"X must hold numbers; got {self.dtype}."
            raise ValueError(msg)
        if isinstance(getattr(source, "_meta", None), np.ma.MaskedArray):
            msg = (
                "X is a masked array, whose masked cells hold no data. Fill them in "
                "(dask.array.ma.filled), or leave out their rows or columns."
            )
            raise ValueError(msg)  # noqa: TRY004 - it is a matter of the cells
        self.names: list[str] | None = None

    def lazy(self, rows: slice) -> Any:
        """Return a block of rows that is yet to be computed."""
        return self.source[rows]

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows."""
        return self.source[rows].compute()


def dask_rows(X: Any) -> DaskRows:
    """Return a Dask array or data frame as rows."""
    if isinstance(X, da.Array):
        return DaskRows(X)
    if getattr(X, "ndim", None) != 2 or not hasattr(X, "columns"):
        msg = f"X must be a Dask array or data frame; got {type(X).__name__}."
        raise TypeError(msg)
    if not X.columns.is_unique:
        names = X.columns[X.columns.duplicated()].unique()
        msg = (
            f"Names of columns must be unique; {listed(list(map(repr, names)))} "
            "stand for several. Rename or leave out the others."
        )
        raise ValueError(msg)
    kinds = dict(X.dtypes)
    wrong = [f"{c!r} ({kind})" for c, kind in kinds.items() if kind.kind not in "biuf"]
    if wrong:
        refuse_columns(wrong, len(kinds))
    rows = DaskRows(X.to_dask_array(lengths=True))
    # Names are words, as scikit-learn has it: columns that are counted have none.
    if all(isinstance(name, str) for name in X.columns):
        rows.names = list(X.columns)
    return rows


def dask_array(opened: Callable[[], Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Return data that every worker opens by itself as a Dask array."""
    n, D = shape
    blocks = [
        da.from_delayed(
            delayed(_read)(opened, a, min(n, a + ROWS)),
            (min(n, a + ROWS) - a, D),
            dtype,
        )
        for a in range(0, n, ROWS)
    ]
    return da.concatenate(blocks)


def _read(opened: Callable[[], Any], start: int, stop: int) -> NDArray[Any]:
    return np.asarray(opened()[start:stop])


class FileArray(NamedTuple):
    """An array in a file: what a task gets in place of a mapped one."""

    path: str
    dtype: str
    shape: tuple[int, ...]

    def open(self) -> NDArray[Any]:
        """Map it."""
        return np.memmap(self.path, dtype=self.dtype, mode="r+", shape=self.shape)

    def rows(self, rows: slice) -> NDArray[Any]:
        """Return room for some of its rows."""
        return np.empty((rows.stop - rows.start, *self.shape[1:]), dtype=self.dtype)

    def write(self, rows: slice, numbers: NDArray[Any]) -> None:
        """Write some of its rows: not through a map, which other machines see late."""
        with Path(self.path).open("r+b") as file:
            file.seek(rows.start * (numbers.nbytes // max(1, len(numbers))))
            file.write(bytes_in(numbers))


class Stage(NamedTuple):
    """What the tasks of a stage share."""

    work: Callable[..., Any]
    shared: tuple[Any, ...]
    X: Any  # None if tasks are given their rows
    into: tuple[Any, ...]  # files


class WithDask(OnDisk):
    """Parts are tasks of Dask, arrays are files that all workers see."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of what tasks in this process shared, too."""
        _opened.cache_clear()
        super().__exit__(kind, error, trace)

    def parts(self, X: Rows) -> list[Part]:
        """Return parts of data that are small enough for all to have some."""
        return parts_of(X, BLOCKS_OF_A_TASK)

    def _work(
        self,
        stage: str,
        parts: Sequence[Part],
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        X: Rows | None,
        into: Sequence[NDArray[Any]],
        *,
        here: bool,
    ) -> Iterator[tuple[Any, list[int]]]:
        if here or not parts:
            yield from super()._work(stage, parts, work, shared, X, into, here=here)
            return
        given = isinstance(X, DaskRows)
        common = _as_files(Stage(work, shared, None if given else X, tuple(into)))
        path = self.folder / f"{stage}-{uuid4().hex}.shared"
        aside = path.with_suffix(".part")
        aside.write_bytes(pickle.dumps(common))
        aside.replace(path)
        task = delayed(_task, pure=False)
        try:
            with self.progress(stage, len(parts)) as done:
                for start in range(0, len(parts), AT_ONCE):
                    tasks = [
                        task(
                            str(path),
                            tuple(_bounds(part)),
                            X.lazy(part.rows) if isinstance(X, DaskRows) else None,
                        )
                        for part in parts[start : start + AT_ONCE]
                    ]
                    for result in compute(*tasks):
                        yield result
                        done()
        finally:
            path.unlink(missing_ok=True)


def _bounds(part: Part) -> Iterator[int]:
    yield from (part.rows.start, part.rows.stop, part.cells.start or 0, part.cells.stop)


def _task(
    path: str, bounds: tuple[int, int, int, int], block: Any
) -> tuple[Any, list[int]]:
    """Do the work on one part, in a worker; return checksums of what it wrote, too."""
    stage = _opened(path)
    part = Part(slice(*bounds[:2]), slice(*bounds[2:]))
    read: tuple[Any, ...] = ()
    if block is not None:
        read = (block.tocsr() if issparse(block) else np.asarray(block),)
    elif stage.X is not None:
        read = (stage.X[part.rows],)
    filled = [file.rows(part.rows) for file in stage.into]
    result = stage.work(part, *read, *stage.shared, *filled, 1)
    for file, numbers in zip(stage.into, filled, strict=True):
        file.write(part.rows, numbers)
    return result, list(map(checksum_of, filled))


@lru_cache(maxsize=2)
def _opened(path: str) -> Stage:
    """Read what the tasks of a stage share; written by this module, for this fit."""
    stage: Stage = pickle.loads(Path(path).read_bytes())  # noqa: S301
    return stage._replace(shared=_as_arrays(stage.shared), X=_as_arrays(stage.X))


def _as_files(value: Any) -> Any:
    """Put names of files in the place of mapped arrays."""
    if isinstance(value, np.memmap) and value.filename is not None:
        return FileArray(os.fspath(value.filename), value.dtype.str, value.shape)
    return _within(value, _as_files)


def _as_arrays(value: Any) -> Any:
    """Do the reverse."""
    if isinstance(value, FileArray):
        return value.open()
    return _within(value, _as_arrays)


def _within(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        changed = [change(item) for item in value]
        return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    return value
