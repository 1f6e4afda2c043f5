import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from localmap import kernels
from localmap.neighbors import nearest_neighbors


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(500, 20, 60), (97, 3, 10), (1000, 101, 15), (50, 1, 49), (2, 4, 1)],
)
def test_equals_brute_force(n, d, k):
    Z = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    graph = nearest_neighbors(Z, k, n_threads=2)
    exact = np.linalg.norm(Z[:, None].astype(np.float64) - Z, axis=2)
    np.fill_diagonal(exact, np.inf)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    expected = np.take_along_axis(exact, order, axis=1)
    np.testing.assert_allclose(graph.distances, expected, rtol=1e-5)
    assert (graph.indices == order).mean() > 0.999
    assert graph.indices.dtype == np.int32


def test_sorted_without_self_and_distinct():
    Z = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    graph = nearest_neighbors(Z, 40)
    assert (np.diff(graph.distances, axis=1) >= 0).all()
    for i, row in enumerate(graph.indices):
        assert i not in row
        assert len(set(row)) == 40


def test_duplicates_are_each_others_neighbours_never_their_own():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(30, 5)), 50, axis=0).astype(np.float32)
    graph = nearest_neighbors(Z, 30)
    assert (graph.distances == 0).all()
    assert (graph.indices // 50 == np.arange(1500)[:, None] // 50).all()
    assert (graph.indices != np.arange(1500)[:, None]).all()


def test_equal_distances_come_in_index_order():
    Z = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0]], dtype=np.float32)
    assert nearest_neighbors(Z, 4).indices[0].tolist() == [1, 2, 3, 4]


def test_digits_against_scikit_learn(digits):
    Z = digits[0].astype(np.float32)
    graph = nearest_neighbors(Z, 10)
    distances, _ = (
        NearestNeighbors(n_neighbors=11, algorithm="brute").fit(Z).kneighbors()
    )
    np.testing.assert_allclose(graph.distances, distances[:, :10], rtol=1e-5)


@pytest.mark.parametrize("k", [0, 10])
def test_impossible_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be from 1 to 9"):
        kernels.exact_neighbors(np.ones((10, 2), dtype=np.float32), k)
