"""The command ``localmap``."""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from localmap import metrics
from localmap.bench import command
from localmap.estimators import LocalMAP, load
from localmap.files import tables
from localmap.geometry.distances import NAMES
from localmap.geometry.finite import listed

DEFAULTS: Final = {
    name: parameter.default
    for name, parameter in inspect.signature(LocalMAP).parameters.items()
}


# Rows farther than this from the training rows are pointed out.
FAR: Final = 3.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        with _warnings_in_one_line():
            arguments.run(arguments)
    except (tables.TableError, ValueError, TypeError, OSError) as error:
        return _fail(str(error))
    except ImportError as error:
        return _fail(f'{error}; the command needs pip install "localmap[cli]"')
    except MemoryError:
        return _fail("out of memory; try fewer rows or a machine with more memory")
    except KeyboardInterrupt:
        return _fail("interrupted; no file is half written", status=130)
    return 0


def demo(arguments: argparse.Namespace) -> None:
    """Embed scikit-learn's handwritten digits and show what came out."""
    from sklearn.datasets import load_digits

    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    import pandas as pd

    from localmap import plotting

    digits = load_digits()
    model = LocalMAP(random_state=arguments.seed, verbose=not arguments.quiet)
    Y = model.fit_transform(digits.data)
    quality = metrics.silhouette(Y, digits.target)
    ax = plotting.plot(
        Y,
        digits.target,
        title=f"1,797 handwritten digits, LocalMAP (silhouette {quality:.2f})",
    )
    tables.write(out / "digits.csv", Y, pd.DataFrame({"digit": digits.target}))
    with tables.atomic_file(out / "digits.png") as aside:
        plotting.save(ax, aside)
    print("Embedded scikit-learn's handwritten digits: 1797 images of 64 pixels.")
    _report(model, quality)
    print(f"Wrote {out / 'digits.csv'} and {out / 'digits.png'}.")


def embed(arguments: argparse.Namespace) -> None:
    """Embed a table of the user's own."""
    output: Path = arguments.output
    tables.check_writable(output)
    if arguments.plot is not None:
        if arguments.plot.suffix.lower() not in (".png", ".pdf", ".svg"):
            msg = f"cannot draw {arguments.plot}: expected .png, .pdf or .svg"
            raise tables.TableError(msg)
        tables.check_folder(arguments.plot)
    if arguments.save_model is not None:
        tables.check_folder(arguments.save_model)
    table = tables.read(arguments.input, arguments.labels, arguments.id)
    settings = {
        name: getattr(arguments, name) for name in DEFAULTS if name in arguments
    }
    if isinstance(settings["init"], Path):
        settings["init"] = tables.read(settings["init"]).X
    model = LocalMAP(**settings, verbose=not arguments.quiet)
    rows, columns = table.X.shape
    kept = (
        f", kept {listed(list(table.kept.columns), 8)}" if table.kept.shape[1] else ""
    )
    _say(
        f"Read {rows} rows and {columns} numeric columns from {arguments.input}{kept}."
    )
    if table.left_out:
        _say(f"Left out columns that are not numeric: {listed(table.left_out, 8)}.")
    Y = model.fit_transform(table.X)
    tables.write(output, Y, table.kept)
    wrote = str(output)
    if arguments.save_model is not None:
        model.save(arguments.save_model)
        wrote += f", {arguments.save_model}"
    labels = None if table.labels is None else table.labels.to_numpy()
    if arguments.plot is not None:
        from localmap import plotting

        ax = plotting.plot(Y, labels, title=arguments.input.stem)
        with tables.atomic_file(arguments.plot) as aside:
            plotting.save(ax, aside)
        wrote += f" and {arguments.plot}"
    _report(model, _score(Y, labels))
    print(f"Wrote {wrote}.")


