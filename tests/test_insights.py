"""The paper's insights: counted by hand, and written as one page."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from localmap.bench import insights
from localmap.bench.insights import balance, joined, lengths
from localmap.bench.insights.lengths import RULES
from localmap.cli import main
from localmap.method.parameters import Parameters


def ordered_problem():
    """Four rows of data that stand in the order 2, 0, 3, 1; two near pairs each."""
    order = np.array([2, 0, 3, 1], dtype=np.int32)
    placed = np.array([[1, 2], [0, 3], [1, 0], [3, 2]], dtype=np.int32)
    return SimpleNamespace(
        order=order, trusted=np.array([2, 1, 1, 0]), take_near=lambda *, keep: placed
    )


def test_near_partners_are_told_in_the_order_of_the_data():
    near = lengths.near_rows(ordered_problem())
    np.testing.assert_array_equal(near, [[2, 1], [1, 3], [0, 3], [0, 2]])
    pairs = lengths.near_pairs(ordered_problem())
    np.testing.assert_array_equal(pairs, [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]])


def test_doubts_are_counted_by_class():
    # Of the classes of rows 0 to 3; in the order of the space they are 1, 0, 1, 0.
    doubt = lengths.doubted(ordered_problem(), np.array([0, 0, 1, 1]))
    # Crossing: (0, 1) trusted, (1, 0) trusted, (2, 1) trusted, (3, 2) not.
    # Others: (0, 2) trusted, (1, 3) not, (2, 0) not, (3, 3) not.
    assert doubt == (0.25, 0.75)
    plain = ordered_problem()
    plain.trusted = None
    with pytest.raises(ValueError, match="proximal_distance='auto'"):
        lengths.doubted(plain, np.zeros(4, dtype=int))


def test_pairs_are_counted_by_length():
    Y = np.array([[0, 0], [3, 4], [0, 0.5], [30, 40]], dtype=np.float32)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 3]])
    length = lengths.lengths(Y, pairs)
    np.testing.assert_allclose(length, [5.0, 0.5, 50.0, 45.0])
    crosses = lengths.crossing(pairs, np.array([0, 1, 0, 1]))
    found = lengths.by_length(length, crosses)
    assert [(part.low, part.share) for part in found] == [
        (0.0, 0.25), (1.0, 0.0), (2.0, 0.0), (5.0, 0.25), (10.0, 0.0), (20.0, 0.5),
    ]  # fmt: skip
    assert [found[i].crossing for i in (0, 3, 5)] == [0.0, 1.0, 0.5]
    assert np.isnan(found[1].crossing)
    # Of the two pairs that cross one is longer than both others, one than one of them.
    assert lengths.told_apart(length, crosses) == 0.75
    assert np.isnan(lengths.told_apart(length, np.zeros(4, dtype=bool)))


def test_weights_are_the_papers_and_the_default_pulls_no_more_than_pacmap():
    length = np.linspace(0, 30, 3001)
    plain, paper, default = RULES.values()
    np.testing.assert_array_equal(lengths.weight(plain, length), 1.0)
    np.testing.assert_allclose(
        lengths.weight(paper, length), 10 / 2 / np.sqrt(length**2 + 1)
    )
    most = [lengths.pull(rule, length).max() for rule in (plain, default)]
    assert most[1] == pytest.approx(most[0], rel=1e-4)


def test_classes_in_one_piece_are_joined():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, 3], 200)
    Y = rng.normal(size=(800, 2)).astype(np.float32)
    Y[codes == 1] += 50
    Y[codes == 3, 0] -= 80
    assert joined.joined_classes(Y, codes) == [(0, 2)]


def test_pairs_between_classes_are_counted_both_ways():
    codes = np.array([0, 0, 1, 2])
    partners = np.array([[1, 2], [2, 3], [0, 3], [2, 0]])
    assert balance.between(partners, codes, 0, 1) == 3
    assert balance.between(partners, codes, 1, 2) == 2
    assert balance.closest_classes(partners, codes) == (0, 1)


def touching(classes=8, rows=120):
    """Two classes that overlap, and others far away."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(classes), rows)
    X = rng.normal(size=(len(codes), 8))
    X[codes > 1] += 30 * rng.normal(size=(classes, 8))[codes[codes > 1]]
    return X, codes


def test_the_theorem_holds_where_other_classes_join():
    X, codes = touching()
    samples = [*balance.more_classes(codes, (0, 1), 4)]
    assert [len(rows) for rows in samples] == [240, 480, 720, 960]
    found = balance.counts(X, codes, (0, 1), samples, Parameters(), 0)
    for one in found:
        # A count of about `expected` draws: five standard deviations.
        further = one.further["PaCMAP"]
        assert abs(further - one.expected) < 5 * one.expected**0.5 + 1
        assert one.ratio("PaCMAP") == one.near / further
        assert one.sizes == (120, 120)
    assert len({one.near for one in found}) == 1
    assert balance.slope(found, "PaCMAP") == pytest.approx(1.0, abs=0.1)
    assert balance.slope(found, "LocalMAP, distance 10") < 0.3


def test_the_theorem_does_not_hold_where_more_rows_come():
    X, codes = touching()
    samples = [*balance.more_rows(len(codes), (240, 480, 960), 0)]
    assert set(samples[0]) < set(samples[1]) < set(samples[2])
    found = balance.counts(X, codes, (0, 1), samples, Parameters(), 0)
    assert found[0].p > 3 * found[-1].p
    assert balance.slope(found, "PaCMAP") < 0.3


def test_a_ratio_to_no_pair_is_no_number():
    none = balance.Count(10, 3, {"PaCMAP": 0}, (5, 5), 2)
    assert np.isnan(none.ratio("PaCMAP"))
    assert np.isnan(balance.slope([none, none], "PaCMAP"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("insights")
    return out, insights.write(out, "digits", sizes=(600,))


def test_the_page_has_every_number_and_picture(page):
    out, files = page
    text = (out / "report.md").read_text()
    pictures = [path.name for path in files if path.suffix == ".png"]
    assert len(pictures) == 5
    assert all(f"]({name})" in text for name in pictures)
    assert all((out / name).read_bytes()[:4] == b"\x89PNG" for name in pictures)
    told = json.loads((out / "results.json").read_text())
    maps = told["lengths"]["maps"]
    assert list(maps) == list(RULES)
    for one in maps.values():
        assert sum(part["share"] for part in one["ranges"]) == pytest.approx(1.0)
        assert one["told apart"] > 0.8
    growths = told["balance"]["growths"]
    assert growths["other classes join"]["slopes"]["PaCMAP"] > 0.8
    assert [one["n"] for one in growths["more rows of all classes"]["counts"]] == [
        600, 1797,
    ]  # fmt: skip
    assert f"{told['lengths']['pairs']:,} near pairs" in text
    assert "nan" not in text.lower().split()


def test_the_command_refuses_what_it_does_not_take(tmp_path, capsys):
    X = tmp_path / "plain.npz"
    np.savez(X, X=np.zeros((50, 3)))
    two = tmp_path / "two.npz"
    np.savez(two, X=np.zeros((50, 3)), y=np.arange(50) % 2)
    for given, said in (
        (["--methods", "pca"], "got --methods"),
        (["--report-only"], "got --report-only"),
        (["--datasets", "digits", "usps"], "one set"),
        (["--datasets", str(X)], "--labels"),
        (["--datasets", str(two)], "at least three classes"),
    ):
        assert main(["bench", "insights", "--out", str(tmp_path / "o"), *given]) != 0
        assert said in capsys.readouterr().err
