"""LocalMAP as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.estimators.base import MapEstimator
from localmap.estimators.documentation import documented
from localmap.method.out_of_sample import FittedMap
from localmap.method.parameters import Parameters


@documented
class LocalMAP(MapEstimator):
    """Map data to a few dimensions so that groups that are real stand apart.

    LocalMAP is PaCMAP with a graph that is adjusted while the points move: near pairs
    that have become long lose their pull, and further pairs are redrawn among the
    points nearby, so that neighbouring groups separate.

    Parameters
    ----------
    <PAIRS>
    proximal_distance : float or "auto", default="auto"
        Reach of the local further pairs in the map. "auto" measures it as the map
        grows, and lets near pairs that share as many of their neighbours as is usual
        around them keep their pull, so that groups separate and what is one piece stays
        whole; see `localmap.method.adjust` for the rule. 10.0 is the paper's setting.
    near_strength : float or None, default=None
        Strength of the near force in the last phase. None is half of
        `proximal_distance`, as in the paper, or 1.79 if that is "auto".
    locality : float, default=1.0
        1 is LocalMAP, 0 is PaCMAP. In between, the near force of the last phase is
        ``1 - locality`` parts PaCMAP's and ``locality`` parts LocalMAP's, and the share
        `locality` of the further pairs is redrawn locally.
    <LAYOUT>

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    proximal_distance_ : float
        Reach of the local further pairs.
    near_strength_ : float
        Strength of the near force.
    <LEARNED>

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

    def __init__(
        self,
        n_components: int = Parameters.n_components,
        *,
        n_neighbors: int | Literal["auto"] = Parameters.n_neighbors,
        mid_near_ratio: float = Parameters.mid_near_ratio,
        further_ratio: float = Parameters.further_ratio,
        metric: str = Parameters.metric,
        scale: str = Parameters.scale,
        proximal_distance: float | Literal["auto"] = Parameters.proximal_distance,
        near_strength: float | None = Parameters.near_strength,
        locality: float = Parameters.locality,
        init: str | ArrayLike = Parameters.init,
        n_iters: tuple[int, ...] = Parameters.n_iters,
        learning_rate: float = Parameters.learning_rate,
        pca_components: int | None = Parameters.pca_components,
        random_state: Any = None,
        n_jobs: int | None = Parameters.n_jobs,
        memory_limit: str | float | None = Parameters.memory_limit,
        scratch: str | PathLike[str] | None = Parameters.scratch,
        callback: Callable[[int, NDArray[np.float32], float], object]
        | None = Parameters.callback,
        verbose: bool = Parameters.verbose,
    ) -> None:
        super().__init__(
            n_components,
            n_neighbors=n_neighbors,
            mid_near_ratio=mid_near_ratio,
            further_ratio=further_ratio,
            metric=metric,
            scale=scale,
            init=init,
            n_iters=n_iters,
            learning_rate=learning_rate,
            pca_components=pca_components,
            random_state=random_state,
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            scratch=scratch,
            callback=callback,
            verbose=verbose,
        )
        self.proximal_distance = proximal_distance
        self.near_strength = near_strength
        self.locality = locality

    def _learned(self, fitted: FittedMap) -> None:
        self.proximal_distance_ = float(fitted.reach)
        self.near_strength_ = float(fitted.rule.strength or 0.0)
