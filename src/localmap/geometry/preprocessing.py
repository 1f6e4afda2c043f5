"""Step 1: bring the data to one unit, centre it, and reduce it by PCA.

Units do not matter. Data is divided by a power of two near its largest deviation
from the centre, which is exact: ``1024 * X`` gives the same bits as ``X``, and numbers
beyond the range of float32 need no care. The data is read in parts and blocks of rows
that follow from its shape alone, so that it is not copied whole, and the same numbers
give the same bits whatever kind of array they come in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from localmap import kernels
from localmap.geometry import pca, sparse_pca
from localmap.geometry.blas import one_thread
from localmap.geometry.blocks import MOST_BLOCKS, blocks, come_sparse, in_blocks
from localmap.geometry.distances import METRICS, ROUNDING, Metric
from localmap.geometry.scaling import ColumnScaling, scaling_of
from localmap.geometry.workshop import Part, Workshop, parts_of

Floats: TypeAlias = NDArray[np.float32]

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

    def apply_by_row(self, X: Any, n_threads: int = 1) -> Floats:
        """Bring rows there one by one: the same bits whatever batch a row is in."""
        if _are_wide_and_sparse(X) and self.components is not None:
            return self.projected(X, self.components)
        Z = np.empty((X.shape[0], self.n_columns), dtype=np.float32)

        def brought(block: Any) -> Floats:
            centred = self.centred(block, farthest=sparse_pca.FARTHEST)
            if self.components is None:
                return centred
            return kernels.project(centred, self.components, n_threads // at_once)

        at_once = min(n_threads, MOST_BLOCKS, max(1, len(list(blocks(X)))))
        for rows, block in in_blocks(X, brought, n_threads):
            Z[rows] = block
        return Z

    @property
    def n_columns(self) -> int:
        """Number of columns that neighbours are searched in."""
        return len(self.centre) if self.components is None else self.components.shape[1]

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
            centred = np.multiply(
                block, dtype.type(1.0 / self.unit), dtype=dtype, order="C"
            )
        centred -= (self.centre / self.unit).astype(dtype)
        if farthest is not None:
            np.clip(centred, -farthest, farthest, out=centred)
        result: Floats = centred.astype(np.float32, copy=False)
        return result

    def sparse(self, block: Any) -> tuple[csr_array, NDArray[np.float64]]:
        """Return rows as the metric compares them, and what is off each of them."""
        return sparse_pca.prepared(_scaled(block, self.scaling), METRICS[self.metric])

    def projected(self, block: Any, components: Floats) -> Floats:
        """Bring sparse rows to the components, no zero filled in."""
        return sparse_pca.project(
            *self.sparse(block), self.centre, self.unit, components
        )

    def in_bytes(self, block: Any) -> NDArray[np.uint8] | None:
        """Return rows in 256ths of the unit, if all are whole and bytes hold them."""
        numbers = _prepared(_scaled(block, self.scaling), METRICS[self.metric])
        times = pca.BYTES / self.unit
        if numbers.dtype == np.uint8 and times == 1.0:
            return numbers
        first = _whole(numbers[:1], times)  # tells of most data
        return None if first is None else _whole(numbers, times)


def preprocess(
    X: Any,
    metric: str = "euclidean",
    pca_components: int | None = 100,
    scale: str = "none",
    workshop: Workshop | None = None,
) -> tuple[Floats, Preprocessing]:
    """Centre X and, if it has more than `pca_components` columns, reduce it by PCA.

    Parameters
    ----------
    X : rows of shape (n_samples, n_features)
        An array, a sparse matrix, or what can be read in blocks of rows. Numbers of any
        type; not changed.
    metric : str
        Some normalise each row first, so they do not depend on its scale. Metrics that
        are no Euclidean distance of prepared rows keep all columns.
    pca_components : int or None
        Number of components to keep; None keeps the columns as they are.
    scale : {"none", "standard", "robust"}
        What columns are divided by first.
    workshop : Workshop
        Where it is done; in memory, by one thread, unless told.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_kept), float32
        The data in which distances are taken.
    preprocessing : Preprocessing
        What was done, to do it to other rows.
    """
    workshop = workshop or Workshop()
    measured = measure(X, metric, pca_components, scale, workshop)
    return bring(X, measured, workshop), measured


def measure(
    X: Any, metric: str, pca_components: int | None, scale: str, workshop: Workshop
) -> Preprocessing:
    """Find out what is to be done to the rows of X; see `preprocess`."""
    n, D = X.shape
    needs = METRICS[metric]
    reduced_to = min(D if pca_components is None else pca_components, n)
    if not needs.euclidean or pca_components is None or pca_components >= D:
        reduced_to = D
    if _are_wide_and_sparse(X):
        if reduced_to == D:
            msg = (
                f"Sparse data with {D} columns would be filled in with zeros: set "
                "pca_components to a number below that, 100 for example."
            )
            raise ValueError(msg)
        return _measure_sparse(X, metric, reduced_to, scale, workshop)
    scaling = scaling_of(X, scale)
    centre, unit = _centre_and_unit(X, metric, scaling, workshop)
    if not needs.centred:
        centre = np.zeros(D)
    if needs.binary:  # zeros and ones
        unit = 1.0
    plain = Preprocessing(metric, centre, unit, None, scaling)
    if needs.equality:
        _refuse_merged(X, plain)
    if reduced_to == D:
        return plain
    axes = pca.principal_axes(
        X, plain, _of_columns, reduced_to, workshop, whole_rows=needs.by_row
    )
    components = np.ascontiguousarray(axes, dtype=np.float32)
    return replace(plain, components=components)


def bring(X: Any, measured: Preprocessing, workshop: Workshop) -> Floats:
    """Bring the rows of X to the space in which neighbours are searched."""
    Z: Floats = workshop.array("rows", (X.shape[0], measured.n_columns), np.float32)
    workshop.run("project", workshop.parts(X), _project, measured, X=X, into=(Z,))
    return Z


def _project(
    part: Part, X: Any, applied: Preprocessing, Z: Floats, n_threads: int
) -> None:
    """Bring the rows of a part to the space in which neighbours are searched."""
    del part
    if _are_wide_and_sparse(X) and applied.components is not None:
        Z[:] = applied.projected(X, applied.components)
        return

    def brought(block: Any) -> Floats:
        centred = applied.centred(block)
        return centred if applied.components is None else centred @ applied.components

    with one_thread():
        for rows, block in in_blocks(X, brought, n_threads):
            Z[rows] = block


def _measure_sparse(
    X: Any, metric: str, k: int, scale: str, workshop: Workshop
) -> Preprocessing:
    """Do the same without filling in zeros."""
    n, D = X.shape
    as_is = Preprocessing(metric, np.zeros(D), 1.0, None, scaling_of(X, scale))
    low, high, total = np.full(D, np.inf), np.full(D, -np.inf), np.zeros(D)
    for lowest, highest, sums in workshop.each(
        "extent", parts_of(X), _sparse_extent, as_is, X=X
    ):
        np.minimum(low, lowest, out=low)
        np.maximum(high, highest, out=high)
        total += sums
    centre = total / n
    extent = float(np.maximum(high / 2 - centre / 2, centre / 2 - low / 2).max())
    _refuse_equal_rows(extent, metric)
    plain = replace(as_is, centre=centre, unit=power_of_two(extent))

    def times(span: NDArray[np.float64]) -> NDArray[np.float64]:
        narrow, product = span.astype(np.float32), np.zeros(span.shape)
        for of_part in workshop.each(
            "moments", parts_of(X), _sparse_moments, plain, narrow, X=X
        ):
            product += of_part
        return product

    axes = pca.by_iteration(times, (n, D), k)
    return replace(plain, components=np.ascontiguousarray(axes, dtype=np.float32))


def _sparse_extent(
    part: Part, X: Any, as_is: Preprocessing, n_threads: int
) -> tuple[NDArray[np.float64], ...]:
    del part, n_threads
    return sparse_pca.extent(*as_is.sparse(X))


def _sparse_moments(
    part: Part, X: Any, plain: Preprocessing, span: Floats, n_threads: int
) -> NDArray[np.float64]:
    del part, n_threads
    with one_thread():
        return sparse_pca.second_moments(
            *plain.sparse(X), plain.centre, plain.unit, span
        )


def _scaled(block: Any, scaling: ColumnScaling | None) -> Any:
    return block if scaling is None else scaling.apply(block)


def _prepared(block: Any, metric: Metric) -> NDArray[Any]:
    """Return rows, filled in, as the metric compares them."""
    return metric.prepare(
        block.toarray() if issparse(block) else np.ascontiguousarray(block)
    )


def _centre_and_unit(
    X: Any, metric: str, scaling: ColumnScaling | None, workshop: Workshop
) -> tuple[NDArray[np.float64], float]:
    """Column means (on a grid) and the power of two of the largest deviation."""
    n, D = X.shape
    low, high = np.full(D, np.inf), np.full(D, -np.inf)
    total = np.zeros(D)
    for lowest, highest, means in workshop.each(
        "extent", workshop.parts(X), _extent, metric, scaling, n, X=X
    ):
        np.minimum(low, lowest, out=low)
        np.maximum(high, highest, out=high)
        for mean in means:  # block by block, whatever the parts are
            total += mean
    centre = np.clip(total, low, high)
    deviation = np.maximum(high / 2 - centre / 2, centre / 2 - low / 2).max()
    _refuse_equal_rows(deviation, metric)
    unit = power_of_two(deviation)
    return np.round(centre / unit * CENTRE_GRID) / CENTRE_GRID * unit, unit


def _extent(
    part: Part,
    X: Any,
    metric: str,
    scaling: ColumnScaling | None,
    n: int,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return the least and largest number of each column, and each block's mean."""
    del part
    D = X.shape[1]
    low, high, means = np.full(D, np.inf), np.full(D, -np.inf), []

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
        means.append(mean)
    return low, high, means


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


def _whole(rows: NDArray[Any], times: float) -> NDArray[np.uint8] | None:
    """Return so many times the numbers, if all are bytes then."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.multiply(rows, times, dtype=np.float64)
    if not (numbers.min() >= 0 and numbers.max() < pca.BYTES):
        return None
    whole = numbers.astype(np.uint8)
    return whole if np.array_equal(whole, numbers) else None


def _are_wide_and_sparse(X: Any) -> bool:
    return come_sparse(X) and X.shape[1] > pca.EXACT_PCA


def _of_columns(plain: Preprocessing, columns: slice | list[int]) -> Preprocessing:
    """Return what is done to some of the columns."""
    scaling = plain.scaling
    if scaling is not None:
        scaling = ColumnScaling(scaling.spread[columns])
    return replace(plain, centre=plain.centre[columns], scaling=scaling)
