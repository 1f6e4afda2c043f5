"""All lines of a text to Arrow arrays, once its layout is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from localmap.files.dialect import BLANKS
from localmap.files.errors import TableError
from localmap.files.layout import Layout, check_comments, divide
from localmap.files.numbers import MISSING, is_missing, is_number
from localmap.files.records import LINE_END, records, split

# Blocks that Arrow parses at a time, in bytes: its own choice is 1 MB, which a line of
# a table with very many columns can exceed.
BLOCK: Final = 1 << 22
LARGEST_BLOCK: Final = (1 << 31) - 1


def parse(
    data: bytes,
    layout: Layout,
    decimal: str | None,
    body: Sequence[Sequence[str]],
    exact: set[int],
    also: Sequence[str],
    name: str,
) -> list[Any]:
    """Return an Arrow array for each column: numbers where all cells are plain ones.

    Parameters
    ----------
    data : bytes
        The text in UTF-8.
    layout : Layout
    decimal : str or None
        None if no number that was seen has a mark.
    body : sequence of sequences of str
        Cells that were seen, column by column.
    exact : set of int
        Columns to be kept to the letter.
    also : sequence of str
        Texts that say that a cell has no value.
    name : str
        Of the file, for errors.
    """
    from pyarrow import ArrowInvalid

    if _is_odd(data, layout):
        return _parse_slowly(data, layout, name)
    # Without a mark in sight, a point that comes later might be a thousands mark: only
    # whole numbers are taken then, which Arrow would read as hexadecimal ones, too.
    whole = decimal is None and layout.sep != ","
    hexadecimal = whole and re.search(rb"0[xX]", data) is not None
    plain = [
        i not in exact and not hexadecimal and _are_plain(cells, decimal or ".", also)
        for i, cells in enumerate(body)
    ]
    try:
        text = _from_first_row(data, layout)
        plainly = layout
        if layout.quote:
            quote, at = layout.quote.encode(), len(data) - len(text)
            # Without quotes among the rows, Arrow may divide the work by lines.
            if data.find(quote, at) < 0:
                plainly = replace(layout, quote="")
        try:
            columns = _by_arrow(text, plainly, plain, decimal or ".", also, whole=whole)
        except ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
            columns = _by_arrow(text, plainly, [False] * layout.width, ".", also)
    except ArrowInvalid:
        return _parse_slowly(data, layout, name)
    # Lines of separators only are no rows; lines of NA are.
    return _parse_slowly(data, layout, name) if _has_empty_rows(columns) else columns


def _is_odd(data: bytes, layout: Layout) -> bool:
    """Tell whether a text needs more care than Arrow gives."""
    if layout.stray or not layout.sep or (layout.sep == BLANKS and layout.quote):
        return True
    if layout.quote and f" {layout.quote}".encode() in data:
        # A blank before an opening quote, which Arrow takes for a part of the cell.
        blank = rf"(?:^|{re.escape(layout.sep)}) +{layout.quote}".encode()
        if re.search(blank, data, re.MULTILINE):
            return True
    last = layout.rows[-1][0]
    lines = LINE_END.split(data[: 1 << 18].decode("utf-8", "ignore"))[:last]
    first = layout.rows[0][0]
    return bool(layout.comment) and any(
        line.startswith(layout.comment) for line in lines[first:]
    )


def _are_plain(cells: Sequence[str], decimal: str, also: Sequence[str]) -> bool:
    """Tell whether cells are numbers as Arrow reads them, or empty."""
    numbers = 0
    for cell in cells:
        if is_number(cell, decimal) and cell not in also:
            numbers += 1
        elif not is_missing(cell, also):
            return False
    return numbers > 0


def _from_first_row(data: bytes, layout: Layout) -> Any:
    """Return the text from the first row below the names on."""
    import pyarrow as pa

    if layout.sep == BLANKS:
        lines = (
            "\t".join(record.split())
            for _, record in records(data.decode("utf-8"), "", "", layout.comment)
        )
        named = layout.header and layout.rows[0][0] > 0
        return pa.py_buffer("\n".join(islice(lines, int(named), None)).encode())
    rows = layout.rows[layout.header :]
    if not rows:
        return pa.py_buffer(b"")
    at = _start(data, rows[0][0])
    return pa.py_buffer(data)[at:]


def _start(data: bytes, line: int) -> int:
    """Return where a line begins, counted from 1."""
    at = 0
    for _ in range(line - 1):
        at = data.index(b"\n", at) + 1
    return at


def _by_arrow(
    text: Any,
    layout: Layout,
    plain: Sequence[bool],
    decimal: str,
    also: Sequence[str],
    *,
    whole: bool = False,
) -> list[Any]:
    import pyarrow as pa
    from pyarrow import compute, csv

    names = [str(i) for i in range(layout.width + layout.extra)]
    plain = [*plain, *[False] * layout.extra]
    number = pa.int64() if whole else pa.float64()
    missing = {m for word in MISSING for m in (word, word.upper(), word.capitalize())}
    longest = max((sum(map(len, cells)) for _, cells in layout.rows), default=0)
    block = min(max(BLOCK, 64 * longest), LARGEST_BLOCK)
    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=names, block_size=block),
        parse_options=csv.ParseOptions(
            delimiter="\t" if layout.sep == BLANKS else layout.sep,
            quote_char=layout.quote or False,
            double_quote=not layout.escape,
            escape_char=layout.escape or False,
            newlines_in_values=bool(layout.quote),
        ),
        convert_options=csv.ConvertOptions(
            column_types={
                n: number if is_plain else pa.string()
                for n, is_plain in zip(names, plain, strict=True)
            },
            null_values=[*sorted(missing | {"NaN", "-NaN"}), *also],
            strings_can_be_null=False,
            decimal_point=decimal,
        ),
    )
    for column in table.columns[layout.width :]:
        if compute.any(compute.not_equal(column, "")).as_py():
            msg = "a line has more cells than the others"
            raise pa.ArrowInvalid(msg)
    return list(table.columns[: layout.width])


def _parse_slowly(data: bytes, layout: Layout, name: str) -> list[Any]:
    """Split every line here; all cells stay text."""
    import pyarrow as pa

    seen = layout.rows
    again = divide(data.decode("utf-8"), replace(layout, rows=()))
    if again.fault or again.width != layout.width:
        fault = (
            again.fault or f"lines have {again.width} cells, the first {layout.width}"
        )
        msg = f"{name}: {fault}"
        raise TableError(msg)
    check_comments(data.decode("utf-8"), again, name)
    named = layout.header and seen[0][0] > 0
    rows = [cells for _, cells in again.rows[int(named) :]]
    return [
        pa.chunked_array([pa.array(list(map(str, column)), pa.string())])
        for column in zip(*rows, strict=True)
    ]


def _has_empty_rows(columns: Sequence[Any]) -> bool:
    """Tell whether some row has a value in no column."""
    import pyarrow as pa
    from pyarrow import compute

    empty = None
    for column in columns:
        blank = compute.is_null(column)
        if pa.types.is_string(column.type):
            blank = compute.equal(compute.utf8_trim_whitespace(column), "")
        empty = blank if empty is None else compute.and_(empty, blank)
        if not compute.any(empty).as_py():
            return False
    return True


def line_of(data: bytes, layout: Layout, row: int) -> int:
    """Return the number of the line in which a row begins."""
    if layout.header and layout.rows[0][0] > 0:
        row += 1
    for number, record in records(
        data.decode("utf-8"), layout.quote, layout.escape, layout.comment
    ):
        cells = split(record, layout.sep, layout.quote, layout.escape)
        if not any(cell.strip() for cell in cells):
            continue
        if row == 0:
            return number
        row -= 1
    msg = f"there is no row {row}"
    raise IndexError(msg)
