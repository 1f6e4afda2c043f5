"""Where a fit is done: in memory if it fits there, else with files, or by Dask."""

from __future__ import annotations

import math
from hashlib import sha256
from importlib.metadata import version

from localmap.geometry.blocks import Rows
from localmap.geometry.distances import METRICS
from localmap.geometry.neighbors import EXACT_ROWS
from localmap.geometry.workshop import Workshop
from localmap.method.optimize import say
from localmap.method.pairs import automatic_neighbors
from localmap.method.parameters import Parameters
from localmap.scale.limits import free_memory, least, needed
from localmap.scale.scratch import OnDisk


def workshop_for(X: Rows, params: Parameters) -> Workshop:
    """Return a workshop that keeps to the limit, if there is one."""
    n_threads, verbose = params.n_threads, bool(params.verbose)
    n, d = X.shape[0], _searched_columns(X, params)
    limit = params.most_memory or free_memory()
    if hasattr(X, "lazy"):
        from localmap.scale.with_dask import WithDask

        return WithDask(n_threads, params.scratch, _name(X, params), verbose=verbose)
    near = params.n_neighbors
    near = automatic_neighbors(n) if near == "auto" else near
    need = needed(n, d, near)
    metric = METRICS.get(params.metric)
    by_files = n > EXACT_ROWS and metric is not None and metric.euclidean
    if need <= limit or not by_files:
        return Workshop(n_threads, verbose=verbose)
    if params.memory_limit is not None and least(n) > limit:
        holds = math.ceil(least(n) / 1e7) / 100  # rounded up: so much is enough
        msg = (
            f"memory_limit={params.memory_limit!r} is too small: a map of {n:,} rows "
            f"holds {holds:.2f} GB, wherever the data is. Allow that much, or "
            "map a sample and place the rest with transform."
        )
        raise ValueError(msg)
    workshop = OnDisk(n_threads, params.scratch, _name(X, params), verbose=verbose)
    if params.verbose:
        say(
            f"{need / 1e9:.2f} GB needed in memory, {limit / 1e9:.2f} GB allowed: rows "
            f"and neighbours go to files in {workshop.folder}"
        )
    return workshop


def _searched_columns(X: Rows, params: Parameters) -> int:
    """Return the number of columns in which neighbours are searched."""
    columns = int(X.shape[1])
    if params.pca_components is not None and METRICS.get(params.metric) is not None:
        columns = min(columns, params.pca_components)
    return columns


def _name(X: Rows, params: Parameters) -> str:
    """Name what is worked on: its shape, and all that neighbours depend on."""
    asked = (
        version("localmap"),
        tuple(map(int, X.shape)),
        str(X.dtype),
        params.metric,
        params.scale,
        params.pca_components,
        params.n_neighbors,
    )
    return sha256(repr(asked).encode()).hexdigest()[:16]
