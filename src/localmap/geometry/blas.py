"""Linear algebra that rounds alike everywhere.

A product of matrices that a BLAS library spreads over threads is rounded by how it was
spread: the same data would give another map on another machine, or where a scheduler
allows one thread only. So products are taken block by block, each by one thread, and
blocks are worked on at once instead (`localmap.geometry.blocks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_limits: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS libraries to one thread until the last one who asked has left.

    Their number of threads belongs to the process. Two fits at once must not restore
    it under each other's hands, nor leave the caller with another number than before.
    """
    global _inside, _limits  # noqa: PLW0603 - what they count belongs to the process
    with _lock:
        if _inside == 0:
            _limits = _libraries().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    """Find the BLAS libraries of NumPy and SciPy, which are loaded by now.

    Once: it reads all that the process has loaded, which takes as long as a tenth of
    the map of a thousand rows.
    """
    return ThreadpoolController()
