"""Files of cells: .h5ad, 10x .h5 and Matrix Market folders in, .h5ad out.

Needs scanpy: ``pip install "localmap[anndata]"``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localmap.cells.needed import scanpy_for
from localmap.files.atomic import atomic_file
from localmap.geometry.finite import listed

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

# The files of which a folder of 10x must have one, from Cell Ranger 2 and from 3 on.
MATRICES: Final = ("matrix.mtx", "matrix.mtx.gz")

# The column of a table that holds the names of cells.
BARCODE: Final = "barcode"

# The parts of an .h5ad file that work on cells changes; X and layers are not.
ANNOTATIONS: Final = ("obs", "var", "obsm", "varm", "obsp", "varp", "uns")

# What is known of the genes of raw; its values stay in the file.
RAW: Final = ("var", "varm")


class CellsError(ValueError):
    """What is wrong with a file of cells, in one line for the person who named it."""


def holds_cells(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a file or folder is one that `read_cells` reads."""
    path = Path(path)
    if path.is_dir():
        return any((path / name).is_file() for name in MATRICES)
    return path.suffix.lower() in (".h5ad", ".h5")


def read_cells(
    path: str | os.PathLike[str], *, backed: bool = False, layers: bool = True
) -> AnnData:
    """Read cells and what is known of them.

    Parameters
    ----------
    path
        An ``.h5ad`` file, an ``.h5`` file of 10x, or a folder with ``matrix.mtx`` (or
        ``.gz``), barcodes and genes or features, as Cell Ranger writes it. Of files of
        10x the genes are read, not antibodies or guides; names of genes that occur
        twice are numbered.
    backed
        Leave X in the file; for ``.h5ad`` only.
    layers
        False leaves layers of a backed file there too; anndata would load them whole.

    Returns
    -------
    adata
        Annotated data, cells in rows.
    """
    path = Path(path)
    if not path.exists():
        msg = f"no such file or folder: {path}"
        raise CellsError(msg)
    if not holds_cells(path):
        msg = (
            f"cannot read cells from {path}: expected .h5ad, .h5 of 10x, or a folder "
            f"with {' or '.join(MATRICES)}"
        )
        raise CellsError(msg)
    if backed and path.suffix.lower() != ".h5ad":
        msg = f"only .h5ad files can stay on disk while they are used; got {path}"
        raise CellsError(msg)
    sc = scanpy_for("reading files of cells")
    try:
        if path.is_dir():
            return sc.read_10x_mtx(path, make_unique=True)
        if path.suffix.lower() == ".h5ad":
            if backed and not layers and _is_of_today(path):
                return _annotations(path)
            return sc.read_h5ad(path, backed="r" if backed else None)
        adata = sc.read_10x_h5(path)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [repr(error)])[0]
        msg = f"cannot read cells from {path}: {first}"
        raise CellsError(msg) from error
    adata.var_names_make_unique()
    return adata


def write_cells(
    path: str | os.PathLike[str],
    adata: AnnData,
    *,
    source: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write cells to an .h5ad file, whole or not at all.

    Of cells that are backed by a file that file is copied, and only what is known of
    cells and genes is written anew: X is never loaded.

    Parameters
    ----------
    path
        The file, ending in ``.h5ad``.
    adata
        Annotated data.
    source
        The file the cells were read from, which is not written over.
    overwrite
        Write over `source` all the same.
    """
    path = Path(path)
    if path.suffix.lower() != ".h5ad":
        msg = f"cannot write cells to {path}: expected a name that ends in .h5ad"
        raise CellsError(msg)
    if not path.parent.is_dir():
        msg = f"cannot write {path}: there is no folder {path.parent}"
        raise CellsError(msg)
    sources = [Path(s) for s in (source, adata.filename) if s is not None]
    if not overwrite and any(_same(path, one) for one in sources):
        msg = (
            f"{path} is the file the cells come from, and is not written over unless "
            "told to: give another name, or overwrite"
        )
        raise CellsError(msg)
    with atomic_file(path) as aside:
        if adata.isbacked:
            _copy_and_annotate(adata, aside)
        else:
            adata.write_h5ad(aside)


def obs_columns(
    adata: AnnData, columns: Sequence[str] = (), own: Sequence[str] = ()
) -> pd.DataFrame:
    """Return barcodes and columns of obs, to be written beside a map in a table.

    A table has each name once: `own` are the names it has besides.
    """
    columns = list(dict.fromkeys(columns))
    taken = [repr(name) for name in columns if name in (BARCODE, *own)]
    if taken:
        msg = (
            f"the column {listed(taken)} of obs has the name of one that the table "
            "gets itself: leave it out, or rename it"
        )
        raise CellsError(msg)
    lost = [repr(name) for name in columns if name not in adata.obs]
    if lost:
        have = listed([repr(str(name)) for name in adata.obs], 8) or "no columns"
        msg = f"no column {listed(lost)} in obs, which has {have}"
        raise CellsError(msg)
    table: pd.DataFrame = adata.obs[columns].copy()
    table.insert(0, BARCODE, adata.obs_names.astype(str))
    return table.reset_index(drop=True)


def _is_of_today(path: Path) -> bool:
    """Tell files that say how each part is encoded, as anndata writes since 0.8."""
    import h5py

    with h5py.File(path, "r") as file:
        return "encoding-type" in file.attrs


def _annotations(path: Path) -> AnnData:
    """Return cells with nothing in memory but what is known of them."""
    import anndata
    import h5py

    read = anndata.io.read_elem
    with h5py.File(path, "r") as file:
        parts = {name: read(file[name]) for name in ANNOTATIONS if name in file}
        if "raw" in file:
            raw = file["raw"]
            parts["raw"] = {name: read(raw[name]) for name in RAW if name in raw}
    return anndata.AnnData(**parts, filename=path, filemode="r")


def _copy_and_annotate(adata: AnnData, aside: Path) -> None:
    import anndata
    import h5py

    write = anndata.io.write_elem
    shutil.copyfile(adata.filename, aside)
    with h5py.File(aside, "r+") as file:
        for part in ANNOTATIONS:
            value = getattr(adata, part)
            write(file, part, value if part in ("obs", "var") else dict(value))


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
