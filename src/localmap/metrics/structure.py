"""How much of the data's structure a map keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length

from localmap import kernels
from localmap.geometry.blocks import blocks
from localmap.metrics.validation import as_map, labelled, nearest, sampled

# Triplets drawn where there are more: the standard error is at most
# 0.5 / sqrt(20,000) = 0.0035.
TRIPLETS: Final = 20_000

# Distances below this share of the squares they are the difference of have lost more
# than half of the sixteen digits of a product.
LOST: Final = 1e-8


def trustworthiness(
    X: ArrayLike, Y: ArrayLike, *, k: int = 10, random_state: int = 0
) -> float:
    """How far the neighbours in the map are from being neighbours in the data.

    Venna and Kaski's measure, 1 if all neighbours in the map are true: the same number
    as scikit-learn's up to 2,000 rows, an estimate from 2,000 rows above.
    """
    return _ranks(X, Y, k, random_state)


def continuity(
    X: ArrayLike, Y: ArrayLike, *, k: int = 10, random_state: int = 0
) -> float:
    """How far neighbours in the data are apart in the map: trustworthiness, reversed.

    1 if all neighbours in the data are neighbours in the map.
    """
    return _ranks(Y, X, k, random_state)


def preservation(
    X: ArrayLike, Y: ArrayLike, *, k: int = 10, among: int = 30, random_state: int = 0
) -> float:
    """Share of the `k` nearest rows that are among the `among` nearest in the map.

    Of more than 2,000 rows the mean over 2,000 (standard error at most 0.011).
    """
    data, points = _both(X, Y)
    n = len(points)
    if not 1 <= k <= among < n:
        msg = (
            f"k must be at least 1 and at most `among`, which must be below the number "
            f"of rows ({n}); got k={k} and among={among}."
        )
        raise ValueError(msg)
    rows = sampled(n, random_state)
    near, shown = _nearest(data, rows, k), _nearest(points, rows, among)
    return float((near[:, :, None] == shown[:, None, :]).any(axis=2).mean())


def kept(near: ArrayLike, Y: ArrayLike, *, k: int = 30) -> float:
    """Share of given partners of each row that are among its `k` nearest in the map."""
    partners = check_array(near, dtype=np.int32)
    found = np.sort(nearest(as_map(Y), k), axis=1)
    check_consistent_length(partners, found)
    hits = [np.isin(p, f).mean() for p, f in zip(partners, found, strict=True)]
    return float(np.mean(hits))


def random_triplets(X: ArrayLike, Y: ArrayLike, *, random_state: int = 0) -> float:
    """Share of random triplets whose order of distances is the same in data and map.

    A triplet asks which of two rows is nearer to a third; 0.5 is chance. All triplets
    of up to 35 rows, else 20,000 (standard error at most 0.0035).
    """
    data, points = _both(X, Y)
    return _agreement(data, points, random_state)


def centroid_triplets(
    X: ArrayLike, Y: ArrayLike, labels: ArrayLike, *, random_state: int = 0
) -> float:
    """Return the same for the centres of the labels: all triplets, or 20,000."""
    data, points = _both(X, Y)
    _, codes = labelled(Y, labels)
    groups = codes.max() + 1
    if groups < 3:
        msg = f"centroid_triplets needs three labels; got {groups}."
        raise ValueError(msg)
    sizes = np.bincount(codes)[:, None]
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes[:-1, 0])])
    of_data, of_map = (
        np.add.reduceat(A[order].astype(np.float64), starts, axis=0) / sizes
        for A in (data, points)
    )
    return _agreement(of_data, of_map, random_state)


def _agreement(A: NDArray[Any], B: NDArray[Any], random_state: int) -> float:
    """Share of triplets that have the same order in both."""
    i, j, k = _triplets(len(A), random_state)
    return float(np.mean(_nearer(A, i, j, k) == _nearer(B, i, j, k)))


def _triplets(n: int, random_state: int) -> tuple[NDArray[np.intp], ...]:
    """Return three different rows each: every such question once, or a sample."""
    if n * (n - 1) * (n - 2) // 2 <= TRIPLETS:
        i, j, k = np.indices((n, n, n)).reshape(3, -1)
        asked = (j < k) & (i != j) & (i != k)
        return i[asked], j[asked], k[asked]
    rng = np.random.default_rng(random_state)
    i = rng.integers(0, n, TRIPLETS)
    first, second = rng.integers(1, n, TRIPLETS), rng.integers(1, n - 1, TRIPLETS)
    second += second >= first
    return i, (i + first) % n, (i + second) % n


def _both(X: ArrayLike, Y: ArrayLike) -> tuple[NDArray[Any], kernels.Floats]:
    data, points = check_array(X), as_map(Y)
    check_consistent_length(data, points)
    if len(points) < 3:
        msg = f"distances are compared among at least 3 rows; got {len(points)}."
        raise ValueError(msg)
    return data, points


def _nearer(
    A: NDArray[Any], i: NDArray[np.intp], j: NDArray[np.intp], k: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether row i of A is nearer to row j than to row k."""
    nearer = np.empty(len(i), dtype=np.bool_)
    step = max(1, (1 << 22) // A.shape[1])
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        here = A[i[some]].astype(np.float64)
        away = [((here - A[other[some]]) ** 2).sum(axis=1) for other in (j, k)]
        nearer[some] = away[0] < away[1]
    return nearer


def _ranks(true: ArrayLike, shown: ArrayLike, k: int, random_state: int) -> float:
    """1 minus how far, in ranks of `true`, the k nearest in `shown` are too far."""
    A, B = check_array(true), check_array(shown)
    check_consistent_length(A, B)
    n = len(A)
    if not 1 <= k < n / 2:
        msg = f"k must be from 1 to below half of {n} rows; got {k}."
        raise ValueError(msg)
    too_far = 0.0
    rows = sampled(n, random_state)
    for some in _few(rows, n):
        away = squared_distances(A, some)
        found = _smallest(squared_distances(B, some), k)
        for own, mine in zip(away, found, strict=True):
            rank = (own < own[mine, None]).sum(axis=1) + 1
            too_far += np.maximum(rank - k, 0).sum()
    return float(1.0 - 2.0 * too_far / (len(rows) * k * (2 * n - 3 * k - 1)))


def _few(rows: NDArray[np.int32], n: int) -> Iterator[NDArray[np.int32]]:
    """Yield as many rows at a time as can be compared with all `n` at once."""
    step = max(1, (1 << 23) // n)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _nearest(A: NDArray[Any], rows: NDArray[np.int32], k: int) -> NDArray[np.intp]:
    """Return the `k` nearest other rows of some rows of A."""
    found = [_smallest(squared_distances(A, few), k) for few in _few(rows, len(A))]
    return np.concatenate(found)


def _smallest(away: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Return the places of the `k` smallest of each row; of equal ones the first."""
    best = np.sort(np.argpartition(away, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(np.take_along_axis(away, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def squared_distances(
    A: NDArray[Any], rows: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Squared distances of some rows of A to all; infinite to itself.

    In double precision by products of matrices, which lose the digits of rows that are
    much closer to each other than to the centre: those are subtracted one by one.
    """
    centre = A.mean(axis=0, dtype=np.float64)
    here = A[rows] - centre
    own = np.einsum("ij,ij->i", here, here)
    away = np.empty((len(rows), len(A)))
    for some in blocks(A):
        there = A[some] - centre
        squares = own[:, None] + np.einsum("ij,ij->i", there, there)
        part = squares - 2.0 * (here @ there.T)
        for i, j in enumerate(part < LOST * squares):
            if j.any():
                apart = there[j] - here[i]
                part[i, j] = np.einsum("ij,ij->i", apart, apart)
        away[:, some] = part
    away[np.arange(len(rows)), rows] = np.inf
    return away
