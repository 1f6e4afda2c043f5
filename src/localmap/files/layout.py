"""How the lines of a text divide into cells: separator, quotes, comments, shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from localmap.files.dialect import BLANKS, SHOWN, Dialect
from localmap.files.errors import TableError
from localmap.files.numbers import is_any_number, is_missing
from localmap.files.records import LINE_END, Quoted, QuoteError, records, split

# Tab before blanks: where both give the same cells, the text has tabs.
SEPARATORS: Final = (",", "\t", ";", "|", BLANKS)
COMMENTS: Final = ("#", "%", "!", "//")

# A whole cell in single quotes.
SINGLE: Final = re.compile(r"(?:^|(?<=[,;|\t ]))'[^'\n]*'(?=[,;|\t ]|$)", re.MULTILINE)

Row = tuple[int, list[str]]  # number of the line, cells


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Rows of cells under one way to divide lines; `fault` says why it is none."""

    sep: str
    quote: str
    escape: str = ""
    comment: str = ""
    comment_asked: bool = False
    rows: tuple[Row, ...] = ()
    width: int = 1
    # Some lines, not all, end with separators that divide nothing, or hold no cell.
    stray: bool = False
    extra: int = 0  # separators at the end of every line, that divide nothing
    # The first line has one cell less, as R writes names of rows.
    short_header: bool = False
    fault: str = ""
    share: float = 1.0  # of lines that have `width` cells
    top_comments: tuple[str, ...] = ()
    header: bool = False  # known only after the rest

    @property
    def columns(self) -> list[list[str]]:
        """Cells below the first row, column by column."""
        return [
            list(column) for column in zip(*(c for _, c in self.rows[1:]), strict=True)
        ]


def decide_layout(sample: str, asked: Dialect, name: str) -> Layout:
    """Divide the lines of a sample into cells, or refuse and say what settles it."""
    comment, top = _comments(sample, asked)
    quotes = [asked.quote] if asked.quote is not None else _quotes(sample)
    escapes = [asked.escape] if asked.escape is not None else _escapes(sample)
    seps = [asked.sep] if asked.sep is not None else list(SEPARATORS)
    seps = [sep for sep in seps if sep != asked.decimal] or seps
    start = Layout(
        sep="",
        quote="",
        comment=comment,
        comment_asked=asked.comment is not None,
        top_comments=top,
    )
    tried = [
        divide(sample, replace(start, sep=s, quote=q, escape=e))
        for q in quotes
        for e in escapes
        for s in seps
    ]
    whole = [layout for layout in tried if not layout.fault]
    if asked.sep is None:
        whole = [layout for layout in whole if layout.width > 1]
        if any(layout.sep == "\t" for layout in whole):
            # Blanks inside cells are words; where tabs divide, they do.
            whole = [layout for layout in whole if layout.sep != BLANKS]
    if not whole:
        found = _no_table(tried, asked, name, sample)
    elif len(whole) > 1:
        found = _best(whole, name)
    else:
        found = whole[0]
    if asked.sep is None and any(map(_hides_a_table, _parts(found))):
        msg = (
            f"{name}: cells between {_shown(found.sep)} hold numbers with other "
            "separators inside; the option sep settles it"
        )
        raise TableError(msg)
    if asked.sep is None and asked.decimal is None and _are_numbers(found):
        msg = (
            f"{name}: the comma may divide columns or be a mark inside numbers; the "
            "option sep or decimal settles it"
        )
        raise TableError(msg)
    if asked.sep is None and asked.decimal is None and _leans_on_commas(found, whole):
        msg = (
            f"{name}: the comma may divide columns as well as {_shown(found.sep)}: "
            "numbers have no digit before it; the option sep or decimal settles it"
        )
        raise TableError(msg)
    if asked.quote is None and _quotes_at_will(found):
        msg = (
            f"{name}: some texts of a column stand in single quotes, others do not; "
            "the option quote settles it"
        )
        raise TableError(msg)
    check_comments(sample, found, name)
    return found


def _are_numbers(layout: Layout) -> bool:
    """Tell whether each line as a whole is one number as well, as in 6,87."""
    return layout.sep == "," and all(
        is_any_number(",".join(cells)) for _, cells in layout.rows
    )


def _leans_on_commas(found: Layout, whole: Sequence[Layout]) -> bool:
    """Tell whether commas are decimal marks by chance, and divide all lines as well.

    A digit on either side, as in 6,87, makes a decimal comma; in `0|,5` the comma may
    as well stand between the text `0|` and the number 5.
    """
    if all(lay.sep != "," or lay.short_header for lay in whole) or found.sep == ",":
        return False
    cells = [cell for _, row in found.rows for cell in row if not _is_quoted(cell)]
    marked = [cell for cell in cells if "," in cell and is_any_number(cell)]
    clear = sum(re.search("[0-9],[0-9]", cell) is not None for cell in marked)
    return bool(marked) and 2 * clear <= len(marked)


