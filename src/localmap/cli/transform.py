"""``localmap transform``: other rows in the map of a saved model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from localmap.cli import embed, new_cells, options
from localmap.cli.main import say

if TYPE_CHECKING:
    from localmap.files import Source, Table

# Rows farther than this from the training rows are pointed out one by one.
FAR: Final = 3.0

# Of the training rows 5 % are beyond the distance that is usual. A fifth of at least
# ten others is by chance once in a hundred tables, of thirty once in ten thousand.
TOO_MANY: Final = 0.2
FEW: Final = 10


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Columns are matched by name, in any order; those that the model was fitted "
        "with must all be there. Of cells genes are matched."
    )
    parser.add_argument("model", type=Path, metavar="MODEL.localmap")
    options.add_input(parser)
    options.add_output(parser)
    options.add_columns(parser)
    new_cells.add(parser)


def run(arguments: argparse.Namespace) -> None:
    """Place the rows of a table in the map of a saved model."""
    from localmap import files
    from localmap.cells.files import holds_cells
    from localmap.estimators import load

    if arguments.part is None and holds_cells(arguments.input):
        new_cells.run(arguments)
        return
    new_cells.refuse_for_tables(arguments)
    to_screen = str(arguments.output) == "-"
    if not to_screen:
        files.check_format(arguments.output)
    paths = [] if to_screen else [arguments.output]
    inputs = [arguments.input, arguments.model]
    outputs = files.Outputs(paths, inputs=inputs, force=arguments.force)
    model = load(arguments.model)
    names = getattr(model, "feature_names_in_", None)
    table = _read(arguments, model, names)
    data = table.X if names is None else embed.named(table)
    Y, distance = model.transform(data, return_distance=True)
    kept = options.beside(table, arguments).assign(distance=distance)
    with outputs:
        if to_screen:
            files.write("-", Y, kept)
        else:
            place = outputs.file(arguments.output)
            files.write_map(place, Y, kept, like=arguments.output)
    tell = say if to_screen else print
    wrote = "" if to_screen else f"; wrote {arguments.output}"
    tell(f"Placed {len(Y)} rows{wrote}.")
    _tell_far(distance, model.far_distance_, named=names is not None)


def _read(arguments: argparse.Namespace, model: Any, names: Any) -> Table:
    """Read the columns of the model, by name where it knows them, and complete them."""
    import numpy as np

    from localmap import files

    if arguments.missing == "drop-columns":
        msg = "the model needs all its columns: --missing refuse, drop-rows or median"
        raise ValueError(msg)
    source = files.find(arguments.input)  # standard input can be read once
    if names is None:
        say(
            "localmap: the model knows no names of columns: they are taken in their "
            "order. A model made by localmap embed, or fitted with a table, knows them"
        )
        return options.read(arguments, source)
    if arguments.columns or arguments.drop:
        msg = (
            "the model says which columns are embedded: leave out --columns and --drop"
        )
        raise ValueError(msg)
    _refuse_absent(source, arguments, list(names))
    filled = getattr(model, "filled_", None)
    if arguments.missing != "median":
        return options.read(arguments, source, columns=list(names))
    if filled is None:
        msg = (
            "--missing median fills in the medians of the training table, which this "
            "model does not hold: make it with localmap embed --save-model"
        )
        raise ValueError(msg)
    table = options.read(arguments, source, columns=list(names), missing="keep")
    gone = np.isnan(table.X)
    if gone.any():
        say(f"  {gone.sum()} missing cells filled with medians of the training table")
    return replace(table, X=np.where(gone, filled, table.X))


def _refuse_absent(
    source: Source, arguments: argparse.Namespace, names: list[str]
) -> None:
    """Refuse a table without a column of the model; report those that are left over."""
    from localmap import files
    from localmap.geometry.finite import listed

    how = {"dialect": options.dialect_of(arguments), "sheet": arguments.sheet}
    there = files.column_names(source, **how)
    if not there or all(files.NAMELESS.fullmatch(name) for name in there):
        msg = (
            f"the model knows its columns by name, and {arguments.input} has none: "
            "give a table with names"
        )
        raise ValueError(msg)
    absent = [name for name in names if name not in there]
    if absent:
        msg = (
            f"{arguments.input} lacks {len(absent)} of {len(names)} columns of the "
            f"model: {listed(absent, 8)}; it has {listed(there, 8)}"
        )
        raise ValueError(msg)
    aside = {arguments.labels, *arguments.id}
    both = [name for name in names if name in aside]
    if both:
        msg = (
            f"{listed(both)} is a column of the model: it is embedded, and cannot be "
            "labels or an id as well. Leave the option out"
        )
        raise ValueError(msg)
    left = [name for name in there if name not in names and name not in aside]
    if left:
        say(f"  not of the model, not used: {listed(left, 8)}")


def _tell_far(distance: Any, usual: float, *, named: bool) -> None:
    """Point out rows unlike those of the training, and tables that may be another."""
    far = int((distance > FAR).sum())
    if far:
        print(
            f"{far} of them are more than {FAR:g} times as far from the training rows "
            "as those are from each other: see the column distance."
        )
    beyond = float((distance > usual).mean())
    if beyond > TOO_MANY and len(distance) >= FEW:
        way = "are its units those of" if named else "are its columns in the order of"
        say(
            f"localmap: {beyond:.0%} of the rows are farther from the training rows "
            "than 95 % of those are from each other. The table may be of another kind: "
            f"{way} the training table?"
        )
