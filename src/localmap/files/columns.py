"""Which columns are data, which are kept beside the map, which are left out and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files.errors import TableError
from localmap.files.grid import Column, Grid
from localmap.files.numbers import is_missing
from localmap.files.selection import (
    Selection,
    find_columns,
    find_one,
    names_of_digits,
    refuse_ambiguous,
)
from localmap.files.table import AXIS
from localmap.files.units import mark_of

# Names that say "this is which row it is", whatever the cells are; the last three are
# what R, pandas and Arrow call names of rows that have none.
ROW_NAMES: Final = ("id", "index", "row", "unnamed: 0", "__index_level_0__")

# Names that say so if the cells are all different as well.
LIKE_IDS: Final = re.compile(
    r"(?i:(?:.*[ _.-])?(?:id|ids|uid|uuid|guid|barcode|rownames?|key)"
    r"|id[ _.-].*|(?:sample|row|record|case|subject|patient)[ _.-]?(?:no|nr|num|number)"
    r"|no|nr|nr\.|no\.|#)|.*[a-z]I[Dd]"  # sampleId, but not acid
)

# Below this number of rows, 1, 2, 3 may well be measurements.
COUNTING_ROWS: Final = 5

# From here on a float of 64 bits does not hold every whole number.
LONGEST_WHOLE: Final = 2.0**53

# From so many digits on, a whole number may not be exact as a float of 64 bits.
LONG_DIGITS: Final = 16

TOO_LONG: Final = "looks like an id, with whole numbers too long to be exact"

MARKED: Final = (
    "numbers with `{}` in each cell are text; write them without, or leave the column "
    "out"
)


@dataclass
class Choice:
    """Columns by what becomes of them."""

    data: list[Column] = field(default_factory=list)
    kept: list[Column] = field(default_factory=list)
    labels: Column | None = None
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def exact_columns(
    names: Sequence[str],
    cells: Sequence[Sequence[str]],
    selection: Selection,
    file: str,
) -> set[int]:
    """Return the columns of a text that must be kept to the letter."""
    exact = {i for given in selection.ids for i in find_columns(given, names, file)}
    if selection.labels is not None:
        exact.add(find_one(selection.labels, names, file))
    for i, (name, column) in enumerate(zip(names, cells, strict=True)):
        start = column[0].strip() if column else ""
        counts = start.isdigit() and int(start) in (0, 1) and _count(column, int(start))
        long = any(len(c) >= LONG_DIGITS and c.strip().isdigit() for c in column)
        if counts or long or _is_row_name(name) or LIKE_IDS.fullmatch(name):
            exact.add(i)
    return exact


def _count(cells: Sequence[str], start: int) -> bool:
    return all(
        cell.strip().isdigit() and int(cell) == start + i
        for i, cell in enumerate(cells)
    )


def choose(grid: Grid, selection: Selection) -> Choice:
    """Decide what becomes of each column, and say why where it is not plain."""
    names, file = grid.names, grid.name
    refuse_ambiguous(selection, names, grid.repeated, file)
    found = Choice(notes=names_of_digits(selection, names))
    ids = [i for given in selection.ids for i in find_columns(given, names, file)]
    asked_aside = set(ids)
    ids += [names.index(name) for name in grid.row_names]
    dropped = {i for given in selection.drop for i in find_columns(given, names, file)}
    label = None
    if selection.labels is not None:
        label = find_one(selection.labels, names, file)
        found.labels = grid.columns[label]
        asked_aside.add(label)
    aside = dict.fromkeys([*ids, *([] if label is None else [label])])
    found.kept = [grid.columns[i] for i in aside]
    _refuse_unstored(found.kept, file)
    rest = [i for i in range(len(names)) if i not in aside and i not in dropped]
    if selection.columns is not None:
        _take_asked(grid, selection, asked_aside, found)
        others = Choice()  # of which those that name rows are kept all the same
        taken = {id(column) for column in found.data}
        untaken = [
            column
            for column in (grid.columns[i] for i in rest)
            if id(column) not in taken and not column.unstored
        ]
        _sort_out(untaken, others)
        found.kept = _in_order(grid, [*found.kept, *others.kept])
        return found
    left = [grid.columns[i] for i in rest]
    _refuse_spoiled(left, file)
    _sort_out(left, found)
    found.kept = _in_order(grid, found.kept)
    if not found.data:
        told = [f"`{c.name}`: {c.fault}" for c in grid.columns if c.fault]
        faults = "; ".join((found.left_out or told or found.notes)[:3])
        msg = f"{file} has no numeric column to embed: {faults or 'nothing is left'}"
        raise TableError(msg)
    return found


def _in_order(grid: Grid, columns: list[Column]) -> list[Column]:
    """Return columns in the order of the file."""
    place = {id(column): i for i, column in enumerate(grid.columns)}
    return sorted(columns, key=lambda column: place[id(column)])


def _take_asked(
    grid: Grid, selection: Selection, aside: set[int], found: Choice
) -> None:
    """Take the columns that were asked for; refuse what cannot be taken."""
    asked: dict[int, None] = {}
    for given in selection.columns or ():
        asked.update(dict.fromkeys(find_columns(given, grid.names, grid.name)))
    for given in selection.drop:
        for i in find_columns(given, grid.names, grid.name):
            asked.pop(i, None)
    # Axes of a map are data whatever they look like, even where all columns that were
    # kept at first sight are given for ids.
    for i in [i for i in asked if i in aside and not AXIS.fullmatch(grid.names[i])]:
        what = "holds the labels" if grid.columns[i] is found.labels else "is an id"
        found.notes.append(
            f"`{grid.names[i]}` {what}: kept beside the map, not embedded"
        )
        del asked[i]
    _refuse_unstored([grid.columns[i] for i in asked], grid.name)
    for i in asked:
        column = grid.columns[i]
        if column.fault:
            mark = mark_of(column.texts)
            why = MARKED.format(mark) if mark else column.fault
            why += f"; {column.way_out}" if column.way_out else ""
            msg = f"{grid.name}: `{column.name}` cannot be embedded: {why}"
            raise TableError(msg)
        found.data.append(column)
        if column.told:
            found.notes.append(column.told)
    if not found.data:
        msg = f"{grid.name}: columns, drop, labels and ids leave nothing to embed"
        raise TableError(msg)


def _refuse_spoiled(columns: Sequence[Column], file: str) -> None:
    """Refuse a column that is data but for a few cells, rather than lose it."""
    _refuse_unstored(columns, file)
    for column in columns:
        name = column.name
        if column.way_out and not (_is_row_name(name) or LIKE_IDS.fullmatch(name)):
            msg = f"{file}: `{name}`: {column.fault}; {column.way_out}"
            raise TableError(msg)


def _refuse_unstored(columns: Sequence[Column], file: str) -> None:
    for column in columns:
        if column.unstored:
            msg = f"{file}: `{column.name}` {column.fault}: {column.way_out}"
            raise TableError(msg)


def _sort_out(columns: Sequence[Column], found: Choice) -> None:
    """Tell data from names of rows and from what is neither."""
    constant: list[str] = []
    for column in columns:
        name = column.name
        if column.is_text or column.fault:
            named = _is_row_name(name)
            is_id = named or LIKE_IDS.fullmatch(name)
            mark = "" if is_id else mark_of(column.texts)
            if mark:
                found.left_out.append(f"`{name}`: {MARKED.format(mark)}")
            elif column.is_text and (named or _all_differ(column.texts)):
                found.kept.append(column)
                found.notes.append(f"`{name}` names rows: kept beside the map")
            else:
                found.left_out.append(f"`{name}`: {column.fault}")
            continue
        numbers = column.numbers()
        why = TOO_LONG if _are_too_long(column) else _why_no_data(name, numbers)
        if why == "constant":
            constant.append(name)
        elif why:
            found.kept.append(column)
            found.notes.append(f"`{name}` {why}: kept beside the map, not embedded")
        elif np.isnan(numbers).all():
            found.left_out.append(f"`{name}`: every cell is missing")
        else:
            found.data.append(column)
            if column.told:
                found.notes.append(column.told)
    if constant:
        shown = ", ".join(f"`{name}`" for name in constant[:5])
        more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
        found.left_out.append(f"{shown}{more}: the same number in every row")


def _why_no_data(name: str, numbers: NDArray[Any]) -> str:
    """Say why a column of numbers should not be embedded, if so."""
    n = len(numbers)
    if _is_row_name(name):
        return "names rows"
    if n < 2 or np.isnan(numbers).any():
        return ""
    first = numbers[0]
    if (numbers == first).all():
        return "constant"
    if n >= COUNTING_ROWS and first in (0, 1) and _counts(numbers):
        return "counts rows"
    if LIKE_IDS.fullmatch(name) and _are_different_wholes(numbers):
        return "looks like an id"
    return ""


def _are_too_long(column: Column) -> bool:
    """Tell whether whole numbers, written out as such, exceed what a float holds."""
    import pyarrow as pa
    from pyarrow import compute

    if column.texts is not None and pa.types.is_string(column.texts.type):
        bare = compute.utf8_trim_whitespace(column.texts)
        long = compute.match_substring_regex(bare, f"^[0-9]{{{LONG_DIGITS},}}$")
        return bool(compute.any(long).as_py())
    if pa.types.is_integer(column.array.type):
        ends = compute.min_max(column.array).as_py()
        return bool(max(abs(ends["min"] or 0), abs(ends["max"] or 0)) >= LONGEST_WHOLE)
    return False


def _counts(numbers: NDArray[Any]) -> bool:
    # The second row settles it for nearly every column, without an array of all.
    return bool(
        numbers[1] == numbers[0] + 1
        and (numbers == np.arange(len(numbers)) + numbers[0]).all()
    )


def _are_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())


def _are_different_wholes(numbers: NDArray[Any]) -> bool:
    return _are_whole(numbers) and len(np.unique(numbers)) == len(numbers)


def _is_row_name(name: str) -> bool:
    return name.lower() in ROW_NAMES


def _all_differ(texts: Any) -> bool:
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_string(texts.type) or len(texts) < 2:
        return False
    return bool(
        compute.count_distinct(texts, mode="all").as_py() == len(texts)
    ) and not any(
        is_missing(cell) for cell in texts.slice(0, 100).to_pylist() if cell is not None
    )
