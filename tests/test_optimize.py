"""The loop against the authors' package, given the same pairs and the same start."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from localmap import kernels
from localmap.method.adjust import rule_of
from localmap.method.optimize import optimize
from localmap.method.schedule import schedule

authors = pytest.importorskip("pacmap.pacmap", reason="needs the test extra")

REACH = 10.0
LOCAL = kernels.Weights(1.0, 0.0, 1.0, 0.0, 5.0)


def flat(pairs):
    """Our partner matrix in the authors' format, one row a pair."""
    rows = np.repeat(np.arange(len(pairs)), pairs.shape[1])
    return np.column_stack([rows, pairs.ravel()]).astype(np.int32)


def both(problem, n_iters, locality, monkeypatch):
    """Run the authors' loop and ours; their local redraws are replaced by ours."""
    # Their loop brings any given start to this scale.
    start = StandardScaler().fit_transform(problem.Y) * 0.0001
    redrawn = []
    redraw = kernels.Descent.redraw

    def record(descent, *args):
        redraw(descent, *args)
        redrawn.append(descent._further.unpack().copy())
        descent._further.pack()

    monkeypatch.setattr(kernels.Descent, "redraw", record)
    phases = schedule(n_iters, rule_of(REACH, None, locality))
    ours = problem.descent(start=start)
    optimize(ours, phases, key=3)

    replay = iter(redrawn)
    monkeypatch.setattr(authors, "sample_FP_pair_nearby", lambda *_: flat(next(replay)))
    p = problem.pairs
    args = (problem.Z, 2, flat(p.near), flat(p.mid_near), flat(p.further), 1.0)
    args += (n_iters, problem.Y, False, False, [], False)
    theirs = authors.localmap(*args, REACH) if locality else authors.pacmap(*args)
    assert next(replay, None) is None, "every redraw was used by both"
    return ours.Y, theirs[0], len(redrawn)


@pytest.mark.parametrize("n_iters", [(100, 0, 0), (100, 100, 0), (100, 100, 250)])
def test_pacmap_equals_the_authors_package(make_problem, n_iters, monkeypatch):
    problem = make_problem(n=600)
    ours, theirs, redraws = both(problem, n_iters, 0.0, monkeypatch)
    assert redraws == 0
    extent = np.abs(theirs).max()
    assert extent > 4
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * extent)


def test_localmap_equals_the_authors_package(make_problem, monkeypatch):
    """100 local iterations, nine redraws.

    A layout under local forces is unstable: rounding grows from redraw to redraw, so
    a few points at the edge of a group may differ more than the rest.
    """
    problem = make_problem(n=600)
    ours, theirs, redraws = both(problem, (100, 100, 100), 1.0, monkeypatch)
    assert redraws == 9
    extent = np.abs(theirs).max()
    difference = np.abs(ours - theirs).max(axis=1)
    assert np.median(difference) < 1e-4 * extent
    assert np.quantile(difference, 0.95) < 1e-3 * extent
    assert difference.max() < 1e-2 * extent


@pytest.mark.parametrize("locality", [0.5, 1.0])
def test_redraws_of_a_descent_are_those_of_its_pairs(make_problem, locality):
    """Packing in place loses nothing: the same pairs as drawn from the matrices."""
    problem = make_problem(n=700)
    descent = problem.descent(ordered=locality < 1)
    further = problem.pairs.further.copy()
    for iteration in (10, 20):
        arguments = 4 * REACH, locality, 3, iteration  # enough points for all slots
        kernels.local_further(descent.Y, problem.pairs.near, further, *arguments)
        descent.redraw(*arguments)
    tiled = kernels.TiledPairs(further.copy())
    gradient, _ = kernels.forces(problem.Y, *problem.tiled[:2], tiled, LOCAL)
    descent.step(LOCAL)
    moved = problem.Y - descent.Y
    np.testing.assert_array_equal(np.sign(moved), np.sign(gradient))
    got = descent._further.unpack()
    np.testing.assert_array_equal(np.sort(got), np.sort(further))
    rows = zip(got, problem.pairs.further, strict=True)
    kept = np.mean([len(np.intersect1d(*row)) for row in rows])
    assert kept >= 20 * (1 - locality)


def test_a_descent_without_order_refuses_to_redraw_a_share(make_problem):
    with pytest.raises(ValueError, match=r"locality=0\.5 needs"):
        make_problem().descent().redraw(REACH, 0.5, 3, 10)


def test_callback_sees_every_iteration_and_may_stop(make_problem):
    problem = make_problem()
    seen = []

    def watch(iteration, Y, loss):
        seen.append((iteration, Y, loss))
        return iteration == 7

    phases = schedule((5, 5, 5), rule_of(REACH, None, 1.0))
    descent = problem.descent()
    done = optimize(descent, phases, key=0, callback=watch)
    assert [s[0] for s in seen] == list(range(8))
    assert done == 8
    np.testing.assert_array_equal(descent.Y, seen[-1][1])
    assert not np.array_equal(seen[0][1], seen[1][1]), "each call gets its own copy"
    assert all(np.isfinite(s[2]) for s in seen)


def test_no_iterations_return_the_start(make_problem):
    problem = make_problem()
    phases = schedule((0, 0, 0), rule_of(REACH, None, 1.0))
    descent = problem.descent()
    assert optimize(descent, phases, key=0) == 0
    np.testing.assert_array_equal(descent.Y, problem.Y)
