"""Compiled forces and Adam against the reference, and the laws they obey."""

from collections import Counter

import numpy as np
import pytest
from conftest import pairs_of

from localmap import kernels
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.space import space_of
from localmap.kernels import Weights, _core
from localmap.method import reference

PACMAP = Weights(2.0, 700.0, 1.0)
LOCAL = Weights(1.0, 0.0, 1.0, near_plain=0.0, near_local=5.0)
MIXED = Weights(3.0, 3.0, 1.5, near_plain=0.4, near_local=3.0)


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 70])
@pytest.mark.parametrize("weights", [PACMAP, LOCAL, MIXED])
def test_forces_equal_the_reference(make_problem, dim, weights):
    problem = make_problem(dim=dim)
    gradient, loss = kernels.forces(problem.Y, *problem.listed, weights)
    p = problem.pairs
    expected, expected_loss = reference.forces(
        problem.Y, p.near, p.mid_near, p.further, weights
    )
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * scale)
    assert loss == pytest.approx(expected_loss, rel=1e-5)


@pytest.mark.parametrize("n", [1300, 1797, 17_500])
@pytest.mark.parametrize("weights", [PACMAP, LOCAL])
def test_forces_of_any_pairs_equal_the_reference(n, weights):
    """Pairs that are there twice or thrice, and points paired with themselves."""
    rng = np.random.default_rng(n)
    pairs = [rng.integers(0, n, size=(n, k)).astype(np.int32) for k in (3, 2, 5)]
    Y = (8 * rng.normal(size=(n, 2))).astype(np.float32)
    listed = [kernels.PairLists(p, 2) for p in pairs]
    gradient, loss = kernels.forces(Y, *listed, weights, n_threads=3)
    expected, expected_loss = reference.forces(Y, *pairs, weights)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * scale)
    assert loss == pytest.approx(expected_loss, rel=1e-5)


def test_two_points_by_hand():
    # Two points 3 apart, a near pair both ways: t = 10, so each direction pulls with
    # 20 / 20^2 * 3 = 0.15, and the two directions make 0.30.
    Y = np.array([[0.0, 0.0], [3.0, 0.0]], dtype=np.float32)
    near = kernels.PairLists(np.array([[1], [0]], dtype=np.int32))
    none = kernels.PairLists(np.empty((2, 0), dtype=np.int32))
    gradient, loss = kernels.forces(Y, near, none, none, Weights(1.0, 0.0, 1.0))
    np.testing.assert_allclose(gradient, [[-0.3, 0.0], [0.3, 0.0]], rtol=1e-6)
    assert loss == pytest.approx(2 * 10 / 20)
    # LocalMAP multiplies by 5 / sqrt(10); as a further pair: -2 / 11^2 * 3, twice.
    local, _ = kernels.forces(Y, near, none, none, LOCAL)
    np.testing.assert_allclose(local[0, 0], -0.3 * 5 / np.sqrt(10), rtol=1e-6)
    repelled, loss = kernels.forces(Y, none, none, near, Weights(1.0, 0.0, 1.0))
    np.testing.assert_allclose(repelled[1, 0], -2 * 3 * 2 / 121, rtol=1e-6)
    assert loss == pytest.approx(2 / 11)


