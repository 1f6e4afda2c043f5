"""Data sets in files, and where fetched ones are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.cells.counts import why_not_counts
from localmap.cells.log_counts import COMPONENTS, counts_to_components
from localmap.files.atomic import atomic_file

# Columns of a table that hold the groups, the first that is there.
LABELS: Final = (
    "label", "labels", "cell_type", "celltype", "class", "target", "y", "celltype.l2",
)  # fmt: skip


class DatasetError(OSError):
    """A set that is not there and cannot be fetched."""


def cache_folder() -> Path:
    """Return where fetched sets are kept: where pooch keeps things on this system."""
    given = os.environ.get("LOCALMAP_CACHE")
    if given:
        return Path(given)
    import pooch

    return Path(pooch.os_cache("localmap"))


def folders() -> list[Path]:
    """Return where data sets are looked for, in this order."""
    given = os.environ.get("LOCALMAP_DATA")
    found = [Path(given)] if given else []
    try:
        return [*found, cache_folder()]
    except ImportError:  # without pooch nothing was fetched
        return found


def keep(name: str, X: NDArray[Any], y: Any) -> None:
    """Keep a fetched set in the cache."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if y is not None and y.dtype == object:  # would be pickled, and not read back
        y = y.astype(str)
    with atomic_file(folder / f"{name}.npz") as aside:
        np.savez_compressed(aside, X=X, **({} if y is None else {"y": y}))


def read_npz(path: Path, labels: str | None = None) -> tuple[Any, Any]:
    """Read arrays X and y, or the parts of a sparse matrix and y."""
    with np.load(path, allow_pickle=False) as archive:
        column = labels or "y"
        if labels is not None and labels not in archive.files:
            msg = (
                f"{path} holds no array {labels}; it holds {', '.join(archive.files)}."
            )
            raise DatasetError(msg)
        y = archive[column] if column in archive.files else None
        if "format" in archive.files:  # as SciPy writes it
            from scipy.sparse import load_npz

            return load_npz(path).tocsr(), y
        if {"data", "indices", "indptr", "shape"} <= set(archive.files):
            from scipy.sparse import csr_array

            parts = archive["data"], archive["indices"], archive["indptr"]
            return csr_array(parts, shape=tuple(archive["shape"])), y
        if "X" not in archive.files:
            msg = f"{path} holds no array X; it holds {', '.join(archive.files)}."
            raise DatasetError(msg)
        return archive["X"], y


def _read_npy(path: Path, labels: str | None) -> tuple[Any, Any]:
    if labels is not None:
        msg = f"{path} has no column {labels!r}: an array has no names. Use NPZ or CSV."
        raise DatasetError(msg)
    return np.load(path, allow_pickle=False), None


def _read_table(path: Path, labels: str | None) -> tuple[Any, Any]:
    from localmap import files

    if labels is None:
        names = {name.lower(): name for name in reversed(files.column_names(path))}
        labels = next((names[name] for name in LABELS if name in names), None)
    table = files.read(path, labels=labels)
    return table.X, table.groups


def _read_h5ad(path: Path, labels: str | None) -> tuple[Any, Any]:
    """Principal components of cells: those in the file, or made from its counts."""
    import anndata

    cells = anndata.read_h5ad(path)
    if labels is not None and labels not in cells.obs:
        msg = f"{path} has no column {labels!r} in obs; it has {', '.join(cells.obs)}."
        raise DatasetError(msg)
    column = labels or next((c for c in LABELS if c in cells.obs), None)
    y = None
    if column is not None:
        given = cells.obs[column]
        y = given.astype(str).astype(object).where(given.notna(), None).to_numpy()
    if "X_pca" in cells.obsm:
        return np.asarray(cells.obsm["X_pca"], dtype=np.float32)[:, :COMPONENTS], y
    return counts_to_components(_counts(path, cells)), y


def _counts(path: Path, cells: Any) -> Any:
    """Return what the cells were counted as, wherever the file has it."""
    places = [cells.layers.get("counts"), cells.raw and cells.raw.X, cells.X]
    for counts in places:
        if counts is not None and why_not_counts(counts) is None:
            return counts
    msg = (
        f"{path} has neither X_pca in obsm nor counts (whole numbers from 0) in "
        "layers['counts'], raw or X: normalised values must not be normalised again."
    )
    raise DatasetError(msg)


READERS: Final[dict[str, Callable[[Path, str | None], tuple[Any, Any]]]] = {
    ".npz": read_npz,
    ".npy": _read_npy,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".parquet": _read_table,
    ".feather": _read_table,
    ".txt": _read_table,
    ".xlsx": _read_table,
    ".gz": _read_table,
    ".zst": _read_table,
    ".zip": _read_table,
    ".h5ad": _read_h5ad,
}
