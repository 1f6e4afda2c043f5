"""The measured proximal distance."""

import math

import numpy as np
import pytest

from localmap import LocalMAP, kernels
from localmap.datasets import one_piece, two_clouds
from localmap.geometry.neighbors import nearest_neighbors
from localmap.method import adjust, reference
from localmap.method.adjust import trusted_first
from localmap.method.pairs import scales


def graph_of(X, k=60):
    return nearest_neighbors(np.asarray(X, dtype=np.float32), k)


def near_of(graph):
    return kernels.near(graph.indices, graph.distances, scales(graph.distances), 10)


def share_of_trusted(X):
    graph = graph_of(X)
    return trusted_first(graph, near_of(graph))[1].mean() / 10


def test_shares_by_definition():
    graph = graph_of(np.random.default_rng(0).normal(size=(200, 5)), 40)
    near = near_of(graph)
    counts = reference.shared_neighbors(graph.indices, 30, near)
    means = reference.mean_shares(near, counts)
    for threads in (1, 3):
        found = kernels.shared_neighbors(graph.indices, 30, near, threads)
        np.testing.assert_array_equal(found, counts)
        found = kernels.mean_shares(near, found, threads)
        np.testing.assert_allclose(found, means, rtol=1e-6)
    with pytest.raises(ValueError, match="among must be from 1 to 40"):
        kernels.shared_neighbors(graph.indices, 41, near)
    with pytest.raises(ValueError, match=r"each of .* pairs needs its count"):
        kernels.mean_shares(near, np.zeros((200, 3), dtype=np.uint8))


def test_shares_of_four_rows_by_hand():
    near = np.array([[1, 2], [0, 2], [1, 3], [2, 1]], dtype=np.int32)
    shared = np.array([[4, 6], [2, 8], [10, 0], [6, 6]], dtype=np.uint8)
    means = kernels.mean_shares(near, shared)
    # Rows 0 and 1: twice 4 for itself; from {1, 2} to {0, 2} lead 1-0 and 1-2.
    assert means[0, 0] == pytest.approx((2 * 4 + 2 + 8) / 4)
    # Rows 2 and 3: twice 0; from {1, 3} to {2, 1} lead 1-2, 3-2 and 3-1.
    assert means[2, 1] == pytest.approx((2 * 0 + 8 + 6 + 6) / 5)


def test_usual_is_what_is_shared_around():
    shares = np.array([[0.2, 0.4], [0.6, 0.6], [0.8, 1.0]], dtype=np.float32)
    around = np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32)
    usual = adjust.usual_share(around, 2, shares)
    np.testing.assert_allclose(usual, [0.75, 0.6, 0.9], rtol=1e-6)


def test_least_share():
    def least(one, other, one_size=1.0, other_size=1.0):
        usual, sizes = np.array([[one], [other]]), np.array([[one_size], [other_size]])
        return reference.least_share(usual, sizes, 0.9, 0.5, 60)[0]

    # Much is usual: nine tenths of the larger.
    assert least(0.6, 0.5) == least(0.5, 0.6) == pytest.approx(0.54)
    # Little is: half a standard deviation of sixty draws below it.
    assert least(0.1, 0.1) == pytest.approx(0.1 - 0.5 * math.sqrt(0.1 * 0.9 / 60))
    # Surroundings of different sizes; of none; of one that is a point.
    assert least(0.8, 0.8, 1.0, 4.0) == pytest.approx(0.36)
    assert least(0.8, 0.8, 0.0, 0.0) == pytest.approx(0.72)
    assert least(0.8, 0.8, 0.0, 1.0) == 0.0


def test_trusted_pairs_come_first_and_all_pairs_stay(digits):
    graph = graph_of(digits[0][:600])
    near = near_of(graph)
    ordered, trusted, trust = trusted_first(graph, near)
    np.testing.assert_array_equal(np.sort(ordered), np.sort(near))
    assert 0 < trusted.mean() < 10
    counts = kernels.shared_neighbors(graph.indices, 60, near)
    shares = kernels.mean_shares(near, counts) / 60
    usual = adjust.usual_share(graph.indices, 60, shares)
    sizes = graph.distances[:, 59].astype(float)
    np.testing.assert_array_equal(trust.sizes, sizes.astype(np.float32))
    of_both = (
        np.stack(np.broadcast_arrays(part[:, None], part[near]))
        for part in (usual, sizes)
    )
    least = reference.least_share(*of_both, adjust.ENOUGH, adjust.CHANCE, 60)
    np.testing.assert_array_equal(
        ordered, reference.trusted_first(near, shares, least)[0]
    )


