"""Tables in text: decide the dialect on the first lines, then parse all at once.

Arrow parses: it is fast, reads numbers to the last bit and takes no line that is too
short or too long. What it reads was decided before, by the modules `encoding`,
`layout`, `header` and `marks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from localmap.files.dialect import Dialect
from localmap.files.encoding import to_utf8
from localmap.files.errors import TableError
from localmap.files.grid import Grid, repeated_names, unique_names
from localmap.files.header import decide_header, is_second_header
from localmap.files.layout import Layout, decide_layout
from localmap.files.marks import decide_decimal
from localmap.files.numbers import is_number
from localmap.files.parse import line_of, parse
from localmap.files.records import split
from localmap.files.typed import settle

# What decisions look at: enough lines to see each oddity a few times, few enough to be
# split in a fraction of a second. A small file is looked at whole.
SAMPLE: Final = 1 << 16
LINES: Final = 10  # at least, where lines are long

# The first line of a spreadsheet's export may say what stands between columns.
HINT: Final = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)

Chooser = Callable[[Sequence[str], Sequence[Sequence[str]]], set[int]]


def read_text(
    data: bytes, asked: Dialect, name: str, exact: Chooser, also: Sequence[str] = ()
) -> Grid:
    """Read a table from the bytes of a text.

    Parameters
    ----------
    data : bytes
    asked : Dialect
        What is known of the text; the rest is decided by it.
    name : str
        Of the file, for errors.
    exact : callable
        Given the names and first cells of all columns, tells which must be kept to the
        letter even if they are numbers.
    also : sequence of str
        Texts that say that a cell has no value, besides the usual ones.
    """
    data, encoding = to_utf8(data, asked.encoding, name)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data, asked, before = _cut_top(data, asked)
    sample = _sample(data)
    if not sample.strip():
        msg = f"{name} is empty"
        raise TableError(msg)
    if asked.quote is None and b'"' in data:
        asked = replace(asked, quote='"')  # perhaps behind the sample only
    layout = decide_layout(sample, asked, name)
    layout, header = _with_header(layout, asked, name)
    body = layout.columns if header else _all_columns(layout)
    if not body:
        msg = f"{name} has no rows"
        raise TableError(msg)
    decimal = decide_decimal(body, layout.sep, asked, name)
    named = _names(layout, header=header)
    names = unique_names(named)
    layout = replace(layout, header=header)
    parsed = parse(data, layout, decimal, body, exact(names, body), also, name)
    decided = replace(
        asked, sep=layout.sep or None, quote=layout.quote, escape=layout.escape,
        encoding=encoding, header=header, comment=layout.comment, decimal=decimal,
    )  # fmt: skip

    def where(row: int) -> str:
        return f"line {line_of(data, layout, row) + before}"

    columns, decided = settle(names, parsed, decided, asked, also, where, name)
    decisions = [decided.describe(len(names))]
    if header and layout.rows[0][0] == 0:
        decisions.append("names of columns are those in the comment above the rows")
    repeated = repeated_names(named)
    rows = len(parsed[0])
    return Grid(name, columns, rows, decisions, where, repeated=repeated)


def _cut_top(data: bytes, asked: Dialect) -> tuple[bytes, Dialect, int]:
    """Take away the lines before the table; return how many they were."""
    if asked.skip:
        parts = data.split(b"\n", asked.skip)
        return parts[-1] if len(parts) > asked.skip else b"", asked, asked.skip
    hint = HINT.match(data[:8].decode("utf-8", "replace"))
    if hint:
        asked = asked if asked.sep else replace(asked, sep=hint[1])
        return data[data.index(b"\n") + 1 :], asked, 1
    return data, asked, 0


def _sample(data: bytes) -> str:
    """Return the first lines, all of them in a small file."""
    if len(data) <= SAMPLE:
        return data.decode("utf-8")
    end = data.rfind(b"\n", 0, SAMPLE) + 1
    lines = data.count(b"\n", 0, end)
    while lines < LINES and end < len(data):
        end = data.find(b"\n", end) + 1 or len(data)
        lines += 1
    text = data[:end].decode("utf-8")
    if '"' in text and text.count('"') % 2:
        text = text[: text.rfind('"')]  # a quoted cell that goes on behind the sample
        text = text[: text.rfind("\n") + 1]
    return text


def _with_header(layout: Layout, asked: Dialect, name: str) -> tuple[Layout, bool]:
    line, first = layout.rows[0]
    if layout.short_header:
        header = True
    elif asked.header is not None:
        header = asked.header
    else:
        header = decide_header(first, layout.columns, name, line)
        named = None if header else _header_in_comment(layout)
        if named is not None:
            return replace(layout, rows=((0, named), *layout.rows)), True
    if header and asked.header is None:
        second = is_second_header(layout.columns)
        if second is not None:
            msg = (
                f"{name}: line {layout.rows[1][0]} looks like a second line of names "
                f"or units ({second!r}); take it out, or give skip and header"
            )
            raise TableError(msg)
    return layout, header


def _header_in_comment(layout: Layout) -> list[str] | None:
    """Return names that stand behind a comment mark just before the rows."""
    if not layout.top_comments or layout.width < 2:
        return None
    line = layout.top_comments[-1].lstrip("#%!/ \t")
    cells = [cell.strip() for cell in split(line, layout.sep, layout.quote, "")]
    if len(cells) != layout.width or any(is_number(c) or not c for c in cells):
        return None
    return cells


def _all_columns(layout: Layout) -> list[list[str]]:
    return [list(column) for column in zip(*(c for _, c in layout.rows), strict=True)]


def _names(layout: Layout, *, header: bool) -> list[str]:
    if not header:
        return [f"column {i + 1}" for i in range(layout.width)]
    first = [str(cell).strip() for cell in layout.rows[0][1]]
    return [
        cell or ("row" if i == 0 else f"column {i + 1}") for i, cell in enumerate(first)
    ]
