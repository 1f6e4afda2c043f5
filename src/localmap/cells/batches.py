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


def corrected(
    X: NDArray[np.float32],
    obs: pd.DataFrame,
    batch_key: str,
    covariates: Sequence[str],
) -> NDArray[Any]:
    """Return values without what is due to the batch alone, by scanpy's ComBat."""
    sc = scanpy_for("batch_key")
    import anndata

    # By their place: names of cells may occur twice.
    known = obs[[batch_key, *covariates]].reset_index(drop=True)
    known.index = known.index.astype(str)
    for name in covariates:  # a category without cells has no effect to keep
        if hasattr(known[name], "cat"):
            known[name] = known[name].cat.remove_unused_categories()
    sub = anndata.AnnData(X=X, obs=known)
    # A gene that is constant within a batch divides by 0 where ComBat asks how far it
    # has converged; the result is finite, or refused.
    reason = "gave values that are not finite"
    try:
        with np.errstate(divide="ignore"):
            sc.pp.combat(sub, key=batch_key, covariates=list(covariates) or None)
        failed = not np.isfinite(sub.X).all()
    except np.linalg.LinAlgError as error:
        failed, reason = True, f"failed ({error})"
    if failed:
        msg = (
            f"ComBat {reason} for obs[{batch_key!r}]. Batches that are very small, or "
            "that one of the covariates tells apart completely, cannot be corrected."
        )
        raise ValueError(msg)
    result: NDArray[Any] = sub.X
    return result
