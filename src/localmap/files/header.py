"""Whether the first row names the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from localmap.files.errors import TableError
from localmap.files.numbers import is_any_number, is_missing, is_number
from localmap.files.records import Quoted

# Columns that must count on for a row of numbers to be names: by chance one row in
# 4! = 24 of different numbers would even ascend, far fewer would count.
COUNTING: Final = 4

# So many count on by chance in no table of less than millions, whatever stands below.
SURELY: Final = 7

# Numbers that are years in tables with a column for each.
YEARS: Final = frozenset(map(float, range(1800, 2101)))

UNCLEAR: Final = (
    "{}: line {} may name the columns or be the first row; {}the option header settles "
    "it"
)


def decide_header(
    first: Sequence[str], columns: Sequence[Sequence[str]], name: str, line: int
) -> bool:
    """Tell whether the first row holds names, by what stands below each of its cells.

    Parameters
    ----------
    first : sequence of str
        Cells of the first row.
    columns : sequence of sequences of str
        The cells below them, column by column; may be empty.
    name, line
        Of the file and of the first row, for the refusal.
    """
    if not columns or not columns[0]:
        return not any(is_any_number(cell) for cell in first)
    numeric = [i for i, column in enumerate(columns) if _mostly_numbers(column)]
    if len(numeric) > 1 and numeric[0] == 0 and not first[0]:
        numeric = numeric[1:]  # names of rows have none above them
    names = [i for i in numeric if _is_name(first[i])]
    values = [i for i in numeric if is_any_number(first[i])]
    if _quotes_tell(first, columns, numeric):
        return True
    if names:
        if not values or _may_be_names([first[i] for i in values]):
            return True
        why = f"{first[names[0]]!r} is no number, {first[values[0]]!r} is one; "
        raise TableError(UNCLEAR.format(name, line, why))
    if not numeric:
        return _differs_from_all(first, columns)
    above_text = [
        i
        for i, c in enumerate(columns)
        if is_any_number(first[i]) and not any(map(is_any_number, c))
    ]
    if above_text:
        return _numbers_above_text(first, columns, name, line)
    return _numbers_are_names(first, columns, numeric, values, name, line)


def _mostly_numbers(column: Sequence[str]) -> bool:
    there = [cell for cell in column if not is_missing(cell)]
    return 2 * sum(map(is_any_number, there)) > len(there)


def _is_name(cell: str) -> bool:
    """Tell a name from a sign such as ? alone, which is a cell without a value."""
    bare = cell.strip()
    return (
        not is_any_number(bare)
        and not is_missing(bare)
        and any(letter.isalnum() or letter == "_" for letter in bare)
    )


def _quotes_tell(
    first: Sequence[str], columns: Sequence[Sequence[str]], numeric: Sequence[int]
) -> bool:
    """Names in quotes over numbers without: as R and many others write them."""
    return bool(numeric) and all(
        isinstance(first[i], Quoted)
        and bool(first[i])
        and not (is_any_number(first[i]) and "," in first[i])  # which needs its quotes
        and not any(isinstance(cell, Quoted) for cell in columns[i])
        for i in numeric
    )


def _may_be_names(cells: Sequence[str]) -> bool:
    """Numbers that stand among names: years, or a count of columns."""
    row = [_value(cell) for cell in cells]
    return set(row) <= YEARS or (len(row) > 1 and _counts_on(row))


def _differs_from_all(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Without a number anywhere: names are not repeated below."""
    return all(
        cell.strip() and cell not in column
        for cell, column in zip(first, columns, strict=True)
    )


def _numbers_are_names(
    first: Sequence[str],
    columns: Sequence[Sequence[str]],
    numeric: Sequence[int],
    values: Sequence[int],
    name: str,
    line: int,
) -> bool:
    """Judge a first row whose cells over numbers are numbers themselves."""
    row = [_value(first[i]) for i in values]
    if len(values) < len(numeric):
        return False  # a cell without a value: names are never left out so
    below = list(zip(*(columns[i] for i in numeric), strict=True))
    if len(row) == 1:
        if _are_years(row, below) and len(columns) > 1:
            raise TableError(UNCLEAR.format(name, line, "it has a year; "))
        return False
    whole = all(first[i].strip().isdigit() for i in numeric)
    if whole and _counts_on(row):
        if any(_counts_on([_value(cell) for cell in other]) for other in below):
            raise TableError(UNCLEAR.format(name, line, "it counts on, as others do; "))
        counts = len(row) >= SURELY or (
            len(row) >= COUNTING and not _lies_among(row, below)
        )
        if counts or _all_have_fractions(below) or _are_years(row, below):
            return True
        raise TableError(UNCLEAR.format(name, line, "it counts on; "))
    if len(row) >= COUNTING and _ascends(row):
        rising = sum(_ascends([_value(cell) for cell in other]) for other in below)
        if 2 * rising <= len(below):
            raise TableError(UNCLEAR.format(name, line, "it ascends; "))
    if whole and len(below) >= 3 and _all_have_fractions(below):
        why = "only its numbers are whole; "
        raise TableError(UNCLEAR.format(name, line, why))
    return False


def _numbers_above_text(
    first: Sequence[str], columns: Sequence[Sequence[str]], name: str, line: int
) -> bool:
    """Judge a row with a number over a column that has no other."""
    row = [_value(cell) for cell in first]
    below = list(zip(*columns, strict=True))
    if _counts_on(row) and not any(_counts_on(list(map(_value, b))) for b in below):
        return True
    why = "it has a number where the others have text; "
    raise TableError(UNCLEAR.format(name, line, why))


def _value(cell: str) -> float:
    """Return the number of a cell without a thousands mark, NaN for any other."""
    if is_number(cell):
        return float(cell)
    return float(cell.replace(",", ".")) if is_number(cell, ",") else float("nan")


def _counts_on(row: Sequence[float]) -> bool:
    return len(row) > 1 and all(b - a == 1 for a, b in pairwise(row))


def _lies_among(row: Sequence[float], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row is like those below: whole numbers, each between its own."""
    columns = [
        [_value(cell) for cell in column if not is_missing(cell)]
        for column in zip(*below, strict=True)
    ]
    return all(
        min(column) <= one <= max(column) and all(v.is_integer() for v in column)
        for one, column in zip(row, columns, strict=True)
    )


def _are_years(row: Sequence[float], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row is of years and those below it are of something else."""
    return set(row) <= YEARS and all(
        {*map(_value, other)}.isdisjoint(YEARS) for other in below
    )


def _ascends(row: Sequence[float]) -> bool:
    return all(b > a for a, b in pairwise(row))


def _all_have_fractions(below: Sequence[Sequence[str]]) -> bool:
    return all(
        "." in cell or "," in cell
        for row in below
        for cell in row
        if not is_missing(cell)
    )


def is_second_header(columns: Sequence[Sequence[str]]) -> str | None:
    """Return a cell of the row below the names if that row names or measures too."""
    numeric = [c for c in columns if len(c) > 3 and _mostly_numbers(c)]
    seconds = [column[0] for column in numeric if _is_name(column[0])]
    others = [any(map(_is_name, column[1:])) for column in numeric]
    if seconds and len(seconds) == len(numeric) and not any(others):
        return seconds[0]
    return None
