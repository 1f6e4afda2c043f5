"""Cells without a value: refused, or dropped or filled on request, and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from localmap.files.errors import TableError

Missing = Literal["refuse", "drop-rows", "drop-columns", "median", "keep"]
WAYS: Final[tuple[Missing, ...]] = get_args(Missing)


@dataclass(frozen=True)
class Complete:
    """A matrix without missing cells, and what was done to make it so."""

    X: NDArray[Any]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    note: str


def check_way(missing: str) -> None:
    """Refuse a way to deal with missing cells that does not exist."""
    if missing not in WAYS:
        msg = f"missing must be one of {', '.join(WAYS)}; got {missing!r}"
        raise TableError(msg)


def complete(
    X: NDArray[Any],
    names: Sequence[str],
    missing: str,
    file: str,
    where: Callable[[int], str],
) -> Complete:
    """Return a matrix without missing cells, or refuse.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 5.0]])
    >>> complete(X, ["a", "b"], "median", "x.csv", str).X.tolist()
    [[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]]
    """
    check_way(missing)
    rows, columns = np.arange(X.shape[0]), np.arange(X.shape[1])
    if X.dtype.kind != "f" or np.isfinite(_total(X)):
        return Complete(X, rows, columns, "")
    _refuse_infinite(X, names, file, where)
    absent = np.isnan(X)
    in_rows, in_columns = absent.any(axis=1), absent.any(axis=0)
    found = f"{_many(absent.sum(), 'cell')} missing, in {_some(in_rows, 'rows')} and "
    found += _some(in_columns, "columns")
    if not in_columns.any():
        return Complete(X, rows, columns, "")
    if missing == "keep":
        return Complete(X, rows, columns, found)
    if missing == "refuse":
        column = int(in_columns.argmax())
        row = int(absent[:, column].argmax())
        msg = (
            f"{file}: {found}, first `{_name(names, column)}` in {where(row)}; the "
            "option missing settles it: drop-rows, drop-columns or median"
        )
        raise TableError(msg)
    if missing == "median":
        X = np.where(absent, np.nanmedian(X, axis=0).astype(X.dtype), X)
        return Complete(X, rows, columns, f"{found}: filled with medians")
    by_row = missing == "drop-rows"
    keep = ~(in_rows if by_row else in_columns)
    if not keep.any():
        what = "row" if by_row else "column"
        msg = f"{file}: {found}; missing={missing} leaves no {what}: try median"
        raise TableError(msg)
    if by_row:
        note = f"{found}: these rows are left out"
        return Complete(X[keep], rows[keep], columns, note)
    gone = ", ".join(f"`{_name(names, i)}`" for i in np.flatnonzero(~keep)[:8])
    note = f"{found}: these columns are left out ({gone})"
    return Complete(X[:, keep], rows, columns[keep], note)


def _total(X: NDArray[Any]) -> float:
    """Return a sum that is finite only if all cells are; the cheapest look at all."""
    with np.errstate(all="ignore"):
        return float(np.abs(X.sum(axis=0, dtype=np.float64)).max(initial=0.0))


def _refuse_infinite(
    X: NDArray[Any], names: Sequence[str], file: str, where: Callable[[int], str]
) -> None:
    infinite = np.isinf(X)
    if not infinite.any():
        return
    column = int(infinite.any(axis=0).argmax())
    row = int(infinite[:, column].argmax())
    msg = (
        f"{file}: {_many(infinite.sum(), 'cell')} infinite, first "
        f"`{_name(names, column)}` in {where(row)}; drop the column or mend the file"
    )
    raise TableError(msg)


def _name(names: Sequence[str], column: int) -> str:
    return names[column] if names else f"column {column + 1}"


def _many(count: int, what: str) -> str:
    return f"1 {what} is" if count == 1 else f"{count} {what}s are"


def _some(which: NDArray[np.bool_], what: str) -> str:
    return f"{which.sum()} of {len(which)} {what}"
