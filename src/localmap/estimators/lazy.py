"""Dask arrays in, Dask arrays out: maps in chunks, and rows that are placed lazily."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from localmap.estimators.inputs import check_columns
from localmap.geometry.rows import RowSpace
from localmap.scale.scratch import PREFIX
from localmap.scale.with_dask import dask_rows


def in_chunks_of(X: Any, Y: NDArray[np.float32]) -> Any:
    """Return a map as a Dask array with the row chunks of X."""
    chunks = dask_rows(X).source.chunks[0]
    return da.from_array(Y, chunks=(chunks, -1))


def lazily_placed(model: Any, X: Any, *, with_distance: bool) -> Any:
    """Return the places of new rows as Dask arrays that are yet to be computed."""
    given = dask_rows(X)
    check_columns(model, given)
    rows = given.source
    axes = model.embedding_.shape[1]
    placed = rows.map_blocks(
        _placed,
        _model_file(model),
        dtype=np.float32,
        chunks=(rows.chunks[0], (axes + 1,)),
        meta=np.empty((0, axes + 1), dtype=np.float32),
    )
    return (placed[:, :axes], placed[:, axes]) if with_distance else placed[:, :axes]


def _placed(block: Any, file: ModelFile | str) -> NDArray[np.float32]:
    """Place a block of rows, in a worker."""
    path = file if isinstance(file, str) else file.path
    with _loading:  # by one of a worker's threads, for all of them
        model = _loaded(path)
    Y, distance = model.transform(block, return_distance=True)
    return np.column_stack([Y, distance])


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _loaded(path: str) -> Any:
    """Read a model once a worker; mapped, so that workers share its rows."""
    from localmap.estimators.loading import load

    model = load(path, mmap_mode="r")
    model.n_jobs = 1  # workers do several blocks at once
    # Checked where the columns had names; blocks have none.
    model.__dict__.pop("feature_names_in_", None)
    fitted = model._fitted  # noqa: SLF001 - what places rows
    if isinstance(fitted.space, RowSpace):
        fitted.space.prepare(fitted.n_neighbors)
    return model


class ModelFile:
    """A model where the workers find it, as long as someone here may ask for it.

    Held by the fitted map and by what is yet to be placed, which may outlive it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        weakref.finalize(self, Path(path).unlink, missing_ok=True)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Tell workers the path: what they let go of stays."""
        return str, (self.path,)


_files: weakref.WeakKeyDictionary[Any, ModelFile] = weakref.WeakKeyDictionary()


def _model_file(model: Any) -> ModelFile:
    """Write a fitted model where the workers find it, once."""
    fitted = model._fitted  # noqa: SLF001 - what a file is written of
    if fitted not in _files:
        folder = model.scratch
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(".localmap", PREFIX, folder)
        os.close(handle)
        file = ModelFile(path)
        model.save(path)
        _files[fitted] = file
    return _files[fitted]
