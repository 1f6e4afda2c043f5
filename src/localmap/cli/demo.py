"""``localmap demo``: a map to look at."""

from __future__ import annotations

import argparse
from pathlib import Path

from localmap.cli import embed


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where digits.csv and digits.png go (default: here)",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--force", action="store_true", help="replace files that are there"
    )


def run(arguments: argparse.Namespace) -> None:
    """Embed scikit-learn's handwritten digits and show what came out."""
    import pandas as pd
    from sklearn.datasets import load_digits

    from localmap import files, plotting
    from localmap.estimators import LocalMAP

    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    table, picture = out / "digits.csv", out / "digits.png"
    outputs = files.Outputs([table, picture], force=arguments.force)
    digits = load_digits()
    model = LocalMAP(random_state=arguments.seed, verbose=not arguments.quiet)
    Y = model.fit_transform(digits.data)
    score = embed.silhouette_of(Y, digits.target)
    title = "1,797 handwritten digits, LocalMAP"
    if score is not None:
        title += f" (silhouette {score[0]:.2f})"
    with outputs:
        kept = pd.DataFrame({"digit": digits.target})
        files.write_map(outputs.file(table), Y, kept, like=table)
        ax = plotting.plot(Y, digits.target, title=title)
        plotting.save(ax, outputs.file(picture))
    print("Embedded scikit-learn's handwritten digits: 1797 images of 64 pixels.")
    embed.report(model, score)
    print(f"Wrote {table} and {picture}.")
