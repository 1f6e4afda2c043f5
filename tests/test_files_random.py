"""Tables in random dialects: what is read back is the same table, or it is refused.

``LOCALMAP_CASES=5000 pytest tests/test_files_random.py -s`` tries 5,000 of them and
prints how many were refused, and why.
"""

import gzip
import os
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("pandas", reason="needs the cli extra")
pytest.importorskip("pyarrow", reason="needs the cli extra")

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from localmap import files

CASES = int(os.environ.get("LOCALMAP_CASES", "150"))
REFUSED = Counter()

LETTERS = "abcdefgXYZ äöéñß"
SPECIAL = LETTERS + ",;|\t\"'#.-0123456789%?"
MISSING = ["", "NA", "NaN", "n/a", "null"]


@dataclass
class Written:
    """A table, the dialect it was written in, and the bytes."""

    names: list
    columns: list  # of str or float; None where missing
    header: bool
    how: dict
    data: bytes


def number(value, decimal, thousands):
    text = repr(value)
    if "e" in text or "inf" in text:
        return text.replace(".", decimal)
    whole, _, fraction = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    if thousands:
        digits = f"{int(digits):,}".replace(",", thousands)
    return sign + digits + (decimal + fraction if fraction else "")


def quoted(text, sep, quote, always):
    needed = (
        any(sign in text for sign in (sep, '"', "\n", "\r")) or text != text.strip()
    )
    if sep == " ":
        needed = needed or not text or " " in text or "\t" in text
    return '"' + text.replace('"', '""') + '"' if always or needed else text


numbers = st.one_of(
    st.integers(-1000, 5000),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)),
    st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 1)),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def columns(draw, rows):
    kind = draw(st.sampled_from(["whole", "decimals", "any", "text", "wild", "small"]))
    if kind in ("text", "wild"):
        alphabet = LETTERS if kind == "text" else SPECIAL
        cell = st.text(alphabet, min_size=1, max_size=8).filter(
            lambda text: not re.fullmatch(r"[\s\d.,+'eE-]*", text)
        )
        return draw(st.lists(cell, min_size=rows, max_size=rows))
    cell = {
        "whole": st.integers(-1000, 100_000),
        "small": st.integers(0, 9),
        "decimals": st.floats(-1e5, 1e5).map(lambda x: round(x, 2)),
        "any": numbers,
    }[kind]
    values = draw(st.lists(cell, min_size=rows, max_size=rows))
    holes = draw(st.sets(st.integers(0, rows - 1), max_size=1 if rows > 2 else 0))
    return [None if i in holes else value for i, value in enumerate(values)]


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 9))
    body = draw(st.lists(columns(rows), min_size=1, max_size=5))
    if all(isinstance(column[0], str) for column in body):
        body.append(draw(st.lists(numbers, min_size=rows, max_size=rows)))
    sep = draw(st.sampled_from([",", ";", "\t", "|", " "]))
    decimal = draw(st.sampled_from([".", "."] if sep == "," else [".", ","]))
    thousands = draw(st.sampled_from(["", "", "", "." if decimal == "," else ",", "'"]))
    header = draw(st.booleans())
    words = st.lists(
        st.text("abcdeö_ ", min_size=1, max_size=5).map(str.strip).filter(bool),
        min_size=len(body),
        max_size=len(body),
        unique=True,
    )
    # A number alone at the top of a column may be anything.
    names = draw(
        words
        if len(body) == 1
        else st.one_of(
            st.just([f"x{i}" for i in range(len(body))]),
            st.integers(1990, 2020).map(
                lambda year: [str(year + i) for i in range(len(body))]
            ),
            st.just([str(i + 1) for i in range(len(body))]),
            words,
        )
    )
    how = {
        "sep": sep, "decimal": decimal, "thousands": thousands,
        "always": draw(st.sampled_from(["no", "no", "text", "all"])),
        "newline": draw(st.sampled_from(["\n", "\n", "\r\n"])),
        "trailing": draw(st.sampled_from([False, False, sep != " "])),
        "blank": draw(st.booleans()),
        "comment": draw(st.sampled_from([False, False, True])),
        "missing": draw(st.sampled_from(MISSING[1:] if sep == " " else MISSING)),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])),
        "packed": draw(st.sampled_from([False, False, True])),
    }  # fmt: skip
    # A row without any cell is a blank line, and that is not a row.
    filled = [any(v is not None for v in row) for row in zip(*body, strict=True)]
    assume(how["missing"] != "" or all(filled))
    return Written(names, body, header, how, encode(names, body, header, how))