def _quotes_at_will(layout: Layout) -> bool:
    """Tell whether single quotes may belong to texts: others of the column have none.

    Around a separator they are needed, and say nothing of other cells. Names of columns
    may have them all, whatever the rows have.
    """
    if layout.quote != "'":
        return False
    first, *rows = (cells for _, cells in layout.rows)
    rows += [] if all(map(_is_quoted, first)) else [first]
    for column in zip(*rows, strict=True):
        bare = [c for c in column if not _is_quoted(c)]
        texts = [c for c in bare if not is_any_number(c) and not is_missing(c)]
        if texts and any(_is_quoted(c) and layout.sep not in c for c in column):
            return True
    return False


def _is_quoted(cell: str) -> bool:
    return isinstance(cell, Quoted)


def divide(text: str, layout: Layout) -> Layout:
    """Split all lines of a text; say what is wrong if they do not form a table."""
    try:
        rows = [
            (number, split(record, layout.sep, layout.quote, layout.escape))
            for number, record in records(
                text, layout.quote, layout.escape, layout.comment
            )
        ]
    except QuoteError as error:
        return replace(layout, fault=f"{error}; the option quote settles it", share=0.0)
    if not rows:
        return replace(layout, fault="it is empty", share=0.0)
    filled = [(n, cells) for n, cells in rows if any(c.strip() for c in cells)]
    stray = len(filled) < len(rows)
    rows = filled or rows[:1]
    return _shape(replace(layout, stray=stray), rows)


def _shape(layout: Layout, rows: list[Row]) -> Layout:
    """Find the width; cut separators at the ends of lines that divide nothing."""
    width = max(map(_filled, (cells for _, cells in rows)))
    body = rows[1:] or rows
    lengths = {len(cells) for _, cells in body}
    stray = layout.stray or (len(lengths) > 1 and max(lengths) > width)
    extra = 0 if stray else max(lengths) - width
    regular = []
    for place, (number, cells) in enumerate(rows):
        if len(cells) < width and (place > 0 or len(cells) < width - 1):
            usual, count = Counter(len(cells) for _, cells in body).most_common(1)[0]
            share, fault = count / len(body), _ragged(rows, usual)
            return replace(layout, width=usual, share=share, fault=fault)
        regular.append((number, cells[:width]))
    short = len(regular[0][1]) == width - 1
    if short and not (
        _names_rows([cells[0] for _, cells in regular[1:]])
        and not any(map(is_any_number, regular[0][1]))
    ):
        return replace(layout, width=width, share=0.9, fault=_ragged(rows, width))
    if short:
        regular[0] = (regular[0][0], ["", *regular[0][1]])
    return replace(
        layout,
        rows=tuple(regular),
        width=width,
        stray=stray,
        extra=max(extra, 0),
        short_header=short,
    )


