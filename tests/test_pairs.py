"""Each kind of pair is what the paper says, and equals the reference to the index."""

import itertools

import numpy as np
import pytest
from conftest import pairs_of
from scipy import stats

from localmap import kernels
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.preprocessing import Preprocessing
from localmap.geometry.rows import RowSpace
from localmap.method import reference
from localmap.method.pairs import (
    automatic_neighbors,
    pair_counts,
    scales,
)


def test_all_kinds_equal_the_reference(make_problem):
    problem = make_problem(n=200)
    Z, key = problem.Z, 0
    graph = nearest_neighbors(Z, 60)
    plain = Preprocessing("euclidean", np.zeros(Z.shape[1]), 1.0, None)
    pairs = pairs_of(RowSpace(plain, Z), graph, key=key)
    near = reference.near(graph.indices, graph.distances, 10)
    np.testing.assert_array_equal(pairs.near, near)
    np.testing.assert_array_equal(pairs.mid_near, reference.mid_near(Z, 5, key))
    np.testing.assert_array_equal(pairs.further, reference.further(near, 20, key))


def test_near_pairs_are_ranked_by_scaled_distance():
    # Row 0 has two candidates at distance 1 and 1.5. The second lives in a sparse
    # place (scale 9 instead of 1), so its scaled distance is the smaller one.
    indices = np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32)
    distances = np.array([[1, 1.5], [1, 1], [1.5, 9]], dtype=np.float32)
    near = kernels.near(indices, distances, scales(distances), 1)
    np.testing.assert_array_equal(near, [[2], [2], [0]])


def test_near_pairs_are_candidates_without_self(make_problem):
    problem = make_problem()
    graph = nearest_neighbors(problem.Z, 60)
    for i, partners in enumerate(problem.pairs.near):
        assert i not in partners
        assert len(set(partners)) == 10
        assert set(partners) <= set(graph.indices[i])


def test_scale_uses_neighbours_four_to_six():
    rng = np.random.default_rng(0)
    graph = nearest_neighbors(rng.normal(size=(100, 5)).astype(np.float32), 30)
    scale = graph.distances[:, 3:6].mean(axis=1)
    scaled = graph.distances**2 / (scale[:, None] * scale[graph.indices])
    expected = np.take_along_axis(graph.indices, np.argsort(scaled, axis=1), axis=1)
    found = kernels.near(graph.indices, graph.distances, scales(graph.distances), 10)
    assert [set(r) for r in found] == [set(r) for r in expected[:, :10]]


def test_mid_near_is_the_second_closest_of_six_recomputed(make_problem):
    """Replay the draws and recompute all six distances in double precision."""
    problem = make_problem()
    Z, n = problem.Z.astype(np.float64), 300
    found = kernels.mid_near(problem.Z, 5, key=42)
    for i in range(0, n, 7):
        stream = reference.Stream(42, reference.MID_NEAR, 0, i)
        for s in range(5):
            six = []
            while len(six) < 6:
                j = stream.below(n)
                if j != i and j not in six and j not in found[i, :s]:
                    six.append(j)
            distances = ((Z[six] - Z[i]) ** 2).sum(axis=1)
            assert found[i, s] in six
            rank = (distances < distances[six.index(found[i, s])]).sum()
            assert rank == 1, "the second closest has exactly one closer"


def test_further_is_never_self_near_or_twice(make_problem):
    pairs = make_problem().pairs
    for i in range(300):
        assert len({i, *pairs.near[i], *pairs.further[i]}) == 31


def test_draws_are_uniform():
    """Chi-square over all ordered pairs: every allowed partner is equally likely."""
    n, slots = 40, 3
    near = ((np.arange(n)[:, None] + [1, 2]) % n).astype(np.int32)
    counts = np.zeros((n, n))
    for key in range(400):
        found = kernels.further(near, slots, key)
        np.add.at(counts, (np.arange(n)[:, None], found), 1)
    offsets = (np.arange(n)[:, None] + np.arange(n)) % n
    by_offset = np.take_along_axis(counts, offsets, axis=1)
    assert (by_offset[:, :3] == 0).all()
    assert stats.chisquare(by_offset[:, 3:].ravel()).pvalue > 1e-3


