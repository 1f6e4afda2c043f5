"""Columns as a file holds them, before any is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Column:
    """One column: its numbers if it has them, its texts if it was text.

    Parameters
    ----------
    name : str
    array : pyarrow.ChunkedArray or None
        Numbers; null where there is none.
    texts : pyarrow.ChunkedArray or None
        What the file says, to be kept to the letter.
    fault : str
        Why the column is no data; empty if it is.
    way_out : str
        What mends a fault of a column that is data but for it: such a column is not
        left out, the table is refused.
    unstored : bool
        Whether the file lacks values of the column that it had when it was open.
    told : str
        What was done to read it, if that is not plain.
    """

    name: str
    array: Any = None
    texts: Any = None
    fault: str = ""
    way_out: str = ""
    unstored: bool = False
    told: str = ""

    @property
    def is_text(self) -> bool:
        """Whether not one cell is a number."""
        return self.array is None

    def numbers(self) -> NDArray[Any]:
        """Return the numbers, NaN where there is none."""
        import pyarrow as pa

        kind = self.array.type
        if pa.types.is_float16(kind) or pa.types.is_float32(kind):
            values = self.array.cast(pa.float32())
        else:
            values = self.array.cast(pa.float64(), safe=False)
        return np.asarray(values.to_numpy(), dtype=values.type.to_pandas_dtype())

    def kept(self) -> Any:
        """Return what is written beside a map: the text, or numbers as they are."""
        import pyarrow as pa
        from pyarrow import compute

        if self.texts is None:
            return self.array.to_pandas()
        texts = self.texts
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            return texts.to_pandas()
        whole = compute.match_substring_regex(texts, "^(?:0|-?[1-9][0-9]{0,17})$")
        if (
            len(texts)
            and compute.all(compute.fill_null(whole, fill_value=False)).as_py()
        ):
            return texts.cast(pa.int64()).to_pandas()
        return texts.to_pandas()


@dataclass
class Grid:
    """All columns of a table, and how it was read."""

    name: str
    columns: list[Column]
    rows: int
    decisions: list[str] = field(default_factory=list)
    # Where a row stands in the file, for people: "line 17".
    where: Callable[[int], str] = field(default=lambda row: f"row {row + 1}")
    # Columns that the file itself says name its rows.
    row_names: tuple[str, ...] = ()
    # Names that the file gives to several columns, and how these are called here.
    repeated: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns, each once."""
        return [column.name for column in self.columns]


def unique_names(names: Sequence[str]) -> list[str]:
    """Give each column a name of its own, as pandas does.

    Examples
    --------
    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a.1']
    """
    seen: set[str] = set()
    found: list[str] = []
    for name in names:
        unique, count = name, 0
        while unique in seen or (count and unique in names):
            count += 1
            unique = f"{name}.{count}"
        seen.add(unique)
        found.append(unique)
    return found


def repeated_names(names: Sequence[str]) -> dict[str, list[str]]:
    """Return names that stand several times, each with those that are unique.

    Examples
    --------
    >>> repeated_names(["a", "b", "a"])
    {'a': ['a', 'a.1']}
    """
    counts = Counter(names)
    found: dict[str, list[str]] = {}
    for name, unique in zip(names, unique_names(names), strict=True):
        if counts[name] > 1:
            found.setdefault(name, []).append(unique)
    return found
