"""From raw counts to the components of which maps of cells are made.

Needs scanpy: ``pip install "localmap[anndata]"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from localmap.cells.counts import why_not_counts
from localmap.cells.needed import scanpy_for
from localmap.cells.record import storable, versions
from localmap.cells.representation import check_cells, values_of
from localmap.geometry.finite import listed

if TYPE_CHECKING:
    from anndata import AnnData

COUNTS: Final = "counts"

# ComBat takes the variance of a gene within each batch.
FEWEST_IN_BATCH: Final = 2


def recipe(
    adata: AnnData,
    *,
    n_top_genes: int = 1000,
    batch_key: str | None = None,
    covariates: Sequence[str] | None = None,
    n_comps: int = 50,
    target_sum: float | None = 1e4,
    layer: str | None = None,
    random_state: int = 0,
    copy: bool = False,
) -> AnnData | None:
    """Prepare raw counts as LocalMAP's paper does, by scanpy's own functions.

    Counts of a cell are brought to one sum (`scanpy.pp.normalize_total`), ``log(1 +
    x)`` is taken (`scanpy.pp.log1p`), the genes of largest variance are marked, ComBat
    (`scanpy.pp.combat`) removes from these genes what is due to the batch alone, and
    their principal components (`scanpy.pp.pca`) are kept for `localmap.tl.localmap`.
    Nothing is scaled, and no cell or gene is taken out: filter before.

    X stays uncorrected: batches are corrected in ``obsm["X_pca"]`` alone. Corrected
    values are good for maps and neighbours, not for tests between groups of cells.

    Parameters
    ----------
    adata
        Annotated data with raw counts in X or in `layer`.
    n_top_genes
        Genes of largest variance to keep; all if there are fewer.
    batch_key
        Column of ``adata.obs`` that tells batches apart, each of two cells or more.
        None corrects nothing.
    covariates
        Columns of ``adata.obs`` whose effect ComBat must keep.
    n_comps
        Principal components; fewer if there are fewer cells or genes.
    target_sum
        What the counts of each cell are brought to; None takes their median.
    layer
        The layer with the counts; None takes X.
    random_state
        Seed of the PCA.
    copy
        Return a copy instead of writing to `adata`.

    Returns
    -------
    None, or the copy if `copy`. Sets

    ``adata.layers["counts"]``
        The raw counts.
    ``adata.X``
        Normalised, logarithmic values of all genes.
    ``adata.var["variances"]``, ``adata.var["highly_variable"]``
        Variance of the values of each gene, and whether the gene was used.
    ``adata.obsm["X_pca"]``, ``adata.varm["PCs"]``, ``adata.uns["pca"]``
        As `scanpy.pp.pca` writes them.
    ``adata.uns["recipe"]["params"]``
        All parameters and versions.

    Raises
    ------
    ValueError
        If the values are evidently normalised already: some are negative or no whole
        numbers, or ``adata.uns`` says that X is logarithmic.

    Examples
    --------
    >>> import anndata, localmap, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(rng.poisson(1.0, (100, 80)).astype("float32"))
    >>> localmap.pp.recipe(adata, n_top_genes=60, n_comps=10)
    >>> adata.obsm["X_pca"].shape, int(adata.var["highly_variable"].sum())
    ((100, 10), 60)
    """
    sc = scanpy_for("localmap.pp.recipe")
    check_cells(adata)
    _check_numbers(n_top_genes=n_top_genes, n_comps=n_comps)
    _check_counts(adata, layer)
    if batch_key is not None:
        _check_batches(adata, batch_key, covariates or ())
    adata = adata.copy() if copy else adata
    counts = adata.X if layer is None else adata.layers[layer]
    adata.layers[COUNTS] = counts if layer in (None, COUNTS) else counts.copy()
    adata.X = counts.astype(np.float32)  # a copy
    adata.uns.pop("log1p", None)  # said of the values that X held before
    sc.pp.normalize_total(adata, target_sum=target_sum)
    sc.pp.log1p(adata)
    variances = _variances(adata.X)
    order = np.argsort(-variances, kind="stable")[:n_top_genes]
    used = np.zeros(adata.n_vars, dtype=bool)
    used[order] = variances[order] > 0
    adata.var["variances"] = variances
    adata.var["highly_variable"] = used
    _reduce(sc, adata, used, batch_key, covariates, n_comps, random_state)
    asked = {
        "n_top_genes": n_top_genes,
        "batch_key": batch_key,
        "covariates": ", ".join(covariates or ()),
        "n_comps": n_comps,
        "target_sum": target_sum,
        "layer": layer,
        "random_state": random_state,
    }
    adata.uns["recipe"] = {
        "params": {k: storable(v) for k, v in asked.items()} | {"versions": versions()}
    }
    return adata if copy else None


def _reduce(
    sc: Any,
    adata: AnnData,
    used: NDArray[np.bool_],
    batch_key: str | None,
    covariates: Sequence[str] | None,
    n_comps: int,
    random_state: int,
) -> None:
    """Write the principal components of the used genes, without batches if asked."""
    columns = [] if batch_key is None else [batch_key, *(covariates or ())]
    some = adata[:, used]
    sub = type(adata)(X=some.X.copy(), obs=some.obs[columns].copy())
    n_comps = min(n_comps, min(sub.shape) - 1)
    if n_comps < 1:
        msg = (
            f"{adata.n_obs} cells with {int(used.sum())} genes that vary have no "
            "principal components: give at least two of each."
        )
        raise ValueError(msg)
    if batch_key is not None:
        if issparse(sub.X):
            sub.X = sub.X.toarray()
        # A gene that is constant within a batch divides by 0 where ComBat asks how far
        # it has converged; the result is finite, or refused.
        with np.errstate(divide="ignore"):
            sc.pp.combat(sub, key=batch_key, covariates=covariates or None)
        _check_corrected(sub.X, batch_key)
    sc.pp.pca(sub, n_comps=n_comps, random_state=random_state)
    loadings = np.zeros((adata.n_vars, n_comps))
    loadings[used] = sub.varm["PCs"]
    adata.obsm["X_pca"] = sub.obsm["X_pca"]
    adata.varm["PCs"] = loadings
    adata.uns["pca"] = dict(sub.uns["pca"])
    adata.uns["pca"]["params"] = {
        "zero_center": True,
        "use_highly_variable": True,
        "mask_var": "highly_variable",
    }


def _check_numbers(**counts: int) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            msg = f"{name} must be an integer; got {value!r}."
            raise TypeError(msg)
        if value < 1:
            msg = f"{name} must be at least 1; got {value}."
            raise ValueError(msg)


def _check_counts(adata: AnnData, layer: str | None) -> None:
    """Refuse values that evidently are no counts, and to write over others."""
    if adata.isbacked:
        msg = (
            "adata is backed by a file, and the recipe changes all of X: take "
            "adata.to_memory() if it fits, or a subset of genes that does, "
            "adata[:, genes].to_memory()."
        )
        raise ValueError(msg)
    values = values_of(adata, layer)
    where = "X" if layer is None else f"layers[{layer!r}]"
    reason = why_not_counts(values)
    if reason is None and layer is None and "log1p" in adata.uns:
        reason = "uns['log1p'] says that the logarithm was taken"
    if reason is not None:
        way_out = (
            f"name the layer that holds counts (layer={COUNTS!r})"
            if COUNTS in adata.layers and layer is None
            else "give raw counts"
        )
        msg = (
            f"{where} holds no raw counts: {reason}. Values must not be normalised "
            f"twice: {way_out}, or go on from here with sc.pp.pca(adata) and "
            "localmap.tl.localmap(adata)."
        )
        raise ValueError(msg)
    if layer is None and COUNTS in adata.layers and not _equal(values, adata, COUNTS):
        msg = (
            f"layers[{COUNTS!r}] holds other numbers than X and would be written over: "
            f"take layer={COUNTS!r}, or rename that layer."
        )
        raise ValueError(msg)


def _equal(values: Any, adata: AnnData, layer: str) -> bool:
    other = adata.layers[layer]
    if issparse(values) != issparse(other):
        return False
    if issparse(values):
        return bool((values != other).nnz == 0)
    return bool(np.array_equal(values, other))


def _check_batches(adata: AnnData, batch_key: str, covariates: Sequence[str]) -> None:
    for name in (batch_key, *covariates):
        if name not in adata.obs:
            columns = listed([repr(str(c)) for c in adata.obs], 8) or "no columns"
            msg = f"{name!r} is no column of adata.obs, which has {columns}."
            raise ValueError(msg)
    batches = adata.obs[batch_key]
    if batches.isna().any():
        msg = f"{int(batches.isna().sum())} cells have no value in obs[{batch_key!r}]."
        raise ValueError(msg)
    sizes = batches.astype(str).value_counts()
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


def _check_corrected(X: NDArray[Any], batch_key: str) -> None:
    if not np.isfinite(X).all():
        msg = (
            f"ComBat gave values that are not finite for obs[{batch_key!r}]. Batches "
            "that are very small, or that one of the covariates tells apart "
            "completely, cannot be corrected."
        )
        raise ValueError(msg)


def _variances(X: Any) -> NDArray[np.float64]:
    if issparse(X):
        variances = mean_variance_axis(csr_array(X), axis=0)[1]
    else:
        variances = np.asarray(X).var(axis=0, dtype=np.float64)
    return np.asarray(variances, dtype=np.float64)
