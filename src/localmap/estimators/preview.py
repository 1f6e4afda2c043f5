"""A map of a sample with the rest placed on it: a preview of large data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localmap.geometry.workshop import parts_of


def preview(
    model: Any, X: Any, n_sample: int, *, random_state: int = 0
) -> NDArray[np.float32]:
    """Fit a model to a random sample of rows, and place the others.

    Faster than a map of all rows, and worse: a sample shows fewer groups, and rows that
    are placed do not push each other apart.

    Parameters
    ----------
    model : LocalMAP or PaCMAP
        Is fitted to the sample.
    X : array, table, or data that is read in parts
        All rows.
    n_sample : int
        Rows of the sample.
    random_state : int, default=0
        Which rows these are.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
        Places of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import LocalMAP
    >>> from localmap.estimators.preview import preview
    >>> preview(LocalMAP(random_state=0), load_digits().data, 500).shape
    (1797, 2)
    """
    n = X.shape[0]
    if not 2 <= n_sample < n:
        msg = f"A sample must have 2 to {n - 1} of {n} rows; got {n_sample}."
        raise ValueError(msg)
    rows = X.iloc if hasattr(X, "iloc") else X
    chosen = np.random.default_rng(random_state).choice(n, n_sample, replace=False)
    is_chosen = np.zeros(n, dtype=bool)
    is_chosen[chosen] = True
    parts = [part.rows for part in parts_of(X)]
    model.fit(_joined([_some(rows[part], is_chosen[part]) for part in parts]))
    Y = np.empty((n, model.embedding_.shape[1]), dtype=np.float32)
    Y[is_chosen] = model.embedding_
    for part in parts:
        others = np.flatnonzero(~is_chosen[part])
        if others.size:
            Y[part.start + others] = model.transform(_some(rows[part], others))
    return Y


def _some(block: Any, which: Any) -> Any:
    return block.iloc[which] if hasattr(block, "iloc") else block[which]


def _joined(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    if hasattr(blocks[0], "iloc"):
        import pandas as pd

        return pd.concat(blocks)
    if hasattr(blocks[0], "tocsr"):
        from scipy.sparse import vstack

        return vstack(blocks, format="csr")
    return np.concatenate(blocks)
