"""Options that several subcommands share: how a table is read, what becomes of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from localmap.cli.main import say

if TYPE_CHECKING:
    import pandas as pd

    from localmap.files import Dialect, Source, Table

# Options that say how a text is written.
OF_DIALECTS: Final = (
    "sep", "decimal", "thousands", "quote", "escape", "encoding", "header", "comment",
    "skip",
)  # fmt: skip

# What the numbers of rows are called where some were left out.
ROW = "row"

MISSING = ("refuse", "drop-rows", "drop-columns", "median")


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the table that is read."""
    parser.add_argument(
        "input",
        type=Path,
        metavar="INPUT",
        help="a table, or cells; - is standard input",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the table that is written."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT",
        help="where the map goes, by its ending .csv, .tsv (also .gz), .parquet, "
        ".feather or .npy (cells also .h5ad); - is standard output",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace files that are there"
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add which columns are what, and how the file is written."""
    which = parser.add_argument_group(
        "columns", "by name, number from 1, range 3-10 or pattern 'gene_*'"
    )
    which.add_argument(
        "--labels",
        metavar="COLUMN",
        help="the group of each row: kept, drawn, not embedded",
    )
    which.add_argument(
        "--id",
        action="append",
        default=[],
        metavar="COLUMN",
        help="names each row: kept, not embedded; may be repeated",
    )
    which.add_argument(
        "--columns", nargs="+", metavar="COLUMN", help="embed these, and no others"
    )
    which.add_argument(
        "--drop", nargs="+", default=[], metavar="COLUMN", help="leave these out"
    )
    which.add_argument(
        "--missing",
        choices=MISSING,
        default="refuse",
        help="what to do about cells without a value (default: refuse)",
    )
    which.add_argument(
        "--na",
        action="append",
        default=[],
        metavar="TEXT",
        help="a text that means there is no value, ? for example; may be repeated",
    )
    _add_dialect(
        parser.add_argument_group("how the file is written, where it is not clear")
    )


def _add_dialect(how: Any) -> None:
    how.add_argument("--sep", metavar="CHAR", help="between columns; tab, space do too")
    how.add_argument("--decimal", metavar="CHAR", help="decimal mark")
    how.add_argument("--thousands", metavar="CHAR", help='thousands mark; "" is none')
    how.add_argument("--quote", metavar="CHAR", help='around cells; "" is none')
    how.add_argument(
        "--escape", metavar="CHAR", help='before a quote in a cell; "": it is doubled'
    )
    how.add_argument("--encoding", metavar="NAME", help="utf-8, latin-1, utf-16, ...")
    header = how.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, help="the first line has names"
    )
    header.add_argument(
        "--no-header", dest="header", action="store_false", help="it has none"
    )
    how.add_argument("--comment", metavar="TEXT", help="lines to pass over begin so")
    how.add_argument("--skip", type=int, metavar="N", help="lines before the table")
    how.add_argument("--sheet", metavar="NAME", help="sheet of a workbook")
    how.add_argument(
        "--part", metavar="NAME", help="array of an NPZ; X, layer or obsm of an H5AD"
    )


def dialect_of(arguments: argparse.Namespace) -> Dialect | None:
    """Return what is said of how the file is written; None if nothing is."""
    from localmap.files import Dialect

    given = {name: getattr(arguments, name, None) for name in OF_DIALECTS}
    given = {name: value for name, value in given.items() if value is not None}
    return Dialect(**given) if given else None


def read(
    arguments: argparse.Namespace, path: Path | Source | None = None, **other: Any
) -> Table:
    """Read the table and say what was decided; `other` goes before the arguments."""
    from localmap import files

    how = {
        "labels": arguments.labels,
        "ids": arguments.id,
        "columns": arguments.columns,
        "drop": arguments.drop,
        "missing": arguments.missing,
        "na": arguments.na,
        "dialect": dialect_of(arguments),
        "sheet": arguments.sheet,
        "part": arguments.part,
    }
    path = arguments.input if path is None else path
    table = files.read(path, **(how | other))
    rows, columns = table.X.shape
    name = path if isinstance(path, Path) else path.name
    say(f"{name}: {rows} rows, {columns} columns of numbers")
    for note in (*table.notes, *(f"left out: {line}" for line in table.left_out)):
        say(f"  {note}")
    return table


def beside(table: Table, arguments: argparse.Namespace) -> pd.DataFrame:
    """Return what is written beside a map: where rows were left out, which are there.

    Their numbers in the file, from 1, unless a column that was kept names them.
    """
    label = None if table.labels is None else table.labels.name
    named = [name for name in table.kept.columns if name != label]
    if arguments.missing != "drop-rows" or named or ROW in table.kept.columns:
        return table.kept
    whole = table.kept.copy()
    whole.insert(0, ROW, table.rows + 1)
    say(f"  the column {ROW}: which rows of the file these are, from 1")
    return whole


def read_map(path: Path | Source, arguments: argparse.Namespace, **other: Any) -> Table:
    """Read a map: its axes are data, whatever they look like."""
    from localmap import files

    source = files.find(path)
    if source.kind == "h5ad" and arguments.part is None:
        return read(arguments, source, **other, part="X_localmap")
    how = {"dialect": dialect_of(arguments), "sheet": arguments.sheet}
    names = files.column_names(source, **how)
    axes = [name for name in names if files.AXIS.fullmatch(name)]
    table = read(arguments, source, **other)
    if set(axes) <= set(table.names):
        return table
    kept = [name for name in table.kept.columns if name not in axes]
    other["ids"] = [*other.get("ids", arguments.id), *kept]
    return read(arguments, source, **other, columns=axes)
