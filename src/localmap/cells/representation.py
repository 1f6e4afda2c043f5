"""Which numbers of each cell a map is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap.estimators.inputs import annotated_kind
from localmap.geometry.finite import listed

if TYPE_CHECKING:
    from anndata import AnnData

PCA: Final = "X_pca"
GENES: Final = "X"

# Data with no more genes than this is taken as it is: scanpy's own rule, by the number
# of components that its PCA would keep.
FEW_GENES: Final = 50


@dataclass(frozen=True, eq=False)
class Representation:
    """Numbers of each cell, the place they come from, and names of their columns."""

    X: Any
    place: str
    columns: NDArray[np.object_]

    @property
    def is_genes(self) -> bool:
        """Whether the columns are genes: the method may then reduce them by PCA."""
        return self.place == GENES


def check_cells(adata: Any) -> None:
    """Refuse what is no AnnData, and what could not hold a map, before any work."""
    kind = annotated_kind(adata)
    if kind == "MuData":
        msg = (
            "adata must be an AnnData; got a MuData: give one of its modalities, for "
            'example mdata["rna"], or AnnData(obs=mdata.obs, obsm=mdata.obsm).'
        )
        raise TypeError(msg)
    if kind is None:
        msg = (
            f"adata must be an AnnData; got {type(adata).__name__}: for arrays and "
            "tables call localmap.LocalMAP().fit(X)."
        )
        raise TypeError(msg)
    if adata.isbacked and adata.is_view:
        msg = (
            "adata is a view of a backed file, which can hold no map: take "
            "adata.to_memory(), or map the whole file."
        )
        raise ValueError(msg)


def choose(adata: AnnData, use_rep: str | None, n_pcs: int | None) -> Representation:
    """Return the representation that was named, or X_pca, or the few genes there are.

    A representation is never reduced, scaled or otherwise changed.
    """
    if n_pcs is not None and (isinstance(n_pcs, bool) or int(n_pcs) != n_pcs):
        msg = f"n_pcs must be an integer or None; got {n_pcs!r}."
        raise TypeError(msg)
    if use_rep is None:
        use_rep = _usual(adata, n_pcs)
    if use_rep == GENES:
        if n_pcs:
            msg = f"n_pcs counts columns of obsm, not genes; got n_pcs={n_pcs} for X."
            raise ValueError(msg)
        X = genes_in_memory(adata)
        return Representation(X, GENES, adata.var_names.to_numpy().astype(object))
    if use_rep not in adata.obsm:
        msg = (
            f"use_rep must be 'X' or a key of obsm, which holds {_held(adata)}; got "
            f"{use_rep!r}."
        )
        raise ValueError(msg)
    X = _numbers(adata.obsm[use_rep])
    if n_pcs is not None:
        if not 1 <= n_pcs <= X.shape[1]:
            msg = (
                f"n_pcs must be from 1 to {X.shape[1]}, the columns of "
                f"obsm[{use_rep!r}], or 0 for X; got {n_pcs}."
            )
            raise ValueError(msg)
        X = X[:, :n_pcs]
    return Representation(X, use_rep, column_names(use_rep, X.shape[1]))


def column_names(place: str, count: int) -> NDArray[np.object_]:
    """Return names of the columns of a representation, which no gene has."""
    return np.array([f"obsm[{place!r}][{i}]" for i in range(count)], dtype=object)


def place_named(columns: NDArray[Any]) -> str | None:
    """Return the representation whose columns have these names; None for genes."""
    first = str(columns[0])
    if not (first.startswith("obsm['") and first.endswith("'][0]")):
        return None
    place = first.removeprefix("obsm['").removesuffix("'][0]")
    same = list(columns) == list(column_names(place, len(columns)))
    return place if same else None


def genes_in_memory(adata: AnnData) -> Any:
    """Return X, unless that would load a whole file."""
    if adata.isbacked:
        msg = (
            "X is backed by a file and is not loaded whole: give a representation in "
            "obsm (use_rep), or take adata.to_memory() if it fits."
        )
        raise ValueError(msg)
    if adata.X is None:
        msg = "X is empty; name a representation in obsm (use_rep)."
        raise ValueError(msg)
    return csr_array(adata.X) if issparse(adata.X) else np.asarray(adata.X)


def _usual(adata: AnnData, n_pcs: int | None) -> str:
    """Follow scanpy, except that no PCA is run unasked."""
    if n_pcs == 0:
        return GENES
    if PCA in adata.obsm:
        return PCA
    if adata.n_vars <= FEW_GENES and n_pcs is None:
        return GENES
    msg = (
        f"There is no obsm['X_pca'] to map {adata.n_obs} cells of {adata.n_vars} genes "
        f"by. From raw counts run localmap.pp.recipe(adata); from normalised values "
        f"sc.pp.pca(adata); name another representation with use_rep (obsm holds "
        f"{_held(adata)}); or take the genes themselves with use_rep='X'."
    )
    raise ValueError(msg)


def _held(adata: AnnData) -> str:
    return listed([repr(str(key)) for key in adata.obsm], 8) or "nothing"


def _numbers(values: Any) -> Any:
    if issparse(values):
        return csr_array(values)
    return np.asarray(values)


def values_of(adata: AnnData, layer: str | None) -> Any:
    """Return the values of genes: X, or a layer that is asked for."""
    names = layer_names(adata)
    known = listed([repr(name) for name in names], 8)
    if layer is not None and layer not in names:
        msg = (
            f"layer must be one of adata.layers ({known or 'no layer'}) or None; got "
            f"{layer!r}."
        )
        raise ValueError(msg)
    values = x_of(adata) if layer is None else layer_of(adata, layer)
    if values is None:
        way_out = f"; name a layer ({known}) with the option layer" if names else ""
        msg = f"X is empty: there are no values of genes{way_out}."
        raise ValueError(msg)
    return values


def x_of(adata: AnnData) -> Any:
    """Return X, or None: a backed file without X has no answer of its own."""
    try:
        return adata.X
    except KeyError:
        return None


def layer_names(adata: AnnData) -> list[str]:
    """Return the names of layers, also of those that were left in the file."""
    left = _file(adata).get("layers", ()) if adata.isbacked else ()
    return list(dict.fromkeys([*map(str, adata.layers), *left]))


def layer_of(adata: AnnData, name: str) -> Any:
    """Return a layer: in memory, or as the file has it if it was left there."""
    if name in adata.layers:
        return adata.layers[name]
    import anndata
    import h5py

    stored = _file(adata)["layers"][name]
    dense = isinstance(stored, h5py.Dataset)
    return stored if dense else anndata.io.sparse_dataset(stored)


def _file(adata: AnnData) -> Any:
    """Return the open file behind backed cells."""
    if not adata.file.is_open:
        adata.file.open()
    return adata.file["/"]
