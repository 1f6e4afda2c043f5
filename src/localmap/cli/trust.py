"""``localmap trust``: which groups of a map are groups of the data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmap.cli import options
from localmap.cli.embed import named
from localmap.cli.parameters import add_parameters, settings_of

if TYPE_CHECKING:
    from localmap.files import Table
    from localmap.trust import Groups, Points


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Maps a table several times and tells which groups the data support, which "
        "come back, and which near pairs are doubtful. Labels name the groups; no "
        "verdict depends on them."
    )
    options.add_input(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="a page with tables, pictures and sentences",
    )
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE.csv",
        help="a table of the rows: map, group, verdict, trust; formats as for embed",
    )
    parser.add_argument(
        "--runs", type=int, default=10, help="maps that are made (default: 10)"
    )
    parser.add_argument(
        "--subsamples",
        type=int,
        help="how many of them are of half of the rows (default: half of them)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace files that are there"
    )
    options.add_columns(parser)
    add_parameters(parser.add_argument_group("parameters of LocalMAP"))


def run(arguments: argparse.Namespace) -> None:
    """Judge the map of a table."""
    from localmap import files, trust
    from localmap.estimators import LocalMAP

    asked = (arguments.output, arguments.rows)
    paths = [path for path in asked if path is not None]
    if arguments.output is not None and arguments.output.suffix.lower() != ".html":
        msg = f"cannot write {arguments.output}: the page ends in .html"
        raise ValueError(msg)
    if arguments.rows is not None:
        files.check_format(arguments.rows)
    outputs = files.Outputs(paths, inputs=[arguments.input], force=arguments.force)
    table = _read(arguments)
    how = {"runs": arguments.runs, "subsamples": arguments.subsamples}
    model, points = LocalMAP(**settings_of(arguments)), None
    if model.metric == "precomputed":  # a model would keep no distances
        found = trust.groups(named(table), estimator=model, **how)
    else:
        found = trust.groups(model.fit(named(table)), **how)
        points = trust.points(model, maps=found.maps[1:]) if paths else None
    with outputs:
        if arguments.output is not None:
            page = trust.report(
                found,
                title=f"What can be trusted in the map of {arguments.input.name}",
                labels=_labels(table),
                points=points,
                rows=_names(table),
            )
            outputs.file(arguments.output).write_text(page, encoding="utf-8")
        if arguments.rows is not None:
            kept = _rows(table, found, points)
            place = outputs.file(arguments.rows)
            files.write_map(place, found.Y, kept, like=arguments.rows)
    print(_summary(found, table))
    if paths:
        print(f"Wrote {', '.join(map(str, paths))}.")


def _read(arguments: argparse.Namespace) -> Table:
    """Read the table; cells are judged by their components."""
    from localmap import files

    source = files.find(arguments.input)
    if source.kind == "h5ad" and arguments.part is None:
        return options.read(arguments, source, part="X_pca")
    return options.read(arguments, source)


def _labels(table: Table) -> Any:
    """Return the labels as text; a missing one says so."""
    if table.labels is None:
        return None
    column = table.labels
    return column.astype(object).where(column.notna(), "missing").astype(str).to_numpy()


def _names(table: Table) -> list[str] | None:
    """Return names of the rows: the first column that was kept, beside the labels."""
    label = None if table.labels is None else table.labels.name
    for name in table.kept.columns:
        if name != label:
            return list(table.kept[name].astype(str))
    return None


def _rows(table: Table, found: Groups, points: Points | None) -> Any:
    """Return what is kept of the rows, with group, verdict and trust."""
    import numpy as np

    kept = table.kept.copy()
    verdicts = np.array([group.verdict for group in found.groups])
    told = {"group": found.labels, "verdict": verdicts[found.labels - 1]}
    if points is not None:
        told["trust"] = np.round(points.trust, 4)
    for name, values in told.items():
        free = name
        while free in kept.columns:  # a column of the table has this name
            free += "_trust"
        kept[free] = values
    return kept


def _summary(found: Groups, table: Table) -> str:
    """Return what was found, each group with its most common label."""
    labels = _labels(table)
    if labels is None or len(found.groups) == 1:
        return found.summary
    lines = found.summary.splitlines()
    told = [
        f"{line} Mostly {name} ({share:.0%})."
        for line, (name, share) in zip(lines[1:-1], found.named(labels), strict=True)
    ]
    return "\n".join([lines[0], *told, lines[-1]])
