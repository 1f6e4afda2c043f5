"""How well labels can be read off a map."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from localmap import kernels
from localmap.metrics.validation import labelled, nearest

# Up to this many points the support vector machine is exact.
SVM_EXACT: Final = 20_000

# Points that stand for the kernel above that; in a map they are dense enough.
SVM_LANDMARKS: Final = 100

# Of more points than these a sample is classified.
SVM_MOST: Final = 100_000


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
    voters = np.sort(codes[nearest(points, k)], axis=1)
    votes = np.stack([(voters == voter[:, None]).sum(axis=1) for voter in voters.T], 1)
    won = voters[np.arange(len(points)), votes.argmax(axis=1)]
    return float((won == codes).mean())


def svm_accuracy(
    Y: ArrayLike, labels: ArrayLike, *, folds: int = 5, random_state: int = 0
) -> float:
    """Accuracy of a support vector machine (RBF) that reads labels off the map.

    Cross-validated; above 20,000 points the kernel is approximated by 100 of them
    (Nystroem), and of more than 100,000 points as many are taken (standard error at
    most 0.5 / sqrt(100,000) = 0.0016). Labels with fewer than `folds` points are left
    out.
    """
    from joblib import parallel_config
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC

    points, codes = labelled(Y, labels)
    if len(points) > SVM_MOST:
        rng = np.random.default_rng(random_state)
        some = rng.choice(len(points), SVM_MOST, replace=False)
        points, codes = points[some], codes[some]
    known = (np.bincount(codes) >= folds)[codes]
    points, codes = points[known], codes[known]
    if len(np.unique(codes)) < 2:
        msg = f"svm_accuracy needs two labels of at least {folds} points each."
        raise ValueError(msg)
    machine: tuple[Any, ...] = (SVC(),)
    if len(points) > SVM_EXACT:
        gamma = 1.0 / points.shape[1]  # that of SVC, as all columns have variance 1
        kernel = Nystroem(
            gamma=gamma, n_components=SVM_LANDMARKS, random_state=random_state
        )
        machine = (kernel, LinearSVC(dual=False, tol=1e-2))
    split = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    model = make_pipeline(StandardScaler(), *machine)
    threads = kernels.thread_count(-1)
    with parallel_config(backend="threading"):
        found = cross_val_score(model, points, codes, cv=split, n_jobs=threads)
    return float(found.mean())
