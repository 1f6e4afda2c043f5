from itertools import pairwise

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from localmap import kernels
from localmap.geometry import cells, neighbors
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.workshop import Workshop


@pytest.fixture(autouse=True)
def _cells_from_8192_rows(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 8192)


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(500, 20, 60), (97, 3, 10), (1000, 101, 15), (50, 1, 49), (2, 4, 1)],
)
def test_equals_brute_force(n, d, k):
    Z = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    graph = nearest_neighbors(Z, k, Workshop(2))
    exact = np.linalg.norm(Z[:, None].astype(np.float64) - Z, axis=2)
    np.fill_diagonal(exact, np.inf)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    expected = np.take_along_axis(exact, order, axis=1)
    np.testing.assert_allclose(graph.distances, expected, rtol=1e-5)
    assert (graph.indices == order).mean() > 0.999
    assert graph.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("n", "d", "k", "values"),
    [
        (3000, 12, 60, 0),  # not on a grid
        (3000, 3, 60, 3),  # most rows are as far away as others
        (1000, 2, 30, 1),  # all are the same
        (500, 1, 20, 100),
        (145, 40, 60, 0),  # one row more than a run
        (3, 2, 2, 2),
        (2, 4, 1, 0),
    ],
)
def test_comparing_each_two_once_finds_what_comparing_all_finds(n, d, k, values):
    rng = np.random.default_rng(n)
    Z = rng.integers(0, values, (n, d)) if values else rng.normal(size=(n, d))
    Z = Z.astype(np.float32)
    plain, distances = kernels.exact_neighbors(Z, k, 2)
    for threads in (1, 2, 5):
        for order in (np.arange(n), rng.permutation(n), np.argsort(Z[:, 0])):
            found = kernels.compare_each_two(Z, order.astype(np.int32), k, threads)
            np.testing.assert_array_equal(found[0], plain)
            np.testing.assert_array_equal(found[1], distances)


@pytest.mark.parametrize("order", [[0, 1, 1], [0, 1], [0, 1, 3], [0, 1, -1]])
def test_an_order_that_leaves_a_row_out_is_refused(order):
    Z = np.zeros((3, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="rows"):
        kernels.compare_each_two(Z, np.array(order, dtype=np.int32), 1)


def test_distances_that_overflow_end_the_search_all_the_same():
    """Centres of cells are as far away as each other then: no number is the least."""
    Z = (np.random.default_rng(0).normal(size=(3000, 10)) * 1e19).astype(np.float32)
    graph = nearest_neighbors(Z, 60, Workshop(2))
    np.testing.assert_array_equal(graph.indices, kernels.exact_neighbors(Z, 60)[0])


def test_long_lists_are_the_same(monkeypatch):
    Z = clusters(2500, 6, 3)
    short = nearest_neighbors(Z, 40, Workshop(2)).indices
    monkeypatch.setattr(neighbors, "LONG_LIST", 30)
    np.testing.assert_array_equal(nearest_neighbors(Z, 40, Workshop(2)).indices, short)


@pytest.mark.parametrize("tight", [False, True])
def test_a_few_thousand_rows_get_the_bits_of_brute_force(tight):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(3000, 40)) * np.linspace(3, 0.1, 40)
    if tight:  # groups far apart, and one of duplicates
        Z = Z * 1e-3 + 100 * rng.integers(0, 5, (3000, 1))
        Z[:200] = Z[0]
    Z = Z.astype(np.float32)
    plain = kernels.exact_neighbors(Z, 60, 2)
    graph = nearest_neighbors(Z, 60, Workshop(2))
    np.testing.assert_array_equal(graph.indices, plain[0])
    np.testing.assert_array_equal(graph.distances, plain[1])
    assert graph.recall == 1


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


def clusters(n, d, groups, seed=0):
    rng = np.random.default_rng(seed)
    centres = 5 * rng.normal(size=(groups, d))
    return (centres[rng.integers(0, groups, n)] + rng.normal(size=(n, d))).astype("f4")


@pytest.mark.parametrize(
    "Z",
    [
        clusters(18_000, 20, 40),
        clusters(18_000, 30, 1),  # one ball: no cell is better than another
        np.random.default_rng(0).random((18_000, 2), dtype=np.float32),
        clusters(17_000, 10, 3) * np.float32(1e-3) + np.float32(7),
    ],
    ids=["groups", "ball", "plane", "offset"],
)
def test_search_in_cells_reaches_and_tells_its_recall(Z):
    n = len(Z)
    graph = nearest_neighbors(Z, 30, Workshop(2))
    rows = np.arange(0, n, 7, dtype=np.int32)  # not the rows it chose by
    _, exact = kernels.exact_neighbors(Z, 30, 2, rows)
    recall = (graph.distances[rows, :10] <= exact[:, 9:10]).mean()
    assert graph.recall >= 0.985
    assert recall == pytest.approx(graph.recall, abs=0.015)
    assert (np.diff(graph.distances, axis=1) >= 0).all()
    assert (graph.indices != np.arange(n)[:, None]).all()
    distances = np.linalg.norm(Z[rows, None] - Z[graph.indices[rows]], axis=2)
    np.testing.assert_allclose(graph.distances[rows], distances, rtol=1e-4, atol=1e-6)
    assert all(len(set(row)) == 30 for row in graph.indices[rows])


