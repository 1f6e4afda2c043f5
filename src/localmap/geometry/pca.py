"""Principal axes, by the cheapest route for the shape at hand.

Exact if there are at most `EXACT_PCA` rows or columns, by subspace iteration above
(Halko, Martinsson, Tropp 2011). Products are taken block by block and added up in
order, so that the same numbers give the same bits (`localmap.geometry.blas`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from localmap import kernels
from localmap.geometry.blas import one_thread
from localmap.geometry.blocks import BLOCK, blocks, in_blocks, in_order
from localmap.geometry.workshop import Part, Workshop, parts_of

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]

# Above this many rows and columns an exact decomposition costs more than the map.
EXACT_PCA: Final = 3000

# Columns beyond those asked for, and passes over the data, of the subspace iteration.
SPARE: Final = 10
PASSES: Final = 4

# Numbers in bytes are whole numbers of this part of the unit.
BYTES: Final = 256.0


class Centring(Protocol):
    """What brings rows to the centre and to one unit."""

    def centred(self, block: Any) -> Floats:
        """Return such rows."""


class Preparing(Centring, Protocol):
    """What brings rows there, and knows whether they are bytes."""

    def in_bytes(self, block: Any) -> NDArray[np.uint8] | None:
        """Return rows, not centred, in 256ths of the unit; None if bytes do not do."""


def principal_axes(
    X: Any,
    plain: Any,
    of_columns: Callable[[Any, slice], Preparing],
    k: int,
    workshop: Workshop,
    *,
    whole_rows: bool,
) -> NDArray[Any]:
    """Return up to `k` axes along which centred rows spread most, signs fixed.

    `plain` centres rows; `of_columns` says how to centre some of the columns alone,
    which metrics that need `whole_rows` do not allow.
    """
    n, D = X.shape
    if max(EXACT_PCA, n) >= D and min(n, D) <= EXACT_PCA:
        covariance = _exact_moments(X, plain, workshop)
        if covariance is None:
            covariance = _second_moments(X, plain, np.eye(0), workshop)
        with one_thread():
            return _leading(covariance, k)
    if n <= EXACT_PCA:
        with one_thread():
            return _axes_by_rows(X, plain, of_columns, k, workshop, whole_rows)
    return by_iteration(
        lambda span: _second_moments(X, plain, span, workshop), X.shape, k
    )


def _exact_moments(X: Any, plain: Preparing, workshop: Workshop) -> Doubles | None:
    """Return the centred second moments of columns of bytes; None if they are not."""
    n, D = X.shape
    total, sums = np.zeros((D, D)), np.zeros(D)
    for of_part in workshop.each("bytes", parts_of(X), _byte_moments, plain, X=X):
        if of_part is None:
            return None
        total += of_part[0]
        sums += of_part[1]
    return _mirrored(total) - np.outer(sums, sums / n)


def _byte_moments(
    part: Part, X: Any, plain: Preparing, n_threads: int
) -> tuple[Doubles, NDArray[np.int64]] | None:
    """Return the products and sums of columns of a part, if they are bytes."""
    del part
    exact = _Exact(lambda: kernels.ByteProducts(X.shape[1]))

    def add(block: Any) -> bool:
        rows = plain.in_bytes(block)
        if rows is not None:
            exact.add(rows)
        return rows is not None

    with one_thread():
        if not all(known for _, known in in_blocks(X, add, n_threads)):
            return None
    whole = exact.total()
    return None if whole is None else (whole.products, whole.sums)


class _Exact:
    """Exact sums, in as many arrays as are added to at once."""

    def __init__(self, make: Callable[[], kernels.ByteProducts]) -> None:
        self._make = make
        self._free: list[kernels.ByteProducts] = []

    def add(self, numbers: NDArray[np.uint8]) -> None:
        """Add to sums that nobody else adds to."""
        try:
            sums = self._free.pop()
        except IndexError:  # all are at work, or there are none yet
            sums = self._make()
        sums.add(numbers)
        self._free.append(sums)

    def total(self) -> kernels.ByteProducts | None:
        """Return the sums of all that was added; None if nothing was."""
        while len(self._free) > 1:
            others = self._free.pop()
            self._free[0].products += others.products
            self._free[0].sums += others.sums
        return self._free[0] if self._free else None


def _mirrored(upper: Doubles) -> Doubles:
    """Fill the lower half of a symmetric matrix."""
    np.copyto(upper, upper.T, where=np.tri(len(upper), k=-1, dtype=bool))
    return upper


def _second_moments(
    X: Any, plain: Centring, span: NDArray[Any], workshop: Workshop
) -> Doubles:
    """Return the centred second moments of the columns, or their product with `span`.

    The centre lies on a grid; what is left of the mean is taken off here.
    """
    n, D = X.shape
    total, mean = np.zeros((D, span.shape[1] or D)), np.zeros(D)
    for moments, left in workshop.each(
        "moments", parts_of(X), _moments, plain, span.astype(np.float32), n, X=X
    ):
        total += moments
        mean += left
    right = mean @ span if span.size else mean
    total -= n * np.outer(mean, right)
    return total


def _moments(
    part: Part, X: Any, plain: Centring, span: Floats, n: int, n_threads: int
) -> tuple[Doubles, Doubles]:
    """Return the second and first moments of a part, one block after the other."""
    del part
    D = X.shape[1]
    total, mean = np.zeros((D, span.shape[1] or D)), np.zeros(D)

    def moments(block: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        centred = plain.centred(block)
        right = centred @ span if span.size else centred
        first = np.ones(len(centred), dtype=np.float32) @ centred / n
        return centred.T @ right, first

    with one_thread():
        for _, (second, first) in in_blocks(X, moments, n_threads):
            total += second
            mean += first
    return total, mean


def _axes_by_rows(
    X: Any,
    plain: Preparing,
    of_columns: Callable[[Any, slice], Preparing],
    k: int,
    workshop: Workshop,
    whole_rows: bool,  # noqa: FBT001 - passed on
) -> NDArray[Any]:
    """Return the axes by the products of rows, of which there are few."""
    n, D = X.shape
    X = X[:]  # few rows, and some columns of them are asked for
    width = D if whole_rows else max(64, BLOCK // n)
    some = [slice(a, min(D, a + width)) for a in range(0, D, width)]

    def centred(columns: slice) -> Floats:
        rows = of_columns(plain, columns)
        part = X[:, columns]
        return np.concatenate([rows.centred(part[r]) for r in blocks(part)])

    exact = _Exact(lambda: kernels.ByteProducts(n, by_rows=True))

    def product(columns: slice) -> NDArray[Any] | None:
        whole = of_columns(plain, columns).in_bytes(X[:, columns])
        if whole is not None:
            exact.add(whole)
            return None
        block = centred(columns)
        return block @ block.T

    products = np.zeros((n, n))
    for block in in_order(some, product, workshop.n_threads):
        if block is not None:
            products += block
    whole_numbers = exact.total()
    if whole_numbers is not None:
        products += whole_numbers.products / BYTES**2
    products = _mirrored(products)
    # Bytes are not centred, and otherwise the centre lies on a grid; taking what is
    # left of the mean out of the products makes the vectors blind to it.
    products -= products.mean(axis=0)
    products -= products.mean(axis=1, keepdims=True)
    # Single precision: that of most products themselves.
    vectors = _leading(products.astype(np.float32), min(k, n))
    axes = np.concatenate(
        list(in_order(some, lambda c: centred(c).T @ vectors, workshop.n_threads))
    )
    return signed(axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-30))


def by_iteration(
    times: Callable[[Doubles], Doubles], shape: tuple[int, ...], k: int
) -> Doubles:
    """Return the axes by multiplying a random subspace with the second moments.

    `times` returns the second moments of the columns times what it is given.
    """
    width = min(k + SPARE, *shape)
    span: Doubles = np.random.default_rng(0).standard_normal((shape[1], width))
    with one_thread():
        for _ in range(PASSES):
            span = qr(times(span), mode="economic", overwrite_a=True)[0]
        within = span.T @ times(span)
        return signed(span @ _leading((within + within.T) / 2, k))


class _AsIs:
    """Rows that are centred already, or nearly."""

    @staticmethod
    def centred(block: Any) -> Floats:
        return np.asarray(block, dtype=np.float32)


def principal_components(Z: Floats, n_components: int, n_threads: int = 1) -> Doubles:
    """Scores of the first principal components, signs fixed.

    In double precision: for data of integers the result is the same in any unit.
    """
    n, d = Z.shape
    with one_thread():
        if n < d:  # by the products of rows, of which there are fewer
            centred = Z - Z.mean(axis=0, dtype=np.float64)
            products = centred @ centred.T
            left = _leading(products / np.trace(products), n_components)
            axes = centred.T @ left
            axes = signed(axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-300))
            scores: Doubles = centred @ axes
            return scores
        second, mean = np.zeros((d, d) if d <= EXACT_PCA else (0, 0)), np.zeros(d)

        def moments(block: Floats) -> tuple[Doubles, Doubles]:
            numbers = block.astype(np.float64)
            products = numbers.T @ numbers if second.size else second
            return products, numbers.sum(axis=0) / n

        for _, (products, part) in in_blocks(Z, moments, n_threads):
            second += products
            mean += part
        if second.size:
            covariance = second - n * np.outer(mean, mean)
            axes = _leading(covariance / np.trace(covariance), n_components)
        else:
            workshop = Workshop(n_threads)
            axes = by_iteration(
                lambda span: _second_moments(Z, _AsIs(), span, workshop),
                Z.shape,
                n_components,
            )
        made = in_blocks(Z, lambda block: (block - mean) @ axes, n_threads)
        return np.concatenate([block for _, block in made])


def _leading(symmetric: NDArray[Any], k: int) -> NDArray[Any]:
    """Eigenvectors of the k largest eigenvalues, largest first, signs fixed."""
    size = len(symmetric)
    vectors = eigh(symmetric, subset_by_index=(max(0, size - k), size - 1))[1]
    return signed(vectors[:, ::-1])


def signed(axes: NDArray[Any]) -> NDArray[Any]:
    """Make the largest entry of each axis positive."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    signs = np.where(largest < 0, -1, 1).astype(axes.dtype)
    result: NDArray[Any] = axes * signs
    return result
