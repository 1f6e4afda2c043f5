"""``localmap embed`` of files of cells: .h5ad, 10x .h5 and Matrix Market folders."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from localmap.cli import options, pictures
from localmap.cli.main import say
from localmap.cli.parameters import DEFAULTS, settings_of

if TYPE_CHECKING:
    from anndata import AnnData

# Options that say how a table is read or prepared: cells have a recipe instead.
OF_TABLES: Final = ("columns", "drop", "na", *options.OF_DIALECTS, "sheet", "part")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of cells."""
    cells = parser.add_argument_group("cells (.h5ad, 10x .h5 or folder)")
    cells.add_argument(
        "--color", metavar="COLUMN", help="column of obs: the same as --labels"
    )
    cells.add_argument(
        "--batch-key",
        metavar="COLUMN",
        help="column of obs whose effect is removed (ComBat), of raw counts",
    )
    cells.add_argument(
        "--use-rep", metavar="KEY", help="what of obsm is mapped (default: X_pca)"
    )
    cells.add_argument(
        "--layer", metavar="NAME", help="the layer with raw counts (default: X)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Embed cells: the map goes into the file, or beside barcodes into a table."""
    import numpy as np

    from localmap import files, tl
    from localmap.cells.files import obs_columns, read_cells, write_cells
    from localmap.cli.embed import silhouette_of

    refuse_options_of_tables(arguments)
    if None not in (arguments.color, arguments.labels):
        msg = "--color and --labels are one and the same of cells: give one of them"
        raise ValueError(msg)
    label = arguments.color or arguments.labels
    to_cells = arguments.output.suffix.lower() == ".h5ad"
    if not to_cells:
        files.check_format(arguments.output)
    asked = (arguments.output, arguments.save_model)
    paths = [*(path for path in asked if path is not None), *pictures.paths(arguments)]
    outputs = files.Outputs(paths, inputs=[arguments.input], force=arguments.force)
    path = arguments.input
    adata = read_cells(path, backed=in_file(path), layers=False)
    say(f"{path}: {adata.n_obs} cells, {adata.n_vars} genes")
    axes = [] if to_cells else axis_names(arguments.n_components)
    kept = obs_columns(adata, [*arguments.id, *([label] if label else [])], axes)
    _prepare(adata, arguments)
    film = pictures.film_of(arguments)
    settings = settings_of(arguments)
    settings["init_pos"] = settings.pop("init")
    for name in ("scale", "pca_components"):
        del settings[name]
    with outputs:
        model = arguments.save_model and outputs.file(arguments.save_model)
        tl.localmap(
            adata,
            use_rep=arguments.use_rep,
            save_model=model,
            callback=None if film is None else film.callback,
            verbose=not arguments.quiet,
            **settings,
        )
        Y = np.asarray(adata.obsm["X_localmap"])
        place = outputs.file(arguments.output)
        if to_cells:
            write_cells(place, adata, source=arguments.input)
        else:
            files.write_map(place, Y, kept, like=arguments.output)
        groups = None if label is None else _groups(kept[label])
        known = pictures.Known(kept, label, groups)
        pictures.draw(arguments, outputs, Y, known, film)
    score = silhouette_of(Y, groups)
    if score is not None:
        print(f"Silhouette of {label} in the map: {score[0]:.3f}.")
    print(f"Wrote {', '.join(map(str, paths))}.")


def _groups(column: Any) -> Any:
    """Return a column of obs as labels; a missing one is None."""
    return column.astype(object).where(column.notna(), None).to_numpy()


def refuse_options_of_tables(arguments: argparse.Namespace) -> None:
    """Refuse options that cells have no use for: they were meant for something."""
    given = [name for name in OF_TABLES if getattr(arguments, name)]
    given += [
        name
        for name in ("scale", "pca_components")
        if getattr(arguments, name, DEFAULTS[name]) != DEFAULTS[name]
    ]
    if arguments.missing != "refuse":
        given.append("missing")
    if given:
        msg = (
            f"--{given[0].replace('_', '-')} is for tables; {arguments.input} holds "
            "cells, which are mapped by their components (--use-rep, --batch-key)"
        )
        raise ValueError(msg)
    if str(arguments.output) == "-":
        msg = "cells are written to a file: name an .h5ad or a table with -o"
        raise ValueError(msg)


def axis_names(n_components: int) -> list[str]:
    """Return the names of the map's own columns in a table."""
    from localmap.files import AXIS_NAME

    return [AXIS_NAME.format(axis + 1) for axis in range(n_components)]


def _prepare(adata: AnnData, arguments: argparse.Namespace) -> None:
    """Make components of counts where the file has none."""
    from localmap import pp

    path, batch, layer = arguments.input, arguments.batch_key, arguments.layer
    rep = arguments.use_rep or "X_pca"
    if rep == "X" and adata.isbacked:
        msg = (
            f"X of {path} stays in the file: leave --use-rep out for components of raw "
            "counts, or take --part X to embed all genes as a table, loaded whole"
        )
        raise ValueError(msg)
    if arguments.use_rep is not None or rep in adata.obsm:
        for option, given in (("--batch-key", batch), ("--layer", layer)):
            if given is not None:
                msg = (
                    f"{option} works on raw counts, and {path} is mapped by {rep!r} as "
                    "it is: leave the option out, or take that out of the file"
                )
                raise ValueError(msg)
        if rep in adata.obsm:  # if not, tl says what there is
            say(f"  mapped by obsm[{rep!r}] as it is")
        return
    pp.recipe(adata, batch_key=batch, layer=layer, in_blocks=True)
    used, components = adata.var["highly_variable"].sum(), adata.obsm["X_pca"].shape[1]
    say(
        f"  no obsm['X_pca']: counts{'' if layer is None else ' of ' + layer} "
        f"normalised, logarithms, {used} genes of largest variance, "
        f"{'ComBat by ' + batch + ', ' if batch else ''}{components} components"
    )


def in_file(path: Path) -> bool:
    """Tell whether cells can stay in their file while they are used."""
    return path.is_file() and path.suffix.lower() == ".h5ad"
