"""From raw counts to the components of which maps of cells are made.

Needs scanpy: ``pip install "localmap[anndata]"``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from localmap.cells import log_counts
from localmap.cells.batches import check_batches, check_room, corrected
from localmap.cells.needed import scanpy_for
from localmap.cells.record import storable, versions
from localmap.cells.representation import check_cells, layer_names, values_of
from localmap.geometry.finite import listed

if TYPE_CHECKING:
    from anndata import AnnData

COUNTS: Final = "counts"

# Genes whose products are decomposed at most where cells are read in blocks: 200 MB.
MOST_IN_BLOCKS: Final = 5000


def recipe(
    adata: AnnData,
    *,
    n_top_genes: int = log_counts.TOP_GENES,
    batch_key: str | None = None,
    covariates: Sequence[str] | None = None,
    n_comps: int = log_counts.COMPONENTS,
    target_sum: float | None = log_counts.COUNTS_PER_CELL,
    layer: str | None = None,
    in_blocks: bool | None = None,
    random_state: int = 0,
    copy: bool = False,
) -> AnnData | None:
    """Prepare raw counts as LocalMAP's paper does, by scanpy's own functions.

    Counts of a cell are brought to one sum (`scanpy.pp.normalize_total`), ``log(1 +
    x)`` is taken (`scanpy.pp.log1p`), the genes of largest variance are marked, ComBat
    (`scanpy.pp.combat`) removes from these genes what is due to the batch alone, and
    their principal components (`scanpy.pp.pca`) are kept for `localmap.tl.localmap`.
    Nothing is scaled, and no cell or gene is taken out: filter before.

    Of a backed file nothing is loaded but a block of cells at a time, and X stays what
    it is, counts in the file; the genes and components are the same. Only ComBat needs
    the chosen genes of all cells at once, and is refused if they do not fit.

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
    in_blocks
        Read blocks of cells, and leave X and layers as they are. None does so for
        backed files, where nothing else is possible.
    random_state
        Seed of scanpy's PCA; in blocks nothing is random.
    copy
        Return a copy instead of writing to `adata`.

    Returns
    -------
    None, or the copy if `copy`. Sets

    ``adata.layers["counts"]``
        The raw counts; not in blocks.
    ``adata.X``
        Normalised, logarithmic values of all genes; in blocks X stays.
    ``adata.var["variances"]``, ``adata.var["highly_variable"]``
        Variance of the values of each gene, and whether the gene was used.
    ``adata.obsm["X_pca"]``, ``adata.varm["PCs"]``, ``adata.uns["pca"]``
        As `scanpy.pp.pca` writes them.
    ``adata.uns["recipe"]["params"]``
        All parameters, what counts were brought to (``"summed_to"``), whether X holds
        ``"counts"`` or ``"log values"`` now (``"X"``), and versions.

    Raises
    ------
    ValueError
        If the values are evidently normalised already: some are negative
        or no whole numbers, or ``adata.uns`` says that X is logarithmic.

    Examples
    --------
    >>> import anndata, localmap, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(rng.poisson(1.0, (100, 80)).astype("float32"))
    >>> localmap.pp.recipe(adata, n_top_genes=60, n_comps=10)
    >>> adata.obsm["X_pca"].shape, int(adata.var["highly_variable"].sum())
    ((100, 10), 60)
    """
    check_cells(adata)
    _check_numbers(n_top_genes=n_top_genes, n_comps=n_comps)
    _check_target(target_sum)
    blocks = bool(adata.isbacked) if in_blocks is None else in_blocks
    if adata.isbacked and not blocks:
        msg = "a backed file is read in blocks: leave in_blocks out, or to_memory()."
        raise ValueError(msg)
    if blocks and min(n_top_genes, adata.n_vars) > MOST_IN_BLOCKS:
        msg = (
            f"In blocks at most {MOST_IN_BLOCKS} genes are reduced; got n_top_genes="
            f"{n_top_genes} with {adata.n_vars} genes. Take fewer, or to_memory()."
        )
        raise ValueError(msg)
    if min(adata.shape) < 2:
        log_counts.refuse_few(*adata.shape)
    if adata.isbacked and copy:
        msg = "copy=True would copy the file; take adata.to_memory(), or copy=False."
        raise ValueError(msg)
    if not blocks or batch_key is not None:
        scanpy_for("localmap.pp.recipe")
    if batch_key is not None:
        check_batches(adata, batch_key, covariates or ())
        check_room(adata.n_obs, min(n_top_genes, adata.n_vars))
    totals = _checked_counts(adata, layer, writes=not blocks)
    summed_to = log_counts.summed_to(totals, target_sum)
    adata = adata.copy() if copy else adata
    batches = None if batch_key is None else (batch_key, tuple(covariates or ()))
    if blocks:
        factors = log_counts.factors_of(totals, summed_to)
        _in_blocks(adata, layer, factors, n_top_genes, n_comps, batches)
    else:
        _in_memory(adata, layer, summed_to, n_top_genes, n_comps, batches, random_state)
    asked = {
        "n_top_genes": n_top_genes,
        "batch_key": batch_key,
        "covariates": ", ".join(covariates or ()),
        "n_comps": n_comps,
        "target_sum": target_sum,
        "summed_to": summed_to,
        "layer": layer,
        "X": "counts" if blocks else "log values",
        "random_state": random_state,
    }
    adata.uns["recipe"] = {
        "params": {k: storable(v) for k, v in asked.items()} | {"versions": versions()}
    }
    return adata if copy else None


Batches = tuple[str, tuple[str, ...]]


def _in_memory(
    adata: AnnData,
    layer: str | None,
    summed_to: float,
    n_top_genes: int,
    n_comps: int,
    batches: Batches | None,
    random_state: int,
) -> None:
    """Turn X into log values and write the components, by scanpy's functions."""
    sc = scanpy_for("localmap.pp.recipe")
    counts = adata.X if layer is None else adata.layers[layer]
    adata.layers[COUNTS] = counts if layer in (None, COUNTS) else counts.copy()
    X = counts.astype(np.float32)  # a copy
    if issparse(X):  # scanpy 1.11 takes no sparse arrays, and takes logs of halves
        X = csr_matrix(X)
        X.sum_duplicates()
    adata.X = X
    adata.uns.pop("log1p", None)  # said of the values that X held before
    with warnings.catch_warnings():  # of cells without counts, which were told before
        warnings.filterwarnings("ignore", "Some cells have zero counts", UserWarning)
        sc.pp.normalize_total(adata, target_sum=summed_to)
    sc.pp.log1p(adata)
    variances = log_counts.moments_of(adata.X).variance
    used = _marked(adata, variances, n_top_genes)
    some = adata.X[:, used]
    if batches is not None:
        dense = some.toarray() if issparse(some) else np.asarray(some)
        some = corrected(dense, adata.obs, *batches)
    n_comps = min(n_comps, min(some.shape) - 1)
    if n_comps < 1:
        log_counts.refuse_few(*some.shape)
    sub = type(adata)(X=some)
    sc.pp.pca(sub, n_comps=n_comps, random_state=random_state)
    _write(adata, used, sub.obsm["X_pca"], sub.varm["PCs"], dict(sub.uns["pca"]))


