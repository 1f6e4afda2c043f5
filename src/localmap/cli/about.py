"""``localmap --version --verbose``: what a report of a fault should say."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib import import_module
from typing import Final

REQUIRED: Final = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "tqdm")
EXTRAS: Final = (
    "matplotlib", "pandas", "pyarrow", "jinja2", "openpyxl", "anndata", "scanpy",
    "dask", "distributed", "zarr", "polars",
)  # fmt: skip
# What numpy found on this CPU, of the sets that decide speed.
FEATURES: Final = (
    "SSE42",
    "AVX",
    "AVX2",
    "FMA3",
    "AVX512F",
    "AVX512_SKX",
    "NEON",
    "SVE",
)
# Variables that change how many threads there are, or where data is looked for.
VARIABLES: Final = ("_NUM_THREADS", "LOCALMAP_", "OPENBLAS_CORETYPE", "KMP_", "OMP_")


def lines() -> Iterator[str]:
    """Tell versions, processor, threads and linear algebra."""
    from localmap import __version__
    from localmap.bench.machine import cores, processor

    yield f"localmap {__version__}"
    python = f"{platform.python_version()}, {platform.python_implementation()}"
    yield f"python       {python}, {platform.platform()}"
    yield f"processor    {processor()}, {cores()} cores for this process"
    yield from _core()
    yield f"needs        {_versions(REQUIRED)}"
    yield f"extras       {_versions(EXTRAS)}"
    set_ = [f"{name}={value}" for name, value in sorted(os.environ.items())
            if any(part in name for part in VARIABLES)]  # fmt: skip
    yield f"environment  {', '.join(set_) or 'nothing that concerns threads or data'}"


def _core() -> Iterator[str]:
    """Tell of compiled code; what cannot be loaded is told, for that is the fault."""
    try:
        from threadpoolctl import threadpool_info

        from localmap.kernels import core_file, instruction_set, thread_count
    except ImportError as error:
        yield f"core         cannot be loaded: {error}"
        return
    yield f"core         {core_file()}, instruction set {instruction_set()}"
    yield f"features     {' '.join(_features()) or 'unknown'}"
    yield f"threads      {thread_count(-1)} with n_jobs=-1"
    import scipy.linalg  # noqa: F401 - it may bring a library of its own

    for library in threadpool_info():
        if library["user_api"] not in ("blas", "openmp"):
            continue  # others tell what they like: SciPy's reader of .mtx a function
        version, threads = library["version"] or "", library["num_threads"]
        where = library.get("architecture") or library.get("threading_layer") or ""
        told = " ".join(
            word for word in (library["internal_api"], version, where) if word
        )
        yield f"{library['user_api']:<12} {told}, {threads} threads"


def _features() -> list[str]:
    try:
        known = import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):  # an older NumPy keeps them elsewhere
        return []
    return [name for name in FEATURES if known.get(name)]


def _versions(packages: tuple[str, ...]) -> str:
    from localmap.bench.machine import version_of

    return ", ".join(f"{name} {version_of(name) or '-'}" for name in packages)
