"""Which columns are asked for, by name, number, range or pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from localmap.files.errors import TableError

RANGE: Final = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Columns by name, number from 1, range (``3-10``) or pattern (``gene_*``).

    Parameters
    ----------
    columns : sequence of str or int, optional
        The columns to embed, whatever they look like; default: all that are numbers.
        Those that are ids or labels as well are not embedded.
    drop : sequence of str or int, default=()
        Columns to leave out.
    ids : sequence of str or int, default=()
        Columns that name rows: kept beside the map.
    labels : str or int, optional
        The column with the group of each row: kept beside the map.
    """

    columns: Sequence[str | int] | None = None
    drop: Sequence[str | int] = ()
    ids: Sequence[str | int] = ()
    labels: str | int | None = None


def find_columns(given: str | int, names: Sequence[str], file: str) -> list[int]:
    """Return the places of the columns that a name, number, range or pattern means.

    Examples
    --------
    >>> find_columns("gene_*", ["id", "gene_1", "gene_2"], "x.csv")
    [1, 2]
    >>> find_columns(1, ["id", "gene_1", "gene_2"], "x.csv")
    [0]
    """
    text = str(given)
    if text in names:
        return [list(names).index(text)]
    ends = RANGE.fullmatch(text)
    first, last = (int(ends[1]), int(ends[2])) if ends else (0, -1)
    if text.isdecimal():
        first = last = int(text)
    if 1 <= first <= last <= len(names):
        return list(range(first - 1, last))
    found = [i for i, name in enumerate(names) if fnmatchcase(name, text)]
    if found and any(sign in text for sign in "*?["):
        return found
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    msg = f"{file} has no column {text!r}; it has {shown}"
    raise TableError(msg)


def find_one(given: str | int, names: Sequence[str], file: str) -> int:
    """Return the place of the one column that is meant."""
    found = find_columns(given, names, file)
    if len(found) > 1:
        msg = f"labels must be one column of {file}; {given!r} means {len(found)}"
        raise TableError(msg)
    return found[0]


def refuse_ambiguous(
    selection: Selection,
    names: Sequence[str],
    repeated: Mapping[str, Sequence[str]],
    file: str,
) -> None:
    """Refuse a name that the file gives to several columns, unless all are asked for.

    The names that a table was read with (``a`` and ``a.1``) ask for it again so.
    """
    labels = () if selection.labels is None else (selection.labels,)
    for asked in (selection.columns or (), selection.drop, selection.ids, labels):
        texts = set(map(str, asked))
        for text, uniques in repeated.items():
            if text not in texts or texts.issuperset(uniques):
                continue
            places = [names.index(name) + 1 for name in uniques]
            # A name of digits goes before a number, but a range is no name.
            ways = [f"{i}-{i}" if text.isdigit() else f"{i}" for i in places]
            msg = (
                f"{file}: `{text}` is the name of {len(places)} columns; say which by "
                f"number: {' or '.join(ways)}"
            )
            raise TableError(msg)


def names_of_digits(selection: Selection, names: Sequence[str]) -> list[str]:
    """Say which texts name one column and would be the number of another.

    Examples
    --------
    >>> names_of_digits(Selection(columns=["1"]), ["0", "1", "2"])
    ['`1` is taken for the column of that name, not for the first column']
    """
    labels = () if selection.labels is None else (selection.labels,)
    asked = (*(selection.columns or ()), *selection.drop, *selection.ids, *labels)
    notes = []
    for text in dict.fromkeys(map(str, asked)):
        number = int(text) if text.isdecimal() else 0
        if not 1 <= number <= len(names) or text not in names:
            continue
        if names.index(text) != number - 1:
            other = "the first column" if number == 1 else f"column number {number}"
            notes.append(
                f"`{text}` is taken for the column of that name, not for {other}"
            )
    return notes
