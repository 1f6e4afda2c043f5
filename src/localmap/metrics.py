"""Numbers that tell how good a map is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from localmap import kernels


def silhouette(Y: ArrayLike, labels: ArrayLike, *, n_jobs: int | None = -1) -> float:
    """Mean silhouette of labelled points, exact and without a distance matrix.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    labels : array-like of shape (n_samples,)
        The group of each point; at least two groups.
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
    points = check_array(Y, dtype=np.float32)
    labels = column_or_1d(labels)
    check_consistent_length(points, labels)
    groups, codes = np.unique(labels, return_inverse=True)
    if len(groups) < 2:
        msg = f"silhouette needs at least two groups; got {len(groups)}."
        raise ValueError(msg)
    threads = kernels.thread_count(n_jobs)
    return float(kernels.silhouette(points, codes.astype(np.int64), threads).mean())
