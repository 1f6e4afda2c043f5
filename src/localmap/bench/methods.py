"""The methods compared, each with its package's defaults.

A method is a function of (X, seed, parameters) that returns a map of two dimensions;
one that can place new rows has another that returns the map and a function of those.
Its package is imported when it runs: what is not installed is missed only there. Names
say what one gets: ``localmap`` is this package, ``authors-localmap`` the authors'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.bench.machine import version_of
from localmap.method.adjust import Rule, rule_of

Map = Callable[[NDArray[Any], int, dict[str, Any]], Any]
Place = Callable[[NDArray[Any]], Any]
Fit = Callable[[NDArray[Any], int, dict[str, Any]], tuple[Any, Place]]


@dataclass(frozen=True)
class Method:
    """A way to make a map, and the package that it comes from."""

    title: str
    package: str
    embed: Map
    compiles_above: int = 0  # rows from which on it uses what it must compile first
    random: bool = True  # another seed may make another map
    fit: Fit | None = None  # the map, and how it places new rows

    @property
    def version(self) -> str | None:
        """The version installed, or None."""
        return version_of(self.package)


def _ours(title: str, name: str, **fixed: Any) -> Method:
    def fit(X: NDArray[Any], seed: int, params: dict[str, Any]) -> tuple[Any, Place]:
        import localmap

        model = getattr(localmap, name)(random_state=seed, **fixed, **params).fit(X)
        return model.embedding_, model.transform

    return Method(title, "localmap", lambda *given: fit(*given)[0], fit=fit)


def _part(rule: Rule) -> Map:
    """Lay out by a rule of its own: one of LocalMAP's changes alone."""

    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        from localmap.method.embed import lay_out, prepare
        from localmap.method.parameters import Parameters

        settings = Parameters(proximal_distance=10.0, **params)
        return lay_out(prepare(X, settings), settings, seed, rule=rule).Y

    return embed


