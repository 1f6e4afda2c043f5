"""What users give: tables of any library."""

from __future__ import annotations

from typing import Any

import numpy as np

from localmap.geometry.finite import listed


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
    if hasattr(column.dtype, "categories"):  # names of groups, also if they are numbers
        return False
    if getattr(column.dtype, "kind", "O") in "biuf":
        return True
    # Columns of Python objects may be numbers all the same.
    return column.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.number)) for value in column
    )
