import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")

from localmap import plotting

Y = np.random.default_rng(0).normal(size=(400, 2))


def texts(ax):
    legend = ax.get_legend()
    named = [t.get_text() for t in legend.get_texts()] if legend else []
    return named + [t.get_text() for t in ax.texts]


def test_few_groups_are_named_where_they_are():
    labels = np.where(Y[:, 0] > 0, "right", "left")
    ax = plotting.plot(Y, labels)
    assert sorted(texts(ax)) == ["left", "right"]
    at = {t.get_text(): t.xy[0] for t in ax.texts}
    assert at["left"] < 0 < at["right"]


@pytest.mark.parametrize("groups", [13, 60])
def test_many_groups_get_a_legend_and_a_colour_each(groups):
    labels = np.arange(400) % groups
    ax = plotting.plot(Y, labels)
    assert len(texts(ax)) == min(groups, plotting.MAX_NAMED)
    colors = ax.collections[0].get_facecolor()
    assert len(np.unique(colors, axis=0)) == groups


def test_numbered_groups_come_in_order():
    names = texts(plotting.plot(Y, np.arange(400) % 13))
    assert names == [str(i) for i in range(13)]


def test_numbers_are_a_scale():
    ax = plotting.plot(Y, Y[:, 0])
    assert len(ax.figure.axes) == 2


def test_labels_are_text_never_formulas(tmp_path):
    labels = np.where(Y[:, 0] > 0, "$\\frac{", "<b>&")
    ax = plotting.plot(Y, labels, title="$x^{")
    plotting.save(ax, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 3000


@pytest.mark.parametrize("shape", [(50, 1), (50, 3), (1, 2)])
def test_any_map_can_be_drawn(shape, tmp_path):
    ax = plotting.plot(np.random.default_rng(0).normal(size=shape))
    plotting.save(ax, tmp_path / "map.png")


def test_an_empty_map_is_refused():
    with pytest.raises(ValueError, match="one row for each point"):
        plotting.plot(np.empty((0, 2)))