def test_keys_give_unrelated_draws():
    """Seed s and s + 1 share no more pairs than chance (96 % in the published code)."""
    near = ((np.arange(2000)[:, None] + 1) % 2000).astype(np.int32)
    a, b = (kernels.further(near, 20, key) for key in (7, 8))
    shared = np.mean([len(set(x) & set(y)) / 20 for x, y in zip(a, b, strict=True)])
    assert shared < 0.02


def redraw(Y, near, further, reach, locality=1.0, key=3, iteration=10):
    further = further.copy()
    kernels.local_further(Y, near, further, reach, locality, key, iteration)
    return further


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("reach", [0.5, 6.0, 40.0])
@pytest.mark.parametrize("locality", [0.3, 1.0])
def test_local_further_equals_the_reference(make_problem, dim, reach, locality):
    problem = make_problem(dim=dim)
    near, further = problem.pairs.near, problem.pairs.further
    found = redraw(problem.Y, near, further, reach, locality)
    expected = reference.local_further(problem.Y, near, further, reach, locality, 3, 10)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("spread", [0.1, 4.0, 60.0, 1e6])
def test_local_further_lies_within_reach_whenever_such_points_exist(
    make_problem, spread
):
    """As many distinct local partners as exist, up to the slots; the rest stay."""
    problem = make_problem(n=400)
    Y = problem.Y / 8 * np.float32(spread)
    Y[:3] += np.float32(1e4)  # strays
    near, further = problem.pairs.near, problem.pairs.further
    reach = 10.0
    found = redraw(Y, near, further, reach)
    distance = np.linalg.norm(Y[:, None].astype(np.float64) - Y, axis=2)
    for i in range(400):
        local = set(np.flatnonzero(distance[i] <= reach)) - {i, *near[i]}
        wanted = min(len(local), 20)
        assert len(set(found[i, :wanted])) == wanted
        assert set(found[i, :wanted]) <= local
        np.testing.assert_array_equal(found[i, wanted:], further[i, wanted:])


def test_local_draws_are_uniform_among_local_points():
    n = 60
    rng = np.random.default_rng(5)
    Y = (3 * rng.normal(size=(n, 2))).astype(np.float32)
    near = ((np.arange(n)[:, None] + [1]) % n).astype(np.int32)
    further = ((np.arange(n)[:, None] + [2, 3]) % n).astype(np.int32)
    counts = np.zeros((n, n))
    for iteration in range(600):
        found = redraw(Y, near, further, 4.0, iteration=iteration)
        np.add.at(counts, (np.arange(n)[:, None], found), 1)
    local = np.linalg.norm(Y[:, None] - Y, axis=2) <= 4.0
    local[np.arange(n), np.arange(n)] = False
    local[np.arange(n), near[:, 0]] = False
    pvalues = [
        stats.chisquare(counts[i, local[i]]).pvalue
        for i in range(n)
        if local[i].sum() > 2
    ]
    assert len(pvalues) > 40
    assert stats.kstest(pvalues, "uniform").pvalue > 1e-3


def test_locality_grows_slot_by_slot(make_problem):
    """More locality keeps what was local: the share rises and the slots are nested."""
    problem = make_problem(n=400)
    Y = problem.Y / 2
    near, further = problem.pairs.near, problem.pairs.further
    before = np.zeros_like(further, dtype=bool)
    shares = []
    for locality in (0.0, 0.13, 0.5, 0.87, 1.0):
        changed = redraw(Y, near, further, 30.0, locality) != further
        shares.append(changed.mean())
        # A redrawn slot may by chance draw the partner it had.
        assert (before & ~changed).mean() < 0.01
        before = changed
    np.testing.assert_allclose(shares, (0, 0.13, 0.5, 0.87, 1.0), atol=0.06)
    assert shares[0] == 0


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize(("n", "reach"), [(300, 0.5), (700, 6.0), (1797, 40.0)])
def test_dealt_pairs_equal_the_reference(make_problem, dim, n, reach):
    problem = make_problem(n=n, dim=dim)
    near = problem.pairs.near
    circles = kernels.Circles(n, 20)
    circles.deal(problem.Y, kernels.PairLists(near), reach, 3, 10)
    expected = reference.dealt(problem.Y, near, 20, reach, 3, 10)
    for found, wanted in zip(circles.partners().tolist(), expected, strict=True):
        assert sorted(found) == sorted(wanted)