def _in_blocks(
    adata: AnnData,
    layer: str | None,
    factors: NDArray[np.float64],
    n_top_genes: int,
    n_comps: int,
    batches: Batches | None,
) -> None:
    """Write the components of cells that are read a block at a time."""
    values = values_of(adata, layer)
    moments = log_counts.moments_of(values, factors)
    used = _marked(adata, moments.variance, n_top_genes)
    places = np.flatnonzero(used)
    rows = log_counts.rows_of(values, places, factors)
    mean = moments.mean[used]
    if batches is None:
        made = log_counts.principal_components(rows, mean, n_comps)
    else:
        dense = corrected(log_counts.filled_in(rows), adata.obs, *batches)
        mean = dense.mean(axis=0, dtype=np.float64)
        made = log_counts.principal_components(dense, mean, n_comps)
    spread = {"variance": made.variance, "variance_ratio": made.ratio}
    _write(adata, used, made.scores, made.loadings, spread)


def _marked(
    adata: AnnData, variances: NDArray[np.float64], n_top_genes: int
) -> NDArray[np.bool_]:
    """Mark the genes of largest variance in var."""
    used = log_counts.largest(variances, n_top_genes)
    adata.var["variances"] = variances
    adata.var["highly_variable"] = used
    return used


def _write(
    adata: AnnData,
    used: NDArray[np.bool_],
    scores: NDArray[Any],
    loadings: NDArray[Any],
    spread: dict[str, Any],
) -> None:
    """Write components to the places where scanpy has them."""
    everywhere = np.zeros((adata.n_vars, loadings.shape[1]))
    everywhere[used] = loadings
    adata.obsm["X_pca"] = scores
    adata.varm["PCs"] = everywhere
    said = {
        "zero_center": True,
        "use_highly_variable": True,
        "mask_var": "highly_variable",
    }
    adata.uns["pca"] = spread | {"params": said}


