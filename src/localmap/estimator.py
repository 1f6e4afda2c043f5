"""LocalMAP as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.model_file import read_model
from localmap.pacmap import PaCMAP
from localmap.parameters import Parameters


class LocalMAP(PaCMAP):
    """Map data to a few dimensions so that groups that are real stand apart.

    LocalMAP is PaCMAP with a graph that is adjusted while the points move: near pairs
    that have become long lose their pull, and further pairs are redrawn among the
    points nearby, so that neighbouring groups separate.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the map.
    n_neighbors : int or "auto", default=10
        Near pairs of each point. "auto" is the authors' rule: 10 up to 10,000 rows,
        then ``10 + 15 * (log10(n_samples) - 4)``.
    mid_near_ratio : float, default=0.5
        Mid-near pairs of each point, as a multiple of `n_neighbors`.
    further_ratio : float, default=2.0
        Further pairs of each point, as a multiple of `n_neighbors`.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "chebyshev", \
"hamming", "jaccard", "precomputed"}, default="euclidean"
        Distance between rows. Cosine and correlation do not depend on the scale of a
        row. From "manhattan" on, all rows are compared with all rows and no PCA is
        done; "jaccard" asks of each number only whether it is 0. "precomputed": X
        holds distances, either of all rows to all rows or, as a sparse matrix, of each
        row to its nearest (scikit-learn's ``KNeighborsTransformer`` and its like;
        ``n_neighbors + 50`` of them are best).
    proximal_distance : float or "auto", default="auto"
        Reach of the local further pairs in the map. "auto" measures it as the map
        grows, and lets near pairs that share as many of their neighbours as is usual
        around them keep their pull, so that groups separate and what is one piece stays
        whole; see `localmap.proximal` for the rule. 10.0 is the paper's setting.
    near_strength : float or None, default=None
        Strength of the near force in the last phase. None is half of
        `proximal_distance`, as in the paper, or 1.79 if that is "auto".
    locality : float, default=1.0
        1 is LocalMAP, 0 is PaCMAP. In between, the near force of the last phase is
        ``1 - locality`` parts PaCMAP's and ``locality`` parts LocalMAP's, and the share
        `locality` of the further pairs is redrawn locally.
    init : {"pca", "random"} or array-like of shape (n_samples, n_components), \
default="pca"
        Where the points start. An array is used at its own scale.
    n_iters : tuple of three ints, default=(100, 100, 250)
        Iterations of the three phases.
    learning_rate : float, default=1.0
        Learning rate of Adam.
    pca_components : int or None, default=100
        Data with more columns is first reduced to this many by PCA; None leaves it.
    random_state : int, RandomState, Generator or None, default=None
        An integer makes the map reproducible: the same input and seed give the same
        bits, on any number of threads.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores, None one.
    callback : callable or None, default=None
        Called as ``callback(iteration, Y, loss)`` after each iteration, with a copy of
        the map and PaCMAP's loss before the move. Returning True stops the run.
    verbose : bool, default=False
        Show a progress bar with the phase and the loss.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    proximal_distance_ : float
        Reach of the local further pairs.
    near_strength_ : float
        Strength of the near force.
    n_neighbors_ : int
        Near pairs that each point was given; fewer than asked for on small data.
    neighbor_recall_ : float
        Share of the true nearest neighbours that were found, estimated on 500 rows;
        1 where the search was exact (up to 20,000 rows).
    n_iter_ : int
        Iterations run.
    stage_seconds_ : dict of str to float
        Time spent in each stage of the fit.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    PaCMAP : The same loop without local adjustment.

    References
    ----------
    Wang, Sun, Huang, Rudin (2025), "Dimension Reduction with Locally Adjusted Graphs",
    AAAI 39(20).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalMAP(random_state=0).fit(X)
    >>> model.embedding_.shape
    (1797, 2)
    >>> model.get_feature_names_out().tolist()
    ['localmap0', 'localmap1']
    """

    _fixed: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | Literal["auto"] = 10,
        mid_near_ratio: float = 0.5,
        further_ratio: float = 2.0,
        metric: str = "euclidean",
        proximal_distance: float | Literal["auto"] = "auto",
        near_strength: float | None = None,
        locality: float = 1.0,
        init: str | ArrayLike = "pca",
        n_iters: tuple[int, int, int] = (100, 100, 250),
        learning_rate: float = 1.0,
        pca_components: int | None = 100,
        random_state: Any = None,
        n_jobs: int | None = -1,
        callback: Callable[[int, NDArray[np.float32], float], object] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_components,
            n_neighbors=n_neighbors,
            mid_near_ratio=mid_near_ratio,
            further_ratio=further_ratio,
            metric=metric,
            init=init,
            n_iters=n_iters,
            learning_rate=learning_rate,
            pca_components=pca_components,
            random_state=random_state,
            n_jobs=n_jobs,
            callback=callback,
            verbose=verbose,
        )
        self.proximal_distance = proximal_distance
        self.near_strength = near_strength
        self.locality = locality

    def _learned(self, params: Parameters, reach: float) -> None:
        self.proximal_distance_ = float(reach)
        self.near_strength_ = float(params.strength)


def load(path: str | PathLike[str], *, mmap_mode: Literal["r"] | None = None) -> PaCMAP:
    """Read a model that `LocalMAP.save` or `PaCMAP.save` has written.

    Nothing in the file is executed, and all of it is checked before use.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {"r"} or None, default=None
        "r" leaves the training rows in the file and reads them as they are needed, so
        that processes share them until they place rows: more than 20,000 training rows
        are then copied into an index. The file must stay as it is (a new `save` to the
        same name does no harm).

    Returns
    -------
    model : LocalMAP or PaCMAP
        The fitted estimator.
    """
    kinds: dict[str, type[PaCMAP]] = {"LocalMAP": LocalMAP, "PaCMAP": PaCMAP}
    model, learned, fitted = read_model(path, kinds, mmap_mode)
    for name, value in learned.items():
        setattr(model, name, value)
    model._fitted = fitted  # noqa: SLF001
    model.embedding_ = fitted.Y.copy()
    return model
