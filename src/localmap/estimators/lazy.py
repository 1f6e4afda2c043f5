"""Dask arrays in, Dask arrays out: maps in chunks, and rows that are placed lazily."""

from __future__ import annotations

import os
import tempfile
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from localmap.scale.scratch import PREFIX
from localmap.scale.with_dask import dask_rows


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
    from localmap.estimators.loading import load

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
