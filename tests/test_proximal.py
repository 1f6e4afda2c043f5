"""The measured proximal distance."""

import math

import numpy as np
import pytest

from localmap import LocalMAP, _reference, kernels, proximal
from localmap.neighbors import nearest_neighbors


def graph_of(X, k=40):
    return nearest_neighbors(X.astype(np.float32), k).indices


def test_shared_neighbors_by_definition():
    indices = graph_of(np.random.default_rng(0).normal(size=(200, 5)))
    near = indices[:, :10]
    expected = [
        [len(set(indices[i, :30]) & set(indices[j, :30])) for j in near[i]]
        for i in range(200)
    ]
    for threads in (1, 3):
        found = kernels.shared_neighbors(indices, 30, near, threads)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="among must be from 1 to 40"):
        kernels.shared_neighbors(indices, 41, near)


def test_sure_pairs_come_first_and_all_pairs_stay():
    rng = np.random.default_rng(0)
    indices = graph_of(
        np.concatenate([rng.random((200, 2)), rng.random((50, 20))[:, :2]])
    )
    near = indices[:, :10]
    ordered, sure = proximal.sure_first(indices, near)
    np.testing.assert_array_equal(np.sort(ordered), np.sort(near))
    shared = kernels.shared_neighbors(indices, 30, ordered) / 30
    first = np.arange(10) < sure[:, None]
    assert (shared[first] >= 0.5).all()
    assert (shared[~first] < 0.5).all()


def test_what_is_sure():
    rng = np.random.default_rng(0)
    # A sheet: almost all pairs.
    indices = graph_of(rng.random((2000, 2)))
    _, sheet = proximal.sure_first(indices, indices[:, :10])
    assert sheet.mean() > 9
    # Noise of fifty dimensions: neighbours do not know each other; nothing to take
    # apart, so all pairs.
    indices = graph_of(rng.normal(size=(2000, 50)))
    _, noise = proximal.sure_first(indices, indices[:, :10])
    assert noise.mean() > 9
    # A bridge of false pairs between two groups: not one.
    groups = np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + 50])
    indices = graph_of(groups)
    bridge = indices[:, :10].copy()
    bridge[:, 5] = (np.arange(600) + 300) % 600
    ordered, _ = proximal.sure_first(indices, bridge)
    across = ordered // 300 != np.arange(600)[:, None] // 300
    assert (across.sum(axis=1) == 1).all()
    _, sure = proximal.sure_first(indices, bridge)
    assert (across.argmax(axis=1) >= sure).all()


def test_the_strongest_pull_is_pacmaps():
    d = np.linspace(0, 10, 100_001)
    t = d**2 + 1
    plain = d * 20 / (10 + t) ** 2
    local = plain * proximal.STRENGTH / np.sqrt(t)
    assert local.max() == pytest.approx(plain.max(), rel=1e-8)
    assert pytest.approx(1.7912, abs=1e-4) == proximal.STRENGTH
    assert d[local.argmax()] == pytest.approx(math.sqrt(1.325), abs=1e-3)


def test_reach_is_a_quantile_of_distances_and_not_less_than_twenty():
    Y = (100 * np.random.default_rng(0).random((500, 2))).astype(np.float32)
    apart = np.linalg.norm(Y[:, None] - Y, axis=2)[np.triu_indices(500, 1)]
    expected = np.quantile(apart, 0.8)
    assert proximal.measured_reach(Y, 0) == pytest.approx(expected, rel=0.02)
    assert proximal.measured_reach(Y, 0) == proximal.measured_reach(Y, 0)
    assert proximal.measured_reach(Y / 100, 0) == 20.0


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("n", [300, 1300])
def test_sure_pairs_keep_pacmaps_force(make_problem, dim, n):
    problem = make_problem(n=n, dim=dim)
    sure = np.random.default_rng(0).integers(0, 11, n).astype(np.uint8)
    near, *others = (p.copy() for p in problem.pairs)
    filed = [kernels.FiledPairs(near, 2, sure), *map(kernels.FiledPairs, others)]
    weights = kernels.Weights(1.0, 0.0, 1.0, 0.0, 5.0)
    gradient, loss = kernels.forces(problem.Y, *filed, weights, n_threads=2)
    expected, expected_loss = _reference.forces(
        problem.Y, *problem.pairs, weights, sure
    )
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * scale)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    back = filed[0].unfile()
    first = np.arange(10) < sure[:, None]
    for part in (first, ~first):
        expected = np.where(part, problem.pairs.near, -1)
        np.testing.assert_array_equal(
            np.sort(np.where(part, back, -1)), np.sort(expected)
        )
    with pytest.raises(ValueError, match="how many of"):
        kernels.FiledPairs(problem.pairs.near.copy(), 1, sure + np.uint8(5))


def test_choices_are_told(digits):
    X = digits[0][:500]
    model = LocalMAP(random_state=0, n_iters=(30, 30, 60)).fit(X)
    assert model.proximal_distance_ == proximal.measured_reach(model.embedding_, 0)
    assert model.near_strength_ == proximal.STRENGTH
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