@pytest.mark.parametrize("name", ["cube2", "cube5", "gauss8", "cube12", "gauss50"])
def test_most_pairs_of_a_cloud_are_trusted_in_any_dimension(name):
    assert share_of_trusted(one_piece(name, 2000)) > 0.6


def test_more_than_255_pairs_of_a_row_may_be_trusted():
    graph = graph_of(np.random.default_rng(0).random((700, 2)), 350)
    _, trusted, _ = trusted_first(graph, graph.indices[:, :300])
    assert trusted.mean() > 256


def test_false_pairs_are_not_trusted():
    rng = np.random.default_rng(0)
    graph = graph_of(
        np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + 50])
    )
    bridge = graph.indices[:, :10].copy()
    bridge[:, 5] = (np.arange(600) + 300) % 600
    ordered, trusted, _ = trusted_first(graph, bridge)
    across = ordered // 300 != np.arange(600)[:, None] // 300
    assert (across.sum(axis=1) == 1).all()
    # But for a few rows far out, whose surroundings are much larger than the others'.
    assert (across.argmax(axis=1) < trusted).mean() < 0.04


def test_pairs_across_a_gap_are_doubted_more_than_others():
    X, y = two_clouds("gauss", 8, 3.5, 3000)
    graph = graph_of(X)
    ordered, trusted, _ = trusted_first(graph, near_of(graph))
    is_trusted = np.arange(10) < trusted[:, None]
    across = y[ordered] != y[:, None]
    assert 0.01 < across.mean() < 0.2
    assert is_trusted[across].mean() < 0.65
    assert is_trusted[~across].mean() > 0.75


def test_the_strongest_pull_is_pacmaps():
    d = np.linspace(0, 10, 100_001)
    t = d**2 + 1
    plain = d * 20 / (10 + t) ** 2
    local = plain * adjust.STRENGTH / np.sqrt(t)
    assert local.max() == pytest.approx(plain.max(), rel=1e-8)
    assert pytest.approx(1.7912, abs=1e-4) == adjust.STRENGTH
    assert d[local.argmax()] == pytest.approx(math.sqrt(1.325), abs=1e-3)


def test_reach_is_a_quantile_of_distances_and_not_less_than_twenty():
    Y = (100 * np.random.default_rng(0).random((500, 2))).astype(np.float32)
    apart = np.linalg.norm(Y[:, None] - Y, axis=2)[np.triu_indices(500, 1)]
    expected = np.quantile(apart, 0.6)
    assert adjust.measured_reach(Y, 0) == pytest.approx(expected, rel=0.02)
    assert adjust.measured_reach(Y, 0) == adjust.measured_reach(Y, 0)
    assert adjust.measured_reach(Y / 100, 0) == 20.0


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("n", [300, 1300])
def test_trusted_pairs_keep_pacmaps_force(make_problem, dim, n):
    problem = make_problem(n=n, dim=dim)
    trusted = np.random.default_rng(0).integers(0, 11, n).astype(np.uint16)
    near, *others = (p.copy() for p in problem.pairs)
    listed = [kernels.PairLists(near, 2, trusted), *map(kernels.PairLists, others)]
    weights = kernels.Weights(1.0, 0.0, 1.0, 0.0, 5.0)
    gradient, loss = kernels.forces(problem.Y, *listed, weights, n_threads=2)
    expected, expected_loss = reference.forces(
        problem.Y, *problem.pairs, weights, trusted
    )
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * scale)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    with pytest.raises(ValueError, match="how many of"):
        kernels.PairLists(problem.pairs.near, 1, trusted + np.uint16(5))


def test_choices_are_told(digits):
    X = digits[0][:500]
    model = LocalMAP(random_state=0, n_iters=(30, 30, 60)).fit(X)
    assert model.proximal_distance_ == adjust.measured_reach(model.embedding_, 0)
    assert model.near_strength_ == adjust.STRENGTH
    stronger = LocalMAP(near_strength=3.0, random_state=0).fit(X)
    assert stronger.near_strength_ == 3.0
    paper = LocalMAP(proximal_distance=10.0, random_state=0).fit(X)
    assert (paper.proximal_distance_, paper.near_strength_) == (10.0, 5.0)


def test_same_bits_on_any_number_of_threads(digits):
    X = np.tile(digits[0], (6, 1)) + np.random.default_rng(0).normal(size=(10_782, 64))
    maps = [
        LocalMAP(random_state=0, n_jobs=jobs, n_iters=(5, 5, 25)).fit_transform(X)
        for jobs in (1, 2, 4)
    ]
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])
