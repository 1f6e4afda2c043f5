"""Tables of the command line: read numbers with their labels, write a map beside them.

Needs pandas (and pyarrow for Parquet): ``pip install "localmap[cli]"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files import atomic
from localmap.geometry.finite import check_finite

if TYPE_CHECKING:
    import pandas as pd

READABLE: Final = (".csv", ".tsv", ".parquet", ".npy", ".npz")
WRITABLE: Final = (".csv", ".tsv", ".parquet", ".npy")
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}

# What the columns of a map are called.
AXIS_NAME: Final = "localmap_{}"
AXIS: Final = re.compile(AXIS_NAME.format(r"\d+"))

# Columns that name rows, not data; the last is what pandas calls a nameless index.
ID_NAMES: Final = ("id", "index", "unnamed: 0")


class TableError(Exception):
    """What is wrong with a file, in one line for the person who named it."""


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers to embed, and the columns that are kept beside the map."""

    X: NDArray[Any]
    kept: pd.DataFrame
    labels: pd.Series | None
    left_out: tuple[str, ...]
    names: tuple[str, ...] = ()  # of the columns of X, where they have any

    @property
    def groups(self) -> NDArray[Any] | None:
        """The labels as an array; a missing one is None."""
        if self.labels is None:
            return None
        known = self.labels.notna()
        if known.all():
            return self.labels.to_numpy()
        return self.labels.astype(object).where(known, None).to_numpy()

    @property
    def map(self) -> NDArray[Any]:
        """The columns that `write` wrote, or all if there are none of them."""
        own = [i for i, name in enumerate(self.names) if AXIS.fullmatch(name)]
        return self.X[:, own] if own else self.X


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a table, without reading its rows."""
    if path.suffix.lower() == ".parquet":
        from pyarrow.parquet import read_schema

        return tuple(read_schema(path).names)
    import pandas as pd

    separator = SEPARATORS[path.suffix.lower()]
    return tuple(map(str, pd.read_csv(path, sep=separator, nrows=0).columns))


def read(path: Path, labels: str | None = None, ids: Sequence[str] = ()) -> Table:
    """Read a table; numeric columns are data, `labels` and `ids` are kept aside."""
    if path.suffix.lower() not in READABLE:
        msg = f"cannot read {path}: expected one of {', '.join(READABLE)}"
        raise TableError(msg)
    try:
        return _READERS[path.suffix.lower()](path, labels, tuple(ids))
    except (TableError, ImportError, MemoryError):
        raise
    except FileNotFoundError:
        msg = f"no such file: {path}"
    except Exception as error:  # noqa: BLE001 - each format fails in ways of its own
        msg = f"cannot read {path}: {_first_line(error)}"
    raise TableError(msg)


def check_writable(path: Path) -> None:
    """Refuse an output that could not be written, before any work is done."""
    if path.suffix.lower() not in WRITABLE:
        msg = f"cannot write {path}: expected one of {', '.join(WRITABLE)}"
        raise TableError(msg)
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file whose folder is not there."""
    if not path.parent.is_dir():
        msg = f"cannot write {path}: there is no folder {path.parent}"
        raise TableError(msg)


