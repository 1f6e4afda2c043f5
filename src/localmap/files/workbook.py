"""Excel workbooks (.xlsx): cells with types of their own, in one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from localmap.files.dialect import Dialect
from localmap.files.errors import TableError
from localmap.files.grid import Grid, repeated_names, unique_names
from localmap.files.header import decide_header, is_second_header
from localmap.files.numbers import is_number
from localmap.files.records import Quoted
from localmap.files.source import Source
from localmap.files.typed import settle

UNSTORED: Final = "holds formulas without stored values"
SAVE_AGAIN: Final = "open and save the file in Excel or LibreOffice"


class Formula(Quoted):
    """A formula whose value is not in the file; no cell that is empty."""


def read_xlsx(
    source: Source, sheet: str | None, asked: Dialect, also: Sequence[str] = ()
) -> Grid:
    """Read one sheet of a workbook."""
    name = source.name
    title, cells, first_line = _cells(source, sheet)
    rows = [(i, row) for i, row in enumerate(cells, start=first_line) if any(row)]
    rows = [(i, row) for i, row in rows if i > (asked.skip or 0)]
    if not rows:
        msg = f"{name}: the sheet {title!r} is empty"
        raise TableError(msg)
    used = [any(row[i] for _, row in rows) for i in range(len(rows[0][1]))]
    begin = used.index(True)
    end = len(used) - used[::-1].index(True)
    rows = [(i, row[begin:end]) for i, row in rows]
    width = end - begin
    filled = [sum(map(bool, row)) for _, row in rows]
    if width > 1 and filled[0] == 1 and max(filled) > 2:
        start = next(i for (i, _), n in zip(rows, filled, strict=True) if n > 1)
        msg = (
            f"{name}: line {rows[0][0]} has 1 cell; if the table begins in line "
            f"{start}, give skip={start - 1}"
        )
        raise TableError(msg)
    return _to_grid(name, title, rows, asked, also)


def _to_grid(
    name: str,
    title: str,
    rows: list[tuple[int, list[str]]],
    asked: Dialect,
    also: Sequence[str],
) -> Grid:
    import pyarrow as pa

    first = rows[0][1]
    columns = list(map(list, zip(*(row for _, row in rows[1:]), strict=True)))
    header = asked.header
    if header is None:
        header = decide_header(first, columns, name, rows[0][0])
        second = is_second_header(columns) if header else None
        if second is not None:
            msg = (
                f"{name}: line {rows[1][0]} looks like a second line of names or units "
                f"({second!r}); take it out"
            )
            raise TableError(msg)
    body = rows[header:]
    if not body:
        msg = f"{name}: the sheet {title!r} has no rows"
        raise TableError(msg)
    names = [
        str(cell).strip() or ("row" if i == 0 else f"column {i + 1}")
        if header
        else f"column {i + 1}"
        for i, cell in enumerate(first)
    ]
    below = list(zip(*(row for _, row in body), strict=True))
    lines = [i for i, _ in body]
    # Numbers of the sheet have no marks: what is decided is about texts alone.
    typed = [list(map(_typed, cells)) for cells in below]
    found, decided = settle(
        unique_names(names),
        [
            _texts([str(c) if t is None else None for c, t in zip(*both, strict=True)])
            for both in zip(below, typed, strict=True)
        ],
        Dialect(decimal=asked.decimal, header=header),
        asked,
        also,
        lambda r: f"line {lines[r]}",
        name,
        [pa.array(numbers, pa.float64()) for numbers in typed],
    )
    for column, cells in zip(found, below, strict=True):
        column.texts = _texts(list(map(str, cells)))
    for i, column in enumerate(found):
        if any(isinstance(row[i], Formula) for _, row in rows):
            column.fault, column.way_out, column.unstored = UNSTORED, SAVE_AGAIN, True
    decisions = [f"{decided.describe(len(names))}, sheet {title!r}"]
    return Grid(
        name,
        found,
        len(body),
        decisions,
        lambda r: f"line {lines[r]}",
        repeated=repeated_names(names),
    )


def _typed(cell: str) -> float | None:
    """Return a number of the sheet; a text that may be one is none."""
    return None if isinstance(cell, Quoted) or not is_number(cell) else float(cell)


def _texts(cells: list[str | None] | list[str]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([pa.array(cells, pa.string())])


def _cells(source: Source, sheet: str | None) -> tuple[str, list[list[str]], int]:
    """Return the name of the sheet, its cells as text, and the first line's number."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        msg = f"{source.name} needs openpyxl: pip install openpyxl, or save it as .csv"
        raise TableError(msg) from error
    book = load_workbook(source.open(), read_only=True, data_only=True)
    try:
        titles = book.sheetnames
        if sheet is None and len(titles) > 1:
            full = [
                t
                for t in titles
                if any(
                    any(c is not None for c in r)
                    for r in book[t].iter_rows(values_only=True)
                )
            ]
            if len(full) != 1:
                msg = (
                    f"{source.name} has {len(full)} sheets with cells "
                    f"({', '.join(full[:8])}); the option sheet settles it"
                )
                raise TableError(msg)
            sheet = full[0]
        title = titles[0] if sheet is None else sheet
        if title not in titles:
            msg = f"{source.name} has no sheet {title!r}; it has {', '.join(titles)}"
            raise TableError(msg)
        page = book[title]
        rows = [list(map(_text, row)) for row in page.iter_rows(values_only=True)]
        width = max(map(len, rows), default=0)
        cells = [row + [""] * (width - len(row)) for row in rows]
    finally:
        book.close()
    if not all(map(all, cells)):
        _mark_formulas(source, title, cells)
    return title, cells, 1


def _mark_formulas(source: Source, title: str, cells: list[list[str]]) -> None:
    """Tell formulas without values from empty cells, which takes a second look."""
    from openpyxl import load_workbook

    formulas = load_workbook(source.open(), read_only=True)
    values = load_workbook(source.open(), read_only=True, data_only=True)
    pages = formulas[title].iter_rows(), values[title].iter_rows()
    try:
        for row, *found in zip(cells, *pages, strict=True):
            for i, (cell, value) in enumerate(zip(*found, strict=True)):
                # An empty text is a value, too; its type is "str".
                if cell.data_type == "f" and not row[i] and value.data_type == "n":
                    row[i] = Formula(cell.value)
    finally:
        formulas.close()
        values.close()


def _text(value: Any) -> str:
    """Return a cell as text; what was text in the sheet is `Quoted`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str):
        return Quoted(value)
    if hasattr(value, "isoformat"):
        return Quoted(value.isoformat())
    return str(value)