def encode(names, body, header, how):
    sep = how["sep"]

    def cell(value):
        if value is None:
            return how["missing"]
        if isinstance(value, str):
            return quoted(value, sep, '"', how["always"] != "no")
        text = number(value, how["decimal"], how["thousands"])
        return quoted(text, sep, '"', how["always"] == "all")

    lines = [[cell(value) for value in row] for row in zip(*body, strict=True)]
    if header:
        lines.insert(0, [cell(name) for name in names])
    texts = [sep.join(line) + (sep if how["trailing"] else "") for line in lines]
    if how["blank"]:
        texts.insert(len(texts) // 2, "")
    if how["comment"]:
        texts.insert(0, "# these words are too many to be names")
    data = (how["newline"].join(texts) + how["newline"]).encode(how["encoding"])
    return gzip.compress(data, mtime=0) if how["packed"] else data


def agrees(table, written):
    """Say what differs, or nothing."""
    names = written.names
    if not written.header:
        names = [f"column {i + 1}" for i in range(len(written.columns))]
    told = " ".join([*table.left_out, *table.notes])
    if len(table.X) != len(written.columns[0]):
        return f"{len(table.X)} rows instead of {len(written.columns[0])}"
    for name, column in zip(names, written.columns, strict=True):
        if name in table.names:
            read = table.X[:, table.names.index(name)]
            known = [i for i, value in enumerate(column) if value is not None]
            try:
                truth = [float(column[i]) for i in known]
            except ValueError:
                return f"{name} is text and was read as numbers"
            if not np.array_equal(read[known], truth):
                return f"{name}: {read[known]} instead of {truth}"
        elif name in table.kept:
            if isinstance(column[0], str) and table.kept[name].tolist() != column:
                return f"{name}: {table.kept[name].tolist()} instead of {column}"
        elif f"`{name}`" not in told and "more: the same number" not in told:
            return f"nothing is told of {name}"
    extra = set(table.names) - set(names)
    return f"columns that are not there: {extra}" if extra else ""


@settings(
    max_examples=CASES,
    deadline=None,
    derandomize=CASES <= 1000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(written=tables())
def test_same_table_or_refused(written, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(written.data)
    try:
        table = files.read(path, missing="median")
    except files.TableError as refusal:
        reason = str(refusal).replace(str(path), "")
        REFUSED[re.sub(r"\d+|'[^']*'|`[^`]*`", "_", reason)[:90]] += 1
        event("refused")
        return
    REFUSED["(read)"] += 1
    assert agrees(table, written) == "", (written, table.notes, table.left_out)


@pytest.mark.parametrize(
    "text",
    [
        "%,\n;,0\n;,0\n?,1\n",  # found by chance
        "#ab NA\nx 1\ny 2\nz 3\n",
        "#ab cd 12\nx q 1\ny r 2\nz f 3\n",
        '%,"1,234"\n"a",1\nb,2\nc,3\n',
    ],
)
def test_a_first_row_that_begins_as_a_comment(text, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(files.TableError, match="the option comment settles it"):
        files.read(path, missing="median")
    dialect = files.Dialect(comment="", header=False, decimal=".")
    assert len(files.read(path, missing="median", dialect=dialect).X) == 4


def test_the_separator_with_more_numbers_is_not_passed_over(tmp_path):
    path = tmp_path / "table.csv"
    cells = [";", "?", "?", '""""', '""""', "0;", "0;", "0;"]
    path.write_text("".join(f"0 0 {c} 0,{i}\n" for i, c in enumerate(cells)))
    with pytest.raises(files.TableError, match="may divide the columns"):
        files.read(path)
    table = files.read(path, dialect=files.Dialect(sep=" ", header=False))
    assert table.X[:, -1].tolist() == [i / 10 for i in range(8)]


@pytest.mark.parametrize(
    ("text", "option", "settled"),
    [
        ("|,0\n0|,1\n", {"sep": ","}, [0, 1]),  # found by chance
        ("0|,5\n1|,7\n2|,6\n1|1,5\n", {"decimal": ","}, [0.5, 0.7, 0.6, 1.5]),
        ("0,0,;\n0,0,X\n0,0,%\n0,1,'?'\n", {"quote": ""}, [0, 0, 0, 1]),
        ("0,1,'X'\n0,0,;\n0,0,?\n0,0,%\n", {"quote": ""}, [1, 0, 0, 0]),
    ],
)
def test_signs_that_may_be_part_of_a_text_are_refused(text, option, settled, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(
        files.TableError, match=f"option.* {next(iter(option))}.* settles it"
    ):
        files.read(path)
    dialect = files.Dialect(header=False, **option)
    table = files.read(path, dialect=dialect)
    assert table.X[:, -1].tolist() == settled


def test_signs_that_can_only_be_marks_are_taken(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1|,5\n2|1,7\n4|2,6\n")
    assert files.read(path).X.tolist() == [[1, 0.5], [2, 1.7], [4, 2.6]]
    path.write_text("x,y\na,1\n'b,c',2\n")
    assert files.read(path).kept["x"].tolist() == ["a", "b,c"]
    path.write_text("'x','y'\na,1\nb,2\n")
    assert files.read(path).kept["x"].tolist() == ["a", "b"]


@pytest.mark.parametrize("top", ["# made on 3 May", "# gene, na, k", "%no cells"])
def test_comments_above_rows_stay_comments(top, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{top}\nx,1,2.5\ny,4,3.5\nz,1,5.5\n")
    assert files.read(path).X.tolist() == [[1, 2.5], [4, 3.5], [1, 5.5]]


@pytest.fixture(scope="module", autouse=True)
def told():
    yield
    if CASES > 1000:
        total = REFUSED.total()
        print(f"\n{total} tables, {total - REFUSED['(read)']} refused")
        for reason, count in REFUSED.most_common(40):
            print(f"{count:6d} {reason}")
