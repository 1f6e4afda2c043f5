"""``localmap demo``: a map to look at, and what to try next."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localmap.cli import embed

if TYPE_CHECKING:
    from localmap.datasets.demo import Demo

# As in localmap.datasets.demo, which needs NumPy: options do not wait for it.
NAMES: Final = ("digits", "cells", "text")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--data",
        choices=NAMES,
        default="digits",
        help="1,797 handwritten digits, 700 blood cells, or pages of documentation "
        "by their words (default: digits); none is fetched",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where the table and the picture go (default: here)",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--force", action="store_true", help="replace files that are there"
    )


def run(arguments: argparse.Namespace) -> None:
    """Embed data that is at hand and show what came out."""
    import pandas as pd

    from localmap import files, plotting
    from localmap.datasets.demo import DEMOS
    from localmap.estimators import LocalMAP

    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    table, picture = (out / f"{arguments.data}.{ending}" for ending in ("csv", "png"))
    outputs = files.Outputs([table, picture], force=arguments.force)
    demo = DEMOS[arguments.data]()
    model = LocalMAP(
        random_state=arguments.seed, verbose=not arguments.quiet, **demo.settings
    )
    Y = model.fit_transform(demo.X)
    score = embed.silhouette_of(Y, demo.y)
    title = f"{len(Y):,} {demo.what.partition(',')[0]}, LocalMAP"
    if score is not None:
        title += f" (silhouette {score[0]:.2f})"
    kept = pd.DataFrame({demo.groups: demo.y})
    if demo.names is not None:
        kept.insert(0, "name", demo.names)
    with outputs:
        files.write_map(outputs.file(table), Y, kept, like=table)
        ax = plotting.plot(Y, demo.y, title=title)
        plotting.save(ax, outputs.file(picture))
    print(f"Embedded {len(Y):,} {demo.what}.\n{demo.source}; {demo.licence}.")
    embed.report(model, score)
    print(f"Wrote {table} and {picture}.\n\n{_next(arguments.data, demo, table)}")


def _next(data: str, demo: Demo, table: Path) -> str:
    """Return what to try next, in lines that can be typed."""
    other = NAMES[(NAMES.index(data) + 1) % len(NAMES)]
    tries = {
        f"localmap view {table} --labels {demo.groups}": "a page to explore it in",
        f"localmap score {table} --labels {demo.groups}": "how good the map is",
        f"localmap demo --data {other}": "other data",
        "localmap embed yours.csv -o map.csv --plot map.png": "data of your own",
        "localmap help reading-a-map": "what a map says, and what it does not",
    }
    width = max(map(len, tries))
    lines = [f"  {command:<{width}}  {why}" for command, why in tries.items()]
    return "\n".join(["Try next:", *lines])