def transform(arguments: argparse.Namespace) -> None:
    """Place the rows of a table in the map of a saved model."""
    tables.check_writable(arguments.output)
    model = load(arguments.model)
    table = tables.read(arguments.input, arguments.labels, arguments.id)
    Y, distance = model.transform(table.X, return_distance=True)
    tables.write(arguments.output, Y, table.kept.assign(distance=distance))
    far = int((distance > FAR).sum())
    print(f"Placed {len(Y)} rows; wrote {arguments.output}.")
    if far:
        print(
            f"{far} of them are more than {FAR:g} times as far from the training rows "
            "as those are from each other: see the column distance."
        )


def score(arguments: argparse.Namespace) -> None:
    """Print all measures of a map."""
    table = tables.read(arguments.embedding, arguments.labels, arguments.id)
    Y, X = table.map, None
    if arguments.data is not None:
        X = _read_beside(arguments.data, arguments.labels, arguments.id).X
    rows, columns = Y.shape
    _say(f"A map of {rows} points in {columns} dimensions.")
    others = [_other_map(path, table, arguments) for path in arguments.other]
    found = metrics.score(Y, table.groups, X, others=others)
    for name, value in found.items():
        print(f"{name:24s}{value:8.4f}".replace(".0000", ""))
    if found.get("agreement inside", 1.0) < metrics.CUTS_AGREE:
        _say(
            "The largest group is not cut alike in the other maps: do not take its "
            "parts for groups of the data."
        )


def _other_map(
    path: Path, table: tables.Table, arguments: argparse.Namespace
) -> NDArray[Any]:
    """Read another map of the same rows, in the same order as far as columns tell."""
    other = _read_beside(path, arguments.labels, arguments.id)
    if len(other.kept) == len(table.kept):
        for name in table.kept.columns.intersection(other.kept.columns):
            differs = table.kept[name].astype(str) != other.kept[name].astype(str)
            if differs.any():
                msg = (
                    f"{path} must have the same rows in the same order as "
                    f"{arguments.embedding}; {name} differs in {differs.sum()} rows, "
                    f"the first of them row {differs.to_numpy().argmax() + 1}"
                )
                raise tables.TableError(msg)
    return other.map


def _read_beside(path: Path, labels: str | None, ids: Sequence[str]) -> tables.Table:
    """Read what belongs to a map; it may have the labels and ids as well, or not."""
    if path.suffix.lower() in (".npy", ".npz"):
        return tables.read(path)
    names = tables.column_names(path)
    ids = [name for name in ids if name in names]
    return tables.read(path, labels if labels in names else None, ids)


def _score(Y: Any, labels: Any) -> float | None:
    """Silhouette, where labels are groups of more than one point."""
    if labels is None:
        return None
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    return metrics.silhouette(Y, codes) if 1 < len(names) < len(codes) else None


def _report(model: LocalMAP, score: float | None) -> None:
    seconds = model.stage_seconds_
    stages = ", ".join(f"{stage} {time:.2f} s" for stage, time in seconds.items())
    print(f"{model.n_iter_} iterations in {sum(seconds.values()):.2f} s: {stages}.")
    if score is not None:
        print(f"Silhouette of the labels in the map: {score:.3f}.")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _fail(message: str, status: int = 2) -> int:
    line = " ".join(message.split())
    _say(f"localmap: error: {line}")
    return status


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(f"localmap: {message}")
        yield


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(_fail(f"{message} (see {self.prog} --help)"))


