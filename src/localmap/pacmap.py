"""PaCMAP as a scikit-learn estimator: all that both estimators share."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from localmap.embed import embed
from localmap.inputs import check_finite, numeric_table
from localmap.kernels import thread_count
from localmap.model_file import write_model
from localmap.parameters import Parameters, random_key
from localmap.place import place
from localmap.preprocess import ROW_METRICS
from localmap.space import PRECOMPUTED, check_distances

# Metrics for which zeros need not be filled in.
SPARSE_METRICS: Final = (*ROW_METRICS, PRECOMPUTED)


class PaCMAP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Map data to a few dimensions with PaCMAP.

    The same loop as `LocalMAP` with ``locality=0``: the graph of pairs stays as it is.
    PaCMAP keeps continuous shapes whole; LocalMAP separates neighbouring groups.

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

    References
    ----------
    Wang, Huang, Rudin, Shaposhnik (2021), "Understanding How Dimension Reduction Tools
    Work", JMLR 22(201).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import PaCMAP
    >>> X, y = load_digits(return_X_y=True)
    >>> PaCMAP(random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | Literal["auto"] = 10,
        mid_near_ratio: float = 0.5,
        further_ratio: float = 2.0,
        metric: str = "euclidean",
        init: str | ArrayLike = "pca",
        n_iters: tuple[int, int, int] = (100, 100, 250),
        learning_rate: float = 1.0,
        pca_components: int | None = 100,
        random_state: Any = None,
        n_jobs: int | None = -1,
        callback: Callable[[int, NDArray[np.float32], float], object] | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.mid_near_ratio = mid_near_ratio
        self.further_ratio = further_ratio
        self.metric = metric
        self.init = init
        self.n_iters = n_iters
        self.learning_rate = learning_rate
        self.pca_components = pca_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    # What a subclass's parameters do not say.
    _fixed: ClassVar[dict[str, Any]] = {"locality": 0.0}

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
        random_state = settings.pop("random_state")
        params = Parameters(**self._fixed, **settings)
        key = random_key(random_state)
        data = self._checked(X, params.metric, reset=True, ensure_min_samples=2)
        if not isinstance(params.init, str):
            self._check_start(params.init, (data.shape[0], params.n_components))
        result = embed(data, params, key)
        self.n_neighbors_ = result.counts.near
        self.neighbor_recall_ = result.neighbor_recall
        self.n_iter_ = result.n_iter
        self.stage_seconds_ = result.seconds
        self._learned(params, result.reach)
        self._fitted = result.fitted
        self.embedding_ = (
            result.fitted.Y.copy()
        )  # the user's own, to do with as they like
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
        return self.fit(X, y).embedding_

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
        metric = self._fitted.space.metric
        data = self._checked(X, metric, reset=False)
        if metric == PRECOMPUTED:
            check_distances(data)
        Y, distance = place(self._fitted, data, thread_count(self.n_jobs))
        return (Y, distance) if return_distance else Y

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
            self.get_params(deep=False),
            {k: v for k, v in vars(self).items() if k.endswith("_")},
            self._fitted,
        )

    def _learned(self, params: Parameters, reach: float) -> None:
        """Set the attributes that only a subclass has."""

    def _checked(self, X: Any, metric: str, **how: Any) -> Any:
        """Return finite numbers, dense or as rows of a sparse matrix."""
        data = validate_data(
            self,
            numeric_table(X),
            accept_sparse="csr" if metric in SPARSE_METRICS else False,
            dtype="numeric",
            ensure_all_finite=False,
            **how,
        )
        check_finite(data, getattr(self, "feature_names_in_", None))
        return data

    @staticmethod
    def _check_start(init: Any, shape: tuple[int, int]) -> None:
        start = check_array(init, input_name="init", ensure_min_samples=0)
        if start.shape != shape:
            msg = (
                "init must have one row for each sample and one column for each "
                f"component, shape {shape}; got shape {start.shape}."
            )
            raise ValueError(msg)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.input_tags.sparse = self.metric in SPARSE_METRICS
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")
