"""What a model must know to place other cells: its genes, and how they were reduced.

A map of ``X_pca`` is a map of genes: scanpy's components are ``(X - mean) @ PCs``, with
the mean of the cells that the PCA has seen. A model that is to place other cells
therefore takes PCs and mean over from the AnnData it was made from, after a check that
they do give its ``X_pca``, and from then on asks for genes by name. Where they do not
(ComBat, Harmony, scVI and the like have changed the components, or X is not what it
was), the model asks for the representation itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from localmap.cells import log_counts
from localmap.cells.representation import PCA, Representation, layer_of, values_of, x_of
from localmap.estimators.base import MapEstimator
from localmap.geometry.finite import listed
from localmap.geometry.preprocessing import Preprocessing
from localmap.geometry.rows import RowSpace

if TYPE_CHECKING:
    from anndata import AnnData

# Cells whose components are computed again, to see that they are those of the file.
CHECKED_CELLS: Final = 1000

# Components in single precision, found by iteration, agree to about 1e-4 of their
# spread; those of other data differ by as much as the spread.
AGREES: Final = 1e-2

# Cells whose sum of counts is computed again, to see that it is that of the recipe.
CHECKED_SUMS: Final = 100

# Values of cells brought to a sum so many times as large are no values like the map's.
ANOTHER_SUM: Final = 2.0

# Cells whose genes are held at once.
CELLS_AT_ONCE: Final = 2048

Missing = Literal["error", "mean", "zero"]


class Values(NamedTuple):
    """Values of genes, X or a layer; with factors X is of counts, to be turned."""

    X: Any
    factors: NDArray[np.float64] | None = None
    no_counts: str = ""  # why they are none, where that was asked


@dataclass(frozen=True, eq=False)
class Reduction:
    """Components as ``X[genes] @ loadings + offset``; `mean` is that of the genes.

    X are log values of counts that were brought to `counts_sum`, if that is known.
    """

    genes: NDArray[np.object_]
    mean: NDArray[np.float64]
    loadings: NDArray[np.float64]
    offset: NDArray[np.float64]
    counts_sum: float | None


def knowing(
    model: MapEstimator, adata: AnnData, made_of: Representation
) -> MapEstimator:
    """Return the fitted model with the names of what it asks of other cells."""
    named = copy(model)
    named.feature_names_in_ = made_of.columns
    if made_of.place != PCA:
        return named
    reason = "its metric normalises components, not genes"
    if model.get_params()["metric"] == "euclidean":
        found = _reduction(adata, made_of.X)
        if not isinstance(found, str):
            return _of_genes(named, found)
        reason = found
    msg = (
        f"The saved model will ask other cells for obsm['X_pca'], not for genes: "
        f"{reason}. Cells must then be brought to these same components before "
        "localmap.tl.transform(..., use_rep='X_pca')."
    )
    warnings.warn(msg, UserWarning, stacklevel=4)
    return named


def matched(
    model: MapEstimator, names: NDArray[Any], missing: Missing
) -> NDArray[np.int64]:
    """Return where each gene of the model is among those of the cells; -1 nowhere."""
    if len(set(names)) < len(names):
        msg = (
            "Genes are matched by name, but some names occur twice: call "
            "adata.var_names_make_unique() on the cells, or name another column of "
            "var with gene_symbols."
        )
        raise ValueError(msg)
    place = {name: i for i, name in enumerate(names)}
    wanted = [str(name) for name in model.feature_names_in_]
    found = np.array([place.get(name, -1) for name in wanted], dtype=np.int64)
    lost = [repr(wanted[i]) for i in np.flatnonzero(found < 0)]
    if len(lost) == len(wanted):
        have = listed([repr(str(name)) for name in names], 3)
        msg = (
            f"The cells have none of the {len(wanted)} genes of the model. It asks for "
            f"{listed(lost, 3)}; they have {have}. Is it the other "
            "kind of name (symbols, Ensembl)? See gene_symbols."
        )
        raise ValueError(msg)
    if lost and missing == "error":
        msg = (
            f"{len(lost)} of the {len(wanted)} genes of the model are missing in the "
            f"cells: {listed(lost)}. Give cells with all of them, or take "
            "missing='mean' (as in the average cell of the map) or missing='zero' "
            "(counted, and never seen)."
        )
        raise ValueError(msg)
    return found


def gene_blocks(
    values: Values, found: NDArray[np.int64], fill: NDArray[Any]
) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of cells with the genes of a model; what is missing is filled in."""
    lost = found < 0
    cells = log_counts.rows_of(values.X, np.where(lost, 0, found), values.factors)
    n = cells.shape[0]
    for start in range(0, n, CELLS_AT_ONCE):
        rows = slice(start, min(n, start + CELLS_AT_ONCE))
        genes = cells[rows]
        if lost.any():
            genes = genes.toarray() if issparse(genes) else genes
            genes = genes.astype(np.result_type(genes.dtype, np.float32))
            genes[:, lost] = fill[lost]
        yield rows, genes


def mean_genes(model: MapEstimator) -> NDArray[np.float64]:
    """Return the genes of the average cell that the map was made from."""
    space = model._fitted.space  # noqa: SLF001 - the model's own numbers
    if not isinstance(space, RowSpace) or space.metric != "euclidean":
        msg = (
            f"missing='mean' needs a model with metric 'euclidean', which knows its "
            f"mean; this has {space.metric!r}. Take missing='zero'."
        )
        raise ValueError(msg)
    return space.preprocessing.centre