def test_rows_enter_the_lists_of_those_that_they_found():
    """Against the definition: the k nearest of those listed and those who list."""
    rng = np.random.default_rng(0)
    Z = clusters(400, 6, 3)
    Z[:40] = Z[40]  # ties
    exact, distances = kernels.exact_neighbors(Z, 30)
    seen = np.sort(rng.permuted(np.tile(np.arange(30), (400, 1)), axis=1)[:, :12])
    indices = np.take_along_axis(exact, seen, axis=1)
    near = np.take_along_axis(distances, seen, axis=1)
    indices[7, 9:], near[7, 9:] = -1, np.inf  # a list that was not filled
    listed = np.full((400, 400), np.inf, dtype=np.float32)
    for i, (row, away) in enumerate(zip(indices, near, strict=True)):
        listed[i, row[row >= 0]] = away[row >= 0]
    expected = np.sort(np.minimum(listed, listed.T), axis=1)[:, :12]
    for threads, parts in ((1, [0, 400]), (3, [0, 400]), (2, [0, 7, 8, 300, 400])):
        lists, found = indices.copy(), near.copy()
        missed = [
            kernels.missed_neighbors(lists, found, first, last, threads)
            for first, last in pairwise(parts)
        ]
        for some in missed:
            kernels.let_in(lists, found, some)
        np.testing.assert_array_equal(found, expected)
        assert all(len(set(row)) == 12 for row in lists)
        rows = np.arange(400)[:, None]
        both = np.minimum(listed, listed.T)[rows, lists]
        np.testing.assert_array_equal(both[lists >= 0], found[lists >= 0])


def test_rows_whose_cells_are_nearly_empty_are_compared_with_all(monkeypatch):
    """Cells of about three rows, few of them searched: no list of 60 can be filled."""
    monkeypatch.setattr(cells, "CELLS_PER_ROOT", 30.0)
    monkeypatch.setattr(neighbors, "TARGET_RECALL", 0.2)
    Z = clusters(17_000, 5, 4)
    graph = nearest_neighbors(Z, 60, Workshop(2))
    exact, distances = kernels.exact_neighbors(Z, 60, 2)
    np.testing.assert_array_equal(graph.indices, exact)
    np.testing.assert_array_equal(graph.distances, distances)


def test_duplicates_by_the_ten_thousand():
    Z = np.repeat(clusters(4, 5, 2), 5000, axis=0)
    graph = nearest_neighbors(Z, 20, Workshop(2))
    assert (graph.distances == 0).all()
    assert (graph.indices != np.arange(20_000)[:, None]).all()


def test_search_in_cells_gives_the_same_bits_on_any_number_of_threads():
    Z = clusters(20_000, 16, 10)
    one = nearest_neighbors(Z, 20)
    for threads in (2, 4, 19):
        many = nearest_neighbors(Z, 20, Workshop(threads))
        np.testing.assert_array_equal(one.indices, many.indices)
        np.testing.assert_array_equal(one.distances, many.distances)
        assert one.recall == many.recall


@pytest.mark.parametrize("k", [0, 10])
def test_impossible_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be from 1 to 9"):
        kernels.exact_neighbors(np.ones((10, 2), dtype=np.float32), k)


def test_other_rows_find_the_nearest_by_themselves():
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(30, 12))
    Z = (rng.normal(size=(10_000, 12)) + centres[rng.integers(0, 30, 10_000)]).astype(
        "f4"
    )
    queries = (rng.normal(size=(500, 12)) + centres[rng.integers(0, 30, 500)]).astype(
        "f4"
    )
    queries[:50] = Z[:50]
    index = neighbors.CellIndex(Z, 20, 2)
    indices, distances = index.neighbors(queries, 20, 2)
    true_distances = kernels.neighbors_of(Z, queries, 20, 2)[1]
    assert (distances <= true_distances[:, -1:]).mean() > 0.96
    assert (indices[:50, 0] == np.arange(50)).all()  # rows of the index find themselves
    away = np.linalg.norm(Z[indices].astype(float) - queries[:, None], axis=2)
    np.testing.assert_allclose(distances, away, rtol=1e-5)
    for i in (3, 77, 499):
        alone = index.neighbors(queries[[i]], 20)
        np.testing.assert_array_equal(alone[0][0], indices[i])
    few = neighbors.CellIndex(Z, 20, 1).neighbors(queries, 20, 1)
    np.testing.assert_array_equal(few[0], indices)


def test_other_rows_far_from_all_cells_get_as_many_as_they_ask_for():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(3000, 3)).astype("f4")
    Z[0] += 500  # a cell of its own
    indices, _ = neighbors.CellIndex(Z, 10, 2).neighbors(Z[:1] + 1, 60)
    assert len(set(indices[0])) == 60
    assert indices[0, 0] == 0
    assert indices.min() >= 0
