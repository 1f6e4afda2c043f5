"""Data sets in files, and where fetched ones are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.datasets.recipes import COMPONENTS, cells_to_components
from localmap.whole import whole_file

# Columns of a table that hold the groups, the first that is there.
LABELS: Final = ("label", "labels", "cell_type", "celltype", "y", "celltype.l2")


class DatasetError(OSError):
    """A set that is not there and cannot be fetched."""


def cache_folder() -> Path:
    """Return where fetched sets are kept."""
    given = os.environ.get("LOCALMAP_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(base).expanduser() / "localmap"


def folders() -> list[Path]:
    """Return where data sets are looked for, in this order."""
    given = os.environ.get("LOCALMAP_DATA")
    return [*([Path(given)] if given else []), cache_folder()]


def keep(name: str, X: NDArray[Any], y: Any) -> None:
    """Keep a fetched set in the cache."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if y is not None and y.dtype == object:  # would be pickled, and not read back
        y = y.astype(str)
    with whole_file(folder / f"{name}.npz") as aside:
        np.savez_compressed(aside, X=X, **({} if y is None else {"y": y}))


def read_npz(path: Path) -> tuple[Any, Any]:
    """Read arrays X and y, or the parts of a sparse matrix and y."""
    with np.load(path, allow_pickle=False) as archive:
        y = archive["y"] if "y" in archive.files else None
        if {"data", "indices", "indptr", "shape"} <= set(archive.files):
            from scipy.sparse import csr_array

            parts = archive["data"], archive["indices"], archive["indptr"]
            return csr_array(parts, shape=tuple(archive["shape"])), y
        if "X" not in archive.files:
            msg = f"{path} holds no array X; it holds {', '.join(archive.files)}."
            raise DatasetError(msg)
        return archive["X"], y


def _read_npy(path: Path) -> tuple[Any, Any]:
    return np.load(path, allow_pickle=False), None


def _read_csv(path: Path) -> tuple[Any, Any]:
    import pandas as pd

    table = pd.read_csv(path)
    column = next((c for c in table.columns if str(c).lower() in LABELS), None)
    y = None if column is None else table.pop(column).to_numpy()
    return table.select_dtypes("number").to_numpy(), y


def _read_h5ad(path: Path) -> tuple[Any, Any]:
    """Principal components of cells: those in the file, or made from its counts."""
    import anndata

    cells = anndata.read_h5ad(path)
    column = next((c for c in LABELS if c in cells.obs), None)
    y = None if column is None else cells.obs[column].astype(str).to_numpy()
    if "X_pca" in cells.obsm:
        return np.asarray(cells.obsm["X_pca"], dtype=np.float32)[:, :COMPONENTS], y
    counts = cells.layers.get("counts", cells.X)
    return cells_to_components(counts), y


READERS: Final[dict[str, Callable[[Path], tuple[Any, Any]]]] = {
    ".npz": read_npz,
    ".npy": _read_npy,
    ".csv": _read_csv,
    ".h5ad": _read_h5ad,
}
