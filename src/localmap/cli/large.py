"""``localmap embed`` of data that is read in parts: Zarr, Parquet folders, NPY."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from localmap.cli import options
from localmap.cli.main import say

if TYPE_CHECKING:
    import pandas as pd

# Options that ask for a table to be read whole.
OF_TABLES: Final = ("na", *options.OF_DIALECTS, "sheet", "part")

# Rows by which it is decided what the columns of Parquet files are.
HEAD: Final = 20_000

# Options that name columns.
OF_COLUMNS: Final = ("labels", "id", "columns", "drop")


class Large(NamedTuple):
    """Rows that stay where they are, and what is kept beside the map."""

    X: Any
    kept: pd.DataFrame
    label: str | None
    open: Any  # opens the rows again, in another process

    @property
    def groups(self) -> Any:
        """The group of each row, None where there is none."""
        if self.label is None:
            return None
        column = self.kept[self.label].astype(object)
        return column.where(column.notna(), None).to_numpy()


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of large data."""
    group = parser.add_argument_group("large data (.zarr, folders of Parquet, .npy)")
    group.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="a preview: map N random rows and place the others",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="let the workers of a Dask cluster do it, tcp://host:8786 for example; "
        "they must see the input and --scratch",
    )


def is_large(arguments: argparse.Namespace) -> bool:
    """Tell data that is read in parts from tables."""
    path = arguments.input
    given = [name for name in OF_TABLES if getattr(arguments, name)]
    whole = bool(given) or arguments.missing != "refuse"
    if path.suffix.lower() == ".npy" and path.is_file():
        return not whole and not _columns_named(arguments) and _is_matrix(path)
    folder = path.is_dir() and (_is_zarr(path) or bool(_parquet_files(path)))
    if folder and whole:
        name = "--missing" if not given else f"--{given[0]}"
        msg = f"{name} is for tables that are read whole; {path} is read in parts"
        raise ValueError(msg)
    return folder


def read(arguments: argparse.Namespace) -> Large:
    """Open the rows; read the columns that are kept."""
    import pandas as pd

    from localmap.scale.sources import source_of

    path = arguments.input
    if path.is_dir() and not _is_zarr(path):
        large = _parquet(arguments)
    else:
        if _columns_named(arguments):
            msg = f"{path} names no columns: leave out --{_columns_named(arguments)[0]}"
            raise ValueError(msg)
        opened = partial(_open_array, str(path))
        X = opened()
        X = source_of(X) or X
        large = Large(X, pd.DataFrame(index=pd.RangeIndex(X.shape[0])), None, opened)
    rows, columns = large.X.shape
    by_name = ", files by name" if path.is_dir() and not _is_zarr(path) else ""
    say(f"{path}: {rows} rows, {columns} columns of numbers, read in parts{by_name}")
    return large


@contextmanager
def by_cluster(arguments: argparse.Namespace, large: Large) -> Iterator[Any]:
    """Yield the rows, as a Dask array while its cluster is there if one is named."""
    if arguments.scheduler is None:
        yield large.X
        return
    try:
        from dask.distributed import Client
    except ImportError:
        msg = '--scheduler needs pip install "localmap[dask]"'
        raise ImportError(msg) from None
    from localmap.scale.with_dask import dask_array

    if arguments.sample is not None:
        msg = "--sample is mapped and placed by this process: leave out --scheduler"
        raise ValueError(msg)
    with Client(arguments.scheduler, timeout="20s"):  # type: ignore[no-untyped-call]
        yield dask_array(large.open, large.X.shape, large.X.dtype)


def _columns_named(arguments: argparse.Namespace) -> list[str]:
    return [name for name in OF_COLUMNS if getattr(arguments, name)]


def _is_zarr(path: Path) -> bool:
    return any((path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup"))


def _is_matrix(path: Path) -> bool:
    """Tell whether an NPY holds rows of numbers; else its reader says what is wrong."""
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError):
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf" and array.size > 0


def _open_array(path: str) -> Any:
    """Open an array that stays in its file."""
    if path.lower().endswith(".npy"):
        import numpy as np

        return np.load(path, mmap_mode="r", allow_pickle=False)
    try:
        import zarr
    except ImportError:
        msg = f"{path} needs pip install zarr"
        raise ImportError(msg) from None
    found = zarr.open(path, mode="r")
    if isinstance(found, zarr.Array):
        return found
    inside = ", ".join(sorted(found.array_keys())) or "none"
    msg = f"{path} is a group of arrays ({inside}): name one, {path}/NAME"
    raise ValueError(msg)


def _parquet(arguments: argparse.Namespace) -> Large:
    """Return a folder of Parquet files: its numbers, and the columns that are kept.

    What is what is decided by the first rows, as for any table.
    """
    from pyarrow import parquet

    from localmap.scale.sources import data_columns

    path = arguments.input
    dataset = _dataset(str(path))
    data = data_columns(dataset.schema)
    head = dataset.head(HEAD, columns=data).replace_schema_metadata(None)
    with TemporaryDirectory() as aside:
        first = Path(aside) / f"{path.name}.parquet"
        parquet.write_table(head, first)
        told = StringIO()
        with redirect_stderr(told):
            table = options.read(arguments, first)
    say(f"{path}: by the first {len(table.kept)} rows")
    for line in told.getvalue().splitlines()[1:]:
        say(line)
    for name in dataset.schema.names:
        if name not in data:
            say(f"  left out: `{name}`: the index of a pandas table")
    opened = partial(_open_columns, str(path), tuple(table.names))
    X = opened()
    names = [str(name) for name in table.kept.columns]
    kept = dataset.to_table(columns=names).to_pandas()[names]
    if len(kept) != X.shape[0]:
        msg = f"{path} has {X.shape[0]} rows and {len(kept)} of its kept columns"
        raise ValueError(msg)
    label = None if table.labels is None else str(table.labels.name)
    return Large(X, kept, label, opened)


def _dataset(path: str) -> Any:
    """Return the Parquet files of a folder; folders may name columns (year=2024)."""
    from pyarrow import dataset

    files = sorted(str(file) for file in _parquet_files(Path(path)))
    how = {"partitioning": "hive", "partition_base_dir": path}
    return dataset.dataset(files, format="parquet", **how)


def _parquet_files(path: Path) -> list[Path]:
    """Return what a folder holds, but what writers leave beside the data."""
    return [f for f in path.rglob("*.parquet") if not f.name.startswith((".", "_"))]


def _open_columns(path: str, names: tuple[str, ...]) -> Any:
    """Open columns of Parquet files."""
    from localmap.scale.sources import Columns

    return Columns(_dataset(path), names)
