"""Maps of cells, in the manner of `scanpy.tl`: AnnData in, AnnData out.

Works with anndata 0.11 and scanpy 1.10 or newer: ``pip install "localmap[anndata]"``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from localmap import LocalMAP, PaCMAP, load
from localmap.cells.genes import Missing
from localmap.cells.mapping import keys_of, mapped
from localmap.cells.placing import placed, usual_limit
from localmap.cells.record import storable, versions
from localmap.cells.representation import check_cells
from localmap.estimators.base import MapEstimator
from localmap.method.parameters import Parameters

if TYPE_CHECKING:
    from anndata import AnnData


def localmap(
    adata: AnnData,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int | Literal["auto"] = 10,
    n_components: int = 2,
    metric: str = "euclidean",
    mid_near_ratio: float = 0.5,
    further_ratio: float = 2.0,
    proximal_distance: float | Literal["auto"] = "auto",
    near_strength: float | None = None,
    locality: float = 1.0,
    init_pos: str | NDArray[Any] | None = None,
    n_iters: tuple[int, ...] = Parameters.n_iters,
    learning_rate: float = 1.0,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    memory_limit: str | float | None = None,
    scratch: str | PathLike[str] | None = None,
    key_added: str | None = None,
    save_model: str | PathLike[str] | None = None,
    callback: Callable[..., bool | None] | None = None,
    copy: bool = False,
    verbose: bool = False,
) -> AnnData | None:
    """Map cells so that groups that are real stand apart (LocalMAP).

    Parameters
    ----------
    adata
        Annotated data, cells in rows. Of a backed file X is left where it is.
    use_rep
        Key of ``adata.obsm`` to map, for example ``"X_pca_harmony"`` or ``"X_scVI"``:
        taken as it is, never reduced or scaled. ``"X"`` takes the genes themselves
        (more than 100 are reduced by PCA, the method's own first step). None takes
        ``"X_pca"``, or X if that is not there and there are at most 50 genes; more
        genes without ``"X_pca"`` are an error, since no PCA is run unasked.
    n_pcs
        Use the first so many columns of the representation. None takes all of them,
        0 takes X.
    neighbors_key
        Use the neighbours that ``sc.pp.neighbors`` has written under this key of
        ``adata.uns`` (its default is ``"neighbors"``) and no representation. Of
        scanpy's default of 15, 14 are other cells: enough for 10 near pairs, but the
        defaults were chosen for 61 (``n_neighbors`` + 50 others), and a warning says
        so. Fewer than `n_neighbors` are an error.
    n_neighbors
        Near pairs of each cell.
    n_components
        Dimensions of the map.
    metric
        Distance between cells; see `localmap.LocalMAP`. Not with `neighbors_key`.
    mid_near_ratio, further_ratio
        Mid-near and further pairs of each cell, as multiples of `n_neighbors`.
    proximal_distance, near_strength, locality
        See `localmap.LocalMAP`. ``proximal_distance=10.0`` is the paper's setting.
    init_pos
        Where cells start: None or ``"pca"``, ``"random"``, a key of ``adata.obsm``
        (its first `n_components` columns), or an array.
    n_iters
        Iterations of the three phases.
    learning_rate
        Learning rate of Adam.
    random_state
        The same data and integer give the same bits.
    n_jobs, memory_limit, scratch
        Threads (-1: all cores), most memory beside the cells, such as "4GB", and the
        folder for what does not fit into it.
    key_added
        Write to ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None writes to
        ``obsm["X_localmap"]`` and ``uns["localmap"]``.
    save_model
        Also write the fitted model to this file, for `localmap.tl.transform`. A map of
        ``X_pca`` is saved with the genes, means and loadings (``varm["PCs"]``) behind
        it, so that other cells need no more than genes; see `localmap.cells.genes`.
    callback
        Called after each iteration, see `localmap.LocalMAP`; for example the
        ``callback`` of a `localmap.plotting.Film`.
    copy
        Return a copy instead of writing to `adata`.
    verbose
        Show progress.

    Returns
    -------
    None, or the copy if `copy`. Sets

    ``adata.obsm["X_localmap"]`` : ndarray of shape (n_obs, n_components), float32
        The map.
    ``adata.uns["localmap"]["params"]`` : dict
        All parameters, what was measured (``"learned"``: recall, reach) and versions.

    Examples
    --------
    >>> import anndata, localmap, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> adata = anndata.AnnData(obs={"cell": range(200)})
    >>> adata.obsm["X_pca"] = rng.normal(size=(200, 20))
    >>> localmap.tl.localmap(adata)
    >>> adata.obsm["X_localmap"].shape
    (200, 2)
    """
    model = LocalMAP(
        n_components,
        n_neighbors=n_neighbors,
        mid_near_ratio=mid_near_ratio,
        further_ratio=further_ratio,
        metric=metric,
        proximal_distance=proximal_distance,
        near_strength=near_strength,
        locality=locality,
        n_iters=n_iters,
        learning_rate=learning_rate,
        random_state=random_state,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        scratch=scratch,
        callback=callback,
        verbose=verbose,
    )
    source = {"use_rep": use_rep, "n_pcs": n_pcs, "neighbors_key": neighbors_key}
    return mapped(adata, model, source, init_pos, key_added, save_model, copy=copy)


def pacmap(
    adata: AnnData,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int | Literal["auto"] = 10,
    n_components: int = 2,
    metric: str = "euclidean",
    mid_near_ratio: float = 0.5,
    further_ratio: float = 2.0,
    init_pos: str | NDArray[Any] | None = None,
    n_iters: tuple[int, ...] = Parameters.n_iters,
    learning_rate: float = 1.0,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    memory_limit: str | float | None = None,
    scratch: str | PathLike[str] | None = None,
    key_added: str | None = None,
    save_model: str | PathLike[str] | None = None,
    callback: Callable[..., bool | None] | None = None,
    copy: bool = False,
    verbose: bool = False,
) -> AnnData | None:
    """Map cells with PaCMAP, which adjusts no pairs while the map grows.

    Parameters
    ----------
    adata, use_rep, n_pcs, neighbors_key, n_neighbors, n_components, metric
        See `localmap.tl.localmap`.
    mid_near_ratio, further_ratio, init_pos, n_iters, learning_rate, random_state
        See `localmap.tl.localmap`.
    n_jobs, save_model, callback, copy, verbose
        See `localmap.tl.localmap`.
    key_added
        None writes to ``obsm["X_pacmap"]`` and ``uns["pacmap"]``.

    Returns
    -------
    None, or the copy if `copy`. Sets ``adata.obsm["X_pacmap"]`` and
    ``adata.uns["pacmap"]["params"]``.
    """
    model = PaCMAP(
        n_components,
        n_neighbors=n_neighbors,
        mid_near_ratio=mid_near_ratio,
        further_ratio=further_ratio,
        metric=metric,
        n_iters=n_iters,
        learning_rate=learning_rate,
        random_state=random_state,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        scratch=scratch,
        callback=callback,
        verbose=verbose,
    )
    source = {"use_rep": use_rep, "n_pcs": n_pcs, "neighbors_key": neighbors_key}
    return mapped(adata, model, source, init_pos, key_added, save_model, copy=copy)


def transform(
    adata: AnnData,
    model: MapEstimator | str | PathLike[str],
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    gene_symbols: str | None = None,
    missing: Missing = "error",
    far: float | None = None,
    key_added: str | None = None,
    copy: bool = False,
) -> AnnData | None:
    """Place new cells on an existing map.

    A model saved by `localmap.tl.localmap` from ``X_pca`` or X, and one fitted on a
    table of genes, asks for genes: they are matched by name, in any order, and read in
    blocks of cells, also from a backed file. Their values must be those the map was
    made from, for example counts normalised to the same sum and ``log1p``; raw counts
    are brought there if the map was made by `localmap.pp.recipe`. A model of
    another representation (Harmony, scVI, ComBat) asks for that: give `use_rep` to say
    that these cells were brought to the same coordinates. Components that were
    computed from the new cells alone are others, whatever they are called.

    Parameters
    ----------
    adata
        The new cells.
    model
        A fitted `localmap.LocalMAP` or `localmap.PaCMAP`, or the path of a saved one.
    use_rep
        Key of ``adata.obsm`` with the representation that the model was fitted on;
        needed with models of a representation, refused with models of genes.
    layer
        The layer with the genes; None takes X.
    gene_symbols
        Column of ``adata.var`` with the names of genes; None takes ``var_names``.
    missing
        What to do about genes that only the model has: ``"error"``; ``"mean"`` fills
        in the mean of the map's cells, so that the gene tells nothing; ``"zero"``.
    far
        Cells whose distance is above this are flagged. The distance is about 1 for
        cells like those of the map; None takes what one in a thousand of those exceeds.
        A flag says that a cell is unlike the map's. No flag does not say that its kind
        was there: components of the map's cells may not hold what sets it apart.
    key_added
        Write to ``obsm[key_added]``, ``uns[key_added]``, ``obs[key_added +
        "_distance"]`` and ``obs[key_added + "_far"]``. None writes to the names below,
        with ``pacmap`` for models of PaCMAP.
    copy
        Return a copy instead of writing to `adata`.

    Returns
    -------
    None, or the copy if `copy`. Sets

    ``adata.obsm["X_localmap"]`` : ndarray of shape (n_obs, n_components)
        Places on the map.
    ``adata.obs["localmap_distance"]``, ``adata.obs["localmap_far"]``
        How unlike those of the map each cell is, and whether that is too far.
    ``adata.uns["localmap"]["params"]`` : dict
        What was asked for, genes that were missing, what was made of the values
        (``"values"``: ``"as they are"`` or ``"log values of counts"``), versions.
    """
    check_cells(adata)
    if not isinstance(model, MapEstimator):
        model = load(model)
    if missing not in ("error", "mean", "zero"):
        msg = f"missing must be 'error', 'mean' or 'zero'; got {missing!r}."
        raise ValueError(msg)
    if not hasattr(model, "feature_names_in_"):
        msg = (
            "The model does not know the names of its columns. Save it with "
            "localmap.tl.localmap(..., save_model=path), or fit it on a table whose "
            "columns are named by genes."
        )
        raise ValueError(msg)
    found = placed(adata, model, use_rep, layer, gene_symbols, missing)
    adata = adata.copy() if copy else adata
    name, key = keys_of(model, key_added)
    far = usual_limit(model) if far is None else far
    is_far = found.distance > far
    adata.obsm[key] = found.Y
    adata.obs[f"{name}_distance"] = found.distance
    adata.obs[f"{name}_far"] = is_far
    asked = {"use_rep": found.place, "layer": layer, "gene_symbols": gene_symbols}
    adata.uns[name] = {
        "params": {
            "method": f"{type(model).__name__}.transform",
            **{k: storable(v) for k, v in asked.items()},
            "missing": missing,
            "missing_genes": np.array(found.lost, dtype=str),
            "values": found.values,
            "far": float(far),
            "versions": versions(),
        }
    }
    if is_far.mean() > 0.5:
        msg = (
            f"{is_far.sum()} of {adata.n_obs} cells are far from all cells of the map. "
            "Were they normalised as those were, and brought to the same coordinates?"
        )
        warnings.warn(msg, UserWarning, stacklevel=2)
    return adata if copy else None
