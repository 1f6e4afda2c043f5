"""``localmap view``: a page to explore a map that was written before."""

from __future__ import annotations

import argparse
from pathlib import Path

from localmap.cli import options, pictures


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Writes one HTML file that needs no network; open it in a browser. The columns "
        "localmap_1 and localmap_2 are the map, all others are at hand in the page."
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

    output = arguments.output or arguments.input.with_suffix(".html")
    outputs = files.Outputs([output], inputs=[arguments.input], force=arguments.force)
    table = options.read_map(arguments.input, arguments)
    Y = table.map
    if Y.shape[1] < 2:
        msg = f"{arguments.input} is a map of one column; a page needs two"
        raise ValueError(msg)
    beside = table.kept.copy()
    for place, name in enumerate(table.names):
        if not files.AXIS.fullmatch(name) and Y is not table.X:
            beside[name] = pd.Series(table.X[:, place])
    label = None if table.labels is None else str(table.labels.name)
    known = pictures.Known(beside, label, table.groups)
    with outputs:
        pictures.page(Y, known, arguments.input.stem).save(outputs.file(output))
    print(f"Wrote {output}: {len(Y)} points. Open it in a browser.")
