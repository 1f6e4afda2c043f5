"""Missing and infinite numbers: counted, located and refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap.geometry.blocks import blocks

# Names listed before "and so many more".
SHOWN: Final = 5


class Infinite(NamedTuple):
    """What is not finite in some rows."""

    n_nan: int
    n_infinite: int
    n_rows: int
    columns: NDArray[np.int64]
    first: tuple[int, int]  # row and column

    def joined(self, after: Infinite) -> Infinite:
        """Return this and what was found in later rows."""
        return Infinite(
            self.n_nan + after.n_nan,
            self.n_infinite + after.n_infinite,
            self.n_rows + after.n_rows,
            np.union1d(self.columns, after.columns),
            self.first,
        )


def check_finite(X: Any, names: Sequence[str] | None = None) -> None:
    """Refuse NaN and infinity: count them, say where they are and what to do."""
    found = infinite_in(X)
    if found is not None:
        refuse_infinite(found, names)


def infinite_in(X: Any, first_row: int = 0) -> Infinite | None:
    """Tell what is not finite; rows are counted from `first_row`."""
    if X.dtype.kind != "f":
        return None
    if issparse(X):
        return _among_stored(csr_array(X), first_row)
    found: Infinite | None = None
    for rows in blocks(X):
        block = np.asarray(X[rows])
        finite = np.isfinite(block)
        if finite.all():
            continue
        row, column = np.argwhere(~finite)[0]
        here = Infinite(
            int(np.isnan(block).sum()),
            int(np.isinf(block).sum()),
            int((~finite).any(axis=1).sum()),
            np.flatnonzero((~finite).any(axis=0)),
            (int(row) + rows.start + first_row, int(column)),
        )
        found = here if found is None else found.joined(here)
    return found


def _among_stored(X: csr_array, first_row: int) -> Infinite | None:
    """Do the same by the numbers that are stored."""
    bad = np.flatnonzero(~np.isfinite(X.data))
    if not bad.size:
        return None
    rows = np.searchsorted(X.indptr, bad, side="right") - 1
    columns = X.indices[bad]
    place = np.lexsort((columns, rows))[0]
    return Infinite(
        int(np.isnan(X.data[bad]).sum()),
        int(np.isinf(X.data[bad]).sum()),
        len(np.unique(rows)),
        np.unique(columns).astype(np.int64),
        (int(rows[place]) + first_row, int(columns[place])),
    )


def refuse_columns(wrong: Sequence[str], of: int) -> NoReturn:
    """Say which columns hold no numbers, and what to do."""
    msg = (
        f"{len(wrong)} of {of} columns of X hold no numbers: {listed(wrong)}. Leave "
        "them out, or turn them into numbers first, for example with "
        "sklearn.preprocessing.OneHotEncoder."
    )
    raise ValueError(msg)


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Return the first few names and how many more there are."""
    shown = ", ".join(map(str, names[:most]))
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def refuse_infinite(found: Infinite, names: Sequence[str] | None) -> NoReturn:
    """Say what is not finite, where, and what to do."""
    counts = [
        f"{count} {what}"
        for count, what in ((found.n_nan, "NaN"), (found.n_infinite, "infinity"))
        if count
    ]
    columns = list(found.columns)
    where = [repr(names[c]) if names is not None else str(c) for c in columns]
    rows = f"{found.n_rows} row{'s' if found.n_rows > 1 else ''}"
    row, column = found.first
    msg = (
        f"Input X contains {' and '.join(counts)} in {rows}, first at row {row}, "
        f"column {where[columns.index(column)]}; columns with such values: "
        f"{listed(where)}. Drop those rows or columns, or fill them in, for example "
        "with sklearn.impute.SimpleImputer."
    )
    raise ValueError(msg)
