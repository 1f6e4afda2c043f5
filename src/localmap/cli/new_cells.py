"""``localmap transform`` of cells: genes matched by name, far cells flagged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from localmap.cli.cells import (
    axis_names,
    in_file,
    refuse_options_of_tables,
)
from localmap.cli.main import say

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

# Options that cells alone have, and what they are where nothing is said.
OF_CELLS: Final = {
    "use_rep": None,
    "layer": None,
    "gene_symbols": None,
    "missing_genes": "error",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of cells."""
    cells = parser.add_argument_group("cells (.h5ad, 10x .h5 or folder)")
    cells.add_argument(
        "--layer", metavar="NAME", help="the layer with values of genes (default: X)"
    )
    cells.add_argument(
        "--gene-symbols",
        metavar="COLUMN",
        help="column of var with the names of genes (default: var_names)",
    )
    cells.add_argument(
        "--missing-genes",
        choices=("error", "mean", "zero"),
        default=OF_CELLS["missing_genes"],
        help="what to do about genes that only the model has (default: error)",
    )
    cells.add_argument(
        "--use-rep",
        metavar="KEY",
        help="what of obsm was brought to the coordinates of the model",
    )


def refuse_for_tables(arguments: argparse.Namespace) -> None:
    """Refuse options of cells where there is a table."""
    for name, default in OF_CELLS.items():
        if getattr(arguments, name) != default:
            msg = (
                f"--{name.replace('_', '-')} is for cells (.h5ad, 10x .h5 or folder); "
                f"{arguments.input} is a table"
            )
            raise ValueError(msg)


def run(arguments: argparse.Namespace) -> None:
    """Place cells in the map of a saved model."""
    import numpy as np

    from localmap import files, tl
    from localmap.cells.files import obs_columns, read_cells, write_cells
    from localmap.cells.mapping import keys_of
    from localmap.estimators import load

    refuse_options_of_tables(arguments)
    to_cells = arguments.output.suffix.lower() == ".h5ad"
    if not to_cells:
        files.check_format(arguments.output)
    inputs = [arguments.input, arguments.model]
    outputs = files.Outputs([arguments.output], inputs=inputs, force=arguments.force)
    model = load(arguments.model)
    backed = in_file(arguments.input)
    adata = read_cells(arguments.input, backed=backed, layers=False)
    say(f"{arguments.input}: {adata.n_obs} cells, {adata.n_vars} genes")
    label = [] if arguments.labels is None else [arguments.labels]
    own = [] if to_cells else ["distance", "far", *axis_names(model.n_components)]
    kept = obs_columns(adata, [*arguments.id, *label], own)
    name, key = keys_of(model, None)
    tl.transform(
        adata,
        model,
        use_rep=arguments.use_rep,
        layer=arguments.layer,
        gene_symbols=arguments.gene_symbols,
        missing=arguments.missing_genes,
    )
    _tell_values(adata, name)
    with outputs:
        place = outputs.file(arguments.output)
        if to_cells:
            write_cells(place, adata, source=arguments.input)
        else:
            beside = _with_distances(kept, adata, name)
            Y = np.asarray(adata.obsm[key])
            files.write_map(place, Y, beside, like=arguments.output)
    far = int(adata.obs[f"{name}_far"].sum())
    print(f"Placed {adata.n_obs} cells; wrote {arguments.output}.")
    if far:
        where = f"obs[{name + '_far'!r}]" if to_cells else "the column far"
        print(f"{far} of them are unlike all cells of the map: see {where}.")


def _with_distances(kept: pd.DataFrame, adata: AnnData, name: str) -> pd.DataFrame:
    return kept.assign(
        distance=adata.obs[f"{name}_distance"].to_numpy(),
        far=adata.obs[f"{name}_far"].to_numpy(),
    )


def _tell_values(adata: AnnData, name: str) -> None:
    """Say what was made of the values, and of genes that were not there."""
    from localmap.geometry.finite import listed

    params: dict[str, Any] = adata.uns[name]["params"]
    if params["values"] != "as they are":
        say("  raw counts: normalised as the cells of the map were, logarithms")
    lost = [str(gene) for gene in params["missing_genes"]]
    if lost:
        say(f"  {len(lost)} genes missing, {params['missing']}: {listed(lost)}")
