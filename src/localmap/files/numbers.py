"""What counts as a number: decimal and thousands marks, missing cells.

A mark is decided by the cells themselves. `6,87` can only be a decimal comma, `1,065.5`
only a thousands comma; `1,065` alone can be either, and then nobody guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Final

DECIMALS: Final = (".", ",")
# No mark first: of several that fit, the simplest is taken. The last are a no-break
# blank, a narrow one, and the typographer's apostrophe of Swiss spreadsheets.
THOUSANDS: Final = ("", ",", ".", " ", "'", "\u00a0", "\u202f", "\u2019")

# What programs write for a cell without a value; compared without regard to case.
MISSING: Final = frozenset(
    {"", "na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "<na>", "nil",
     "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "#num!", "#div/0!"}
)  # fmt: skip

INFINITE: Final = r"inf(?:inity)?"


@cache
def pattern(decimal: str, thousands: str) -> str:
    """Return the regular expression of a number with these marks.

    Examples
    --------
    >>> bool(re.fullmatch(pattern(".", ","), "1,065.5"))
    True
    >>> bool(re.fullmatch(pattern(".", ","), "6,87"))
    False
    """
    point = re.escape(decimal)
    whole = "[0-9]+"
    if thousands:
        whole = f"(?:[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+)"
    # A bare comma at the end is a separator too many, not a decimal mark.
    after = f"{point}[0-9]*" if decimal == "." else f"{point}[0-9]+"
    number = f"(?:{whole}(?:{after})?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return f"(?i:[+-]?(?:{number}|{INFINITE}))"


@cache
def _compiled(decimal: str, thousands: str) -> re.Pattern[str]:
    return re.compile(pattern(decimal, thousands))


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Tell whether a cell is one number with these marks."""
    return _compiled(decimal, thousands).fullmatch(cell.strip()) is not None


@cache
def _any_marks() -> re.Pattern[str]:
    pairs = [(d, t) for d in DECIMALS for t in THOUSANDS if t not in (d, "", " ")]
    return re.compile("|".join(pattern(decimal, mark) for decimal, mark in pairs))


@lru_cache(maxsize=1 << 16)  # each decision asks it of the same cells
def is_any_number(cell: str) -> bool:
    """Tell whether a cell is a number with some marks, blanks not among them."""
    return _any_marks().fullmatch(cell.strip()) is not None


def is_missing(cell: str, also: Iterable[str] = ()) -> bool:
    """Tell whether a cell says that there is no value."""
    bare = cell.strip()
    return bare.lower() in MISSING or bare in also


def fitting(cells: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of decimal and thousands mark under which all are numbers."""
    distinct = {cell.strip() for cell in cells}
    signs = set("".join(distinct))
    fit: set[tuple[str, str]] = set()
    for decimal in DECIMALS:
        plain = all(map(_compiled(decimal, "").fullmatch, distinct))
        for mark in THOUSANDS:
            # A mark that does not occur changes nothing.
            fits = plain
            if mark in signs and mark != decimal:
                fits = all(map(_compiled(decimal, mark).fullmatch, distinct))
            if fits and mark != decimal:
                fit.add((decimal, mark))
    return frozenset(fit)


def tells(cells: Iterable[str]) -> bool:
    """Tell whether any of the cells has a mark that could be a decimal one."""
    return any("." in cell or "," in cell for cell in cells)


def simplest(fit: Iterable[tuple[str, str]], decimal: str) -> str | None:
    """Return the first thousands mark that fits with a decimal mark."""
    fit = set(fit)
    return next((t for t in THOUSANDS if (decimal, t) in fit), None)


def to_numbers(texts: Any, decimal: str, thousands: str, also: Sequence[str]) -> Any:
    """Turn an Arrow array of texts into numbers; what is no number becomes null.

    Parameters
    ----------
    texts : pyarrow.ChunkedArray of string
    decimal, thousands : str
    also : sequence of str
        Texts that say that there is no value, besides the usual ones.

    Returns
    -------
    numbers : pyarrow.ChunkedArray of float64
    good : pyarrow.ChunkedArray of bool
        Where the text is a number or says that there is none.
    """
    import pyarrow as pa
    from pyarrow import compute

    bare = compute.utf8_trim_whitespace(texts)
    number = compute.match_substring_regex(bare, f"^(?:{pattern(decimal, thousands)})$")
    missing = compute.is_in(compute.utf8_lower(bare), pa.array(sorted(MISSING)))
    if also:
        other = compute.is_in(bare, pa.array(list(also), pa.string()))
        missing = compute.or_(missing, other)
    number = compute.and_(number, compute.invert(missing))
    plain = compute.if_else(number, bare, pa.scalar(None, pa.string()))
    if thousands:
        plain = compute.replace_substring(plain, thousands, "")
    if decimal != ".":
        plain = compute.replace_substring(plain, decimal, ".")
    plain = compute.replace_substring_regex(plain, r"^\+", "")
    good = compute.fill_null(compute.or_(number, missing), fill_value=True)
    return plain.cast(pa.float64()), good


def marks_that_fit(texts: Any, also: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Do as `fitting` for an Arrow array of texts, leaving out missing cells."""
    from pyarrow import compute

    cells = [cell for cell in compute.unique(texts).to_pylist() if cell is not None]
    return fitting([cell for cell in cells if not is_missing(cell, also)])
