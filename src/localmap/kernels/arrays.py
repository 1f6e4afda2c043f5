"""Arrays as the core reads them, checked once."""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from localmap.kernels import _core

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int32]


def thread_count(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads.

    -1 is as many as this process may use: cores it is bound to, quotas of its container
    and limits set with threadpoolctl or for OpenMP, as in joblib's workers.
    """
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    limits = [library.num_threads for library in _openmp(len(sys.modules))]
    return max(1, int(min([cpu_count(), *limits])) + 1 + n_jobs)


@lru_cache(maxsize=1)
def _openmp(n_modules: int) -> list[Any]:
    """Find the OpenMP libraries of so many modules.

    It reads all that the process has loaded, which takes 2 ms: not at each call.
    """
    del n_modules  # more of them may have brought another library
    libraries = ThreadpoolController().lib_controllers
    return [library for library in libraries if library.user_api == "openmp"]


def core_file() -> str:
    """Return the name of the file with compiled code, which tells the ABI it has."""
    return Path(str(_core.__file__)).name


def instruction_set() -> str:
    """Return the instruction set whose loops this CPU runs."""
    return _core.instruction_set()


# A line of memory, which one core at a time may write to.
LINE: Final = 64


def lined(shape: tuple[int, ...]) -> Floats:
    """Return room for numbers, which begins where a line of memory does."""
    size = math.prod(shape) * np.dtype(np.float32).itemsize
    room = np.empty(size + LINE, dtype=np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + size].view(np.float32).reshape(shape)


def checked(pairs: Ints, n: int, rows: int | None = None) -> Ints:
    """Return partners as the core reads them; refuse what would read out of bounds."""
    pairs = np.asarray(pairs)
    rows = n if rows is None else rows
    if pairs.ndim != 2 or pairs.shape[0] != rows:
        msg = f"pairs must have one row for each of {rows} points; got {pairs.shape}."
        raise ValueError(msg)
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        msg = (
            f"pairs must name rows from 0 to {n - 1}; got {pairs.min()}..{pairs.max()}."
        )
        raise ValueError(msg)
    return np.ascontiguousarray(pairs, dtype=np.int32)


def contiguous(X: Floats) -> Floats:
    """Return float32 numbers row by row."""
    return np.ascontiguousarray(X, dtype=np.float32)


def check_finite_map(Y: Floats) -> None:
    """Refuse a map that has left the numbers."""
    if not np.isfinite(Y).all():
        msg = (
            "The layout diverged: some coordinates are no longer finite. "
            "Use a smaller learning_rate, or an init of smaller numbers."
        )
        raise ValueError(msg)