def _parser() -> argparse.ArgumentParser:
    from localmap import __version__

    parser = _Parser(prog="localmap", description=__doc__)
    parser.description = "Turn tables of numbers into maps whose groups are real."
    parser.add_argument(
        "--version", action="version", version=f"localmap {__version__}"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    show = commands.add_parser("demo", help="embed handwritten digits, to see a map")
    show.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where digits.csv and digits.png go (default: here)",
    )
    show.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    show.add_argument("--quiet", action="store_true", help="show no progress")
    show.set_defaults(run=demo)

    own = commands.add_parser(
        "embed",
        help="embed a table of your own",
        description=f"Read {', '.join(tables.READABLE)}; write the map to "
        f"{', '.join(tables.WRITABLE)}, by extension.",
    )
    own.add_argument("input", type=Path, metavar="INPUT")
    own.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    _add_columns(own)
    own.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the map")
    own.add_argument(
        "--save-model",
        type=Path,
        metavar="FILE.localmap",
        help="keep the model, to place other rows with localmap transform",
    )
    own.add_argument("--quiet", action="store_true", help="show no progress")
    own.set_defaults(run=embed)
    _add_parameters(own.add_argument_group("parameters of LocalMAP"))

    later = commands.add_parser(
        "transform",
        help="place other rows in the map of a saved model",
        description="The table must have the numeric columns of the training table.",
    )
    later.add_argument("model", type=Path, metavar="MODEL.localmap")
    later.add_argument("input", type=Path, metavar="INPUT")
    later.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    _add_columns(later)
    later.set_defaults(run=transform)

    card = commands.add_parser(
        "score",
        help="tell how good a map is",
        description="The numeric columns of EMBEDDING are the map.",
    )
    card.add_argument("embedding", type=Path, metavar="EMBEDDING")
    card.add_argument(
        "--data", type=Path, metavar="TABLE", help="what the map was made of"
    )
    card.add_argument(
        "--other",
        type=Path,
        action="append",
        default=[],
        metavar="MAP",
        help="another map of the same rows in the same order, with another seed say: "
        "are the groups the same? May be repeated",
    )
    _add_columns(card)
    card.set_defaults(run=score)
    command.add(commands)
    return parser


def _add_columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels",
        metavar="COLUMN",
        help="column with the group of each row: kept, drawn, not embedded",
    )
    parser.add_argument(
        "--id",
        action="append",
        default=[],
        metavar="COLUMN",
        help="column that names each row: kept, not embedded; may be repeated "
        "(columns called id or index are kept by themselves)",
    )


def _add_parameters(group: Any) -> None:
    """One option for each parameter of the estimator, with its default."""

    def add(name: str, help_text: str, **how: Any) -> None:
        default = DEFAULTS[name]
        shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
        group.add_argument(
            f"--{name.replace('_', '-')}",
            default=how.pop("default", default),
            help=f"{help_text} (default: {how.pop('shown', shown)})",
            **how,
        )

    add("n_components", "dimensions of the map", type=int)
    add("n_neighbors", 'near pairs of a point, or "auto"', type=_number_or("auto", int))
    add("mid_near_ratio", "mid-near pairs per near pair", type=float)
    add("further_ratio", "further pairs per near pair", type=float)
    add("metric", ", ".join(NAMES))
    add(
        "proximal_distance",
        'reach of local further pairs in the map, or "auto"',
        type=_number_or("auto", float),
    )
    add(
        "near_strength",
        "strength of the near force",
        type=float,
        shown="1.79, or half of a reach that is given",
    )
    add("locality", "0 is PaCMAP, 1 is LocalMAP", type=float)
    add("init", "pca, random, or a file with the start", type=_start)
    add("n_iters", "iterations of the three phases", type=int, nargs=3)
    add("learning_rate", "learning rate of Adam", type=float)
    add(
        "pca_components", 'columns kept by PCA, or "none"', type=_number_or("none", int)
    )
    # A command gives the same map each time it is typed.
    add("random_state", "random seed", type=int, default=0, shown=0)
    add("n_jobs", "threads; -1 uses all cores", type=int)


def _number_or(word: str, number: type) -> Any:
    def parse(text: str) -> Any:
        if text.lower() == word:
            return None if word == "none" else word
        return number(text)

    parse.__name__ = f'number or "{word}"'
    return parse


def _start(text: str) -> str | Path:
    path = Path(text)
    return path if path.suffix.lower() in tables.READABLE else text
