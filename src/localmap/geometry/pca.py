"""Step 1: bring the data to one unit, centre it, and reduce it by PCA.

Units do not matter. Data is divided by a power of two near its largest deviation
from the centre, which is exact: ``1024 * X`` gives the same bits as ``X``, and numbers
beyond the range of float32 need no care. The data is read in blocks of rows, so data
with more rows than columns is not copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse

from localmap import kernels
from localmap.geometry import sparse_pca
from localmap.geometry.blocks import BLOCK, blocks, in_blocks
from localmap.geometry.distances import METRICS, ROUNDING, Metric
from localmap.geometry.scaling import ColumnScaling, scaling_of

Floats: TypeAlias = NDArray[np.float32]

# Above this many rows and columns an exact decomposition costs more than the map.
EXACT_PCA: Final = 3000

# The centre is rounded to this fraction of the unit: small integers stay exact, so
# that equal distances stay equal in any unit.
CENTRE_GRID: Final = 1024.0

# Units by which float32 numbers can be divided without leaving float32.
FLOAT32_UNITS: Final = (2.0**-100, 2.0**100)


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """What was done to the data: ``(rows - centre) / unit @ components``."""

    metric: str
    centre: NDArray[np.float64]
    unit: float
    components: Floats | None
    scaling: ColumnScaling | None = None  # of the columns, before all else

    def apply(self, X: Any, n_threads: int = 1) -> Floats:
        """Bring rows to the space in which neighbours are searched."""
        if _is_wide_and_sparse(X) and self.components is not None:
            return sparse_pca.project(
                _scaled(X, self.scaling),
                self.metric,
                self.centre,
                self.unit,
                self.components,
            )
        d = X.shape[1] if self.components is None else self.components.shape[1]
        Z = np.empty((X.shape[0], d), dtype=np.float32)
        for rows, centred in in_blocks(X, self.centred, n_threads):
            Z[rows] = centred if self.components is None else centred @ self.components
        return Z

    def apply_by_row(self, X: Any, n_threads: int = 1) -> Floats:
        """Bring rows there one by one: the same bits whatever batch a row is in."""
        if _is_wide_and_sparse(X) and self.components is not None:
            return self.apply(X)
        d = X.shape[1] if self.components is None else self.components.shape[1]
        Z = np.empty((X.shape[0], d), dtype=np.float32)
        for rows in blocks(X):
            centred = self.centred(X[rows], farthest=sparse_pca.FARTHEST)
            if self.components is not None:
                centred = kernels.project(centred, self.components, n_threads)
            Z[rows] = centred
        return Z

    def centred(self, block: Any, farthest: float | None = None) -> Floats:
        """Normalise, centre and scale rows; no projection.

        Training rows lie within the unit. Others may be anywhere: `farthest` keeps
        their distances among the numbers.
        """
        block = _prepared(_scaled(block, self.scaling), METRICS[self.metric])
        dtype = np.result_type(block.dtype, np.float32)
        if not FLOAT32_UNITS[0] < self.unit < FLOAT32_UNITS[1]:
            dtype = np.dtype(np.float64)
        # Dividing by a power of two first is exact, and numbers of any type are turned
        # into floats on the way.
        with np.errstate(over="ignore"):
            centred = np.multiply(block, dtype.type(1.0 / self.unit), dtype=dtype)
        centred -= (self.centre / self.unit).astype(dtype)
        if farthest is not None:
            np.clip(centred, -farthest, farthest, out=centred)
        result: Floats = centred.astype(np.float32, copy=False)
        return result


def preprocess(
    X: Any,
    metric: str = "euclidean",
    pca_components: int | None = 100,
    n_threads: int = 1,
    scale: str = "none",
) -> tuple[Floats, Preprocessing]:
    """Centre X and, if it has more than `pca_components` columns, reduce it by PCA.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Numbers of any type; not changed.
    metric : str
        Some normalise each row first, so they do not depend on its scale. Metrics that
        are no Euclidean distance of prepared rows keep all columns.
    pca_components : int or None
        Number of components to keep; None keeps the columns as they are.
    n_threads : int
        Threads that turn the data into floats; linear algebra has its own.
    scale : {"none", "standard", "robust"}
        What columns are divided by first.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_kept), float32
        The data in which distances are taken.
    preprocessing : Preprocessing
        What was done, to do it to other rows.
    """
    n, D = X.shape
    needs = METRICS[metric]
    reduced_to = min(D if pca_components is None else pca_components, n)
    if not needs.euclidean or pca_components is None or pca_components >= D:
        reduced_to = D
    if _is_wide_and_sparse(X):
        if reduced_to == D:
            msg = (
                f"Sparse data with {D} columns would be filled in with zeros: set "
                "pca_components to a number below that, 100 for example."
            )
            raise ValueError(msg)
        return _preprocess_sparse(X, metric, reduced_to, scale)
    scaling = scaling_of(X, scale)
    centre, unit = _centre_and_unit(X, metric, n_threads, scaling)
    if not needs.centred:
        centre = np.zeros(D)
    if needs.binary:  # zeros and ones
        unit = 1.0
    plain = Preprocessing(metric, centre, unit, None, scaling)
    if needs.equality:
        _refuse_merged(X, plain)
    if reduced_to == D:
        return plain.apply(X, n_threads), plain
    axes = _principal_axes(X, plain, reduced_to, n_threads)
    components = np.ascontiguousarray(axes, dtype=np.float32)
    reduced = replace(plain, components=components)
    return reduced.apply(X, n_threads), reduced


def _preprocess_sparse(
    X: Any, metric: str, k: int, scale: str
) -> tuple[Floats, Preprocessing]:
    """Do the same without filling in zeros."""
    scaling = scaling_of(X, scale)
    S, shift = sparse_pca.prepared(_scaled(X, scaling), METRICS[metric])
    centre, extent = sparse_pca.centre_and_extent(S, shift)
    _refuse_equal_rows(extent, metric)
    unit = power_of_two(extent)
    axes = _signed(sparse_pca.principal_axes(S, shift, centre, unit, k))
    components = np.ascontiguousarray(axes, dtype=np.float32)
    reduced = Preprocessing(metric, centre, unit, components, scaling)
    return reduced.apply(X), reduced


def principal_components(Z: Floats, n_components: int) -> NDArray[np.float64]:
    """Scores of the first principal components, signs fixed.

    In double precision: for data of integers the result is the same in any unit.
    """
    n, d = Z.shape
    if n < d:  # by the products of rows, of which there are fewer
        centred = Z - Z.mean(axis=0, dtype=np.float64)
        products = centred @ centred.T
        left = _leading(products / np.trace(products), n_components)
        axes = centred.T @ left
        axes = _signed(axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-300))
        scores: NDArray[np.float64] = centred @ axes
        return scores
    if d > EXACT_PCA:
        from sklearn.utils.extmath import randomized_svd

        centred = Z - Z.mean(axis=0, dtype=np.float64).astype(np.float32)
        left, values, _ = randomized_svd(centred, n_components, random_state=0)
        return _signed((left * values).astype(np.float64))
    second, mean = np.zeros((d, d)), np.zeros(d)
    for rows in blocks(Z):
        block = Z[rows].astype(np.float64)
        second += block.T @ block
        mean += block.sum(axis=0) / n
    covariance = second - n * np.outer(mean, mean)
    axes = _leading(covariance / np.trace(covariance), n_components)
    return np.concatenate([(Z[rows] - mean) @ axes for rows in blocks(Z)])


def _scaled(block: Any, scaling: ColumnScaling | None) -> Any:
    return block if scaling is None else scaling.apply(block)


def _prepared(block: Any, metric: Metric) -> NDArray[Any]:
    """Return rows, filled in, as the metric compares them."""
    return metric.prepare(block.toarray() if issparse(block) else block)


def _centre_and_unit(
    X: Any, metric: str, n_threads: int, scaling: ColumnScaling | None = None
) -> tuple[NDArray[np.float64], float]:
    """Column means (on a grid) and the power of two of the largest deviation."""
    n, D = X.shape
    low, high = np.full(D, np.inf), np.full(D, -np.inf)
    total = np.zeros(D)

    def extent(block: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        block = _prepared(_scaled(block, scaling), METRICS[metric])
        block = block.astype(np.result_type(block.dtype, np.float32), copy=False)
        with np.errstate(over="ignore"):
            # Dividing first keeps the mean of huge numbers finite.
            mean = (block / n).sum(axis=0, dtype=np.float64)
        return block.min(axis=0), block.max(axis=0), mean

    for _, (lowest, highest, mean) in in_blocks(X, extent, n_threads):
        np.minimum(low, lowest, out=low)
        np.maximum(high, highest, out=high)
        total += mean
    centre = np.clip(total, low, high)
    deviation = np.maximum(high / 2 - centre / 2, centre / 2 - low / 2).max()
    _refuse_equal_rows(deviation, metric)
    unit = power_of_two(deviation)
    return np.round(centre / unit * CENTRE_GRID) / CENTRE_GRID * unit, unit


def _refuse_merged(X: NDArray[Any], plain: Preprocessing) -> None:
    """Refuse numbers that are different and would be equal in single precision."""
    if X.dtype.itemsize < 4:
        return
    for column in range(X.shape[1]):
        part = _of_columns(plain, [column])
        numbers = X[:, [column]]
        if len(np.unique(part.centred(numbers))) < len(np.unique(numbers)):
            msg = (
                f"metric={plain.metric!r} asks which numbers are equal, and column "
                f"{column} has numbers that differ by less than single precision can "
                "tell. Replace them by codes first, for example with "
                "sklearn.preprocessing.OrdinalEncoder."
            )
            raise ValueError(msg)


def _refuse_equal_rows(deviation: float, metric: str) -> None:
    if deviation > (ROUNDING if METRICS[metric].by_row else 0.0):
        return
    msg = (
        "All rows of X are equal"
        + ("" if metric == "euclidean" else f" under metric={metric!r}")
        + ": there is no structure to map. Check that the right columns were read."
    )
    raise ValueError(msg)


def power_of_two(largest: float) -> float:
    """Return the power of two by which numbers up to `largest` are divided."""
    return float(2.0 ** np.clip(np.ceil(np.log2(largest)) + 1, -1020, 1020))


def _is_wide_and_sparse(X: Any) -> bool:
    return bool(issparse(X) and X.shape[1] > EXACT_PCA)


def _principal_axes(
    X: Any, plain: Preprocessing, k: int, n_threads: int
) -> NDArray[np.float64]:
    """Principal axes by the cheapest route for the shape at hand.

    Exact if there are at most `EXACT_PCA` rows or columns, randomised above.
    """
    n, D = X.shape
    if max(EXACT_PCA, n) >= D and min(n, D) <= EXACT_PCA:
        covariance = np.zeros((D, D))
        mean = np.zeros(D)
        for _, block in in_blocks(X, plain.centred, n_threads):
            covariance += block.T @ block
            mean += np.ones(len(block), dtype=np.float32) @ block / n
        # The centre lies on a grid; what is left of the mean goes here.
        covariance -= n * np.outer(mean, mean)
        return _leading(covariance, k)
    if n <= EXACT_PCA:
        # Single precision: that of the products themselves.
        products = np.zeros((n, n), dtype=np.float32)
        for columns in _wide_blocks(X, plain):
            products += columns @ columns.T
        # The centre lies on a grid; taking what is left of the mean out of the products
        # makes the vectors blind to it.
        products -= products.mean(axis=0)
        products -= products.mean(axis=1, keepdims=True)
        vectors = _leading(products, min(k, n))
        axes = np.empty((D, vectors.shape[1]), dtype=np.float32)
        done = 0
        for columns in _wide_blocks(X, plain):
            axes[done : done + columns.shape[1]] = columns.T @ vectors
            done += columns.shape[1]
    else:
        from sklearn.utils.extmath import randomized_svd

        centred = plain.apply(X, n_threads)
        centred -= centred.mean(axis=0, dtype=np.float64).astype(np.float32)
        axes = randomized_svd(centred, k, n_iter=4, random_state=0)[2].T
    return _signed(axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-30))


def _of_columns(plain: Preprocessing, columns: slice | list[int]) -> Preprocessing:
    """Return what is done to some of the columns."""
    scaling = plain.scaling
    if scaling is not None:
        scaling = ColumnScaling(scaling.spread[columns])
    return replace(plain, centre=plain.centre[columns], scaling=scaling)


def _wide_blocks(X: NDArray[Any], plain: Preprocessing) -> Iterator[Floats]:
    """Yield centred blocks of columns, so that wide data is not copied whole.

    Metrics that normalise rows need all columns of a row at once: one block.
    """
    n, D = X.shape
    width = D if METRICS[plain.metric].by_row else max(64, BLOCK // n)
    for start in range(0, D, width):
        columns = slice(start, start + width)
        part = _of_columns(plain, columns)
        yield part.apply(X[:, columns])


def _leading(symmetric: NDArray[Any], k: int) -> NDArray[Any]:
    """Eigenvectors of the k largest eigenvalues, largest first, signs fixed."""
    size = len(symmetric)
    vectors = eigh(symmetric, subset_by_index=(max(0, size - k), size - 1))[1]
    return _signed(vectors[:, ::-1])


def _signed(axes: NDArray[Any]) -> NDArray[Any]:
    """Make the largest entry of each axis positive."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    signs = np.where(largest < 0, -1, 1).astype(axes.dtype)
    result: NDArray[Any] = axes * signs
    return result
