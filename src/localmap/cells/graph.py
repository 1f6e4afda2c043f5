"""Neighbours that scanpy, or whatever writes like it, has already found."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import csr_array

from localmap.geometry.finite import listed
from localmap.method.pairs import EXTRA_CANDIDATES, automatic_neighbors

if TYPE_CHECKING:
    from anndata import AnnData


def neighbor_graph(
    adata: AnnData, neighbors_key: str, n_neighbors: int | Literal["auto"]
) -> csr_array:
    """Return the distances of each cell to its neighbours, enough of them.

    Near pairs are the best of ``n_neighbors + 50`` candidates, and whether two cells
    belong together is told by the neighbours they share: with fewer candidates a map
    is made all the same, with a warning.
    """
    graph = csr_array(_distances(adata, neighbors_key))
    if isinstance(n_neighbors, str):
        n_neighbors = automatic_neighbors(adata.n_obs)
    wanted = min(n_neighbors, adata.n_obs - 1)
    best = min(adata.n_obs - 1, wanted + EXTRA_CANDIDATES)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    others = np.bincount(rows[rows != graph.indices], minlength=graph.shape[0])
    fewest = int(others.min())
    remedy = (
        f"Run sc.pp.neighbors(adata, n_neighbors={best + 1}), which counts the cell "
        "itself, or leave neighbors_key out: localmap then finds its own."
    )
    if fewest < wanted:
        poor = int((others < wanted).sum())
        msg = (
            f"Each cell needs {wanted} neighbours, but {poor} of {adata.n_obs} cells "
            f"have fewer in the graph {neighbors_key!r}, one has {fewest}: it was made "
            f"with fewer, or it lost some when cells were taken out. {remedy}"
        )
        raise ValueError(msg)
    if fewest < best:
        msg = (
            f"The {wanted} near pairs of a cell are chosen among the {fewest} "
            f"neighbours of the graph {neighbors_key!r} instead of {best}, for which "
            f"the defaults were chosen: the map will be another one. {remedy}"
        )
        warnings.warn(msg, UserWarning, stacklevel=4)
    return graph


def _distances(adata: AnnData, neighbors_key: str) -> Any:
    if neighbors_key not in adata.uns:
        known = [
            repr(str(key))
            for key, value in adata.uns.items()
            if isinstance(value, dict) and "distances_key" in value
        ]
        msg = (
            f"neighbors_key must name what sc.pp.neighbors wrote to uns, which holds "
            f"{listed(known, 8) or 'no such graph'}; got {neighbors_key!r}."
        )
        raise ValueError(msg)
    place = dict(adata.uns[neighbors_key]).get("distances_key", "distances")
    if place not in adata.obsp:
        msg = (
            f"uns[{neighbors_key!r}] speaks of obsp[{place!r}], which is not there. "
            "Run sc.pp.neighbors again."
        )
        raise ValueError(msg)
    return adata.obsp[place]
