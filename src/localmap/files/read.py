"""Any file to a table: find what it is, read its columns, choose, complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files import arrays
from localmap.files.arrow_files import read_feather, read_parquet
from localmap.files.columns import Choice, choose, exact_columns
from localmap.files.dialect import Dialect
from localmap.files.errors import TableError
from localmap.files.grid import Column, Grid, unique_names
from localmap.files.missing import check_way, complete
from localmap.files.numbers import is_missing
from localmap.files.selection import Selection, names_of_digits
from localmap.files.source import Source, find
from localmap.files.table import Table
from localmap.files.text import read_text
from localmap.files.workbook import read_xlsx

# Names of several columns that are told.
REPEATED: Final = 3

MATRICES: Final[dict[str, Callable[..., arrays.Matrix]]] = {
    "npy": arrays.read_npy,
    "npz": arrays.read_npz,
    "h5ad": arrays.read_h5ad,
}


def read(
    path: Path | str | Source,
    *,
    labels: str | int | None = None,
    ids: Sequence[str | int] = (),
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] = (),
    missing: str = "refuse",
    na: Sequence[str] = (),
    dialect: Dialect | None = None,
    sheet: str | None = None,
    part: str | None = None,
) -> Table:
    r"""Read a table of any format that is known here, exactly or not at all.

    Parameters
    ----------
    path : Path or str
        CSV, TSV or TXT, plain or in .gz, .zst or .zip; XLSX, Parquet, Feather, NPY,
        NPZ, H5AD; ``-`` is standard input. What a file is, its content tells.
    labels : str or int, optional
        The column with the group of each row, by name, number or pattern.
    ids, columns, drop : sequence of str or int
        As in `Selection`.
    missing : {"refuse", "drop-rows", "drop-columns", "median", "keep"}, \