def test_many_circles_hold_each_row_once_and_deal_within_reach():
    """Ten rings; strays, wherever they stand, find nobody within reach."""
    n, reach = 43_000, 3.0
    rng = np.random.default_rng(0)
    Y = (3 * rng.normal(size=(n, 2))).astype(np.float32)
    strays = np.arange(50) * n // 50
    Y[strays] += np.float32(1e4)
    near = ((np.arange(n)[:, None] + [1, 2]) % n).astype(np.int32)
    circles = kernels.Circles(n, 20)
    circles.deal(Y, kernels.PairLists(near, 2), reach, 1, 2, 2)
    partners = circles.partners()
    assert (partners >= 0).all()
    assert (np.diff(np.sort(partners, axis=1), axis=1) > 0).all(), "distinct"
    apart = (np.arange(n)[:, None] - partners) % n
    assert (np.minimum(apart, n - apart) > 2).all(), "neither itself nor near"
    distance = np.linalg.norm(Y[:, None].astype(np.float64) - Y[partners], axis=2)
    local = (distance <= reach).mean(axis=1)
    inside = np.linalg.norm(Y, axis=1) < 4
    assert (local[inside] == 1).mean() > 0.99
    assert (local[strays] < 0.1).all()
    # Drawn as often as any other that is as near: nobody stands out.
    often = np.bincount(partners[inside].ravel(), minlength=n)
    middle = np.linalg.norm(Y, axis=1) < 1
    assert often[middle].std() < 1.3 * np.sqrt(often[middle].mean())


