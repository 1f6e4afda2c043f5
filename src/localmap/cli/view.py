"""``localmap view``: a page to explore a map that was written before."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from localmap.cli import options, pictures
from localmap.cli.main import say

# Arrays of more columns, without names, are no maps.
MOST_AXES: Final = 3


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Writes one HTML file that needs no network; open it in a browser. The columns "
        "localmap_1 and localmap_2 are the map, all others are at hand in the page. In "
        "the map of another program its two columns are the only numbers, or named by "
        "--columns."
    )
    options.add_input(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="where the page goes (default: beside the map, with its name)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a page that is there"
    )
    options.add_columns(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the page of a map."""
    import pandas as pd

    from localmap import files
    from localmap.geometry.finite import listed

    output = arguments.output or arguments.input.with_suffix(".html")
    outputs = files.Outputs([output], inputs=[arguments.input], force=arguments.force)
    table = options.read_map(arguments.input, arguments)
    Y = table.map
    if Y.shape[1] < 2:
        msg = f"{arguments.input} is a map of one column; a page needs two"
        raise ValueError(msg)
    most = 2 if table.names else MOST_AXES
    if Y is table.X and Y.shape[1] > most and arguments.input.suffix != ".h5ad":
        some = f" ({listed(table.names, 4)})" if table.names else ""
        msg = (
            f"{arguments.input} has no columns localmap_1 and localmap_2, but "
            f"{Y.shape[1]} columns of numbers{some}: name the two of the map with "
            "--columns"
        )
        raise ValueError(msg)
    if Y is table.X and table.names:
        say(f"{arguments.input}: the map is {' and '.join(table.names)}")
    elif Y.shape[1] > 2:
        say(f"{arguments.input}: the first two of {Y.shape[1]} axes are shown")
    beside = table.kept.copy()
    for place, name in enumerate(table.names):
        if not files.AXIS.fullmatch(name) and Y is not table.X:
            beside[name] = pd.Series(table.X[:, place])
    label = None if table.labels is None else str(table.labels.name)
    known = pictures.Known(beside, label, table.groups)
    with outputs:
        pictures.page(Y, known, arguments.input.stem).save(outputs.file(output))
    print(f"Wrote {output}: {len(Y)} points. Open it in a browser.")
