"""What `localmap demo` ships: made again by ``python -m benchmarks.demo_data``.

cells: 50 components of 700 blood cells, as scanpy has them in its package (its set
pbmc68k_reduced; Zheng et al. 2017, 10x Genomics, CC BY 4.0). text: how often each of
500 words stands in the documentation of functions of SciPy and scikit-learn (both
BSD-3-Clause). Both as small integers; needs scanpy, SciPy and scikit-learn.
"""

import importlib
import inspect
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

SHIPPED = Path(__file__).parent.parent / "src" / "localmap" / "datasets" / "shipped"
MODULES = (
    "scipy.cluster.hierarchy", "scipy.fft", "scipy.integrate", "scipy.interpolate",
    "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse",
    "scipy.special", "scipy.stats", "sklearn.cluster", "sklearn.linear_model",
    "sklearn.metrics", "sklearn.preprocessing",
)  # fmt: skip
SHORTEST = 300  # characters of a page that says enough
WORDS = 500


def pages():
    """Return the documentation of public functions and classes by name."""
    found, seen = {}, set()
    for module in map(importlib.import_module, MODULES):
        for name in sorted(module.__all__):
            text = inspect.getdoc(getattr(module, name)) or ""
            if len(text) >= SHORTEST and text not in seen:
                found[f"{module.__name__}.{name}"] = text
                seen.add(text)
    return found


def text():
    """Write words counted in pages."""
    found = pages()
    vectorizer = CountVectorizer(
        token_pattern=r"[a-z]{3,}",  # noqa: S106 - of words
        stop_words="english",
        max_df=0.4,
        max_features=WORDS,
    )
    counts = vectorizer.fit_transform(found.values())
    counts.sort_indices()
    np.savez_compressed(
        SHIPPED / "text.npz",
        data=np.minimum(counts.data, 255).astype(np.uint8),
        indices=counts.indices.astype(np.uint16),
        indptr=counts.indptr.astype(np.int32),
        columns=np.array(vectorizer.get_feature_names_out(), dtype="U"),
        names=np.array(list(found), dtype="U"),
    )


def cells():
    """Write components of cells, in steps of a 32,000th of the widest one's range."""
    import scanpy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of AnnData, about files as old as this one
        adata = scanpy.datasets.pbmc68k_reduced()
    X = adata.obsm["X_pca"]
    step = np.abs(X).max() / 32_000
    np.savez_compressed(
        SHIPPED / "cells.npz",
        X=np.round(X / step).astype(np.int16),
        step=np.float32(step),
        groups=np.array(adata.obs["bulk_labels"].cat.categories, dtype="U"),
        y=adata.obs["bulk_labels"].cat.codes.to_numpy().astype(np.uint8),
        names=adata.obs_names.to_numpy().astype("U16"),
    )


if __name__ == "__main__":
    SHIPPED.mkdir(exist_ok=True)
    cells()
    text()
    for path in sorted(SHIPPED.glob("*.npz")):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