def test_partners_are_of_the_circles_that_runs_of_rows_are_dealt_to():
    n, slots = 8203, 20  # two rings; three rows have no run of their own
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(n, 2)).astype(np.float32)
    near = ((np.arange(n)[:, None] + [1, 2]) % n).astype(np.int32)
    circles = kernels.Circles(n, slots)
    circles.deal(Y, kernels.PairLists(near), np.inf, 5, 9, 2)
    rings = reference.rings(n, slots, 5, 9)
    assert [len(ring) for ring in rings] == [reference.LANES] * 2
    circle = np.full(n, -1)
    for number, rows in enumerate(itertools.chain.from_iterable(rings)):
        circle[rows] = number
    assert (circle >= 0).all()
    assert (circle[circles.partners()] == circle[:, None]).all()
    # A line of memory belongs to one ring, and its points to no circle in particular.
    together = reference.TOGETHER
    whole = circle[: n // together * together].reshape(-1, together)
    assert (np.ptp(whole // reference.LANES, axis=1) == 0).all()
    assert stats.chisquare(np.bincount(whole[:, 0] % reference.LANES)).pvalue > 1e-3


def test_dealt_pairs_are_uniform():
    """Chi-square over ordered pairs, as for those that are drawn one by one."""
    n, slots = 40, 3
    near = ((np.arange(n)[:, None] + [1, 2]) % n).astype(np.int32)
    listed = kernels.PairLists(near)
    Y = np.zeros((n, 2), dtype=np.float32)
    circles = kernels.Circles(n, slots)
    counts = np.zeros((n, n))
    for key in range(400):
        circles.deal(Y, listed, 1.0, key, 0)
        np.add.at(counts, (np.arange(n)[:, None], circles.partners()), 1)
    offsets = (np.arange(n)[:, None] + np.arange(n)) % n
    by_offset = np.take_along_axis(counts, offsets, axis=1)
    assert (by_offset[:, [0, 1, 2, -1, -2]] == 0).all()
    assert stats.chisquare(by_offset[:, 3:-2].ravel()).pvalue > 1e-3


def test_a_diverged_map_is_refused(make_problem):
    problem = make_problem()
    Y = problem.Y.copy()
    Y[5, 1] = np.nan
    with pytest.raises(ValueError, match="learning_rate"):
        redraw(Y, problem.pairs.near, problem.pairs.further, 10.0)


def test_automatic_neighbors_is_the_published_rule():
    rule = {500: 10, 10_000: 10, 10_001: 10, 70_000: 23, 1_000_000: 40}
    assert {n: automatic_neighbors(n) for n in rule} == rule


def test_counts_by_ratio():
    assert pair_counts(1000, 10, 0.5, 2.0) == (10, 5, 20)
    assert pair_counts(1000, 7, 0.0, 3.0) == (7, 0, 21)
    assert pair_counts(36, 10, 0.5, 2.0) == (10, 5, 20)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 12, 35])
def test_small_n_reduces_all_counts_with_one_warning(n):
    with pytest.warns(UserWarning, match=f"{n} samples cannot give") as caught:
        counts = pair_counts(n, 10, 0.5, 2.0)
    assert len(caught) == 1
    assert counts.near == max(1, int(10 * (n - 1) / 35))
    assert counts.further == int(20 * (n - 1) / 35)
    assert sum(counts) <= n - 1


def test_means_are_of_the_first_rows_that_are_named():
    rng = np.random.default_rng(0)
    values, named = rng.random(50), rng.integers(0, 50, (300, 30)).astype(np.int32)
    for among in (1, 7, 8, 21, 30):
        expected = values[named[:, :among]].mean(axis=1)
        for threads in (1, 3):
            found = kernels.means(values, named, among, threads)
            np.testing.assert_allclose(found, expected, rtol=1e-15)
    with pytest.raises(ValueError, match="from 1 to 30; got 31"):
        kernels.means(values, named, 31)
    with pytest.raises(ValueError, match="pairs must name rows"):
        kernels.means(values[:20], named, 5)


@pytest.mark.parametrize("others", [False, True])
def test_trusted_pairs_come_first_as_in_the_reference(others):
    rng = np.random.default_rng(0)
    n, partners, k = 500, 700 if others else 500, 21
    near = rng.integers(0, partners, size=(n, k)).astype(np.int32)
    shares = rng.integers(0, 61, size=(n, k)).astype(np.float32) / np.float32(60)
    of = [
        kernels.Around(rng.random(rows), rng.integers(0, 3, rows).astype(np.float64))
        for rows in (n, partners)
    ]
    own, theirs = of if others else (of[0], of[0])
    usual, sizes = (
        np.stack(np.broadcast_arrays(own[part][:, None], theirs[part][near]))
        for part in range(2)
    )
    least = reference.least_share(usual, sizes, 0.9, 0.5, 60)
    expected = reference.trusted_first(near, shares, least)
    how = kernels.Trusting(0.9, 0.5, 60)
    for threads in (1, 3):
        found = kernels.trusted_first(
            near, shares, how, own, theirs if others else None, threads
        )
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert 0.3 * k < found[1].mean() < 0.8 * k
    with pytest.raises(ValueError, match="two numbers of each row"):
        kernels.trusted_first(near, shares[:, :5], how, own, theirs)
    with pytest.raises(ValueError, match="pairs must name rows"):
        kernels.trusted_first(near + partners, shares, how, own, theirs)
    with pytest.raises(ValueError, match="pairs must name rows"):  # 0 in 32 bits
        kernels.trusted_first(near.astype(np.int64) + 2**32, shares, how, own, theirs)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        kernels.trusted_first(near, shares, how._replace(among=0), own, theirs)
