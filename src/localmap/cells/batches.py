"""What is due to the batch alone: checked before, removed by ComBat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.cells.needed import scanpy_for
from localmap.geometry.finite import listed
from localmap.scale.limits import free_memory

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

# ComBat takes the variance of a gene within each batch.
FEWEST_IN_BATCH: Final = 2

# What the column of batches is called where ComBat reads it.
BATCH: Final = "batch"

# Measured with scanpy 1.11: 36 bytes a number (copies in double precision) beside the
# four of the values themselves.
BYTES_OF_COMBAT: Final = 40


def check_batches(adata: AnnData, batch_key: str, covariates: Sequence[str]) -> None:
    """Refuse columns that are not there, cells without a batch, batches too small."""
    for name in (batch_key, *covariates):
        if name not in adata.obs:
            columns = listed([repr(str(c)) for c in adata.obs], 8) or "no columns"
            msg = f"{name!r} is no column of adata.obs, which has {columns}."
            raise ValueError(msg)
        lost = int(adata.obs[name].isna().sum())
        if lost:
            msg = f"{lost} cells have no value in obs[{name!r}]."
            raise ValueError(msg)
    if batch_key in covariates:
        msg = f"{batch_key!r} cannot be both removed and kept: leave it out of one."
        raise ValueError(msg)
    sizes = adata.obs[batch_key].astype(str).value_counts()
    if len(sizes) < 2:
        msg = (
            f"obs[{batch_key!r}] tells no batches apart: all cells have "
            f"{sizes.index[0]!r}. Leave batch_key out."
        )
        raise ValueError(msg)
    if sizes.min() < FEWEST_IN_BATCH:
        msg = (
            f"ComBat needs {FEWEST_IN_BATCH} cells or more in each batch; "
            f"{sizes.idxmin()!r} of obs[{batch_key!r}] has {sizes.min()}."
        )
        raise ValueError(msg)
    if covariates:
        _check_design(adata.obs, batch_key, covariates)


def check_room(n_cells: int, n_genes: int) -> None:
    """Refuse ComBat of more than there is memory for, before the work."""
    needed, free = BYTES_OF_COMBAT * n_cells * n_genes, free_memory()
    if needed <= free:
        return
    msg = (
        f"ComBat of {n_cells} cells x {n_genes} genes needs about "
        f"{needed / 2**30:.1f} GB, and {free / 2**30:.1f} GB are free. Take fewer "
        "genes (n_top_genes), or leave batch_key out and correct the components: "
        "localmap.pp.recipe(adata), sc.external.pp.harmony_integrate(adata, batch_key)."
    )
    raise ValueError(msg)


def design_of(
    obs: pd.DataFrame, batch_key: str, covariates: Sequence[str]
) -> pd.DataFrame:
    """Return the batch of each cell, and numbers for the covariates, by fixed names.

    scanpy gives each kind of a covariate a column of its own, which together with the
    batches are one too many: ComBat then ends in a singular matrix. So a covariate of
    k kinds is given as k - 1 columns of zeros and ones. And it hands names of columns
    to a language of formulas, which executes what they hold.
    """
    import pandas as pd

    parts = {BATCH: obs[batch_key].astype(str).astype("category").to_numpy()}
    for name in covariates:
        column = obs[name]
        number = pd.api.types.is_numeric_dtype(column)
        if number and not pd.api.types.is_bool_dtype(column):
            columns = [column.to_numpy(dtype=np.float64)]
        else:
            kinds = pd.get_dummies(column.astype(str), drop_first=True)
            columns = list(kinds.to_numpy(dtype=np.float64).T)
        parts |= {f"covariate{len(parts) + i}": c for i, c in enumerate(columns)}
    # By their place: names of cells may occur twice.
    return pd.DataFrame(parts, index=np.arange(len(obs)).astype(str))


def corrected(
    X: NDArray[np.float32],
    obs: pd.DataFrame,
    batch_key: str,
    covariates: Sequence[str],
) -> NDArray[Any]:
    """Return values without what is due to the batch alone, by scanpy's ComBat."""
    sc = scanpy_for("batch_key")
    import anndata

    design = design_of(obs, batch_key, covariates)
    sub = anndata.AnnData(X=X, obs=design)
    kept = [name for name in design.columns if name != BATCH]
    # A gene that is constant within a batch, or within all of them, divides by 0 on the
    # way (how far has it converged); the result is finite, or refused.
    with np.errstate(divide="ignore", invalid="ignore"):
        sc.pp.combat(sub, key=BATCH, covariates=kept or None)
    if not np.isfinite(sub.X).all():
        msg = (
            f"ComBat gave values that are not finite for obs[{batch_key!r}]: batches "
            "that are very small cannot be corrected."
        )
        raise ValueError(msg)
    result: NDArray[Any] = sub.X
    return result


def _check_design(obs: pd.DataFrame, batch_key: str, covariates: Sequence[str]) -> None:
    """Refuse covariates that cannot be told from the batches, or from each other."""
    import pandas as pd

    design = design_of(obs, batch_key, covariates)
    columns = pd.get_dummies(design, columns=[BATCH]).to_numpy(dtype=np.float64)
    columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        msg = (
            f"ComBat cannot keep {listed(list(covariates))} and remove "
            f"{batch_key!r}: they cannot be told apart, or one follows from the "
            "others. Leave out what says the same."
        )
        raise ValueError(msg)
