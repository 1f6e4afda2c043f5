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
    What other threads set meanwhile is not known here: it does not count, or is gone
    afterwards.
    """
    global _inside, _limits  # noqa: PLW0603 - what they count belongs to the process
    with _lock:
        if _inside == 0:
            _let_others_set()
            _limits = _libraries().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _let_others_set()
                _limits.restore_original_limits()
                _let_others_set()


def hold_this_thread() -> None:
    """Hold libraries to one thread that count for each thread by itself.

    Of a thread that ends when its work is done: nothing is given back.
    """
    for library in _libraries().lib_controllers:
        of_each = getattr(library, "threading_layer", None) == "openmp"
        if library.user_api == "blas" and of_each:
            library.set_num_threads(1)


def _let_others_set() -> None:
    """Let any thread set limits, whichever has set one.

    threadpoolctl 3.8 obeys the thread that was the first to set one and ignores the
    others in silence; who enters last here need not be who leaves last.
    """
    for library in _libraries().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


@cache
def _libraries() -> ThreadpoolController:
    """Find the BLAS libraries of NumPy and SciPy, which are loaded by now.

    Once: it reads all that the process has loaded, which takes as long as a tenth of
    the map of a thousand rows.
    """
    return ThreadpoolController()