@pytest.mark.parametrize(
    "weights", [Weights(2.0, 0, 0), Weights(0, 900.0, 0), Weights(0, 0, 1.0), PACMAP]
)
def test_pacmap_forces_are_the_derivative_of_its_loss(make_problem, weights):
    """Finite differences of PaCMAP's loss, one kind of pair at a time.

    The published code (and the table of forces) is twice the derivative with respect
    to the squared distance, that is the exact derivative with respect to Y.
    """
    problem = make_problem(n=40 + 60)
    p = problem.pairs
    Y = problem.Y.astype(np.float64)
    gradient, _ = reference.forces(Y, p.near, p.mid_near, p.further, weights)
    step = 1e-5
    for i, a in [(0, 0), (7, 1), (33, 0), (99, 1)]:
        ahead, behind = Y.copy(), Y.copy()
        ahead[i, a] += step
        behind[i, a] -= step
        slope = (
            reference.forces(ahead, p.near, p.mid_near, p.further, weights)[1]
            - reference.forces(behind, p.near, p.mid_near, p.further, weights)[1]
        ) / (2 * step)
        assert gradient[i, a] == pytest.approx(slope, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("distance", [0.5, 2.0, 3.5, 10.0, 40.0])
def test_the_local_near_force_is_a_weight_and_never_repels(distance):
    """Fails if someone differentiates d_adj sqrt(t) / (2 (10 + t)) instead.

    That derivative is proportional to (10 - t) / (sqrt(t) (10 + t)^2): it changes sign
    at t = 10, so a near pair more than 3 apart would be pushed further apart.
    """
    Y = np.array([[0.0, 0.0], [distance, 0.0]], dtype=np.float32)
    near = kernels.PairLists(np.array([[1], [0]], dtype=np.int32))
    none = kernels.PairLists(np.empty((2, 0), dtype=np.int32))
    plain, _ = kernels.forces(Y, near, none, none, Weights(1.0, 0.0, 1.0))
    local, _ = kernels.forces(Y, near, none, none, LOCAL)
    t = distance**2 + 1
    assert plain[1, 0] > 0
    assert local[1, 0] == pytest.approx(plain[1, 0] * 5 / np.sqrt(t), rel=1e-5)


@pytest.mark.parametrize("dim", [2, 3, 4])
@pytest.mark.parametrize("weights", [PACMAP, LOCAL])
def test_forces_sum_to_zero_and_follow_the_map(make_problem, dim, weights):
    problem = make_problem(dim=dim)
    gradient, loss = kernels.forces(problem.Y, *problem.listed, weights)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(gradient.sum(axis=0), 0, atol=1e-4 * scale)

    moved, _ = kernels.forces(problem.Y + np.float32(3), *problem.listed, weights)
    np.testing.assert_allclose(moved, gradient, atol=1e-4 * scale)

    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(dim, dim)))[0]
    turned, turned_loss = kernels.forces(
        (problem.Y @ turn).astype(np.float32), *problem.listed, weights
    )
    np.testing.assert_allclose(turned, gradient @ turn, atol=1e-4 * scale)
    assert turned_loss == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("dim", [2, 3, 7])
def test_steps_equal_reference_adam(make_problem, dim):
    problem = make_problem(dim=dim)
    p = problem.pairs
    descent = problem.descent(learning_rate=0.7)
    Y = problem.Y.astype(np.float64)
    m, v = np.zeros_like(Y), np.zeros_like(Y)
    for step in range(1, 6):
        loss = descent.step(MIXED, with_loss=True)
        gradient, expected_loss = reference.forces(
            Y, p.near, p.mid_near, p.further, MIXED
        )
        Y, m, v = reference.adam_step(Y, gradient, m, v, step, learning_rate=0.7)
        assert loss == pytest.approx(expected_loss, rel=1e-5)
    np.testing.assert_allclose(descent.Y, Y, atol=1e-5 * np.abs(Y).max())