def _filled(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last that is not bare."""
    for place in range(len(cells), 0, -1):
        if cells[place - 1].strip() or _is_quoted(cells[place - 1]):
            return place
    return 0


def _names_rows(cells: Sequence[str]) -> bool:
    """Tell whether cells are different, and names or a count, as R writes them."""
    if len(set(cells)) < max(len(cells), 2) or not all(cell.strip() for cell in cells):
        return False
    if not any(is_any_number(cell) for cell in cells):
        return True
    return list(cells) == [str(i + 1) for i in range(len(cells))]


def _ragged(rows: Sequence[Row], width: int) -> str:
    """Say which line does not fit, and where the table may begin."""
    number, cells = next((n, c) for n, c in rows if len(c) != width)
    many = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    fault = f"line {number} has {many}, the others {width}"
    top = next((i for i, (_, c) in enumerate(rows) if len(c) == width), 0)
    if top > 0 and all(len(cells) == width for _, cells in rows[top:]):
        begin = rows[top][0]
        fault += f"; if the table begins in line {begin}, give skip={begin - 1}"
    return fault


def _comments(sample: str, asked: Dialect) -> tuple[str, tuple[str, ...]]:
    """Return what comments begin with, and those before the table."""
    lines = [line for line in LINE_END.split(sample) if line.strip()]
    marks = COMMENTS if asked.comment is None else (asked.comment,)
    for mark in filter(None, marks):
        marked = [line.startswith(mark) for line in lines]
        # Where most lines begin so, it is how rows are named.
        if any(marked) and (asked.comment or sum(marked) <= len(lines) / 2):
            top = next((i for i, is_marked in enumerate(marked) if not is_marked), 0)
            if asked.comment is None and mark != "#" and not top:
                continue
            return mark, tuple(lines[:top])
    return asked.comment or "", ()


def check_comments(text: str, found: Layout, name: str) -> None:
    """Refuse where a line may be a row as well as a comment."""
    if not found.comment or found.comment_asked or found.width < 2:
        return
    for number, line in enumerate(LINE_END.split(text), start=1):
        on_top = number < found.rows[0][0]
        if line.startswith(found.comment) and _may_be_row(line, found, on_top=on_top):
            msg = (
                f"{name}: line {number} begins with {found.comment!r} but has as many "
                "cells as a row; the option comment settles it"
            )
            raise TableError(msg)


def _may_be_row(line: str, found: Layout, *, on_top: bool) -> bool:
    """Tell whether a comment would be a row without its mark.

    Above the table names stand as well: there, cells of a row are numbers, or have
    numbers or nothing wherever the rows below have numbers.
    """
    if len(found.rows) <= 2 and any(sep in line for sep in SEPARATORS[:-1]):
        return True  # too few rows to know what divides them
    try:
        cells = split(line, found.sep, found.quote, found.escape)
    except QuoteError:
        cells = split(line, found.sep, "", "")
    if len(cells) < found.width:
        return False
    if not on_top or _is_like_rows(cells, found):
        return True
    numbers = [is_any_number(cell) for cell in cells[1:]]
    return all(numbers) if found.sep == BLANKS else any(numbers)


def _is_like_rows(cells: Sequence[str], found: Layout) -> bool:
    """Tell whether cells are numbers or missing in all columns of numbers."""
    if found.sep == BLANKS and len(cells) > found.width:
        return False  # words of a sentence
    return all(
        is_any_number(cell) or is_missing(cell)
        for cell, column in zip(cells, found.columns, strict=False)
        if 2 * sum(map(is_any_number, column)) > len(column)
    )


def _quotes(sample: str) -> list[str]:
    if '"' in sample:
        return ['"']
    cells = SINGLE.findall(sample)
    return ["'"] if cells and 2 * len(cells) == sample.count("'") else [""]


def _escapes(sample: str) -> list[str]:
    return ["", "\\"] if '\\"' in sample else [""]


def _best(whole: list[Layout], name: str) -> Layout:
    """Choose the layout with more numbers, if that is one and hides no other."""
    distinct: list[Layout] = []
    for layout in whole:
        if all(layout.rows != other.rows for other in distinct):
            distinct.append(layout)
    most = max(map(_numeric_columns, distinct))
    best = [
        layout
        for layout in distinct
        if _numeric_columns(layout) == most
        and not any(map(_hides_a_table, _parts(layout)))
    ]
    if len(best) == 1:
        return best[0]
    among = best or distinct
    if len({layout.sep for layout in among}) > 1:
        seps = " and ".join(_shown(layout.sep) for layout in among[:2])
        msg = f"{name}: both {seps} may divide the columns; the option sep settles it"
    else:
        msg = f"{name}: quotes can be read in two ways; the option escape settles it"
    raise TableError(msg)


def _parts(layout: Layout) -> list[tuple[str, list[str]]]:
    return [(layout.sep, column) for column in layout.columns]


def _hides_a_table(part: tuple[str, list[str]]) -> bool:
    """Tell whether most cells hold numbers with another separator between."""
    own, column = part
    bare = [c for c in column if not _is_quoted(c) and c.strip()]
    for other in SEPARATORS[:-1]:
        if other == own or not bare:
            continue
        hiding = 0
        for cell in bare:
            if other in cell and not is_any_number(cell):
                hiding += any(is_any_number(piece) for piece in cell.split(other))
        if hiding * 2 > len(bare):
            return True
    return False


def _numeric_columns(layout: Layout) -> int:
    columns = layout.columns or [[cell] for cell in layout.rows[0][1]]
    return sum(
        any(map(is_any_number, column))  # an empty column speaks for no separator
        and all(is_any_number(c) or is_missing(c) for c in column)
        for column in columns
    )


def _no_table(tried: list[Layout], asked: Dialect, name: str, sample: str) -> Layout:
    """One column, or a refusal that names the first line that does not fit."""
    near = [layout for layout in tried if layout.width > 1]
    quoted = [layout for layout in tried if "quote" in layout.fault]
    if not near and not quoted and asked.sep is None:
        alone = divide(sample, replace(tried[0], sep="", fault="", share=1.0))
        if not alone.fault:
            return alone
        tried = [alone]
    best = max(
        near or quoted or tried,
        # Blanks divide words in any text: the last to blame.
        key=lambda lay: (lay.sep != BLANKS, lay.share, lay.width),
    )
    between = f" ({_shown(best.sep)} between)" if best.sep and best.width > 1 else ""
    msg = f"{name}: {best.fault}{between}"
    raise TableError(msg)


def _shown(sep: str) -> str:
    return SHOWN.get(sep, repr(sep))
