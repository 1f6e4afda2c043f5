"""Other cells in a finished map: by genes or by a representation."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.cells import genes
from localmap.cells.representation import GENES, choose, place_named, values_of
from localmap.estimators.base import MapEstimator
from localmap.geometry.distances import METRICS
from localmap.geometry.finite import listed
from localmap.geometry.rows import RowSpace
from localmap.method.out_of_sample import scaled_away
from localmap.method.pairs import scales

if TYPE_CHECKING:
    from anndata import AnnData


# Cells of the map by which the distance of new ones is judged, and how many in a
# thousand of them count as far.
JUDGED_BY: Final = 2000
FAR_IN_1000: Final = 1

# Where the cells of the map cannot be judged: as in the command `localmap transform`.
FAR: Final = 3.0


class Placed(NamedTuple):
    """Where cells lie, how far from the map's they are, and what was done for it."""

    Y: NDArray[np.float32]
    distance: NDArray[np.float32]
    place: str  # the representation by which they were placed; "X" are genes
    lost: list[str]  # genes that they lack
    values: str  # what was made of the values


def usual_limit(model: MapEstimator) -> float:
    """Return a distance that one in a thousand cells of the map itself exceeds.

    Each is judged as `LocalMAP.transform` judges a new cell, as if it were not there.
    """
    fitted = model._fitted  # noqa: SLF001 - the model's own numbers
    space = fitted.space
    if not isinstance(space, RowSpace) or not METRICS[space.metric].euclidean:
        return FAR
    n = len(space)
    rows = np.unique(np.arange(JUDGED_BY) * n // JUDGED_BY)
    k = min(fitted.n_candidates + 1, n)
    n_threads = kernels.thread_count(model.n_jobs)
    found, distances = kernels.neighbors_of(space.Z, space.Z[rows], k, n_threads)
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False  # crowded out by duplicates of itself
    found, distances = (
        np.ascontiguousarray(a[others].reshape(len(rows), -1))
        for a in (found, distances)
    )
    own = scales(distances)
    near = kernels.near(
        found, distances, own, fitted.n_neighbors, n_threads, scales=fitted.scales
    )
    away = scaled_away(own, near, fitted.scales, n_threads)
    return float(np.quantile(away, 1 - FAR_IN_1000 / 1000))


def placed(
    adata: AnnData,
    model: MapEstimator,
    use_rep: str | None,
    layer: str | None,
    gene_symbols: str | None,
    missing: genes.Missing,
) -> Placed:
    """Place cells by what the model asks for."""
    if adata.n_obs == 0:
        msg = "There are no cells to place."
        raise ValueError(msg)
    place = place_named(model.feature_names_in_)
    if place is not None:
        return _placed_by_representation(adata, model, place, use_rep)
    if use_rep is not None:
        msg = (
            f"The model asks for {len(model.feature_names_in_)} genes by name, not for "
            f"a representation; got use_rep={use_rep!r}."
        )
        raise ValueError(msg)
    return _placed_by_genes(adata, model, layer, gene_symbols, missing)


def _placed_by_representation(
    adata: AnnData, model: MapEstimator, place: str, use_rep: str | None
) -> Placed:
    """Place cells that are in the model's coordinates."""
    if use_rep is None:
        msg = (
            f"The model was made from obsm[{place!r}], not from genes. Bring these "
            f"cells to the same coordinates and say where they are: use_rep={place!r}. "
            "Components computed from the new cells alone will not do."
        )
        raise ValueError(msg)
    X = choose(adata, use_rep, None).X
    wanted = model.n_features_in_
    if X.shape[1] < wanted:
        msg = f"The model needs {wanted} columns; {use_rep!r} has {X.shape[1]}."
        raise ValueError(msg)
    Y, distance = _nameless(model).transform(X[:, :wanted], return_distance=True)
    return Placed(Y, distance, place, [], "as they are")


def _placed_by_genes(
    adata: AnnData,
    model: MapEstimator,
    layer: str | None,
    gene_symbols: str | None,
    missing: genes.Missing,
) -> Placed:
    """Place cells by their genes; counts are turned as the map's were, if known."""
    if gene_symbols is not None and gene_symbols not in adata.var:
        columns = listed([repr(str(c)) for c in adata.var], 8) or "no columns"
        msg = f"gene_symbols must be a column of var ({columns}); got {gene_symbols!r}."
        raise ValueError(msg)
    X = values_of(adata, layer)
    names = adata.var_names if gene_symbols is None else adata.var[gene_symbols]
    found = genes.matched(model, np.asarray(names.astype(str)), missing)
    fill = np.zeros(len(found))
    if missing == "mean" and (found < 0).any():
        fill = genes.mean_genes(model)
    counts_sum = getattr(model, "counts_sum_", None)
    values = genes.log_values(X, counts_sum)
    if counts_sum is not None:
        genes.refuse_other_values(values, counts_sum)
    nameless = _nameless(model)
    Y = np.empty((adata.n_obs, model.embedding_.shape[1]), dtype=np.float32)
    distance = np.empty(adata.n_obs, dtype=np.float32)
    for rows, block in genes.gene_blocks(values, found, fill):
        Y[rows], distance[rows] = nameless.transform(block, return_distance=True)
    lost = [str(gene) for gene in model.feature_names_in_[found < 0]]
    turned = "log values of counts" if values.factors is not None else "as they are"
    return Placed(Y, distance, GENES, lost, turned)


def _nameless(model: MapEstimator) -> MapEstimator:
    """Return the model without names: columns are in its order already."""
    nameless = copy(model)
    del nameless.feature_names_in_
    return nameless
