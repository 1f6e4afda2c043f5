"""Lines of text to cells, one record at a time: the small and careful way.

Decisions are made on the first records of a text, split here; the whole is parsed by
Arrow once its dialect is known. Texts that Arrow cannot take (stray separators at the
end of some lines, comments between rows) are split here from first to last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from localmap.files.dialect import BLANKS

LINE_END: Final = re.compile(r"\r\n|\n|\r")


class Quoted(str):
    """The text of a cell that stood in quotes."""

    __slots__ = ()


class QuoteError(ValueError):
    """A quote that does not end, or ends before its cell does."""


def lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, one by one as they are asked for."""
    at = 0
    for end in LINE_END.finditer(text):
        yield text[at : end.start()]
        at = end.end()
    yield text[at:]


def records(
    text: str, quote: str, escape: str, comment: str
) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line that is neither blank nor a comment.

    A record whose quotes span lines counts as the line it begins in.
    """
    pending, begun = "", 0
    for number, line in enumerate(lines(text), start=1):
        if pending:
            pending += "\n" + line
        elif not line.strip() or (comment and line.startswith(comment)):
            continue
        else:
            pending, begun = line, number
        if quote and quote in pending and _is_open(pending, quote, escape):
            continue
        yield begun, pending
        pending = ""
    if pending:
        msg = f"a quote {quote} in line {begun} does not end"
        raise QuoteError(msg)


def _is_open(record: str, quote: str, escape: str) -> bool:
    """Tell whether a record ends inside a quoted cell, as far as counting tells."""
    plain = record.replace(escape + quote, "") if escape else record
    return plain.count(quote) % 2 == 1 and _opens_a_cell(plain, quote)


def _opens_a_cell(record: str, quote: str) -> bool:
    """Tell a quote that opens a cell from one inside it, as in 5" pipe."""
    return re.search(rf"(?:^|[,;|\t ]){re.escape(quote)}", record) is not None


def split(record: str, sep: str, quote: str, escape: str) -> list[str]:
    """Return the cells of a record; those that stood in quotes are `Quoted`."""
    if not quote or quote not in record:
        if sep == BLANKS:
            return record.split()
        return record.split(sep) if sep else [record]
    return list(_cells(record, sep, quote, escape))


def _cells(record: str, sep: str, quote: str, escape: str) -> Iterator[str]:
    at, end = 0, len(record)
    blanks = sep == BLANKS
    while True:
        start = at
        while (
            at < end and record[at] in (" \t" if blanks else " ") and sep != record[at]
        ):
            at += 1
        if blanks:
            at = end - len(record[start:].lstrip())
            if at >= end:
                return
        if at < end and record[at] == quote:
            cell, at = _quoted(record, at, quote, escape)
            rest = _until(record, at, sep)
            if record[at:rest].strip():
                msg = f"text follows the closing quote: {record[:40]!r}"
                raise QuoteError(msg)
            yield Quoted(cell)
        else:
            rest = _until(record, at, sep)
            yield record[at if blanks else start : rest]
        if rest >= end:
            return
        at = rest + 1
        if at >= end and not blanks:
            yield ""
            return


def _until(record: str, at: int, sep: str) -> int:
    """Return where the cell that goes on at a place ends."""
    if sep == BLANKS:
        found = re.compile(r"\s").search(record, at)
        return found.start() if found else len(record)
    place = record.find(sep, at) if sep else -1
    return place if place >= 0 else len(record)


def _quoted(record: str, at: int, quote: str, escape: str) -> tuple[str, int]:
    """Return the text of a quoted cell that opens here, and where it ended."""
    parts: list[str] = []
    at += 1
    while True:
        close = record.find(quote, at)
        if close < 0:
            msg = f"a quote does not end: {record[:40]!r}"
            raise QuoteError(msg)
        if escape and close > at and record[close - 1] == escape:
            parts.append(record[at : close - 1] + quote)
            at = close + 1
            continue
        parts.append(record[at:close])
        at = close + 1
        if record[at : at + 1] != quote or escape:
            return "".join(parts), at
        parts.append(quote)
        at += 1
