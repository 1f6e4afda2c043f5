from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import load_digits

from localmap import kernels
from localmap.neighbors import nearest_neighbors
from localmap.pairs import PairCounts, Pairs, sample_pairs
from localmap.space import space_of


@dataclass(frozen=True, eq=False)
class Problem:
    """Data with its pairs and a start of the size maps have."""

    Z: np.ndarray
    pairs: Pairs
    Y: np.ndarray

    @property
    def filed(self):
        return [kernels.FiledPairs(p.copy()) for p in self.pairs]

    def descent(self, learning_rate=1.0, start=None, **options):
        start = self.Y if start is None else start
        return kernels.Descent(
            start.copy(), *(p.copy() for p in self.pairs), learning_rate, **options
        )


@pytest.fixture(scope="session")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def make_problem():
    def make(n=300, dim=2, seed=0):
        rng = np.random.default_rng(seed)
        space = space_of(load_digits().data[:n], "euclidean", 100)
        Z = space.Z
        pairs = sample_pairs(
            space, nearest_neighbors(Z, 60), PairCounts(10, 5, 20), seed
        )
        return Problem(Z, pairs, (8 * rng.normal(size=(n, dim))).astype(np.float32))

    return make
