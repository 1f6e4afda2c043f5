"""What both estimators are: a scikit-learn transformer around `embed`."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from localmap.estimators.display import fragment
from localmap.estimators.inputs import (
    as_numbers,
    check_columns,
    deciding_columns,
    doubt_distances,
    numbers_of,
)
from localmap.estimators.model_file import write_model
from localmap.geometry.cells import by_row
from localmap.geometry.distances import METRICS, PRECOMPUTED, SPARSE
from localmap.geometry.finite import check_finite
from localmap.geometry.neighbors import EXACT_ROWS
from localmap.geometry.precomputed import check_distances
from localmap.geometry.rows import RowSpace
from localmap.geometry.workshop import Workshop
from localmap.kernels import thread_count
from localmap.method.embed import embed
from localmap.method.optimize import say
from localmap.method.out_of_sample import FittedMap, place
from localmap.method.parameters import Parameters, random_key
from localmap.scale.check import look_at
from localmap.scale.choose import workshop_for
from localmap.scale.scratch import OnDisk
from localmap.scale.sources import is_dask, source_of


class MapEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A map as a scikit-learn estimator; see `LocalMAP` and `PaCMAP`."""

    def __init__(
        self,
        n_components: int = Parameters.n_components,
        *,
        n_neighbors: int | Literal["auto"] = Parameters.n_neighbors,
        mid_near_ratio: float = Parameters.mid_near_ratio,
        further_ratio: float = Parameters.further_ratio,
        metric: str = Parameters.metric,
        scale: str = Parameters.scale,
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
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.mid_near_ratio = mid_near_ratio
        self.further_ratio = further_ratio
        self.metric = metric
        self.scale = scale
        self.init = init
        self.n_iters = n_iters
        self.learning_rate = learning_rate
        self.pca_components = pca_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.scratch = scratch
        self.callback = callback
        self.verbose = verbose

    # What an estimator's parameters do not say.
    _fixed: ClassVar[dict[str, Any]] = {}

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Lay out the rows of X.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            The data: finite numbers, at least two rows. With ``metric="precomputed"``
            distances, of shape (n_samples, n_samples).
        y : object
            Ignored; here for scikit-learn's pipelines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        del y
        self.__dict__.pop("embedding_", None)  # an interrupted refit is unfitted
        settings = self.get_params(deep=False)
        params = Parameters(
            **self._fixed, **{k: v for k, v in settings.items() if k != "random_state"}
        )
        key = random_key(settings["random_state"])
        source = source_of(X)
        if source is not None:
            data = self._source(source, params.metric)
        else:
            data = self._checked(X, params.metric, reset=True, ensure_min_samples=2)
        if params.metric != PRECOMPUTED:
            doubt_distances(X)
        if not isinstance(params.init, str):
            self._check_start(params.init, (data.shape[0], params.n_components))
        if params.verbose and source is None:
            names = getattr(self, "feature_names_in_", None)
            told = deciding_columns(data, params.metric, params.scale, names)
            if told is not None:
                say(f"{told}; scale='standard' lets all count")
        with workshop_for(data, params) as workshop:
            if source is not None or isinstance(workshop, OnDisk):
                names = getattr(self, "feature_names_in_", None)
                digest = look_at(data, workshop, names)
                if isinstance(workshop, OnDisk):
                    workshop.accept(digest)
            result = embed(data, params, key, workshop)
        self.n_neighbors_ = result.counts.near
        self.neighbor_recall_ = result.neighbor_recall
        self.n_iter_ = result.n_iter
        self.stage_seconds_ = result.seconds
        self.far_distance_ = result.fitted.far
        self._learned(result.fitted)
        self._fitted = result.fitted
        self._fitted_with = settings
        # The user's own, to do with as they like.
        self.embedding_ = result.Y.copy()
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> NDArray[np.float32]:
        """Lay out the rows of X and return the map.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            The data: finite numbers, at least two rows. With ``metric="precomputed"``
            distances, of shape (n_samples, n_samples).
        y : object
            Ignored; here for scikit-learn's pipelines.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
            The map, `embedding_`.
        """
        self.fit(X, y)
        if is_dask(X):
            from localmap.estimators.lazy import in_chunks_of

            return in_chunks_of(X, self.embedding_)  # type: ignore[no-any-return]
        return self.embedding_

    def transform(
        self, X: ArrayLike, *, return_distance: bool = False
    ) -> NDArray[np.float32] | tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Place new rows in the map.

        A row equal to a training row lands on it. Others are pulled by the training
        rows nearest to them and pushed by points around them, while the map stays. The
        place of a row does not depend on the other rows it comes with.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of the training data. With ``metric="precomputed"``
            distances to the training rows, all or (sparse) those of the nearest.
        return_distance : bool, default=False
            Also return how far each row is from those seen in training.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
            Places in the map.
        distance : ndarray of shape (n_samples,)
            Only with `return_distance`. The mean distance of the row to its 4th to 6th
            nearest training row, in units of what that is among those rows themselves:
            about 1 for rows like those seen. Rows far above 1 have no place in the map
            and are put at the nearest one.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from localmap import LocalMAP
        >>> X = load_digits().data
        >>> model = LocalMAP(random_state=0).fit(X[:1500])
        >>> model.transform(X[1500:]).shape
        (297, 2)
        """
        check_is_fitted(self)
        if is_dask(X):
            from localmap.estimators.lazy import lazily_placed

            return lazily_placed(  # type: ignore[no-any-return]
                self, X, with_distance=return_distance
            )
        metric = self._fitted.space.metric
        source = source_of(X)
        if source is not None:
            data = self._source(source, metric, reset=False)
            look_at(data, Workshop())
        else:
            data = self._checked(X, metric, reset=False)
        if metric == PRECOMPUTED:
            check_distances(data)
        Y, distance = place(self._fitted, data, thread_count(self.n_jobs))
        return (Y, distance) if return_distance else Y

    def kneighbors(self, n_neighbors: int = 10) -> NDArray[np.int32]:
        """Find the nearest training rows of each training row.

        Parameters
        ----------
        n_neighbors : int, default=10
            How many of each.

        Returns
        -------
        indices : ndarray of shape (n_samples, n_neighbors)
            Other training rows, closest first.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from localmap import LocalMAP
        >>> model = LocalMAP(random_state=0).fit(load_digits().data)
        >>> model.kneighbors(5).shape
        (1797, 5)
        """
        check_is_fitted(self)
        space = self._fitted.space
        if not isinstance(space, RowSpace):
            msg = "A model of given distances keeps none of them: ask what gave them."
            raise ValueError(msg)  # noqa: TRY004 - it is a matter of the metric
        if not 1 <= n_neighbors < len(space):
            msg = (
                f"n_neighbors must be from 1 to {len(space) - 1}, the other training "
                f"rows; got {n_neighbors}."
            )
            raise ValueError(msg)
        workshop = Workshop(thread_count(self.n_jobs))
        found = space.neighbors(n_neighbors, workshop, at=n_neighbors).indices
        return found if space.order is None else by_row(space.order, space.order[found])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file, which `localmap.load` reads.

        The file holds numbers and settings, nothing that is executed on loading. It is
        written beside `path` first and then moved there: an interrupted or failed save
        leaves what was there.

        Parameters
        ----------
        path : str or path-like
            Where to write; by custom with the ending ``.localmap``.
        """
        check_is_fitted(self)
        write_model(
            path,
            type(self).__name__,
            self._fitted_with,  # what was fitted, not what may have been set since
            {k: v for k, v in vars(self).items() if k.endswith("_")},
            self._fitted,
        )

    def _learned(self, fitted: FittedMap) -> None:
        """Set the attributes that only one of the estimators has."""

    def _checked(self, X: Any, metric: str, **how: Any) -> Any:
        """Return finite numbers, dense or as rows of a sparse matrix."""
        data = validate_data(
            self,
            as_numbers(X, metric),
            accept_sparse="csr" if metric in SPARSE else False,
            dtype="numeric",
            ensure_all_finite=False,
            **how,
        )
        if data.dtype.kind not in "biuf":
            data = numbers_of(data)
        check_finite(data, getattr(self, "feature_names_in_", None))
        return data

    def _source(self, source: Any, metric: str, *, reset: bool = True) -> Any:
        """Return data that is read in parts, once it is clear that it can be."""
        n, D = source.shape
        if metric == PRECOMPUTED:
            msg = "Distances must be in memory; those of the nearest rows are enough."
            raise ValueError(msg)
        if reset:
            if n < 2 or D < 1:
                msg = f"X must have at least 2 rows and a column; got {n} x {D}."
                raise ValueError(msg)
            self.n_features_in_ = D
            self.__dict__.pop("feature_names_in_", None)
            if getattr(source, "names", None) is not None:
                self.feature_names_in_ = np.array(source.names, dtype=object)
        else:
            check_columns(self, source)
        # Few rows are worth no care, and some metrics compare all of them at once.
        small = n <= EXACT_ROWS or not METRICS[metric].euclidean
        return source[slice(0, n)] if small and reset else source

    @staticmethod
    def _check_start(init: Any, shape: tuple[int, int]) -> None:
        start = check_array(init, input_name="init", ensure_min_samples=0)
        if start.shape != shape:
            msg = (
                "init must have one row for each sample and one column for each "
                f"component, shape {shape}; got shape {start.shape}."
            )
            raise ValueError(msg)
        if len(start) > 1 and not np.ptp(start, axis=0).any():
            msg = (
                "init must hold different points; all are the same, and would stay so."
            )
            raise ValueError(msg)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the map: for notebooks."""
        shown = str(estimator_html_repr(self))
        return shown + fragment(self) if hasattr(self, "embedding_") else shown

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._html_repr()
        return bundle

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.input_tags.sparse = self.metric in SPARSE
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")
