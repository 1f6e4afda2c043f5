"""The table that readers return: numbers to embed, and what is kept beside the map."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

# What the columns of a map are called.
AXIS_NAME: Final = "localmap_{}"
AXIS: Final = re.compile(AXIS_NAME.format(r"\d+"))

# What columns of a table without a header are called: by their place, which is no name.
NAMELESS: Final = re.compile(r"column \d+")


def _as_numbers(labels: pd.Series) -> NDArray[Any]:
    """Return labels as numbers if all are: 2 comes before 10, and ages are a scale."""
    import pandas as pd

    try:
        return np.asarray(pd.to_numeric(labels))
    except (ValueError, TypeError):
        return labels.to_numpy()


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Numbers to embed, and the columns that are kept beside the map.

    Parameters
    ----------
    X : ndarray or scipy.sparse matrix of shape (n_rows, n_columns)
    names : tuple of str
        Of the columns of X; empty for an array without names.
    kept : pandas.DataFrame
        Columns to be written beside the map: ids, names of rows, labels.
    labels : pandas.Series or None
        The group of each row, None where there is none.
    notes : tuple of str
        What was decided, one line each: how the file was read, what is kept, what was
        done about missing cells.
    left_out : tuple of str
        Columns that are neither data nor kept, one line each, with the reason.
    rows : ndarray of int
        Which rows of the file these are.
    """

    X: Any
    names: tuple[str, ...]
    kept: pd.DataFrame
    labels: pd.Series | None
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    rows: NDArray[np.int64]

    @property
    def groups(self) -> NDArray[Any] | None:
        """The labels as an array, numbers if all are; a missing one is None."""
        if self.labels is None:
            return None
        known = self.labels.notna()
        values = _as_numbers(self.labels[known])
        if known.all():
            return values
        groups = np.full(len(known), None, dtype=object)
        groups[known.to_numpy()] = values
        return groups

    @property
    def map(self) -> Any:
        """The columns that `write` wrote, or all if there are none of them."""
        own = [i for i, name in enumerate(self.names) if AXIS.fullmatch(name)]
        return self.X[:, own] if own else self.X