def _check_numbers(**counts: int) -> None:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            msg = f"{name} must be an integer; got {value!r}."
            raise TypeError(msg)
        if value < 1:
            msg = f"{name} must be at least 1; got {value}."
            raise ValueError(msg)


def _check_target(target_sum: float | None) -> None:
    if target_sum is None:
        return
    if isinstance(target_sum, bool) or not 0 < target_sum < np.inf:
        msg = f"target_sum must be a positive number or None; got {target_sum!r}."
        raise ValueError(msg)


def _checked_counts(
    adata: AnnData, layer: str | None, *, writes: bool
) -> NDArray[np.float64]:
    """Return the counts of each cell; refuse what are no counts, and to write over."""
    values = values_of(adata, layer)
    if layer is None and "log1p" in adata.uns:
        _refuse_values(adata, layer, "uns['log1p'] says that the logarithm was taken")
    totals = log_counts.totals_of(values)
    if totals.refused is not None:
        _refuse_values(adata, layer, totals.refused)
    other = adata.layers.get(COUNTS) if writes and layer is None else None
    if other is not None and not _equal(values, other):
        msg = (
            f"layers[{COUNTS!r}] holds other numbers than X and would be written over: "
            f"take layer={COUNTS!r}, or rename that layer."
        )
        raise ValueError(msg)
    empty = int((totals.of_cells == 0).sum())
    if empty == len(totals.of_cells):
        msg = "All counts are 0: there is nothing to map."
        raise ValueError(msg)
    if empty:
        msg = (
            f"{empty} of {adata.n_obs} cells have no counts: nothing tells where they "
            "belong, and they will lie together. Take them out before with "
            "sc.pp.filter_cells(adata, min_counts=1)."
        )
        warnings.warn(msg, UserWarning, stacklevel=3)
    return totals.of_cells


def _refuse_values(adata: AnnData, layer: str | None, reason: str) -> NoReturn:
    """Say that these are no counts, and where there may be some."""
    where = "X" if layer is None else f"layers[{layer!r}]"
    way_out = "give raw counts"
    names = [] if layer is not None else layer_names(adata)
    if COUNTS in names:
        way_out = f"name the layer that holds counts (layer={COUNTS!r})"
    elif names:
        known = listed([repr(name) for name in names], 8)
        way_out = f"if a layer ({known}) holds counts, name it with the option layer"
    elif adata.raw is not None and log_counts.totals_of(adata.raw.X).refused is None:
        way_out = "take the counts in raw (adata.raw.to_adata())"
    elif "no whole numbers" in reason:
        way_out += " (estimated ones, as of alevin or SoupX, rounded)"
    msg = (
        f"{where} holds no raw counts: {reason}. Values must not be normalised "
        f"twice: {way_out}, or go on from here with sc.pp.pca(adata) and "
        "localmap.tl.localmap(adata)."
    )
    raise ValueError(msg)


def _equal(values: Any, other: Any) -> bool:
    if issparse(values) != issparse(other):
        return False
    if issparse(values):
        return bool((values != other).nnz == 0)
    return bool(np.array_equal(values, other))
