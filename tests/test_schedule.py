import pytest

from localmap.kernels import Weights
from localmap.schedule import schedule, steps

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
    return list(steps(schedule((100, 100, 250), locality, near_strength=5.0)))


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
    assert list(steps(schedule((0, 0, 0), 1.0, 5.0))) == []
    assert [s.phase.name for s in steps(schedule((1, 0, 2), 1.0, 5.0))] == [
        "global",
        "local",
        "local",
    ]
