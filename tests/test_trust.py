"""Edges, points, groups and the typical map: right answers that are known."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import kneighbors_graph

import localmap
from localmap import LocalMAP, PaCMAP, metrics, trust
from localmap.datasets import one_piece, two_clouds
from localmap.method.embed import prepare
from localmap.method.parameters import Parameters
from localmap.trust.borders import borders_of, joined, middle_cut, sure_depth
from localmap.trust.ground import ground_of, part_of
from localmap.trust.judged import Group, Outcome
from localmap.trust.looks import Look, outcomes
from localmap.trust.pairs import Pairs, pair_graph, pairs_of, trust_of
from localmap.trust.runs import halves
from localmap.trust.seen import by_size, groups_seen
from localmap.trust.typical import most_typical
from localmap.trust.walks import walk_cosines


@pytest.fixture(scope="module")
def model(digits):
    return LocalMAP(random_state=0).fit(digits[0])


@pytest.fixture(scope="module")
def ground(model):
    return ground_of(model)


@pytest.fixture(scope="module")
def found(model):
    return trust.groups(model, runs=6)


# --- what is judged ----------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"proximal_distance": 10.0}, {"metric": "cosine"}, {"metric": "manhattan"}],
)
def test_a_model_finds_the_near_pairs_of_its_fit_again(digits, options, tmp_path):
    X = digits[0][:400]
    problem = prepare(X, Parameters(**options))
    fitted = LocalMAP(random_state=0, **options).fit(X)
    np.testing.assert_array_equal(ground_of(fitted).near, problem.near)
    fitted.save(tmp_path / "m.localmap")
    loaded = localmap.load(tmp_path / "m.localmap")
    np.testing.assert_array_equal(ground_of(loaded).near, problem.near)


def test_a_part_has_the_near_pairs_of_those_rows_alone(digits):
    X = digits[0]
    rows = np.sort(np.random.default_rng(0).choice(len(X), 900, replace=False))
    part = part_of(ground_of(X), rows)
    alone = prepare(X[rows], Parameters())
    # Of its sixty nearest rows half are left: the last candidates may differ.
    same = [
        len(np.intersect1d(*two)) for two in zip(part.near, alone.near, strict=True)
    ]
    assert np.mean(same) > 9.5
    np.testing.assert_allclose(part.scales, alone.scales, rtol=1e-5)


def test_rows_in_another_order_are_the_same_rows(digits):
    """Where a problem numbers rows by place, results are by row all the same."""
    X = digits[0][:600]
    there = np.random.default_rng(1).permutation(600)
    pairs = pairs_of(replace(ground_of(X[there]), order=there))
    expected = pairs_of(ground_of(X))
    np.testing.assert_array_equal(
        np.sort(pairs.near, axis=1), np.sort(expected.near, axis=1)
    )
    order, other = np.argsort(pairs.near, axis=1), np.argsort(expected.near, axis=1)
    apart = np.take_along_axis(pairs.trust, order, 1) - np.take_along_axis(
        expected.trust, other, 1
    )
    assert np.abs(apart).mean() < 0.05  # walks are projected at random, by place


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda X: trust.groups(X, runs=1), ValueError, "at least 2.*got 1"),
        (lambda X: trust.typical(X, runs=1), ValueError, "at least 2.*got 1"),
        (lambda X: trust.groups(X[:29]), ValueError, "at least 30 rows.*got 29"),
        (lambda X: trust.groups(X[:50]), ValueError, "25 of 50 rows.*subsamples=0"),
        (lambda X: trust.groups(X, runs=4, subsamples=4), ValueError, "0 to 3.*got 4"),
        (lambda X: trust.groups(X, estimator=3), TypeError, "LocalMAP or PaCMAP"),
        (trust.edges, TypeError, "Fit one"),
        (trust.points, TypeError, "Fit one"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(digits, call, error, match):
    with pytest.raises(error, match=match):
        call(digits[0])


def test_a_model_without_rows_is_refused(digits):
    graph = kneighbors_graph(digits[0][:200], 61, mode="distance")
    fitted = LocalMAP(metric="precomputed", random_state=0).fit(graph)
    with pytest.raises(ValueError, match=r"keeps none of them.*estimator"):
        trust.edges(fitted)


def test_an_estimator_for_a_model_and_other_maps_are_refused(model):
    with pytest.raises(ValueError, match="its own parameters"):
        trust.groups(model, estimator=LocalMAP())
    with pytest.raises(ValueError, match="1797 training rows; got 5"):
        trust.edges(model, maps=[np.zeros((5, 2))])
    with pytest.raises(ValueError, match="1797 training rows"):
        trust.points(model, maps=[np.zeros((5, 2))])
    with pytest.raises(ValueError, match="at least 1; got 0"):
        trust.edges(model).worst(0)


# --- edges -------------------------------------------------------------------


def test_walks_are_those_of_the_matrix():
    """Cosines by projection against those of the whole matrix, to its error."""
    X = one_piece("gauss5", 300)
    ground = ground_of(X)
    graph = pair_graph(ground.near)
    found = walk_cosines(graph, ground.near, (2, 5))
    dense = graph.toarray()
    step = dense / dense.sum(axis=1, keepdims=True)
    for taken, cosines in found.items():
        places = np.linalg.matrix_power(step, taken)
        places /= np.linalg.norm(places, axis=1, keepdims=True)
        true = np.einsum("ij,isj->is", places, places[ground.near])
        assert np.abs(cosines - true).mean() < 0.07
        assert np.corrcoef(cosines.ravel(), true.ravel())[0, 1] > 0.85


def test_walks_are_the_same_on_any_number_of_threads(ground):
    graph = pair_graph(ground.near)
    one, two = (walk_cosines(graph, ground.near, (2, 4), n) for n in (1, 3))
    for taken in one:
        np.testing.assert_array_equal(one[taken], two[taken])


def test_trust_falls_with_every_doubt():
    full, half, none = np.array([1.0]), np.array([0.5]), np.array([0.0])
    assert trust_of(full, full, full) == pytest.approx(1.0)
    assert trust_of(none, none, none) == 0.0
    assert trust_of(full, full, half) > trust_of(full, half, half) > trust_of(half)


def test_edges_know_pairs_that_cross_classes(digits, model):
    y = digits[1]
    edges = trust.edges(model)
    same = y[edges.near] == y[:, None]
    assert roc_auc_score(same.ravel(), edges.values.ravel()) > 0.95
    told = edges.values > 0.9
    assert same[told].mean() > 0.95
    assert same[edges.values < 0.3].mean() < 0.5
    assert isinstance(edges.trust, csr_array)
    row = edges.trust[[7]].tocoo()
    values = dict(zip(row.col.tolist(), row.data.tolist(), strict=True))
    assert values == dict(
        zip(edges.near[7].tolist(), edges.values[7].tolist(), strict=True)
    )


def test_the_worst_edges_come_first_and_once(digits, model):
    edges = trust.edges(model, maps=[model.embedding_])
    worst = edges.worst(30)
    values = [edge.trust for edge in worst]
    assert values == sorted(values)
    assert len({frozenset(edge[:2]) for edge in worst}) == 30
    assert values[-1] < np.quantile(edges.values, 0.02)
    y = digits[1]
    assert np.mean([y[edge.row] != y[edge.other] for edge in worst]) > 0.6
    first = worst[0]
    apart = np.linalg.norm(model.embedding_[first.row] - model.embedding_[first.other])
    assert first.length == pytest.approx(apart / np.median(
        np.linalg.norm(model.embedding_[:, None] - model.embedding_[edges.near], axis=2)
    ), rel=1e-5)  # fmt: skip


# --- points ------------------------------------------------------------------


def test_the_shares_of_points_add_up_to_the_measures(digits):
    rng = np.random.default_rng(0)
    X = digits[0][:500] + rng.random((500, 64))  # no two distances are the same
    model = LocalMAP(random_state=0).fit(X)
    Y = model.embedding_
    points = trust.points(model, maps=[Y])
    assert points.trustworthiness.mean() == pytest.approx(
        metrics.trustworthiness(X, Y), abs=1e-6
    )
    assert points.continuity.mean() == pytest.approx(metrics.continuity(X, Y), abs=1e-6)
    assert points.kept.mean() == pytest.approx(metrics.kept(ground_of(model).near, Y))
    assert points.agreement == pytest.approx(np.ones(len(Y)))
    assert 0 < points.trust.min() < points.trust.max() <= 1


def test_a_point_that_was_moved_is_trusted_least(digits):
    fitted = PaCMAP(random_state=0).fit(digits[0])
    before = trust.points(fitted).trust
    far = np.abs(fitted.embedding_ - fitted.embedding_[100]).sum(axis=1).argmax()
    fitted.embedding_[100] = fitted.embedding_[far]
    after = trust.points(fitted)
    assert after.trust[100] < before[100] - 0.3
    assert after.trust[100] == after.trust.min()


@pytest.mark.parametrize("metric", ["manhattan", "jaccard", "cosine"])
def test_points_by_other_metrics(digits, metric):
    X = digits[0][:200] > 7 if metric == "jaccard" else digits[0][:200]
    fitted = LocalMAP(metric=metric, random_state=0, n_iters=(20, 20, 20)).fit(X)
    points = trust.points(fitted)
    assert points.agreement is None
    assert 0.5 < points.trustworthiness.mean() < 1


# --- borders -----------------------------------------------------------------


def ladder(n=40, doubted=()):
    """Rows on a line, each with its neighbours on both sides; some pairs doubted."""
    near = np.arange(n)[:, None] + np.array([-2, -1, 1, 2])
    near[(near < 0) | (near >= n)] = -1
    trusted = np.full(near.shape, 0.8)
    for row in doubted:
        trusted[(near > row) & (np.arange(n)[:, None] <= row)] = 0.2
        trusted[(near <= row) & (near >= 0) & (np.arange(n)[:, None] > row)] = 0.2
    return Pairs(near, trusted, trusted, np.ones(n))


LINE = np.column_stack([np.arange(40.0), np.zeros(40)])


def test_a_border_is_as_deep_as_its_pairs_are_doubted():
    halved = (np.arange(40) >= 20).astype(np.int64)
    plain = borders_of(ladder(), halved)
    assert plain.crossing[0, 1] == 6  # three pairs, chosen by both
    assert plain.depth[0, 1] == pytest.approx(1.0)
    assert plain.leaving.tolist() == [3, 3]
    doubted = borders_of(ladder(doubted=[19]), halved)
    assert doubted.depth[0, 1] == pytest.approx(4.0)
    assert doubted.whole_depth.tolist() == pytest.approx([4.0, 4.0])
    assert 1.5 < sure_depth(ladder(doubted=[19]), halved)[0] < 4.0


def test_a_border_that_nothing_crosses_is_infinitely_deep():
    pairs = ladder()
    near = pairs.near.copy()
    halved = (np.arange(40) >= 20).astype(np.int64)
    near[(near >= 0) & (halved[near] != halved[:, None])] = -1
    apart = replace(pairs, near=near)
    assert np.isinf(borders_of(apart, halved).whole_depth).all()
    assert np.isinf(sure_depth(apart, halved)).all()
    assert joined(apart, halved, LINE).deep.all()


def test_rows_of_other_sizes_are_expected_to_share_less():
    """Across a border at which rows are four times larger, half of the trust is due."""
    halved = (np.arange(40) >= 20).astype(np.int64)
    pairs = replace(ladder(doubted=[19]), sizes=np.where(halved, 4.0, 1.0))
    assert borders_of(pairs, halved).depth[0, 1] == pytest.approx(2.0)
    same = replace(pairs, sizes=np.zeros(40))
    assert borders_of(same, halved).depth[0, 1] == pytest.approx(4.0)


def test_the_middle_cut_of_a_line_crosses_three_pairs_twice():
    assert middle_cut(ladder(), LINE, np.arange(40)) == 6


def test_groups_are_joined_where_the_data_do_not_divide_them():
    quarters = np.arange(40) // 10
    whole = joined(ladder(), quarters, LINE)
    assert whole.groups.max() == 0
    assert whole.homes.tolist() == [0, 0, 0, 0]
    two = joined(ladder(doubted=[19]), quarters, LINE)
    assert two.groups.tolist() == [0] * 20 + [1] * 20
    assert two.homes.tolist() == [0, 0, 1, 1]
    assert two.deep.tolist() == [True, True]


# --- groups ------------------------------------------------------------------


def test_groups_seen_hold_every_point_and_go_by_size():
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(size=(60, 2)), 40 + rng.normal(size=(100, 2))])
    groups = groups_seen(Y)
    assert groups.tolist() == [1] * 60 + [0] * 100
    assert groups_seen(np.zeros((10, 2))).tolist() == [0] * 10
    assert by_size(np.array([7, 3, 3, 7, 9])).tolist() == [0, 1, 1, 0, 2]


def test_groups_of_many_points_are_looked_for_among_some():
    rng = np.random.default_rng(0)
    at = rng.integers(0, 3, 12_000)
    groups = groups_seen(
        (60 * at[:, None] + rng.normal(size=(12_000, 2))).astype(np.float32)
    )
    assert groups.max() == 2
    assert len(set(zip(at.tolist(), groups.tolist(), strict=True))) == 3


def test_the_digits_are_found_and_supported(digits, found):
    """Nine of ten: for each digit a supported group that is mostly all of it."""
    y = digits[1]
    good = {group.number for group in found.supported}
    hits = 0
    for digit in range(10):
        own = y == digit
        overlaps = [
            (own & (found.labels == g)).sum() / (own | (found.labels == g)).sum()
            for g in good
        ]
        hits += max(overlaps) >= 0.5
    assert hits >= 9
    assert found.headline.startswith(f"{len(good)} of {len(found.groups)} groups")
    assert len(found.maps) == 3


def test_groups_are_named_by_labels(digits, found):
    names = found.named([f"digit {d}" for d in digits[1]])
    assert len(names) == len(found.groups)
    shares = [named[1] for named in names if named[0] == "digit 0"]
    assert max(shares) > 0.99
    with pytest.raises(ValueError, match="1797 rows; got shape"):
        found.named(["a"])


def test_a_model_is_judged_by_its_own_map(model, found):
    np.testing.assert_array_equal(found.Y, model.embedding_)
    np.testing.assert_array_equal(found.seen, groups_seen(model.embedding_) + 1)


@pytest.mark.parametrize("name", ["gauss50", "cube2", "swiss", "circle", "gauss5"])
def test_what_is_one_piece_has_no_supported_group(name):
    for seed in range(3):
        found = trust.groups(one_piece(name, 1000, seed), runs=3)
        assert found.supported == ()
    assert "one piece" in found.summary or "unsure" in found.summary


def test_two_clouds_become_one_as_they_meet():
    counts = []
    for gap in (8.0, 6.0, 4.0, 2.0, 0.0):
        X, _ = two_clouds("gauss", 5, gap, 1000)
        counts.append(len(trust.groups(X, runs=4).supported))
    assert counts[0] == 2
    assert counts[-1] == 0
    assert counts == sorted(counts, reverse=True)


def test_the_same_seed_gives_the_same_groups(digits):
    X = digits[0][:500]
    one, two = (
        trust.groups(X, runs=3, estimator=LocalMAP(random_state=5)) for _ in "12"
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.groups == two.groups
    np.testing.assert_array_equal(one.together, two.together)


def test_together_is_a_share_of_runs(found):
    count = len(found.groups)
    assert found.together.shape == (count, count)
    np.testing.assert_allclose(found.together, found.together.T)
    assert found.together.min() >= 0
    assert found.together.max() <= 1 + 1e-9
    assert np.diag(found.together).mean() > 0.8 > found.together[0, 1]


@pytest.mark.parametrize("kind", ["matrix", "graph", "start", "sparse", "table"])
def test_groups_of_other_inputs(digits, kind):
    X = digits[0][:400]
    options = {}
    if kind == "matrix":
        options["metric"] = "precomputed"
        X = np.linalg.norm(X[:, None] - X[None], axis=2)
    elif kind == "graph":
        options["metric"] = "precomputed"
        X = kneighbors_graph(X, 61, mode="distance")
    elif kind == "start":
        options["init"] = np.random.default_rng(0).normal(size=(400, 2))
    elif kind == "sparse":
        X = csr_array(X)
    else:
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    found = trust.groups(X, runs=4, estimator=LocalMAP(random_state=0, **options))
    assert len(found.labels) == 400
    assert found.n_subsamples == 2
    assert len(found.groups) > 4


def test_the_users_estimator_stays_as_it_was(digits):
    watched = []
    given = LocalMAP(
        random_state=0, callback=lambda *a: watched.append(a), verbose=True
    )
    before = given.get_params()
    trust.typical(digits[0][:100], runs=2, estimator=given)
    assert given.get_params() == before
    assert not hasattr(given, "embedding_")
    assert watched == []


def test_halves_are_other_rows_each_time_and_rising(ground):
    one, two = halves(ground, 2)
    assert len(one.rows) == len(two.rows) == len(ground) // 2
    assert (np.diff(one.rows) > 0).all()
    assert len(np.intersect1d(one.rows, two.rows)) < 0.6 * len(one.rows)


# --- words -------------------------------------------------------------------


def a_group(**other):
    told = {
        "number": 2, "size": 1200, "parts": (1200,), "overlap": 0.9, "found": 9,
        "runs": 9, "leaves": 0.012, "chance": 0.8, "depth": 2.5, "deep": True,
        "nearest": 1, "outcomes": (),
    }  # fmt: skip
    return Group(**(told | other))


def test_verdicts_in_words():
    text = a_group().sentence
    assert text.startswith("Group 2 (1,200 rows): supported. 1.2% of its neighbour")
    assert "most of them to group 1, and are trusted 0.40 of those beside" in text
    assert "9 of 9 other maps" in text
    assert a_group(deep=False).verdict == "unsure"
    assert "through one piece" in a_group(deep=False).sentence
    assert a_group(overlap=0.4).verdict == "unsure"
    assert a_group(chance=0.0).verdict == "one piece"
    assert "trusted" not in a_group(depth=np.inf).sentence
    parts = a_group(parts=(800, 400)).sentence
    assert "shows it as 2 groups (800 and 400 rows)" in parts


def test_what_became_of_a_group_is_told_commonest_first():
    """Groups of 10: as they are; the first two merged, twice; the third split."""
    same = np.diag([10.0, 10.0, 10.0])
    merged = np.array([[10.0, 0], [10, 0], [0, 10]])
    split = np.array([[10.0, 0, 0, 0], [0, 10, 0, 0], [0, 0, 6, 4]])
    looks = [Look(same, same), *[Look(merged, merged)] * 2, Look(split, split)]
    assert outcomes(0, looks) == ()  # half of the merged group is its own
    merged = np.array([[10.0, 0], [40, 0], [0, 10]])
    looks[1:3] = [Look(merged, merged)] * 2
    assert outcomes(0, looks) == (Outcome(2, (2,), ()),)
    assert outcomes(2, looks) == (Outcome(1, (), (6, 4), supported=True),)
    text = a_group(outcomes=outcomes(0, looks) + outcomes(2, looks)).sentence
    assert "In 2 maps it merges with group 2." in text
    assert (
        "In 1 map it splits into parts of 6 and 4 rows, which the data keep apart"
        in text
    )


# --- typical -----------------------------------------------------------------


def test_a_map_is_itself_however_it_is_turned():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(200, 2)) * [3, 1]
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    other = rng.normal(size=(200, 2))
    choice = most_typical([other, Y, 7 * Y @ turn + 3])
    assert choice.distances[1, 2] == pytest.approx(0.0, abs=1e-9)
    assert choice.distances[0, 1] > 0.5
    assert choice.chosen in (1, 2)


@pytest.mark.parametrize("kind", [LocalMAP, PaCMAP])
def test_the_typical_map_is_that_of_its_seed(digits, kind):
    X = digits[0][:300]
    found = trust.typical(X, runs=3, estimator=kind(random_state=11))
    assert found.seed in (11, 12, 13)
    np.testing.assert_array_equal(
        kind(random_state=found.seed).fit_transform(X), found.Y
    )
    assert found.distances.sum(axis=1).argmin() == found.chosen


def test_no_warnings_of_small_data_twice(digits):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        trust.groups(digits[0][:62], runs=4)
    assert len([w for w in told if "cannot give each point" in str(w.message)]) <= 1
