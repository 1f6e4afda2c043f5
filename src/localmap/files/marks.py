"""Which mark divides whole from fraction in a text, by all its columns together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localmap.files.dialect import Dialect
from localmap.files.errors import TableError
from localmap.files.numbers import (
    THOUSANDS,
    fitting,
    is_any_number,
    is_missing,
    tells,
    to_numbers,
)


def decide_decimal(
    columns: Sequence[Sequence[str]], sep: str, asked: Dialect, name: str
) -> str | None:
    """Return the decimal mark, None if no number has a mark, or refuse.

    Examples
    --------
    >>> decide_decimal([["6,87", "5,1"]], ";", Dialect(), "x.csv")
    ','
    >>> decide_decimal([["1,065"]], ";", Dialect(), "x.csv")
    Traceback (most recent call last):
    localmap.files.errors.TableError: x.csv: in '1,065' the mark may be a decimal or a \
thousands mark; the option decimal settles it
    """
    if asked.decimal is not None:
        return asked.decimal
    sure: dict[str, str] = {}
    unclear = ""
    for column in columns:
        cells = [c for c in column if is_any_number(c)]
        there = sum(not is_missing(cell) for cell in column)
        if 2 * len(cells) <= there or not tells(cells):
            continue
        marked = next(cell for cell in cells if tells([cell]))
        decimals = _decimals(cells, sep, asked)
        if len(decimals) == 1:
            sure.setdefault(decimals.pop(), marked)
        elif decimals:
            unclear = unclear or marked
    if len(sure) > 1:
        msg = (
            f"{name}: {sure['.']!r} has a decimal point, {sure[',']!r} a decimal "
            "comma; the option decimal settles it"
        )
        raise TableError(msg)
    if sure:
        return next(iter(sure))
    if unclear:
        msg = (
            f"{name}: in {unclear.strip()!r} the mark may be a decimal or a thousands "
            "mark; the option decimal settles it"
        )
        raise TableError(msg)
    return None


def _decimals(cells: Sequence[str], sep: str, asked: Dialect) -> set[str]:
    fit = fitting(cells)
    if asked.thousands is not None:
        fit = frozenset((d, t) for d, t in fit if t in ("", asked.thousands))
    decimals = {decimal for decimal, _ in fit}
    if sep == "," and not any("," in cell for cell in cells):
        # Where commas stand between columns, a point is no thousands mark.
        decimals.discard(",")
    return decimals


def convert(
    texts: Any, decimal: str, asked: Dialect, also: Sequence[str]
) -> tuple[Any, Any, str]:
    """Turn texts into numbers with the thousands mark that leaves fewest behind.

    Returns
    -------
    numbers, good
        As `to_numbers` returns them.
    thousands : str
        The mark that was taken.
    """
    from pyarrow import compute

    best = (*to_numbers(texts, decimal, "", also), "")
    left = _count_bad(best[1])
    if not left or asked.thousands == "":
        return best
    for mark in THOUSANDS[1:] if asked.thousands is None else (asked.thousands,):
        if mark == decimal:
            continue
        if not compute.any(compute.match_substring(texts, mark)).as_py():
            continue
        numbers, good = to_numbers(texts, decimal, mark, also)
        bad = _count_bad(good)
        if bad < left:
            best, left = (numbers, good, mark), bad
    return best


def _count_bad(good: Any) -> int:
    from pyarrow import compute

    return len(good) - int(compute.sum(good).as_py() or 0)