default="refuse"
        What is done about cells without a value; "keep" leaves them as NaN.
    na : sequence of str, default=()
        Texts that say that there is none, such as ``?``, besides the usual ones.
    dialect : Dialect, optional
        What is known of a text; the rest is decided by the text itself.
    sheet : str, optional
        The sheet of a workbook.
    part : str, optional
        The array of an NPZ; X, a layer or an entry of obsm of an H5AD.

    Returns
    -------
    table : Table

    Raises
    ------
    TableError
        If the file cannot be read exactly; one line, with what settles it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "wine.csv"
    >>> _ = path.write_text("name;x;y\nP0;8;6,87\nP1;9;1,5\n")
    >>> table = read(path)
    >>> table.X.tolist()
    [[8.0, 6.87], [9.0, 1.5]]
    >>> table.notes[0]
    "3 columns, header yes, ';' between, decimal ',', UTF-8"
    """
    check_way(missing)
    selection = Selection(columns=columns, drop=drop, ids=ids, labels=labels)
    source = find(path)
    _check_options(source, dialect, sheet, part)
    try:
        if source.kind in MATRICES:
            return _from_matrix(
                MATRICES[source.kind](source, selection, part),
                selection,
                missing,
                source.name,
            )
        grid = _read_grid(source, selection, dialect or Dialect(), sheet, na)
    except (TableError, ImportError, MemoryError):
        raise
    except Exception as error:  # each format fails in ways of its own
        lines = str(error).strip().splitlines()
        msg = f"cannot read {source.name}: {lines[0] if lines else repr(error)}"
        raise TableError(msg) from error
    if source.packed:
        grid.decisions[0] += f", {source.packed}"
    return _from_grid(grid, choose(grid, selection), missing, na)


def column_names(
    path: Path | str | Source,
    *,
    dialect: Dialect | None = None,
    sheet: str | None = None,
) -> tuple[str, ...]:
    """Return the names of the columns of a table; none for arrays without names.

    Each is there once: of columns with the same name ``a``, the second is ``a.1``. To
    ask for ``a`` alone is refused by `read` then.
    """
    source = find(path)
    if source.kind == "parquet":
        from pyarrow import parquet

        schema = parquet.read_schema(source.open())
        return tuple(unique_names(list(map(str, schema.names))))
    if source.kind in MATRICES:
        return ()
    grid = _read_grid(source, Selection(), dialect or Dialect(), sheet, ())
    return tuple(grid.names)


def _check_options(
    source: Source, dialect: Dialect | None, sheet: str | None, part: str | None
) -> None:
    """Refuse an option that the file cannot heed: it was meant for something."""
    asked = [] if dialect is None else list(dialect.asked)
    heeded = {
        "text": asked,
        "xlsx": ["header", "skip", "decimal", "thousands", "sheet"],
    }
    given = [*asked, *(["sheet"] if sheet is not None else [])]
    given += ["part"] if part is not None else []
    allowed = heeded.get(source.kind, ["part"] if source.kind in MATRICES else [])
    for option in given:
        if option not in allowed:
            msg = f"the option {option} does not apply to {source.name} ({source.kind})"
            raise TableError(msg)


def _read_grid(
    source: Source,
    selection: Selection,
    dialect: Dialect,
    sheet: str | None,
    na: Sequence[str],
) -> Grid:
    if source.kind == "xlsx":
        return read_xlsx(source, sheet, dialect, na)
    if source.kind == "parquet":
        return read_parquet(source)
    if source.kind == "feather":
        return read_feather(source)

    def exact(names: Sequence[str], cells: Sequence[Sequence[str]]) -> set[int]:
        return exact_columns(names, cells, selection, source.name)

    data = source.data or b""
    return read_text(data, dialect, source.name, exact, na)


def _from_grid(grid: Grid, choice: Choice, missing: str, na: Sequence[str]) -> Table:
    import pandas as pd

    kept = pd.DataFrame(
        {column.name: column.kept() for column in choice.kept},
        index=pd.RangeIndex(grid.rows),
    )
    labels = None if choice.labels is None else _labels(choice.labels, na)
    names = [column.name for column in choice.data]
    whole = complete(
        _matrix(choice.data, grid.rows), names, missing, grid.name, grid.where
    )
    notes = [
        *grid.decisions,
        *_repeated(grid),
        *choice.notes,
        *([whole.note] if whole.note else []),
    ]
    if labels is not None and labels.isna().any():
        notes.append(f"{labels.isna().sum()} rows have no label")
    return Table(
        X=whole.X,
        names=tuple(names[i] for i in whole.columns),
        kept=_rows(kept, whole.rows),
        labels=None if labels is None else _rows(labels, whole.rows),
        notes=tuple(notes),
        left_out=tuple(choice.left_out),
        rows=whole.rows,
    )


def _repeated(grid: Grid) -> list[str]:
    """Say which columns have one name, and what they are called here."""
    said = [f"`{n}` as {', '.join(called)}" for n, called in grid.repeated.items()]
    more = f" and {len(said) - REPEATED} more" if len(said) > REPEATED else ""
    shown = "; ".join(said[:REPEATED])
    return [f"names that stand for several columns: {shown}{more}"] if said else []


def _matrix(columns: list[Column], rows: int) -> NDArray[Any]:
    """Put columns side by side; each is let go as soon as it is copied."""
    first = columns[0].numbers()
    same = all(column.array.type == columns[0].array.type for column in columns)
    dtype = first.dtype if same else np.dtype(np.float64)
    # Column by column in memory: each is written in one go.
    X = np.empty((len(columns), rows), dtype=dtype).T
    for i, column in enumerate(columns):
        X[:, i] = column.numbers()
        column.array = None
    return X


def _labels(column: Column, na: Sequence[str]) -> Any:
    """Return the labels; what says that there is none becomes None."""
    labels = column.kept().rename(column.name)
    if labels.dtype.kind != "O":
        return labels
    labels = labels.astype(object)  # pandas 3 has a type of its own for text
    absent = labels.map(lambda cell: isinstance(cell, str) and is_missing(cell, na))
    return labels.where(~absent.astype(bool), None)


def _rows(frame: Any, rows: NDArray[np.int64]) -> Any:
    if len(rows) == len(frame):
        return frame
    return frame.iloc[rows].reset_index(drop=True)


def _from_matrix(
    matrix: arrays.Matrix, selection: Selection, missing: str, name: str
) -> Table:
    import pandas as pd
    from scipy import sparse

    X, names, notes = matrix.X, list(matrix.names), list(matrix.decisions)
    picked = arrays.pick(matrix, selection, name)
    if picked is not None:
        asked = Selection(columns=selection.columns, drop=selection.drop)
        notes += names_of_digits(asked, names)
        X = X[:, picked]
        names = [names[i] for i in picked] if names else []
    rows = np.arange(X.shape[0])
    if sparse.issparse(X):
        if not np.isfinite(X.data).all():
            msg = f"{name} has cells that are missing or infinite; mend the matrix"
            raise TableError(msg)
        X = X.tocsr()
    else:
        whole = complete(
            np.asarray(X), names, missing, name, lambda row: f"row {row + 1}"
        )
        X, rows = whole.X, whole.rows
        names = [names[i] for i in whole.columns] if names else []
        notes += [whole.note] if whole.note else []
    kept = pd.DataFrame(matrix.kept, index=pd.RangeIndex(matrix.X.shape[0]))
    kept = _rows(kept, rows)
    return Table(
        X=X,
        names=tuple(names),
        kept=kept,
        labels=None if matrix.labels is None else kept[matrix.labels],
        notes=tuple(notes),
        left_out=(),
        rows=rows,
    )
