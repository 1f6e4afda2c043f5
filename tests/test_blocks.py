"""Blocks of rows by several threads: in their order, and not all at once."""

import threading
import time

import numpy as np
import pytest

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


def test_an_error_in_a_block_is_told():
    def divided(block):
        return 1 // int(block[0, 0])

    X = np.ones((300, 1 << 15), dtype=np.int8)
    X[200:] = 0
    with pytest.raises(ZeroDivisionError):
        list(in_blocks(X, divided, 2))