def write(path: Path, Y: NDArray[np.float32], kept: pd.DataFrame) -> None:
    """Write the map with the kept columns before it; NPY holds the map alone."""
    suffix = path.suffix.lower()
    with atomic_file(path) as aside:
        if suffix == ".npy":
            with aside.open("wb") as file:
                np.save(file, Y)
            return
        table = kept.copy()
        for axis in range(Y.shape[1]):
            table[AXIS_NAME.format(axis + 1)] = Y[:, axis]
        if suffix == ".parquet":
            table.to_parquet(aside, index=False)
        else:
            table.to_csv(aside, sep=SEPARATORS[suffix], index=False)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Write a whole file or none; what goes wrong is told in one line."""
    try:
        with atomic.atomic_file(path) as aside:
            yield aside
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise TableError(msg) from error


def _read_text(path: Path, labels: str | None, ids: tuple[str, ...]) -> Table:
    import pandas as pd

    separator = SEPARATORS[path.suffix.lower()]
    try:
        frame = pd.read_csv(path, sep=separator)
        if _are_numbers(list(frame.columns)):
            # A table without a header: its first row must not be taken for names.
            frame = pd.read_csv(path, sep=separator, header=None)
    except pd.errors.EmptyDataError:
        msg = f"{path} is empty"
        raise TableError(msg) from None
    return _from_frame(path, frame, labels, ids)


def _read_parquet(path: Path, labels: str | None, ids: tuple[str, ...]) -> Table:
    import pandas as pd

    return _from_frame(path, pd.read_parquet(path), labels, ids)


def _read_npy(path: Path, labels: str | None, ids: tuple[str, ...]) -> Table:
    if labels is not None or ids:
        msg = (
            f"{path} has no named columns for --labels or --id; use CSV, Parquet or NPZ"
        )
        raise TableError(msg)
    return _from_arrays(path, np.load(path, allow_pickle=False), {}, None)


def _read_npz(path: Path, labels: str | None, ids: tuple[str, ...]) -> Table:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        names = archive.files
        for name in (*([labels] if labels else []), *ids):
            if name not in names:
                raise _missing(path, name, names)
        if "X" in names:
            data = "X"
        else:
            matrices = [n for n in names if archive[n].ndim == 2]
            if len(matrices) != 1:
                msg = (
                    f"{path} must hold an array named X or exactly one matrix; "
                    f"it holds {', '.join(names) or 'nothing'}"
                )
                raise TableError(msg)
            data = matrices[0]
        kept = {name: archive[name] for name in (*ids, *([labels] if labels else []))}
        return _from_arrays(path, archive[data], kept, labels)


def _from_arrays(
    path: Path, X: NDArray[Any], kept: dict[str, NDArray[Any]], labels: str | None
) -> Table:
    import pandas as pd

    if X.ndim != 2:
        msg = f"{path} must hold a matrix of rows and columns; got shape {X.shape}"
        raise TableError(msg)
    for name, values in kept.items():
        if values.shape != (X.shape[0],):
            msg = (
                f"{name} in {path} must have one entry a row; got shape {values.shape}"
            )
            raise TableError(msg)
    frame = pd.DataFrame(kept, index=pd.RangeIndex(X.shape[0]))
    return Table(X, frame, None if labels is None else frame[labels], ())


def _from_frame(
    path: Path, frame: pd.DataFrame, labels: str | None, ids: tuple[str, ...]
) -> Table:
    if len(frame) == 0:
        msg = f"{path} has no rows"
        raise TableError(msg)
    frame.columns = frame.columns.map(str)
    if frame.index.nlevels > 1 or frame.index.dtype.kind not in "iu":
        # Names of rows, as R and pandas write them: kept, not embedded.
        names = [str(name or "index") for name in frame.index.names]
        frame = frame.reset_index(names=names)
        ids = (*names, *ids)
    if not ids:
        ids = tuple(c for c in frame.columns if c.lower() in ID_NAMES and c != labels)
    aside = [*ids, *([labels] if labels is not None and labels not in ids else [])]
    for name in aside:
        if name not in frame.columns:
            raise _missing(path, name, list(frame.columns))
    data = frame.drop(columns=aside)
    numeric = data.select_dtypes(include=["number", "bool"])
    left_out = tuple(name for name in data.columns if name not in numeric.columns)
    if numeric.shape[1] == 0:
        msg = f"{path} has no numeric column to embed"
        raise TableError(msg)
    dtype = np.float32 if (numeric.dtypes == np.float32).all() else np.float64
    X = numeric.to_numpy(dtype=dtype, na_value=np.nan)
    check_finite(X, list(numeric.columns))
    return Table(
        X,
        frame[aside].copy(),
        None if labels is None else frame[labels],
        left_out,
        tuple(numeric.columns),
    )


def _are_numbers(names: Sequence[Any]) -> bool:
    """Tell data from names: 0, 1, 2, ... is how pandas names nameless columns."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers != list(range(len(numbers)))


def _missing(path: Path, name: str, names: Sequence[str]) -> TableError:
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return TableError(f"{path} has no column {name!r}; it has {shown}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else repr(error)


_READERS: Final[dict[str, Callable[[Path, str | None, tuple[str, ...]], Table]]] = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
