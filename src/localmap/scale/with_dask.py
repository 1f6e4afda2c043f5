"""Dask: parts as tasks, on whatever scheduler is active.

A task is a pure function of a slice of the input, files of the scratch folder and a
part: a worker that dies costs a rerun. What tasks share goes to the workers as a file
too, once a stage. The folder must be one that all workers see.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

from localmap.geometry.blocks import Rows
from localmap.geometry.workshop import Part
from localmap.scale.scratch import PREFIX, OnDisk

# Tasks that are asked for at once: their results are held until all are there.
AT_ONCE: Final = 32


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
        if self.dtype.kind not in "biuf":
            msg = f"X must hold numbers; got {self.dtype}."
            raise ValueError(msg)
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
    wrong = [f"{name!r} ({kind})" for name, kind in X.dtypes.items() if kind.kind not in "biuf"]
    if wrong:
        msg = f"{len(wrong)} of {len(X.columns)} columns of X hold no numbers: {wrong[0]}."
        raise ValueError(msg)
    rows = DaskRows(X.to_dask_array(lengths=True))
    rows.names = list(map(str, X.columns))
    return rows


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
            file.write(memoryview(numbers).cast("B"))


class Stage(NamedTuple):
    """What the tasks of a stage share."""

    work: Callable[..., Any]
    shared: tuple[Any, ...]
    X: Any  # None if tasks are given their rows
    into: tuple[FileArray, ...]


class WithDask(OnDisk):
    """Parts are tasks of Dask, arrays are files that all workers see."""

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
    ) -> Iterator[Any]:
        if here or not parts:
            yield from super()._work(stage, parts, work, shared, X, into, here=here)
            return
        given = isinstance(X, DaskRows)
        common = _as_files(Stage(work, shared, None if given else X, tuple(into)))
        path = self.folder / f"{stage}-{uuid4().hex}.shared"
        aside = path.with_suffix(".part")
        aside.write_bytes(pickle.dumps(common))
        aside.replace(path)
        task = dask.delayed(_task, pure=False)
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
                    for result in dask.compute(*tasks):
                        yield result
                        done()
        finally:
            path.unlink(missing_ok=True)


def _bounds(part: Part) -> Iterator[int]:
    yield from (part.rows.start, part.rows.stop, part.cells.start or 0, part.cells.stop)


def _task(path: str, bounds: tuple[int, int, int, int], block: Any) -> Any:
    """Do the work on one part, in a worker."""
    stage = _opened(path)
    part = Part(slice(*bounds[:2]), slice(*bounds[2:]))
    read: tuple[Any, ...] = ()
    if block is not None:
        read = (np.asarray(block) if not hasattr(block, "tocsr") else block.tocsr(),)
    elif stage.X is not None:
        read = (stage.X[part.rows],)
    filled = [file.rows(part.rows) for file in stage.into]
    result = stage.work(part, *read, *stage.shared, *filled, 1)
    for file, numbers in zip(stage.into, filled, strict=True):
        file.write(part.rows, numbers)
    return result


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


def in_chunks_of(X: Any, Y: NDArray[np.float32]) -> Any:
    """Return a map as a Dask array with the row chunks of X."""
    chunks = dask_rows(X).source.chunks[0]
    return da.from_array(Y, chunks=(chunks, -1))


def lazily_placed(model: Any, X: Any, *, with_distance: bool) -> Any:
    """Return the places of new rows as Dask arrays that are yet to be computed."""
    rows = dask_rows(X).source
    if rows.shape[1] != model.n_features_in_:
        msg = (
            f"X has {rows.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
        raise ValueError(msg)
    axes = model.embedding_.shape[1]
    placed = rows.map_blocks(
        _placed,
        _model_file(model),
        dtype=np.float32,
        chunks=(rows.chunks[0], (axes + 1,)),
        meta=np.empty((0, axes + 1), dtype=np.float32),
    )
    return (placed[:, :axes], placed[:, axes]) if with_distance else placed[:, :axes]


def _placed(block: Any, path: str) -> NDArray[np.float32]:
    """Place a block of rows, in a worker."""
    Y, distance = _loaded(path).transform(block, return_distance=True)
    return np.column_stack([Y, distance])


@lru_cache(maxsize=2)
def _loaded(path: str) -> Any:
    """Read a model once a worker; mapped, so that workers share its rows."""
    from localmap import load

    model = load(path, mmap_mode="r")
    model.n_jobs = 1  # workers do several blocks at once
    return model


# Files of models whose rows are yet to be placed; removed with the fitted maps.
_files: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


def _model_file(model: Any) -> str:
    """Write a fitted model where the workers find it, once."""
    fitted = model._fitted  # noqa: SLF001 - what a file is written of
    if fitted not in _files:
        folder = model.scratch
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(".localmap", PREFIX, folder)
        os.close(handle)
        weakref.finalize(fitted, Path(path).unlink, missing_ok=True)
        model.save(path)
        _files[fitted] = path
    return _files[fitted]