def _reduction(adata: AnnData, components: NDArray[Any]) -> Reduction | str:
    """Return how genes give `components`, or why they do not."""
    if "PCs" not in adata.varm:
        return "there are no loadings in varm['PCs']"
    k = components.shape[1]
    loadings = np.asarray(adata.varm["PCs"], dtype=np.float64)[:, :k]
    used = np.flatnonzero(loadings.any(axis=1))
    if loadings.shape[1] < k or not used.size:
        return f"varm['PCs'] holds fewer than {k} loadings"
    values = _values_behind(adata)
    if values is None:
        return "there is no X to take the means of genes from"
    loadings = loadings[used]
    # From all over the data: a correction may have spared the batch that comes first.
    every = -(-adata.n_obs // CHECKED_CELLS)
    total, some = np.zeros(len(used)), []
    for rows, genes in gene_blocks(values, used, total):
        total += np.asarray(genes.sum(axis=0)).ravel()
        first = -rows.start % every
        checked = genes[first::every]
        some.append(checked.toarray() if issparse(checked) else np.asarray(checked))
    again = np.concatenate(some) @ loadings
    given = np.asarray(components[::every], dtype=np.float64)
    offset = (given - again).mean(axis=0)
    off = float(np.abs(again + offset - given).max() / given.std())
    if not off <= AGREES:
        return (
            "they are not a projection of X as it is now (off by "
            f"{off:.2g} of their spread), as after ComBat or when X has changed since"
        )
    names = adata.var_names.to_numpy()[used].astype(object)
    counts_sum = _counts_sum(adata, values)
    return Reduction(names, total / adata.n_obs, loadings, offset, counts_sum)


def _values_behind(adata: AnnData) -> Values | None:
    """Return the values that components were made of, as far as the data says."""
    recipe = _recipe(adata)
    if recipe.get("X") == "counts":
        layer = None if recipe["layer"] == "None" else str(recipe["layer"])
        return log_values(values_of(adata, layer), float(recipe["summed_to"]))
    layer = adata.uns.get("pca", {}).get("params", {}).get("layer")
    X = x_of(adata) if layer is None else layer_of(adata, layer)
    return None if X is None else Values(X)


def _recipe(adata: AnnData) -> dict[str, Any]:
    return dict(adata.uns.get("recipe", {}).get("params", {}))


def log_values(X: Any, counts_sum: float | None) -> Values:
    """Return values as they are, or the log values of counts if the sum is known."""
    if counts_sum is None:
        return Values(X)
    totals = log_counts.totals_of(X)
    if totals.refused is not None:
        return Values(X, no_counts=totals.refused)
    return Values(X, log_counts.factors_of(totals.of_cells, counts_sum))


def refuse_other_values(values: Values, counts_sum: float) -> None:
    """Refuse what is neither counts nor the log values that a map of counts is made of.

    Those of some genes add up to less than the sum, those of another sum to more;
    counts that are taken for logarithms to more than any.
    """
    if not values.no_counts:
        return
    some = _first_cells(values)
    sums = _sums(some)
    usual = float(np.median(sums)) if len(sums) else 0.0
    if (some >= 0).all() and usual <= ANOTHER_SUM * counts_sum:
        return
    added = f"{usual:.4g} in a cell" if np.isfinite(usual) else "no number"
    msg = (
        f"The values are no counts ({values.no_counts}), and as log values they add up "
        f"to {added}, where those of the map's cells add up to {counts_sum:.6g}. Give "
        "counts, of a layer if need be, or values normalised like those of the map."
    )
    raise ValueError(msg)


def _first_cells(values: Values) -> NDArray[np.float64]:
    some = values.X[:CHECKED_SUMS]
    some = some.toarray() if issparse(some) else np.asarray(some)
    return some.astype(np.float64)


def _sums(log_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the log values of each cell add up to as counts."""
    with np.errstate(over="ignore"):
        sums: NDArray[np.float64] = np.expm1(log_values).sum(axis=1)
    return sums


def _counts_sum(adata: AnnData, values: Values) -> float | None:
    """Return the sum to which counts were brought, if the values are those of it."""
    recipe = _recipe(adata)
    if "summed_to" not in recipe:
        return None
    summed_to = float(recipe["summed_to"])
    if values.factors is not None:
        return summed_to
    # X may have been scaled since: its values must still be those of the recipe.
    sums = _sums(_first_cells(values))
    kept = (np.abs(sums - summed_to) < AGREES * summed_to) | (sums == 0)
    return summed_to if kept.all() else None


def _of_genes(model: MapEstimator, reduction: Reduction) -> MapEstimator:
    """Let the model reduce genes to the components that it was fitted on."""
    fitted = model._fitted  # noqa: SLF001 - the one place that changes a model
    if not isinstance(fitted.space, RowSpace):
        msg = f"a model of {model.metric!r} distances knows no components."
        raise TypeError(msg)
    old, loadings = fitted.space.preprocessing, reduction.loadings
    # The fit took its centre off components; the mean of genes, moved as little as may
    # be, takes off the same.
    wanted = old.centre - reduction.offset - reduction.mean @ loadings
    centre = reduction.mean + np.linalg.lstsq(loadings.T, wanted, rcond=None)[0]
    components = np.ascontiguousarray(loadings, dtype=np.float32)
    new = Preprocessing(old.metric, centre, old.unit, components)
    space = replace(fitted.space, preprocessing=new)
    model._fitted = replace(fitted, space=space)  # noqa: SLF001
    model.feature_names_in_ = reduction.genes
    model.n_features_in_ = len(reduction.genes)
    if reduction.counts_sum is not None:
        model.counts_sum_ = reduction.counts_sum
    return model