@pytest.mark.parametrize("dealt", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_steps_together_are_those_one_by_one(make_problem, dealt, threads):
    n = 8300  # two rings, and rows for three threads
    rng = np.random.default_rng(0)
    Y = (5 * rng.normal(size=(n, 2))).astype(np.float32)
    near, mid_near, further = (
        rng.integers(0, n, (n, k), dtype=np.int32) for k in (4, 2, 8)
    )
    several = [PACMAP, MIXED, LOCAL, LOCAL, MIXED]

    def descent(n_threads):
        given = kernels.Circles(n, 8) if dealt else further.copy()
        return kernels.Descent(Y.copy(), near, mid_near, given, 1.0, n_threads, key=3)

    one, other = descent(1), descent(threads)
    losses = [one.step(weights, with_loss=True) for weights in several]
    assert np.isnan(other.steps(several[:2]))
    assert other.steps(several[2:], with_loss=True) == losses[-1]
    np.testing.assert_array_equal(other.Y, one.Y)


def test_loss_is_nan_unless_asked_for(make_problem):
    problem = make_problem()
    assert np.isnan(problem.descent().step(PACMAP))


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_same_bits_on_any_number_of_threads(dim):
    rng = np.random.default_rng(0)
    n = 9000  # three threads at most in the descent
    space = space_of(rng.normal(size=(n, 12)), "euclidean", None)
    graph = nearest_neighbors(space.Z, 20)
    Z = space.Z
    pairs = pairs_of(space, graph)
    Y = (8 * rng.normal(size=(n, dim))).astype(np.float32)

    def run(threads):
        descent = kernels.Descent(Y.copy(), *(p.copy() for p in pairs), 1.0, threads)
        losses = [descent.step(MIXED, with_loss=True) for _ in range(5)]
        redrawn = pairs.further.copy()
        kernels.local_further(descent.Y, pairs.near, redrawn, 10, 0.7, 5, 9, threads)
        descent.redraw(10, 1.0, 5, 9)
        losses += [descent.step(MIXED, with_loss=True) for _ in range(2)]
        circles = kernels.Circles(n, 20)
        dealing = kernels.Descent(Y.copy(), *pairs[:2], circles, 1.0, threads, key=4)
        losses += [dealing.step(MIXED, with_loss=True) for _ in range(3)]
        dealing.redraw(9.0, 1.0, 5, 9)
        losses += [dealing.step(MIXED, with_loss=True) for _ in range(3)]
        near = kernels.exact_neighbors(Z, 20, threads)
        rest = [
            kernels.mid_near(Z, 5, 3, threads),
            kernels.further(pairs.near, 20, 3, threads),
        ]
        return [descent.Y, dealing.Y, np.array(losses), redrawn, *near, *rest]

    one = run(1)
    for threads in (2, 4, 19):
        for alone, together in zip(one, run(threads), strict=True):
            np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("n", [5, 64, 3000])
def test_every_pair_is_listed_at_both_its_points(n):
    rng = np.random.default_rng(n)
    pairs = rng.integers(0, n, size=(n, 3)).astype(np.int32)
    trusted = rng.integers(0, 4, size=n).astype(np.uint16)
    listed = kernels.PairLists(pairs, 2, trusted)
    times = {0: (1, 0), 1: (0, 1), 2: (2, 0), 3: (0, 2), 4: (1, 1)}  # trusted, others
    found, expected = Counter(), Counter()
    for i in range(n):
        for entry in listed.entries[listed.starts[i] : listed.starts[i + 1]].tolist():
            sure, other = times[entry % 2**_core.CODE_BITS]
            found[i, entry >> _core.CODE_BITS, True] += sure
            found[i, entry >> _core.CODE_BITS, False] += other
        for s, j in enumerate(pairs[i].tolist()):
            expected[i, j, s < trusted[i]] += 1
            expected[j, i, s < trusted[i]] += 1
    assert +found == expected
    assert len(listed.entries) - _core.BEYOND == listed.starts[-1]


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize(("n", "reach"), [(300, 6.0), (1797, 9.0), (1797, np.inf)])
def test_forces_of_dealt_pairs_equal_the_reference(make_problem, dim, n, reach):
    problem = make_problem(n=n, dim=dim)
    near, mid_near, _ = problem.listed
    circles = kernels.Circles(n, 20)
    circles.deal(problem.Y, near, reach, 3, 10, 2)
    partners = circles.partners()
    assert (partners >= 0).all()
    gradient, loss = kernels.forces(problem.Y, near, mid_near, circles, MIXED, 2)
    pairs = problem.pairs
    expected, expected_loss = reference.forces(
        problem.Y, pairs.near, pairs.mid_near, partners, MIXED
    )
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * scale)
    assert loss == pytest.approx(expected_loss, rel=1e-5)


@pytest.mark.parametrize("n", [2, 3, 4, 9, 40])
def test_circles_of_few_points(n):
    """Fewer partners than asked for, where there are no more."""
    near = np.roll(np.arange(n), -1).astype(np.int32)[:, None]
    Y = np.random.default_rng(n).normal(size=(n, 2)).astype(np.float32)
    circles = kernels.Circles(n, 20)
    circles.deal(Y, kernels.PairLists(near), 1.0, 0, 0)
    expected = reference.dealt(Y, near, 20, 1.0, 0, 0)
    for got, wanted in zip(circles.partners(), expected, strict=True):
        assert sorted(got[got >= 0].tolist()) == sorted(wanted)


@pytest.mark.parametrize("bad", [-1, 4, 2**31 - 1])
def test_pairs_out_of_range_never_reach_native_code(bad):
    pairs = np.array([[1], [0], [1], [bad]], dtype=np.int32)
    with pytest.raises(ValueError, match="rows from 0 to 3"):
        kernels.PairLists(pairs)
    with pytest.raises(ValueError, match="rows from 0 to 3"):
        kernels.further(pairs, 1, 0)


def test_pairs_of_another_map_are_refused(make_problem):
    problem = make_problem()
    with pytest.raises(ValueError, match="pairs are of 300 points, the map has 299"):
        kernels.forces(problem.Y[:-1], *problem.listed, PACMAP)
    with pytest.raises(ValueError, match="pairs are of 300 points, the map has 299"):
        problem.descent(start=problem.Y[:-1])


def test_the_core_names_its_instruction_set():
    assert _core.instruction_set() in {"baseline", "avx2", "avx512"}


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 1), (1, 1), (3, 3), (-10_000, 1)]
)
def test_thread_count(n_jobs, threads):
    assert kernels.thread_count(n_jobs) == threads
    assert kernels.thread_count(-1) >= 1
