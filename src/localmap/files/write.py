"""A map and the columns beside it, to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files.atomic import Outputs
from localmap.files.errors import TableError
from localmap.files.table import AXIS_NAME

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS: Final = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
WRITABLE: Final = (*SEPARATORS, ".parquet", ".feather", ".npy")


def write(
    path: Path | str,
    Y: NDArray[Any],
    kept: pd.DataFrame,
    *,
    inputs: Sequence[Path] = (),
    force: bool = True,
) -> None:
    """Write the map with the kept columns before it; NPY holds the map alone.

    Parameters
    ----------
    path : Path or str
        ``-`` is standard output, as CSV.
    Y : ndarray of shape (n_rows, n_components)
    kept : pandas.DataFrame
    inputs, force
        As in `Outputs`.
    """
    if str(path) == "-":
        _framed(Y, kept).to_csv(sys.stdout, index=False)
        return
    path = Path(path)
    check_format(path)
    with Outputs([path], inputs=inputs, force=force) as outputs:
        write_map(outputs.file(path), Y, kept, like=path)


def write_map(
    aside: Path, Y: NDArray[Any], kept: pd.DataFrame, *, like: Path | None = None
) -> None:
    """Write a map to a path of `Outputs`, in the format that the name `like` has."""
    suffix = check_format(like or aside)
    try:
        if suffix == ".npy":
            with aside.open("wb") as file:
                np.save(file, Y)
            return
        table = _framed(Y, kept)
        if suffix == ".parquet":
            table.to_parquet(aside, index=False)
        elif suffix == ".feather":
            table.to_feather(aside)
        else:
            how: Any = "gzip" if suffix.endswith(".gz") else None
            table.to_csv(aside, sep=SEPARATORS[suffix], index=False, compression=how)
    except OSError as error:
        msg = f"cannot write {like or aside}: {error.strerror or error}"
        raise TableError(msg) from error


def check_format(path: Path) -> str:
    """Return the ending that says how a table is written, or refuse."""
    name = path.name.lower()
    for suffix in sorted(WRITABLE, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    msg = f"cannot write {path}: expected one of {', '.join(WRITABLE)}"
    raise TableError(msg)


def _framed(Y: NDArray[Any], kept: pd.DataFrame) -> pd.DataFrame:
    if len(kept) != len(Y):
        msg = f"the map has {len(Y)} rows, the columns beside it {len(kept)}"
        raise TableError(msg)
    table = kept.reset_index(drop=True).copy()
    for axis in range(Y.shape[1]):
        name = AXIS_NAME.format(axis + 1)
        if name in kept.columns:
            msg = f"a kept column is called {name} as the map's own; leave it out"
            raise TableError(msg)
        table[name] = Y[:, axis]
    return table
