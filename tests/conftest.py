import signal
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_digits

from localmap import kernels
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.space import space_of
from localmap.method.pairs import scales

# A shell ignores Ctrl-C for what it starts in the background, and for all that starts
# from there: what presses it in tests would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Pairs(NamedTuple):
    near: np.ndarray
    mid_near: np.ndarray
    further: np.ndarray


def pairs_of(space, graph, near=10, mid_near=5, further=20, key=0):
    own = scales(graph.distances)
    found = kernels.near(graph.indices, graph.distances, own, near)
    return Pairs(
        found, space.mid_near(mid_near, key, 1), kernels.further(found, further, key)
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """Data with its pairs and a start of the size maps have."""

    Z: np.ndarray
    pairs: Pairs
    Y: np.ndarray

    @property
    def listed(self):
        return [kernels.PairLists(p) for p in self.pairs]

    def descent(self, learning_rate=1.0, start=None, **options):
        start = self.Y if start is None else start
        return kernels.Descent(
            start.copy(), *(p.copy() for p in self.pairs), learning_rate, **options
        )


@pytest.fixture(autouse=True)
def close_figures():
    """Where a package loads pyplot, pictures are pyplot's, which keeps every one."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def make_problem():
    def make(n=300, dim=2, seed=0):
        rng = np.random.default_rng(seed)
        space = space_of(load_digits().data[:n], "euclidean", 100)
        Z = space.Z
        pairs = pairs_of(space, nearest_neighbors(Z, 60), key=seed)
        return Problem(Z, pairs, (8 * rng.normal(size=(n, dim))).astype(np.float32))

    return make
