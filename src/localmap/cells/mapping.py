"""A map of what AnnData holds, and where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localmap.cells import genes
from localmap.cells.graph import neighbor_graph
from localmap.cells.record import record_of
from localmap.cells.representation import GENES, PCA, check_cells, choose
from localmap.estimators.base import MapEstimator
from localmap.geometry.finite import listed

if TYPE_CHECKING:
    from anndata import AnnData


def mapped(
    adata: AnnData,
    model: MapEstimator,
    source: Mapping[str, Any],
    init_pos: str | NDArray[Any] | None,
    key_added: str | None,
    save_model: str | PathLike[str] | None,
    *,
    copy: bool,
) -> AnnData | None:
    """Fit the model to what `source` names; write map and record, model if asked."""
    check_cells(adata)
    _check_folder(save_model)
    made_of = None
    if source["neighbors_key"] is None:
        made_of = choose(adata, source["use_rep"], source["n_pcs"])
        X = made_of.X
        if save_model is not None and made_of.place in (PCA, GENES):
            _check_names(adata)
        # A representation is final; genes are reduced as the method says.
        components = model.pca_components if made_of.is_genes else None
        model.set_params(pca_components=components)
    else:
        _check_graph_alone(model, source, save_model)
        X = neighbor_graph(adata, source["neighbors_key"], model.n_neighbors)
        model.set_params(metric="precomputed", pca_components=None)
    model.set_params(init=_start(adata, init_pos, model.n_components))
    model.fit(X)
    adata = adata.copy() if copy else adata
    name, key = keys_of(model, key_added)
    asked = dict(source)
    if made_of is not None:
        asked |= {"use_rep": made_of.place, "n_pcs": made_of.X.shape[1]}
    if isinstance(init_pos, str):
        asked["init"] = init_pos
    adata.obsm[key] = model.embedding_
    adata.uns[name] = {"params": record_of(model, asked)}
    if save_model is not None and made_of is not None:
        genes.knowing(model, adata, made_of).save(save_model)
    return adata if copy else None


def keys_of(model: MapEstimator, key_added: str | None) -> tuple[str, str]:
    """Return the key for uns and obs, and that for obsm, as scanpy names them."""
    if key_added is not None:
        return key_added, key_added
    name = type(model).__name__.lower()
    return name, f"X_{name}"


def _check_graph_alone(
    model: MapEstimator, source: Mapping[str, Any], save_model: object
) -> None:
    given = [name for name in ("use_rep", "n_pcs") if source[name] is not None]
    if model.metric != "euclidean":
        given.append("metric")
    if save_model is not None:
        given.append("save_model")
    if given:
        msg = (
            f"neighbors_key maps a graph of neighbours and nothing else: leave out "
            f"{' and '.join(given)}, or neighbors_key."
        )
        raise ValueError(msg)


def _check_folder(path: str | PathLike[str] | None) -> None:
    """Refuse before the work a model that could not be written after it."""
    if path is not None and not Path(fspath(path)).parent.is_dir():
        msg = f"save_model names a folder that is not there: {fspath(path)}"
        raise FileNotFoundError(msg)


def _check_names(adata: AnnData) -> None:
    """Refuse a model whose genes could not be told apart in other cells."""
    twice = adata.var_names[adata.var_names.duplicated()].unique()
    if len(twice):
        msg = (
            f"The model is to know genes by name, and {len(twice)} names occur more "
            f"than once ({listed([repr(str(name)) for name in twice], 3)}): call "
            "adata.var_names_make_unique() before."
        )
        raise ValueError(msg)


def _start(
    adata: AnnData, init_pos: str | NDArray[Any] | None, n_components: int
) -> str | NDArray[Any]:
    if init_pos is None:
        return "pca"
    if not isinstance(init_pos, str) or init_pos in ("pca", "random"):
        return init_pos
    if init_pos not in adata.obsm:
        msg = (
            "init_pos must be 'pca', 'random', a key of obsm or an array; got "
            f"{init_pos!r}, and obsm holds {', '.join(adata.obsm) or 'nothing'}."
        )
        raise ValueError(msg)
    return np.asarray(adata.obsm[init_pos])[:, :n_components]
