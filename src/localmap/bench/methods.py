"""The methods compared, each with its package's defaults.

A method is a function of (X, seed, parameters) that returns a map of two dimensions.
Its package is imported when it runs: what is not installed is missed only there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.method.adjust import Rule

Map = Callable[[NDArray[Any], int, dict[str, Any]], Any]


@dataclass(frozen=True)
class Method:
    """A way to make a map, and the package that it comes from."""

    title: str
    package: str
    embed: Map
    compiles_above: int = 0  # rows from which on it uses what it must compile first
    random: bool = True  # another seed may make another map

    @property
    def version(self) -> str | None:
        """The version installed, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def _ours(name: str, **fixed: Any) -> Map:
    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        import localmap

        model = getattr(localmap, name)(random_state=seed, **fixed, **params)
        return model.fit_transform(X)

    return embed


def _part(rule: Rule) -> Map:
    """One of LocalMAP's two changes alone."""

    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        from localmap.method.embed import lay_out, prepare
        from localmap.method.parameters import Parameters

        settings = Parameters(proximal_distance=10.0, **params)
        return lay_out(prepare(X, settings), settings, seed, rule=rule).Y

    return embed


def _pca(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from sklearn.decomposition import PCA

    return PCA(2, random_state=seed, **params).fit_transform(X)


def _opentsne(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    from openTSNE import TSNE

    return np.asarray(TSNE(n_jobs=-1, random_state=seed, **params).fit(X))


def _umap(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import umap

    # Its own seed would make it run on one thread. As the authors do, it gets none;
    # on several threads it is then not repeatable.
    np.random.seed(seed)  # noqa: NPY002 - what umap draws from without a seed
    return umap.UMAP(**params).fit_transform(X)


def _pacmap(name: str) -> Map:
    def embed(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
        import pacmap

        init = params.get("init", "pca")
        # Its own seed would make its neighbour search run on one thread. What it
        # compiles draws from a generator that cannot be seeded from here.
        np.random.seed(seed)  # noqa: NPY002 - what the rest of pacmap draws from
        return getattr(pacmap, name)().fit_transform(X, init=init)

    return embed


def _trimap(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import trimap

    # It takes no seed; what it compiles draws from a generator of its own.
    np.random.seed(seed)  # noqa: NPY002 - what the rest of trimap draws from
    return trimap.TRIMAP(verbose=False, **params).fit_transform(X.astype(np.float32))


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
        model = cne.CNE(seed=seed, **fixed, **params)
        # A parametric model has no start, but 0.4.0 asks how long that is.
        start = np.zeros((len(X), 2)) if fixed.get("parametric") else None
        return model.fit_transform(X.astype(np.float32), init=start)

    return embed


def _largevis(X: NDArray[Any], seed: int, params: dict[str, Any]) -> Any:
    import torchdr

    model = torchdr.LargeVis(random_state=seed, **params)
    return np.asarray(model.fit_transform(X.astype(np.float32)))


METHODS: Final[dict[str, Method]] = {
    "pca": Method("PCA", "scikit-learn", _pca, random=False),
    "tsne": Method("t-SNE", "openTSNE", _opentsne),
    "umap": Method("UMAP", "umap-learn", _umap, compiles_above=4096),
    "trimap": Method("TriMap", "trimap", _trimap),
    "phate": Method("PHATE", "phate", _phate),
    "hnne": Method("h-NNE", "hnne", _hnne, compiles_above=20_000),
    "negtsne": Method("Neg-t-SNE", "contrastive-ne", _contrastive(loss_mode="neg")),
    "infonc": Method("InfoNC-t-SNE", "contrastive-ne", _contrastive()),
    "ncvis": Method(
        "NCVis",
        "contrastive-ne",
        _contrastive(loss_mode="nce", optimizer="adam", parametric=True),
    ),
    "largevis": Method("LargeVis", "torchdr", _largevis),
    "pacmap": Method("PaCMAP", "pacmap", _pacmap("PaCMAP")),
    "localmap": Method("LocalMAP (published)", "pacmap", _pacmap("LocalMAP")),
    "ours": Method("LocalMAP (ours)", "localmap", _ours("LocalMAP")),
    "ours_paper": Method(
        "LocalMAP (ours, distance 10)",
        "localmap",
        _ours("LocalMAP", proximal_distance=10.0),
    ),
    "ours_pacmap": Method("PaCMAP (ours)", "localmap", _ours("PaCMAP")),
    "weights": Method(
        "near weights only",
        "localmap",
        _part(Rule(locality=1.0, strength=5.0)),
    ),
    "pairs": Method(
        "local further pairs only",
        "localmap",
        _part(Rule(locality=1.0, reach=10.0, redraw_every=10)),
    ),
}

# The twelve of the paper, and ours.
COMPARED: Final = (
    "pca", "tsne", "umap", "trimap", "phate", "hnne", "negtsne", "infonc", "ncvis",
    "largevis", "pacmap", "localmap", "ours",
)  # fmt: skip
