"""Numbers that tell how good a map is.

With labels: `silhouette`, `knn_accuracy`, `svm_accuracy`, `centroid_triplets`,
`visible_agreement`, `splits_and_merges`. With the data: `trustworthiness`,
`continuity`, `preservation`, `random_triplets`. With the map alone: `visible_groups`,
`pieces`. `score` gives all that can be told from what it is given.

What costs more than about n log n is computed from a sample of rows above a stated
size; the sample depends on `random_state` alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from localmap import kernels
from localmap.seen import (
    Pieces,
    SplitsAndMerges,
    as_map,
    labelled,
    pieces,
    splits_and_merges,
    visible_agreement,
    visible_groups,
)

__all__ = [
    "Pieces",
    "SplitsAndMerges",
    "centroid_triplets",
    "continuity",
    "knn_accuracy",
    "pieces",
    "preservation",
    "random_triplets",
    "score",
    "silhouette",
    "splits_and_merges",
    "svm_accuracy",
    "trustworthiness",
    "visible_agreement",
    "visible_groups",
]

# Rows whose ranks are compared with all others. A row's share lies between 0 and 1, so
# the standard error is at most 0.5 / sqrt(2000) = 0.011.
SAMPLE: Final = 2000

# Random triplets: the standard error is at most 0.5 / sqrt(100,000) = 0.0016.
TRIPLETS: Final = 100_000

# Up to this many points the support vector machine is exact.
SVM_EXACT: Final = 10_000


def silhouette(
    Y: ArrayLike,
    labels: ArrayLike,
    *,
    sample: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = -1,
) -> float:
    """Return the mean silhouette, without a distance matrix.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    labels : array-like of shape (n_samples,)
        The group of each point; at least two groups.
    sample : int or None, default=None
        Average over this many random points instead of all; each is still compared with
        all. The standard error is at most ``1 / sqrt(sample)``, and in practice a third
        of that: for a million points 10,000 are enough.
    random_state : int, default=0
        Decides the sample.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    silhouette : float
        From -1 to 1. The same number as scikit-learn's ``silhouette_score``.

    Examples
    --------
    >>> from localmap.metrics import silhouette
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    0.888545
    """
    points, codes = labelled(Y, labels)
    if codes.max() == 0:
        msg = "silhouette needs at least two groups; got 1."
        raise ValueError(msg)
    threads = kernels.thread_count(n_jobs)
    some = None
    if sample is not None and sample < len(codes):
        rng = np.random.default_rng(random_state)
        some = rng.choice(len(codes), sample, replace=False)
    return float(kernels.silhouette(points, codes, threads, some).mean())


def knn_accuracy(Y: ArrayLike, labels: ArrayLike, *, k: int = 10) -> float:
    """Share of points whose `k` nearest in the map vote for their own label.

    A tie goes to the label that sorts first, as in scikit-learn.

    Examples
    --------
    >>> from localmap.metrics import knn_accuracy
    >>> knn_accuracy([[0.0], [1.0], [2.0], [9.0], [10.0]], [0, 0, 0, 1, 1], k=1)
    1.0
    """
    points, codes = labelled(Y, labels)
    voters = codes[_nearest(points, k)]
    votes = np.zeros((len(points), codes.max() + 1), dtype=np.int32)
    for voter in voters.T:
        votes[np.arange(len(points)), voter] += 1
    return float((votes.argmax(axis=1) == codes).mean())


def svm_accuracy(
    Y: ArrayLike, labels: ArrayLike, *, folds: int = 5, random_state: int = 0
) -> float:
    """Accuracy of a support vector machine (RBF) that reads labels off the map.

    Cross-validated; above 10,000 points the kernel is approximated by 300 of them
    (Nystroem). Labels with fewer than `folds` points are left out.
    """
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC

    points, codes = labelled(Y, labels)
    known = (np.bincount(codes) >= folds)[codes]
    points, codes = points[known], codes[known]
    if len(np.unique(codes)) < 2:
        msg = f"svm_accuracy needs two labels of at least {folds} points each."
        raise ValueError(msg)
    machine: tuple[Any, ...] = (SVC(),)
    if len(points) > SVM_EXACT:
        kernel = Nystroem(gamma=0.5, n_components=300, random_state=random_state)
        machine = (kernel, LinearSVC(dual=False))
    split = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    model = make_pipeline(StandardScaler(), *machine)
    return float(cross_val_score(model, points, codes, cv=split).mean())


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


def preservation(near: ArrayLike, Y: ArrayLike, *, k: int = 30) -> float:
    """Share of each row's partners that are among its `k` nearest in the map.

    `near` names rows that belong near each row, such as its nearest in the data.
    """
    partners = check_array(near, dtype=np.int32)
    found = np.sort(_nearest(as_map(Y), k), axis=1)
    check_consistent_length(partners, found)
    hits = [np.isin(p, f).mean() for p, f in zip(partners, found, strict=True)]
    return float(np.mean(hits))


def random_triplets(X: ArrayLike, Y: ArrayLike, *, random_state: int = 0) -> float:
    """Share of random triplets whose order of distances is the same in data and map.

    A triplet asks which of two points is nearer to a third; 0.5 is chance. At most
    100,000 triplets, five for each row of small data.
    """
    data, points = _both(X, Y)
    n = len(points)
    rng = np.random.default_rng(random_state)
    count = min(TRIPLETS, 5 * n)
    i = rng.integers(0, n, count)
    j, k = (rng.integers(1, n, count) + i) % n, (rng.integers(1, n, count) + i) % n
    return float(np.mean(_nearer(data, i, j, k) == _nearer(points, i, j, k)))


def centroid_triplets(X: ArrayLike, Y: ArrayLike, labels: ArrayLike) -> float:
    """Return the same for the centres of the labels and all their triplets."""
    data, points = _both(X, Y)
    _, codes = labelled(Y, labels)
    groups = codes.max() + 1
    if groups < 3:
        msg = f"centroid_triplets needs three labels; got {groups}."
        raise ValueError(msg)
    sizes = np.bincount(codes)[:, None]
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes[:-1, 0])])
    centres = [
        np.add.reduceat(A[order].astype(np.float64), starts, axis=0) / sizes
        for A in (data, points)
    ]
    i, j, k = np.array(
        [
            (a, b, c)
            for a in range(groups)
            for b in range(groups)
            for c in range(b + 1, groups)
            if a not in (b, c)
        ]
    ).T
    same = _nearer(centres[0], i, j, k) == _nearer(centres[1], i, j, k)
    return float(np.mean(same))


def score(
    Y: ArrayLike,
    labels: ArrayLike | None = None,
    X: ArrayLike | None = None,
    *,
    random_state: int = 0,
) -> dict[str, float]:
    """All measures that can be told from what is given, by name."""
    found = visible_groups(Y)
    whole = pieces(Y)
    out = {
        "visible groups": float(found.max() + 1),
        "pieces": float(whole.number),
        "strays": whole.strays,
    }
    if labels is not None:
        from sklearn.metrics import adjusted_rand_score

        torn = splits_and_merges(labels, found)
        out |= {
            "silhouette": silhouette(Y, labels),
            "10-NN accuracy": knn_accuracy(Y, labels),
            "SVM accuracy": svm_accuracy(Y, labels, random_state=random_state),
            "ARI of visible groups": float(
                adjusted_rand_score(column_or_1d(labels), found)
            ),
            "splits": float(torn.splits),
            "merges": float(torn.merges),
        }
    if X is not None:
        out |= {
            "trustworthiness": trustworthiness(X, Y, random_state=random_state),
            "continuity": continuity(X, Y, random_state=random_state),
            "random triplets": random_triplets(X, Y, random_state=random_state),
        }
    if X is not None and labels is not None and len(np.unique(labels)) > 2:
        out["centroid triplets"] = centroid_triplets(X, Y, labels)
    return out


def _both(X: ArrayLike, Y: ArrayLike) -> tuple[NDArray[Any], kernels.Floats]:
    data, points = check_array(X), as_map(Y)
    check_consistent_length(data, points)
    if len(points) < 3:
        msg = f"distances are compared among at least 3 rows; got {len(points)}."
        raise ValueError(msg)
    return data, points


def _nearest(points: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Find the `k` nearest others of each point of a map."""
    n = len(points)
    if not 1 <= k < n:
        msg = f"k must be from 1 to {n - 1} for {n} points; got {k}."
        raise ValueError(msg)
    found = cKDTree(points).query(points, k=k + 1, workers=-1)[1]
    # Among many duplicates a point may not find itself: then the last one goes.
    own = found == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    others: NDArray[np.intp] = found[~own].reshape(n, k)
    return others


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
    A = check_array(true)
    B = check_array(shown)
    check_consistent_length(A, B)
    n = len(A)
    if not 1 <= k < n / 2:
        msg = f"k must be from 1 to below half of {n} rows; got {k}."
        raise ValueError(msg)
    rows = np.arange(n)
    if n > SAMPLE:
        rng = np.random.default_rng(random_state)
        rows = np.sort(rng.choice(n, SAMPLE, replace=False))
    A, B = A.astype(np.float32), B.astype(np.float32)
    found, _ = kernels.exact_neighbors(
        B, k, kernels.thread_count(-1), rows.astype("i4")
    )
    squares = np.einsum("ij,ij->i", A, A, dtype=np.float64)
    too_far = 0.0
    step = max(1, (1 << 23) // n)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        away = squares[some, None] + squares - 2.0 * (A[some] @ A.T)
        away[np.arange(len(some)), some] = -np.inf  # each is its own rank 0
        for own, mine in zip(away, found[start : start + step], strict=True):
            rank = (own < own[mine, None]).sum(axis=1)
            too_far += np.maximum(rank - k, 0).sum()
    return float(1.0 - 2.0 * too_far / (len(rows) * k * (2 * n - 3 * k - 1)))
