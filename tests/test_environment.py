"""A guest in the process: threads, forks, workers and signals stay as they were."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from localmap import LocalMAP
from localmap.kernels import arrays, thread_count


def blobs(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)) + 6 * rng.integers(0, 3, (n, 1))


def fitted(seed, n_jobs=2):
    return LocalMAP(
        n_iters=(20, 20, 30), random_state=seed, n_jobs=n_jobs
    ).fit_transform(blobs(seed=seed))


def test_concurrent_fits_give_the_serial_maps():
    serial = [fitted(seed) for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        for one, other in zip(serial, pool.map(fitted, range(6)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_concurrent_transforms_give_the_serial_places():
    model = LocalMAP(n_iters=(20, 20, 30), random_state=0).fit(blobs())
    batches = [blobs(300, seed) for seed in range(1, 7)]
    serial = [model.transform(X) for X in batches]
    with ThreadPoolExecutor(6) as pool:
        for one, other in zip(serial, pool.map(model.transform, batches), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_works_after_a_fork():
    expected = fitted(1)  # threads have run before the fork
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        for Y in pool.map(fitted, [1, 1]):
            np.testing.assert_array_equal(Y, expected)


def test_works_in_the_workers_of_joblib():
    expected = fitted(1)
    for Y in Parallel(n_jobs=2)(delayed(fitted)(1, -1) for _ in range(2)):
        np.testing.assert_array_equal(Y, expected)


def test_limits_of_threadpoolctl_are_kept():
    with threadpool_limits(1):
        assert thread_count(-1) == 1
        assert thread_count(3) == 3  # a number asked for is a number given


def test_quotas_of_a_container_and_bound_cores_are_kept(monkeypatch):
    monkeypatch.setattr(arrays, "cpu_count", lambda: 1)  # joblib reads the cgroup
    assert thread_count(-1) == 1
    monkeypatch.undo()
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from localmap.kernels import thread_count; print(thread_count(-1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


def test_nothing_is_left_changed():
    before = threadpool_info(), np.geterr(), dict(os.environ)
    fitted(0)
    assert (threadpool_info(), np.geterr(), dict(os.environ)) == before


def test_ctrl_c_in_a_fit_is_heard_within_a_second_and_the_estimator_stays_usable():
    code = """
import os, signal, threading, time
import numpy as np
from localmap import LocalMAP
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 20))
model = LocalMAP(n_iters=(100_000, 0, 0), random_state=0)
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(3.0, interrupt).start()
try:
    model.fit(X)
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
assert not hasattr(model, "embedding_")
model.set_params(n_iters=(5, 5, 5)).fit(X[:500])
assert model.embedding_.shape == (500, 2)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1.0


def test_a_callback_that_stops_keeps_the_map_so_far():
    model = LocalMAP(callback=lambda i, Y, loss: i == 7, random_state=0).fit(blobs(200))
    assert model.n_iter_ == 8
    assert np.isfinite(model.embedding_).all()
