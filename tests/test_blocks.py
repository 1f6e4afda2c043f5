"""Blocks of rows by several threads: in their order, and not all at once."""

import threading
import time

import numpy as np
import pytest

from localmap.geometry import blas
from localmap.geometry.blocks import in_blocks, in_order


@pytest.mark.parametrize("n_threads", [1, 2, 3, 40])
def test_what_is_made_comes_in_order(n_threads):
    def slower_first(item):
        time.sleep(0.01 if item % 3 == 0 else 0)
        return item * item

    made = list(in_order(range(20), slower_first, n_threads))
    assert made == [item * item for item in range(20)]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_more_are_begun_than_threads_beyond_the_one_at_hand(n_threads):
    begun = []
    made = in_order(range(30), begun.append, n_threads)
    for taken, _ in enumerate(made):
        time.sleep(0.002)
        assert len(begun) <= taken + 1 + n_threads


def test_others_work_while_the_caller_does():
    second = threading.Event()
    made = in_order(range(8), lambda item: item == 2 and second.set(), 2)
    next(made)
    assert second.wait(5), "the third item is begun only when the second is taken"
    assert len(list(made)) == 7


def test_libraries_that_count_threads_for_each_thread_are_held_in_each(monkeypatch):
    set_by = []

    class OfEachThread:
        user_api, threading_layer = "blas", "openmp"

        def set_num_threads(self, count):
            set_by.append((threading.get_ident(), count))

    class OfAll(OfEachThread):
        threading_layer = "pthreads"

    class Libraries:
        lib_controllers = (OfEachThread(), OfAll())

    monkeypatch.setattr(blas, "_libraries", Libraries)
    workers = set(in_order(range(20), lambda _: threading.get_ident(), 3))
    assert workers <= {worker for worker, _ in set_by}
    assert threading.get_ident() not in workers
    assert len(set_by) == len({worker for worker, _ in set_by})  # once, not of all
    assert {count for _, count in set_by} == {1}


def test_an_error_in_a_block_is_told():
    def divided(block):
        return 1 // int(block[0, 0])

    X = np.ones((300, 1 << 15), dtype=np.int8)
    X[200:] = 0
    with pytest.raises(ZeroDivisionError):
        list(in_blocks(X, divided, 2))
