"""From raw text and raw counts to the numbers that maps are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# What single-cell data is reduced to, and the recipe's constants.
COMPONENTS: Final = 50
COUNTS_PER_CELL: Final = 1e4
VARIABLE_GENES: Final = 2000
MOST_DEVIATIONS: Final = 10.0

CELLS_AT_ONCE: Final = 4096


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
    not integrated. Beside the counts it holds a block of cells at a time.
    """
    from scipy.sparse import csr_array, diags_array

    S = csr_array(counts).astype(np.float64)
    totals = np.asarray(S.sum(axis=1)).ravel()
    S = csr_array(diags_array(COUNTS_PER_CELL / np.maximum(totals, 1.0)) @ S)
    S.data = np.log1p(S.data)
    mean = np.asarray(S.mean(axis=0)).ravel()
    variance = np.asarray((S * S).mean(axis=0)).ravel() - mean**2
    kept = np.sort(np.argsort(-variance, kind="stable")[:VARIABLE_GENES])
    mean, deviation = mean[kept], np.sqrt(np.maximum(variance[kept], 1e-12))
    n, S = S.shape[0], S[:, kept]

    def blocks() -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for start in range(0, n, CELLS_AT_ONCE):
            some = slice(start, start + CELLS_AT_ONCE)
            block = (S[some].toarray() - mean) / deviation
            yield some, np.clip(block, -MOST_DEVIATIONS, MOST_DEVIATIONS)

    total, products = np.zeros(len(kept)), np.zeros((len(kept), len(kept)))
    for _, block in blocks():
        total += block.sum(axis=0)
        products += block.T @ block
    centre = total / n
    k = min(COMPONENTS, n, len(kept))
    axes = np.linalg.eigh(products - np.outer(total, centre))[1][:, ::-1][:, :k]
    largest = np.abs(axes).argmax(axis=0)
    axes *= np.where(axes[largest, np.arange(k)] < 0, -1.0, 1.0)
    X = np.empty((n, k), dtype=np.float32)
    for some, block in blocks():
        X[some] = (block - centre) @ axes
    return X
