"""``localmap embed``: a table to a map."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localmap.cli import cells, large, options, pictures
from localmap.cli.main import say
from localmap.cli.parameters import add_parameters, settings_of

if TYPE_CHECKING:
    from localmap.files import Table


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Reads CSV, TSV and TXT (also .gz, .zst, .zip), XLSX, Parquet, Feather, NPY, "
        "NPZ and H5AD, and in parts Zarr, folders of Parquet and NPY; says what it "
        "took for what, and refuses what is not clear."
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_columns(parser)
    pictures.add(parser)
    parser.add_argument(
        "--save-model",
        type=Path,
        metavar="FILE.localmap",
        help="keep the model, to place other rows with localmap transform",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    cells.add(parser)
    large.add(parser)
    add_parameters(parser.add_argument_group("parameters of LocalMAP"))


def run(arguments: argparse.Namespace) -> None:
    """Embed a table of the user's own."""
    if _holds_cells(arguments):
        cells.run(arguments)
        return
    in_parts = large.is_large(arguments)
    if arguments.scheduler is not None and not in_parts:
        msg = f"--scheduler is for data that is read in parts; {arguments.input} is not"
        raise ValueError(msg)
    if arguments.sample is not None and arguments.film is not None:
        msg = "--film shows a fit of all rows: leave out --sample"
        raise ValueError(msg)
    import numpy as np
    from scipy.sparse import issparse

    from localmap import files
    from localmap.estimators import LocalMAP

    to_screen = str(arguments.output) == "-"
    if not to_screen:
        files.check_format(arguments.output)
    drawn = pictures.paths(arguments)
    asked = (None if to_screen else arguments.output, arguments.save_model)
    paths = [*(path for path in asked if path is not None), *drawn]
    inputs = [arguments.input]
    outputs = files.Outputs(paths, inputs=inputs, force=arguments.force)
    table = large.read(arguments) if in_parts else options.read(arguments)
    kept = table.kept
    if isinstance(table, files.Table):
        kept = options.beside(table, arguments)
    film = pictures.film_of(arguments)
    model = LocalMAP(
        **settings_of(arguments),
        verbose=not arguments.quiet,
        callback=None if film is None else film.callback,
    )
    Y = _mapped(model, table, arguments)
    with outputs:
        if to_screen:
            files.write("-", Y, kept)
        else:
            place = outputs.file(arguments.output)
            files.write_map(place, Y, kept, like=arguments.output)
        if arguments.save_model is not None:
            # For the missing cells of other tables.
            if not in_parts and not issparse(table.X):
                model.filled_ = np.median(table.X, axis=0)
            model.save(outputs.file(arguments.save_model))
        known = pictures.Known(table.kept, _label(table), table.groups)
        # A model of a sample knows neighbours of the sample alone.
        whole = model if arguments.sample is None else None
        pictures.draw(arguments, outputs, Y, known, film, whole)
    tell = say if to_screen else print
    report(model, silhouette_of(Y, table.groups), tell)
    if paths:
        tell(f"Wrote {', '.join(map(str, paths))}.")


def _mapped(
    model: Any, table: Table | large.Large, arguments: argparse.Namespace
) -> Any:
    """Return the map of all rows; a preview of it if a sample was asked for."""
    import numpy as np

    from localmap.estimators.preview import preview

    if isinstance(table, large.Large):
        with large.by_cluster(arguments, table) as X:
            if arguments.sample is None:
                model.fit(X)
                if getattr(table.X, "names", None) is not None:  # Dask has none
                    model.feature_names_in_ = np.array(table.X.names, dtype=object)
                return model.embedding_
            return preview(model, table.X, arguments.sample, **_seed(arguments))
    _warn_of_scales(table, model)
    if arguments.sample is None:
        return model.fit_transform(named(table))
    return preview(model, named(table), arguments.sample, **_seed(arguments))


def _seed(arguments: argparse.Namespace) -> dict[str, int]:
    return {"random_state": arguments.random_state}


def _label(table: Table | large.Large) -> str | None:
    """Return the name of the column of labels."""
    if isinstance(table, large.Large):
        return table.label
    return None if table.labels is None else str(table.labels.name)


def _holds_cells(arguments: argparse.Namespace) -> bool:
    """Tell files of cells from tables; a part of one that is asked for is a table."""
    from localmap.cells.files import holds_cells

    if arguments.part is None and holds_cells(arguments.input):
        return True
    for name in ("color", "batch_key", "use_rep", "layer"):
        if getattr(arguments, name) is not None:
            msg = (
                f"--{name.replace('_', '-')} is for cells (.h5ad, 10x .h5 or folder); "
                f"{arguments.input} is a table: use --labels and --columns"
            )
            raise ValueError(msg)
    return False


def named(table: Table) -> Any:
    """Return the data with the names of its columns: the model is to know them."""
    from localmap import files

    if all(files.NAMELESS.fullmatch(name) for name in table.names):
        return table.X
    import pandas as pd

    return pd.DataFrame(table.X, columns=list(table.names), copy=False)


def _warn_of_scales(table: Table, model: Any) -> None:
    """Point out columns that decide the distances, where the fit does not say so."""
    from localmap.estimators.inputs import deciding_columns

    if model.verbose or not table.names:
        return
    told = deciding_columns(table.X, model.metric, model.scale, table.names)
    if told is not None:
        say(f"localmap: {told}; --scale standard (or robust) lets all count")


def silhouette_of(Y: Any, groups: Any) -> tuple[float, bool] | None:
    """Return the silhouette, and whether of a sample; None without groups.

    Rows without a label take no part.
    """
    if groups is None:
        return None
    from localmap.metrics.scorecard import SILHOUETTE_EXACT, Scorecard

    card = Scorecard(Y, groups, None)
    if not card.known.any() or not 1 < card.codes.max() + 1 < len(card.codes):
        return None
    return card.silhouette(), bool(card.known.sum() > SILHOUETTE_EXACT)


def report(model: Any, score: tuple[float, bool] | None, tell: Any = print) -> None:
    """Say what the fit did."""
    seconds = model.stage_seconds_
    stages = ", ".join(f"{stage} {time:.2f} s" for stage, time in seconds.items())
    tell(f"{model.n_iter_} iterations in {sum(seconds.values()):.2f} s: {stages}.")
    if score is not None:
        value, sampled = score
        about = " (of a sample of 20,000 points)" if sampled else ""
        tell(f"Silhouette of the labels in the map: {value:.3f}{about}.")
