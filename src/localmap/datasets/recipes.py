"""From raw text and raw counts to the numbers that maps are made of."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# What single-cell data is reduced to, and the recipe's constants.
COMPONENTS: Final = 50
COUNTS_PER_CELL: Final = 1e4
VARIABLE_GENES: Final = 2000
MOST_DEVIATIONS: Final = 10.0


def text_to_components(texts: Any) -> NDArray[np.float32]:
    """TF-IDF with scikit-learn's defaults, then 100 components of a truncated SVD."""
    from sklearn.decomposition import TruncatedSVD

    svd = TruncatedSVD(100, n_iter=7, random_state=0)
    X: NDArray[np.float32] = svd.fit_transform(text_to_tfidf(texts)).astype(np.float32)
    return X


def text_to_tfidf(texts: Any) -> Any:
    """TF-IDF with scikit-learn's defaults: a sparse matrix, one column a word."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().fit_transform(texts)


def are_counts(values: Any) -> bool:
    """Tell counts from values that were normalised: whole numbers from 0."""
    from scipy.sparse import issparse

    some = (values.data if issparse(values) else np.asarray(values)).ravel()[:100_000]
    return bool((some >= 0).all() and (some == np.round(some)).all())


def cells_to_components(counts: Any) -> NDArray[np.float32]:
    """Principal components of counts of genes in cells, by the usual recipe.

    Counts of a cell are brought to a sum of 10,000, their logarithm ``log(1 + x)`` is
    taken, the 2,000 genes with the largest variance are kept and brought to unit
    variance (at most ten deviations), and 50 principal components remain. Batches are
    not integrated.
    """
    from scipy.sparse import csr_array, diags_array
    from sklearn.decomposition import PCA

    S = csr_array(counts).astype(np.float64)
    totals = np.asarray(S.sum(axis=1)).ravel()
    S = diags_array(COUNTS_PER_CELL / np.maximum(totals, 1.0)) @ S
    S = csr_array(S)
    S.data = np.log1p(S.data)
    mean = np.asarray(S.mean(axis=0)).ravel()
    variance = np.asarray((S * S).mean(axis=0)).ravel() - mean**2
    kept = np.sort(np.argsort(-variance, kind="stable")[:VARIABLE_GENES])
    X = S[:, kept].toarray()
    X -= mean[kept]
    X /= np.sqrt(np.maximum(variance[kept], 1e-12))
    np.clip(X, -MOST_DEVIATIONS, MOST_DEVIATIONS, out=X)
    k = min(COMPONENTS, *X.shape)
    result: NDArray[np.float32] = (
        PCA(k, random_state=0).fit_transform(X).astype(np.float32)
    )
    return result
