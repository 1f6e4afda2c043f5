"""Texts that are numbers with a mark or a unit, such as ``12.5%`` or ``0.37 mg``."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from localmap.files.numbers import is_missing

# A sign before the number or a unit behind it. Letters before a number are no unit:
# P1, P2 and P3 are names.
MARKED: Final = re.compile(
    r"[+\-\u2212]?\s*(?P<before>[$\u20ac\u00a3\u00a5\u20b9<>~\u2248\u2264\u2265]"
    r"|USD|EUR|GBP|CHF|JPY|CNY|INR)?\s*"
    r"[+\-\u2212]?(?:\d[\d.,'\u2019\u00a0\u202f]*|[.,]\d+)(?:[eE][+-]?\d+)?"
    r"\s*(?P<behind>[^\W\d_]{1,8}(?:[/^\u00b7*-]?[^\W_]{1,4}){0,3}[\u00b2\u00b3]?"
    r"|[%\u2030\u00b0$\u20ac\u00a3\u00a5\u20b9](?:[CFK]|/[^\W_]{1,4})?)?"
)
HEXADECIMAL: Final = re.compile(r"0[xX][0-9a-fA-F]+")

# Cells to look at: what is said is about nearly all of them, which a thousand tell.
SAMPLE: Final = 1000

# Share of the cells, at least.
NEARLY_ALL: Final = 0.9

# Different marks, at most (g, mg), and cells for each: 1a, 1b and 2a are names.
MARKS: Final = 3
CELLS_FOR_EACH: Final = 10


def mark_of(texts: Any) -> str:
    """Return the mark or unit in nearly every cell of an Arrow array, if there is one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> mark_of(pa.chunked_array([["12.57%", "3%", "0.5 %"]]))
    '%'
    >>> mark_of(pa.chunked_array([["P1", "P2", "P3"]]))
    ''
    """
    import pyarrow as pa

    if texts is None or not pa.types.is_string(texts.type):
        return ""
    cells = [cell for cell in texts.slice(0, SAMPLE).to_pylist() if cell is not None]
    cells = [cell.strip() for cell in cells if not is_missing(cell)]
    marks = Counter(filter(None, map(_mark, cells)))
    most = min(MARKS, max(1, len(cells) // CELLS_FOR_EACH))
    common = marks.most_common(most)
    if not cells or sum(n for _, n in common) < NEARLY_ALL * len(cells):
        return ""
    return common[0][0]


def _mark(cell: str) -> str:
    if HEXADECIMAL.fullmatch(cell):
        return cell[:2]
    found = MARKED.fullmatch(cell)
    if found is None:
        return ""
    return found["behind"] or found["before"] or ""
