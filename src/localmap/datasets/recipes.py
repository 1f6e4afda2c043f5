"""From raw text to the numbers that maps are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
