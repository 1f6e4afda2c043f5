"""What users give: tables of any library, sparse matrices, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap.preprocess import blocks

# Names listed before "and so many more".
SHOWN: Final = 5


def numeric_table(X: Any) -> Any:
    """Return X as scikit-learn reads it; refuse tables with columns of no numbers.

    pandas and polars tables are returned as they are; an Arrow table becomes one of
    pandas, which is needed for it.
    """
    kinds = _column_kinds(X)
    if kinds is None:
        return X
    wrong = {name: kind for name, kind in kinds.items() if kind is not None}
    if wrong:
        named = listed([f"{name!r} ({kind})" for name, kind in wrong.items()])
        msg = (
            f"{len(wrong)} of {len(kinds)} columns of X hold no numbers: {named}. "
            "Leave them out, or turn them into numbers first, for example with "
            "sklearn.preprocessing.OneHotEncoder."
        )
        raise ValueError(msg)
    return X.to_pandas() if _is_arrow(X) else X


def check_finite(X: Any, names: Sequence[str] | None = None) -> None:
    """Refuse NaN and infinity: count them, say where they are and what to do."""
    if X.dtype.kind != "f":
        return
    if issparse(X):
        _check_stored(csr_array(X), names)
        return
    n_nan = n_infinite = 0
    first: tuple[int, int] | None = None
    bad_rows, bad_columns = 0, np.zeros(X.shape[1], dtype=bool)
    for rows in blocks(X):
        finite = np.isfinite(X[rows])
        if finite.all():
            continue
        n_nan += int(np.isnan(X[rows]).sum())
        n_infinite += int(np.isinf(X[rows]).sum())
        bad_rows += int((~finite).any(axis=1).sum())
        bad_columns |= (~finite).any(axis=0)
        if first is None:
            row, column = np.argwhere(~finite)[0]
            first = (int(row) + rows.start, int(column))
    if first is not None:
        _refuse(n_nan, n_infinite, bad_rows, np.flatnonzero(bad_columns), first, names)


def _check_stored(X: csr_array, names: Sequence[str] | None) -> None:
    """Do the same by the numbers that are stored."""
    bad = np.flatnonzero(~np.isfinite(X.data))
    if not bad.size:
        return
    rows = np.searchsorted(X.indptr, bad, side="right") - 1
    columns = X.indices[bad]
    place = np.lexsort((columns, rows))[0]
    _refuse(
        int(np.isnan(X.data[bad]).sum()),
        int(np.isinf(X.data[bad]).sum()),
        len(np.unique(rows)),
        np.unique(columns),
        (int(rows[place]), int(columns[place])),
        names,
    )


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Return the first few names and how many more there are."""
    shown = ", ".join(map(str, names[:most]))
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def _refuse(
    n_nan: int,
    n_infinite: int,
    bad_rows: int,
    bad_columns: NDArray[np.int64],
    first: tuple[int, int],
    names: Sequence[str] | None,
) -> None:
    counts = [
        f"{count} {what}"
        for count, what in ((n_nan, "NaN"), (n_infinite, "infinity"))
        if count
    ]
    where = [repr(names[c]) if names is not None else str(c) for c in bad_columns]
    rows = f"{bad_rows} row{'s' if bad_rows > 1 else ''}"
    column = where[list(bad_columns).index(first[1])]
    msg = (
        f"Input X contains {' and '.join(counts)} in {rows}, first at row {first[0]}, "
        f"column {column}; columns with such values: {listed(where)}. Drop those rows "
        "or columns, or fill them in, for example with sklearn.impute.SimpleImputer."
    )
    raise ValueError(msg)


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "schema")


def _column_kinds(X: Any) -> dict[str, str | None] | None:
    """Return what each column of a table holds, None for numbers; None if no table."""
    if _is_arrow(X):
        kinds = {field.name: str(field.type) for field in X.schema}
        number = ("int", "uint", "float", "double", "halffloat", "bool", "decimal")
        return {k: None if v.startswith(number) else v for k, v in kinds.items()}
    if hasattr(X, "schema") and hasattr(X, "columns"):  # polars
        return {
            name: None if kind.is_numeric() or str(kind) == "Boolean" else str(kind)
            for name, kind in X.schema.items()
        }
    if hasattr(X, "dtypes") and hasattr(X, "columns"):  # pandas
        return {
            str(name): None if _pandas_number(X.iloc[:, place]) else str(kind)
            for place, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True))
        }
    return None


def _pandas_number(column: Any) -> bool:
    if getattr(column.dtype, "kind", "O") in "biuf":
        return True
    # Columns of Python objects may be numbers all the same.
    return column.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.number)) for value in column
    )
