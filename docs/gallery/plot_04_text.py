"""
Texts, as sparse TF-IDF
=======================

**Sparse stays sparse.** Words of texts make a matrix of mostly zeros. It is centred
inside the products, so that no zero is ever filled in, and ``metric="cosine"`` forgets
how long a text is. The texts are at hand wherever this runs: what the functions of
Python's scientific libraries say of themselves.
"""

import inspect
from importlib import import_module

from sklearn.feature_extraction.text import TfidfVectorizer

from localmap import LocalMAP
from localmap.metrics import knn_accuracy
from localmap.plotting import plot

MODULES = {
    "numpy": ["numpy", "numpy.ma", "numpy.polynomial.polynomial", "numpy.random"],
    "statistics": ["scipy.stats"],
    "special functions": ["scipy.special"],
    "signals and images": ["scipy.signal", "scipy.ndimage"],
    "linear algebra": ["numpy.linalg", "scipy.linalg", "scipy.sparse.linalg"],
    "scikit-learn": ["sklearn.metrics", "sklearn.datasets", "sklearn.preprocessing"],
    "plots": ["matplotlib.axes", "matplotlib.pyplot", "matplotlib.figure"],
    "tables": ["pandas", "pandas.DataFrame"],
}


def texts(names):
    for name in names:
        try:
            place = import_module(name)
        except ImportError:
            parent, _, last = name.rpartition(".")
            place = getattr(import_module(parent), last)
        for member in vars(place).values():
            text = inspect.getdoc(member) or ""
            if callable(member) and len(text) > 200:
                yield text


told = {text: group for group, names in MODULES.items() for text in texts(names)}
S = TfidfVectorizer(min_df=3, stop_words="english").fit_transform(told)
y = list(told.values())
filled = S.nnz / (S.shape[0] * S.shape[1])
print(f"{S.shape[0]:,} texts, {S.shape[1]:,} words, {filled:.1%} of the cells filled")

# %%

Y = LocalMAP(metric="cosine", random_state=0).fit_transform(S)
plot(Y, y, title="What functions say of themselves", names="legend")
print(f"{knn_accuracy(Y, y):.0%} lie among their own kind")

# %%
# Memory and time of sparse and other input, by ``python -m benchmarks.inputs``:
# :doc:`figures </results/inputs>`.
