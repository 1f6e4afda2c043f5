import pytest

from localmap.kernels import Weights
from localmap.method.adjust import Rule, rule_of
from localmap.method.schedule import PHASES, Phase, schedule, steps

PACMAP = {
    0: Weights(2.0, 1000.0, 1.0),
    50: Weights(2.0, 501.5, 1.0),
    99: Weights(2.0, 1000 * 0.01 + 3 * 0.99, 1.0),
    100: Weights(3.0, 3.0, 1.0),
    199: Weights(3.0, 3.0, 1.0),
    200: Weights(1.0, 0.0, 1.0),
    201: Weights(1.0, 0.0, 1.0),
    449: Weights(1.0, 0.0, 1.0),
}


def table(locality):
    return list(steps(schedule((100, 100, 250), rule_of(10.0, None, locality))))


@pytest.mark.parametrize("iteration", PACMAP)
def test_weights_of_pacmap(iteration):
    step = table(0.0)[iteration]
    assert step.iteration == iteration
    assert step.weights == pytest.approx(PACMAP[iteration])
    assert not step.redraw


@pytest.mark.parametrize("iteration", PACMAP)
def test_weights_of_localmap(iteration):
    """As published: local from the second iteration of phase 3."""
    weights = table(1.0)[iteration].weights
    assert weights[:3] == pytest.approx(PACMAP[iteration][:3])
    local = (0.0, 5.0) if iteration > 200 else (1.0, 0.0)
    assert (weights.near_plain, weights.near_local) == local


def test_redraws_follow_every_tenth_iteration_of_phase_three():
    redraws = [step.iteration for step in table(1.0) if step.redraw]
    assert redraws == list(range(210, 450, 10))


def test_a_mixture_is_linear():
    weights = table(0.25)[300].weights
    assert (weights.near_plain, weights.near_local) == (0.75, 1.25)


def test_phases_may_be_empty():
    rule = rule_of(10.0, None, 1.0)
    assert list(steps(schedule((0, 0, 0), rule))) == []
    assert [s.phase.name for s in steps(schedule((1, 0, 2), rule))] == [
        "global",
        "local",
        "local",
    ]


def test_parts_of_the_rule_alone():
    weights_only = steps(schedule((1, 1, 30), Rule(locality=1.0, strength=5.0)))
    *_, step = weights_only
    assert (step.weights.near_plain, step.weights.near_local) == (0.0, 5.0)
    assert not step.redraw
    pairs_only = steps(schedule((1, 1, 31), Rule(1.0, reach=10.0, redraw_every=10)))
    *_, step = pairs_only
    assert (step.weights.near_plain, step.weights.near_local) == (1.0, 0.0)
    assert step.redraw


def test_mid_near_pairs_are_kept_as_long_as_a_later_phase_needs_them():
    assert [s.last_mid_near for s in table(1.0)].index(True) == 199
    again = Phase("again", 5, near=1.0, mid_near=(1.0, 1.0))
    found = list(steps((*schedule((3, 3, 3), Rule()), again)))
    assert [s.last_mid_near for s in found].index(True) == len(found) - 1


def test_a_phase_needs_its_number_of_iterations():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        schedule((1, 2), Rule())
    assert [phase.n_iters for phase in PHASES] == [100, 100, 250]
