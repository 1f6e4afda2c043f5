"""``localmap score``: how good a map is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmap.cli import options
from localmap.cli.main import say

if TYPE_CHECKING:
    from localmap.files import Table


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "The numeric columns of EMBEDDING are the map."
    parser.add_argument("embedding", type=Path, metavar="EMBEDDING")
    parser.add_argument(
        "--data", type=Path, metavar="TABLE", help="what the map was made of"
    )
    parser.add_argument(
        "--other",
        type=Path,
        action="append",
        default=[],
        metavar="MAP",
        help="another map of the same rows in the same order, with another seed say: "
        "are the groups the same? May be repeated",
    )
    options.add_columns(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print all measures of a map."""
    from localmap import metrics

    table = _map(arguments.embedding, arguments)
    Y, X = table.map, None
    if arguments.data is not None:
        beside = _beside(arguments.data, table, arguments)
        X = options.read(arguments, arguments.data, **beside).X
    rows, columns = Y.shape
    say(f"A map of {rows} points in {columns} dimensions.")
    others = [_other_map(path, table, arguments) for path in arguments.other]
    found = metrics.score(Y, table.groups, X, others=others)
    for name, value in found.items():
        print(f"{name:24s}{value:8.4f}".replace(".0000", ""))
    if found.get("agreement inside", 1.0) < metrics.CUTS_AGREE:
        say(
            "The largest group is not cut alike in the other maps: do not take its "
            "parts for groups of the data."
        )


def _map(path: Path, arguments: argparse.Namespace, **other: Any) -> Table:
    """Read a map: its axes are data, whatever they look like."""
    from localmap import files

    how = {"dialect": options.dialect_of(arguments), "sheet": arguments.sheet}
    axes = [
        name for name in files.column_names(path, **how) if files.AXIS.fullmatch(name)
    ]
    table = options.read(arguments, path, **other)
    if set(axes) <= set(table.names):
        return table
    other["ids"] = [*other.get("ids", arguments.id), *table.kept.columns]
    return options.read(arguments, path, **other, columns=axes)


def _other_map(path: Path, table: Table, arguments: argparse.Namespace) -> Any:
    """Read another map of the same rows, in the same order as far as columns tell."""
    other = _map(path, arguments, **_beside(path, table, arguments))
    if len(other.kept) == len(table.kept):
        for name in table.kept.columns.intersection(other.kept.columns):
            differs = table.kept[name].astype(str) != other.kept[name].astype(str)
            if differs.any():
                msg = (
                    f"{path} must have the same rows in the same order as "
                    f"{arguments.embedding}; {name} differs in {differs.sum()} rows, "
                    f"the first of them row {differs.to_numpy().argmax() + 1}"
                )
                raise ValueError(msg)
    return other.map


def _beside(path: Path, table: Table, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the labels and ids that a file beside the map has, too; it need not.

    They are no data there, by whatever name, number or pattern they were asked for.
    """
    from localmap import files

    names = files.column_names(
        path, dialect=options.dialect_of(arguments), sheet=arguments.sheet
    )
    label = None if table.labels is None else table.labels.name
    ids = [name for name in table.kept.columns if name in names and name != label]
    return {"labels": label if label in names else None, "ids": ids}
