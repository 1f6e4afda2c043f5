"""How a map was made, in a form that every AnnData file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np

from localmap.estimators.base import MapEstimator

PACKAGES: Final = ("localmap", "numpy", "scipy", "scikit-learn", "anndata", "scanpy")

# What a fit learns and a reader may ask for.
LEARNED: Final = (
    "n_neighbors_",
    "neighbor_recall_",
    "n_iter_",
    "proximal_distance_",
    "near_strength_",
)


def record_of(model: MapEstimator, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, what was asked of AnnData, what was learned, versions."""
    params = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("callback", "verbose")
    }
    return {
        "method": type(model).__name__,
        **{name: storable(value) for name, value in (params | dict(asked)).items()},
        "learned": {
            name.removesuffix("_"): storable(getattr(model, name))
            for name in LEARNED
            if hasattr(model, name)
        },
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the version of each package that had a hand in it, if installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def storable(value: Any) -> Any:
    """Return a value that .h5ad and zarr can hold; older ones know no None."""
    if value is None:
        return "None"
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
        return np.array(value, dtype=np.int64)
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return str(value)
