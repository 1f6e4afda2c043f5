"""The loop against the authors' package, given the same pairs and the same start."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from localmap import kernels
from localmap.method import reference
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
        redrawn.append(descent._drawn.copy())

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
    difference = np.abs(ours - theirs).max(axis=1)
    # Sums come in another order, and what rounding leaves grows from step to step.
    assert np.median(difference) < 1e-4 * extent
    assert np.quantile(difference, 0.99) < 1e-3 * extent
    assert difference.max() < 1e-2 * extent


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_localmap_equals_the_authors_package(make_problem, seed, monkeypatch):
    """40 local iterations, three redraws.

    A layout under local forces is unstable: rounding grows from redraw to redraw, so
    a few points at the edge of a group may differ more than the rest.
    """
    problem = make_problem(n=600, seed=seed)
    ours, theirs, redraws = both(problem, (100, 100, 40), 1.0, monkeypatch)
    assert redraws == 3
    extent = np.abs(theirs).max()
    difference = np.abs(ours - theirs).max(axis=1)
    assert np.median(difference) < 1e-4 * extent
    assert np.quantile(difference, 0.95) < 2e-3 * extent
    assert difference.max() < 1e-2 * extent


@pytest.mark.parametrize("locality", [0.5, 1.0])
def test_redraws_of_a_descent_are_those_of_its_pairs(make_problem, locality):
    problem = make_problem(n=700)
    descent = problem.descent()
    further = problem.pairs.further.copy()
    for iteration in (10, 20):
        arguments = 4 * REACH, locality, 3, iteration  # enough points for all slots
        kernels.local_further(descent.Y, problem.pairs.near, further, *arguments)
        descent.redraw(*arguments)
    listed = kernels.PairLists(further)
    gradient, _ = kernels.forces(problem.Y, *problem.listed[:2], listed, LOCAL)
    descent.step(LOCAL)
    moved = problem.Y - descent.Y
    np.testing.assert_array_equal(np.sign(moved), np.sign(gradient))
    np.testing.assert_array_equal(descent._further.entries, listed.entries)


def test_redraws_of_dealt_pairs_are_dealt_anew(make_problem):
    problem = make_problem(n=700)
    near, mid_near, _ = problem.pairs
    circles = kernels.Circles(700, 20)
    descent = kernels.Descent(problem.Y.copy(), near, mid_near, circles, key=3)
    start = reference.dealt(problem.Y, near, 20, np.inf, 3, 0)
    assert list(map(sorted, circles.partners().tolist())) == list(map(sorted, start))
    descent.redraw(REACH, 1.0, 3, 50)
    then = reference.dealt(problem.Y, near, 20, REACH, 3, 50)
    assert list(map(sorted, circles.partners().tolist())) == list(map(sorted, then))
    with pytest.raises(ValueError, match=r"locality=0\.5 needs"):
        descent.redraw(REACH, 0.5, 3, 10)


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


def test_steps_are_taken_together_up_to_what_comes_between(make_problem):
    problem = make_problem(n=300)
    near, mid_near, _ = problem.pairs
    taken = []

    class Watched(kernels.Descent):
        def steps(self, weights, **how):
            taken.append(len(weights))
            return super().steps(weights, **how)

    def run(**how):
        taken.clear()
        circles = kernels.Circles(300, 20)
        descent = Watched(problem.Y.copy(), near, mid_near, circles, key=3)
        done = optimize(
            descent, schedule((130, 40, 70), rule_of("auto", None, 1.0)), key=3, **how
        )
        assert done == sum(taken) == 240
        return descent.Y

    alone = run()
    # A hundred at most; redraws follow the 51st iteration of the last phase.
    assert taken == [100, 100, 21, 19]
    np.testing.assert_array_equal(run(callback=lambda *_: None), alone)
    assert taken == [1] * 240
