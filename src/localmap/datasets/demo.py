"""Small real data that is always at hand, for a first map.

Shipped with the package, as small integers, or with scikit-learn; made again by
``python -m benchmarks.demo_data``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any, Final

import numpy as np


@dataclass(frozen=True, eq=False)
class Demo:
    """Numbers, groups and names of rows, what they are and how they are best mapped."""

    X: Any
    y: Any
    names: Any
    what: str  # a row, in the plural
    groups: str  # what `y` is, as the name of a column
    source: str
    licence: str
    settings: dict[str, Any] = field(default_factory=dict)


def _digits() -> Demo:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Demo(
        digits.data,
        digits.target,
        None,
        "handwritten digits of 8 x 8 pixels",
        "digit",
        "E. Alpaydin and C. Kaynak (1998), as scikit-learn has them",
        "CC BY 4.0",
    )


def _cells() -> Demo:
    parts = _shipped("cells")
    return Demo(
        parts["X"] * parts["step"],
        parts["groups"][parts["y"]],
        parts["names"],
        "blood cells, 50 components of their genes",
        "cell_type",
        "Zheng et al. (2017), 10x Genomics; 700 of 68,579 cells, as scanpy has them",
        "CC BY 4.0",
    )


def _text() -> Demo:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    parts = _shipped("text")
    names = parts["names"]
    shape = len(names), len(parts["columns"])
    counts = csr_matrix(
        (parts["data"].astype(np.float32), parts["indices"], parts["indptr"]), shape
    )
    return Demo(
        TfidfTransformer(sublinear_tf=True).fit_transform(counts),
        np.array([name.rpartition(".")[0] for name in names]),
        names,
        f"pages of documentation, {shape[1]} words weighed by TF-IDF",
        "module",
        "Words counted in the documentation of SciPy and scikit-learn",
        "BSD-3-Clause",
        {"metric": "cosine"},
    )


DEMOS: Final[dict[str, Callable[[], Demo]]] = {
    "digits": _digits,
    "cells": _cells,
    "text": _text,
}


def _shipped(name: str) -> dict[str, Any]:
    place = files("localmap.datasets") / "shipped" / f"{name}.npz"
    with as_file(place) as path, np.load(path, allow_pickle=False) as archive:
        return {part: archive[part] for part in archive.files}
