"""Missing and infinite numbers: counted, located and refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap.geometry.blocks import blocks

# Names listed before "and so many more".
SHOWN: Final = 5


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