def _spread(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    """Start principal components as wide as ``params["spread"]`` says."""
    from localmap.method.embed import lay_out, prepare
    from localmap.method.parameters import Parameters
    from localmap.method.start import START_SPREAD, initialize

    problem = prepare(X, Parameters())
    start = initialize(problem.space, "pca", 2, seed)
    start *= params["spread"] / START_SPREAD
    return lay_out(problem, Parameters(init=start), seed).Y


def _pca(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from sklearn.decomposition import PCA

    return PCA(2, random_state=seed, **params).fit_transform(X)


def _opentsne(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from openTSNE import TSNE

    return np.asarray(TSNE(n_jobs=-1, random_state=seed, **params).fit(X))


def _sklearn_tsne(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from sklearn.manifold import TSNE

    return TSNE(random_state=seed, n_jobs=-1, **params).fit_transform(X)


def _umap(X: NDArray[Any], seed: int, params: dict[str, Any]) -> tuple[Any, Place]:
    import umap

    # Its own seed would make it run on one thread. As the authors do, it gets none;
    # on several threads it is then not repeatable.
    np.random.seed(seed)  # noqa: NPY002 - what umap draws from without a seed
    model = umap.UMAP(**params).fit(X)
    return model.embedding_, model.transform


def _authors(name: str) -> Method:
    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        return fit(X, seed, params, save_tree=False)[0]

    def fit(
        X: NDArray[Any], seed: int, params: dict[str, Any], *, save_tree: bool = True
    ) -> tuple[Any, Place]:
        import pacmap

        init = params.get("init", "pca")
        # Its own seed would make its neighbour search run on one thread. What it
        # compiles draws from a generator that cannot be seeded from here.
        np.random.seed(seed)  # noqa: NPY002 - what the rest of pacmap draws from
        model = getattr(pacmap, name)(save_tree=save_tree)
        Y = model.fit_transform(X, init=init)
        return Y, lambda new: model.transform(new, basis=X)

    return Method(f"{name} (authors)", "pacmap", embed, fit=fit)


def brisc_cells(Z: NDArray[Any], threads: int = -1) -> Any:
    """Return Z as the table of cells that brisc works on."""
    import polars as pl
    from brisc import SingleCell
    from scipy.sparse import csr_array

    names = pl.Series("id", np.arange(len(Z))).cast(pl.String)
    return SingleCell(
        X=csr_array((len(Z), 1), dtype=np.float32),
        obs=pl.DataFrame({"id": names}),
        var=pl.DataFrame({"gene": ["g"]}),
        obsm={"pca": Z},
        num_threads=threads,
    )


def _brisc(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    """Map our principal components; it searches 20 neighbours where we search 60."""
    from localmap.geometry.preprocessing import preprocess

    cells = brisc_cells(preprocess(X)[0]).neighbors(QC_column=None)
    return cells.localmap(QC_column=None, seed=seed, **params).obsm["localmap"]


def _trimap(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import trimap

    # It takes no seed; what it compiles draws from a generator of its own.
    np.random.seed(seed)  # noqa: NPY002 - what the rest of trimap draws from
    params = dict(params)
    start = params.pop("init", None)
    model = trimap.TRIMAP(verbose=False, **params)
    return model.fit_transform(X.astype(np.float32), init=start)


def _phate(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import phate

    model = phate.PHATE(n_jobs=-1, random_state=seed, verbose=0, **params)
    return model.fit_transform(X)


def _hnne(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from hnne import HNNE

    return HNNE(random_state=seed, **params).fit_transform(X.astype(np.float32))


def _contrastive(**fixed: Any) -> Map:
    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        import cne
        import torch

        torch.manual_seed(seed)
        params = dict(params)
        start: NDArray[Any] | None = None
        if params.pop("init", "pca") == "random":  # as narrow as its own
            draw = np.random.default_rng(seed).normal(scale=1e-4, size=(len(X), 2))
            start = draw.astype(np.float32)
        # A parametric model has no start, but 0.4.0 asks how long that is.
        elif fixed.get("parametric"):
            start = np.zeros((len(X), 2))
        model = cne.CNE(seed=seed, **fixed, **params)
        return model.fit_transform(X.astype(np.float32), init=start)

    return embed


def _largevis(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import torchdr

    model = torchdr.LargeVis(random_state=seed, **params)
    return np.asarray(model.fit_transform(X.astype(np.float32)))


METHODS: Final[dict[str, Method]] = {
    "pca": Method("PCA", "scikit-learn", _pca, random=False),
    "tsne": Method("t-SNE", "openTSNE", _opentsne),
    "sklearn-tsne": Method("t-SNE (scikit-learn)", "scikit-learn", _sklearn_tsne),
    "umap": Method(
        "UMAP",
        "umap-learn",
        lambda *given: _umap(*given)[0],
        compiles_above=4096,
        fit=_umap,
    ),
    "trimap": Method("TriMap", "trimap", _trimap),
    "phate": Method("PHATE", "phate", _phate),
    "hnne": Method("h-NNE", "hnne", _hnne, compiles_above=20_000),
    # Its second version, the default now, is younger than the paper.
    "hnne-1": Method(
        "h-NNE (version 1)",
        "hnne",
        lambda X, seed, params: _hnne(X, seed, {"hnne_version": "v1"} | params),
        compiles_above=20_000,
    ),
    "negtsne": Method("Neg-t-SNE", "contrastive-ne", _contrastive(loss_mode="neg")),
    "infonc": Method("InfoNC-t-SNE", "contrastive-ne", _contrastive()),
    "ncvis": Method(
        "NCVis",
        "contrastive-ne",
        _contrastive(loss_mode="nce", optimizer="adam", parametric=True),
    ),
    "largevis": Method("LargeVis", "torchdr", _largevis),
    "brisc": Method("LocalMAP (brisc)", "brisc", _brisc),
    "authors-pacmap": _authors("PaCMAP"),
    "authors-localmap": _authors("LocalMAP"),
    "localmap": _ours("LocalMAP (ours)", "LocalMAP"),
    "localmap-10": _ours(
        "LocalMAP (ours, distance 10)", "LocalMAP", proximal_distance=10.0
    ),
    "pacmap": _ours("PaCMAP (ours)", "PaCMAP"),
    "weights": Method(
        "near weights only", "localmap", _part(Rule(locality=1.0, strength=5.0))
    ),
    "pairs": Method(
        "local further pairs only",
        "localmap",
        _part(Rule(locality=1.0, reach=10.0, redraw_every=10)),
    ),
    "untrusting": Method(
        "measured distance without trusted pairs",
        "localmap",
        _part(replace(rule_of("auto", None, 1.0), trust=False)),
    ),
    "start": Method("LocalMAP (ours), start", "localmap", _spread),
}

# The twelve of the paper, and ours.
COMPARED: Final = (
    "pca", "tsne", "umap", "trimap", "phate", "hnne", "negtsne", "infonc", "ncvis",
    "largevis", "authors-pacmap", "authors-localmap", "localmap",
)  # fmt: skip
