"""``localmap score``: how good a map is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmap.cli import options
from localmap.cli.main import say

if TYPE_CHECKING:
    from localmap.files import Source, Table


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

    table = options.read_map(arguments.embedding, arguments)
    Y, X = table.map, None
    if arguments.data is not None:
        X = _data(arguments.data, table, arguments)
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


def _data(path: Path, table: Table, arguments: argparse.Namespace) -> Any:
    """Read what the map was made of, of the same rows as far as columns tell."""
    from localmap import files

    source = files.find(path)
    part = arguments.part
    if source.kind == "h5ad" and part is None:
        part = "X_pca"  # what cells are mapped by
    beside = _beside(source, table, arguments)
    data = options.read(arguments, source, **beside, part=part)
    _check_rows(path, data, table, arguments)
    return data.X


def _other_map(path: Path, table: Table, arguments: argparse.Namespace) -> Any:
    """Read another map of the same rows, in the same order as far as columns tell."""
    from localmap import files

    source = files.find(path)
    beside = _beside(source, table, arguments)
    other = options.read_map(source, arguments, **beside)
    _check_rows(path, other, table, arguments)
    return other.map


def _check_rows(
    path: Path, other: Table, table: Table, arguments: argparse.Namespace
) -> None:
    """Refuse rows that are others, or in another order, by the columns of both."""
    if len(other.kept) != len(table.kept):
        msg = (
            f"{path} has {len(other.kept)} rows, {arguments.embedding} has "
            f"{len(table.kept)}: they must be the same rows in the same order"
        )
        raise ValueError(msg)
    for name in table.kept.columns.intersection(other.kept.columns):
        differs = table.kept[name].astype(str) != other.kept[name].astype(str)
        if differs.any():
            msg = (
                f"{path} must have the same rows in the same order as "
                f"{arguments.embedding}; {name} differs in {differs.sum()} rows, "
                f"the first of them row {differs.to_numpy().argmax() + 1}"
            )
            raise ValueError(msg)


def _beside(
    source: Source, table: Table, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return the labels and ids that a file beside the map has, too; it need not.

    They are no data there, by whatever name, number or pattern they were asked for.
    """
    from localmap import files

    names = files.column_names(
        source, dialect=options.dialect_of(arguments), sheet=arguments.sheet
    )
    label = None if table.labels is None else table.labels.name
    ids = [name for name in table.kept.columns if name in names and name != label]
    return {"labels": label if label in names else None, "ids": ids}
