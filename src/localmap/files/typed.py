"""Texts to numbers where they are numbers, and why where they are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from localmap.files.dialect import Dialect
from localmap.files.grid import Column
from localmap.files.marks import convert, decide_decimal
from localmap.files.numbers import MISSING

Where = Callable[[int], str]

# A column with so many numbers, and so large a share of them among its cells that are
# not empty, is one of numbers with a few cells gone wrong: to leave it out would lose a
# measurement. Fewer numbers may stand by chance among names.
ENOUGH_NUMBERS: Final = 10
MOSTLY: Final = 0.9


def settle(
    names: Sequence[str],
    parsed: Sequence[Any],
    decided: Dialect,
    asked: Dialect,
    also: Sequence[str],
    where: Where,
    name: str,
    typed: Sequence[Any] | None = None,
) -> tuple[list[Column], Dialect]:
    """Make a column of each array; return what was decided about marks as well.

    `typed` are the numbers of cells that have no text, where a column may hold both.
    """
    import pyarrow as pa

    texts = [array for array in parsed if pa.types.is_string(array.type)]
    if decided.decimal is None and texts:
        # Marks may stand below the lines on which the rest was decided.
        seen = [_distinct(array) for array in texts]
        decimal = decide_decimal(seen, decided.sep or "", asked, name)
        decided = replace(decided, decimal=decimal)
    marks: set[str] = set()
    columns = []
    beside = [None] * len(parsed) if typed is None else typed
    for called, array, numbers in zip(names, parsed, beside, strict=True):
        if pa.types.is_string(array.type):
            column, mark = from_text(
                called, array, decided, asked, also, where, numbers
            )
            marks.add(mark)
        else:
            column = Column(called, array=array)
        columns.append(column)
    marks.discard("")
    found = " ".join(sorted(marks)) if marks else None
    return columns, replace(decided, thousands=found)


def from_text(
    name: str,
    texts: Any,
    decided: Dialect,
    asked: Dialect,
    also: Sequence[str],
    where: Where,
    typed: Any = None,
) -> tuple[Column, str]:
    """Make a column of texts: numbers if all are, else a column with its fault."""
    import pyarrow as pa
    from pyarrow import compute

    numbers, good, mark = convert(texts, decided.decimal or ".", asked, also)
    if typed is not None:
        numbers = pa.chunked_array([compute.coalesce(numbers.combine_chunks(), typed)])
    n = len(texts)
    bad = n - int(compute.sum(good).as_py() or 0)
    if bad == 0:
        return Column(name, array=numbers, texts=texts), mark
    truths = _truths(texts, also)
    if truths is not None:
        told = f"`{name}`: true is 1, false is 0"
        return Column(name, array=truths, texts=texts, told=told), ""
    first = int(compute.index(good, value=False).as_py())
    example = shown(texts[first].as_py())
    if numbers.null_count == n:
        fault = f"is text, first {example} in {where(first)}"
        return Column(name, texts=texts, fault=fault), ""
    are = "is no number" if bad == 1 else "are no numbers"
    column = Column(name, array=numbers, texts=texts)
    column.fault = f"{bad} of {n} cells {are}, first {example} in {where(first)}"
    there = n - numbers.null_count
    if there >= ENOUGH_NUMBERS and there >= MOSTLY * (there + bad):
        column.way_out = (
            f"the option na says that {example} means missing, drop leaves the column "
            "out"
        )
    return column, mark


def shown(cell: str) -> str:
    """Return a cell for a message: on one line, not too long."""
    line = " ".join(cell.split())
    return f"`{line[:30]}...`" if len(line) > 33 else f"`{line}`"


def _distinct(texts: Any) -> list[str]:
    from pyarrow import compute

    return [cell for cell in compute.unique(texts).to_pylist() if cell is not None]


def _truths(texts: Any, also: Sequence[str]) -> Any:
    """Return 1 and 0 for true and false if a column holds nothing else."""
    import pyarrow as pa
    from pyarrow import compute

    bare = compute.utf8_lower(compute.utf8_trim_whitespace(texts))
    known = pa.array(["true", "false", *sorted(MISSING), *also], pa.string())
    if not compute.all(compute.is_in(bare, known)).as_py():
        return None
    is_true = compute.equal(bare, "true")
    truth = compute.or_(is_true, compute.equal(bare, "false"))
    return compute.if_else(
        truth, is_true.cast(pa.float64()), pa.scalar(None, pa.float64())
    )
