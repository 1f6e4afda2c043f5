"""Distances of every kind: by metrics, from a matrix, from a neighbour graph."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from localmap import LocalMAP
from localmap.geometry import brute_force, landmarks
from localmap.geometry.distances import METRICS
from localmap.geometry.mid_near import MID_NEAR_DRAWS
from localmap.geometry.precomputed import GraphSpace, MatrixSpace
from localmap.geometry.space import space_of
from localmap.geometry.workshop import Workshop

FAST = {"n_iters": (20, 20, 20), "random_state": 0}


BRUTE_FORCE = [name for name, metric in METRICS.items() if not metric.euclidean]
SCIPY_NAMES = {"manhattan": "cityblock", "chebyshev": "chebyshev", "hamming": "hamming"}


def groups(n=240, d=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return rng.normal(size=(n, d)) + 8 * rng.normal(size=(4, d))[y], y


def whole(n=200, seed=0):
    """Small integers: many equal numbers, for hamming and jaccard."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 12)).astype(np.float64)


def true_distances(A, B, metric):
    if metric == "jaccard":
        return cdist(A != 0, B != 0, "jaccard")
    return cdist(A, B, SCIPY_NAMES[metric])


@pytest.mark.parametrize("metric", BRUTE_FORCE)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_neighbours_by_metric_are_the_nearest(metric, n_threads, monkeypatch):
    monkeypatch.setattr(brute_force, "BLOCK", 5000)  # several blocks
    X = whole()
    X[0] = 0  # jaccard: a row without any
    space = space_of(X, metric, 100)
    graph = space.neighbors(15, Workshop(n_threads), at=10)
    exact = true_distances(X, X, metric)
    np.fill_diagonal(exact, np.inf)
    found = np.take_along_axis(exact, graph.indices, axis=1)
    np.testing.assert_allclose(found, np.sort(exact, axis=1)[:, :15], atol=1e-6)
    scale = space.preprocessing.unit if metric in ("manhattan", "chebyshev") else 1
    np.testing.assert_allclose(graph.distances * scale, found, atol=1e-5)
    assert (graph.indices != np.arange(200)[:, None]).all()
    assert graph.recall == 1


@pytest.mark.parametrize("metric", BRUTE_FORCE)
def test_paired_distances_are_those_of_scipy(metric):
    X = whole()
    X[5] = 0
    space = space_of(X, metric, 100)
    partners = np.random.default_rng(0).integers(0, 200, (200, 3))
    partners[5, 0] = 5
    exact = np.take_along_axis(true_distances(X, X, metric), partners, axis=1)
    scale = space.preprocessing.unit if metric in ("manhattan", "chebyshev") else 1
    found = brute_force.paired(space.Z, partners, metric) * scale
    np.testing.assert_allclose(found, exact, atol=1e-5)


def mid_near_ranks(space, exact, slots=5):
    """Share of other rows that are closer than a mid-near pair, each pair."""
    pairs = space.mid_near(slots, 7, 1)
    n = len(exact)
    assert pairs.shape == (n, slots)
    for i, row in enumerate(pairs):
        assert len({i, *row}) == slots + 1
    own = np.take_along_axis(exact, pairs, axis=1)
    return (exact[:, None, :] < own[:, :, None]).mean(axis=2)


def test_mid_near_pairs_are_the_second_closest_of_six():
    X, _ = groups()
    exact = cdist(X, X)
    for space in (
        space_of(X, "manhattan", None),
        space_of(exact, "precomputed", None),
    ):
        ranks = mid_near_ranks(space, exact)
        # The second of six uniform numbers: mean 2/7, deviation 0.16.
        assert abs(ranks.mean() - 2 / (MID_NEAR_DRAWS + 1)) < 0.02
        assert (space.mid_near(5, 7, 2) == space.mid_near(5, 7, 1)).all()
        assert (space.mid_near(5, 8, 1) != space.mid_near(5, 7, 1)).mean() > 0.9


@pytest.mark.parametrize("metric", BRUTE_FORCE)
def test_every_metric_makes_a_map_whose_groups_are_the_groups(metric):
    X, y = groups()
    if metric in ("hamming", "jaccard"):
        rng = np.random.default_rng(0)
        X = (
            rng.random((240, 40)) < np.where(rng.random((4, 40)) < 0.5, 0.9, 0.1)[y]
        ) * 1
    model = LocalMAP(metric=metric, random_state=0).fit(X[:200])
    nearest = cdist(model.transform(X[200:]), model.embedding_).argmin(axis=1)
    assert (y[nearest] == y[200:]).mean() > 0.95
    np.testing.assert_array_equal(model.transform(X[:20]), model.embedding_[:20])
    np.testing.assert_array_equal(
        model.transform(X[210:211]), model.transform(X)[[210]]
    )


def test_large_data_by_other_metrics_is_warned_of(monkeypatch):
    monkeypatch.setattr(brute_force, "MANY_ROWS", 100)
    with pytest.warns(UserWarning, match="square of their number.*precomputed"):
        LocalMAP(metric="manhattan", **FAST).fit(groups()[0])


def test_given_distances_make_the_map_of_their_rows():
    X, _ = groups()
    D = cdist(X, X)
    graph = space_of(X, "euclidean", None).neighbors(60, Workshop(), at=10)
    given = space_of(D, "precomputed", None).neighbors(60, Workshop(), at=10)
    assert (given.indices == graph.indices).mean() > 0.999
    start = np.random.default_rng(0).normal(size=(240, 2))
    same = {"init": start, "mid_near_ratio": 0, **FAST}
    by_rows = LocalMAP(**same).fit_transform(X)
    by_distances = LocalMAP(metric="precomputed", **same).fit_transform(D)
    np.testing.assert_allclose(by_distances, by_rows, atol=1e-2 * np.abs(by_rows).max())
    np.testing.assert_array_equal(
        LocalMAP(metric="precomputed", **FAST).fit_transform(D),
        LocalMAP(metric="precomputed", **FAST).fit_transform(1024 * D),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_given_distances_of_any_type_and_size(dtype):
    X, y = groups()
    D = cdist(X, X)
    largest = {np.float16: 6e4, np.float32: 2e38, np.int32: 2e9}[dtype]
    given = (D / D.max() * largest).astype(dtype)
    model = LocalMAP(metric="precomputed", **FAST).fit(given)
    graph = space_of(given, "precomputed", None).neighbors(10, Workshop(), at=10)
    assert (y[graph.indices] == y[:, None]).mean() > 0.99
    assert np.isfinite(model.embedding_).all()


def test_a_matrix_may_be_mapped_from_a_file_and_is_not_changed(tmp_path):
    X, y = groups()
    D = cdist(X, X)
    np.save(tmp_path / "D.npy", D)
    mapped = np.load(tmp_path / "D.npy", mmap_mode="r")
    model = LocalMAP(metric="precomputed", random_state=0).fit(mapped)
    in_memory = LocalMAP(metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(model.embedding_, in_memory.embedding_)
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), D)
    new, labels = groups(seed=0)
    away = cdist(new[:50] + 0.01, X)
    nearest = cdist(model.transform(away), model.embedding_).argmin(axis=1)
    assert (y[nearest] == labels[:50]).mean() > 0.95
    np.testing.assert_array_equal(model.transform(D[:9]), model.embedding_[:9])


def test_a_neighbour_graph_in_a_pipeline():
    X, y = groups(400)
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=40, mode="distance"),
        LocalMAP(metric="precomputed", random_state=0),
    )
    Y = pipeline.fit_transform(X[:300])
    model = pipeline[-1]
    assert model.neighbor_recall_ == 1
    placed = pipeline.transform(X[300:])
    nearest = cdist(placed, Y).argmin(axis=1)
    assert (y[nearest] == y[300:]).mean() > 0.95
    np.testing.assert_array_equal(pipeline.transform(X[:20]), Y[:20])
    np.testing.assert_array_equal(pipeline.transform(X[333:334]), placed[[33]])
    seen = (cdist(Y, Y) + 1e9 * np.eye(300)).argmin(axis=1)
    assert adjusted_rand_score(y[:300], y[seen]) > 0.95


def test_graph_without_self_with_zeros_and_of_uneven_degrees():
    X = np.repeat(groups(60)[0], 2, axis=0)  # duplicates: stored zeros
    D = cdist(X, X)
    rows = [np.argsort(D[i], kind="stable")[: 20 + i % 3] for i in range(120)]
    data = np.concatenate([D[i, row] for i, row in enumerate(rows)])
    starts = np.cumsum([0, *map(len, rows)])
    graph = sp.csr_array((data, np.concatenate(rows), starts), shape=(120, 120))
    found = space_of(graph, "precomputed", None).neighbors(60, Workshop(), at=10)
    assert found.indices.shape == (120, 19)
    assert (found.indices != np.arange(120)[:, None]).all()
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(120) ^ 1)
    assert (found.distances[:, 0] == 0).all()
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert np.isfinite(
        LocalMAP(metric="precomputed", **FAST).fit_transform(graph)
    ).all()


def test_places_from_paths_keep_the_order_of_a_curve():
    """A half circle: the straight way across is short, the path along it is not."""
    angle = np.linspace(0, np.pi, 200)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    graph = KNeighborsTransformer(n_neighbors=6, mode="distance").fit_transform(X)
    space = space_of(graph, "precomputed", None)
    assert isinstance(space, GraphSpace)
    first = space.principal(1)[:, 0]
    assert abs(np.corrcoef(first, angle)[0, 1]) > 0.999


def test_landmark_coordinates_reproduce_euclidean_distances():
    X, _ = groups(100, 3)
    chosen = landmarks.choose(100)
    Z = landmarks.coordinates(cdist(X, X[chosen]), chosen)
    np.testing.assert_allclose(cdist(Z, Z), cdist(X, X), atol=1e-3)
    space = space_of(cdist(X, X), "precomputed", None)
    assert isinstance(space, MatrixSpace)
    spread = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    found = np.linalg.norm(space.principal(2), axis=0) * space.unit
    np.testing.assert_allclose(found, spread[:2], rtol=1e-3)


def test_parts_without_a_path_between_them_stay_apart():
    a, b = groups(60, 3, 1)[0], groups(60, 3, 2)[0]
    part = KNeighborsTransformer(n_neighbors=12, mode="distance")
    graph = sp.block_diag([part.fit_transform(a), part.fit_transform(b)], format="csr")
    Y = LocalMAP(metric="precomputed", **FAST).fit_transform(graph)
    part_of = np.repeat([0, 1], 60)
    nearest = (cdist(Y, Y) + 1e9 * np.eye(120)).argmin(axis=1)
    assert (part_of[nearest] == part_of).mean() > 0.95


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 4)), r"square.*\(5, 4\)"),
        (np.zeros((5, 5)), "All given distances are 0"),
        (-np.ones((5, 5)), "must not be negative; the smallest is -1"),
        (sp.eye_array(50, format="csr"), "row 0 of the graph has 0 neighbours"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*samples cannot give each point:UserWarning")
def test_bad_distances_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        LocalMAP(metric="precomputed", **FAST).fit(X)


def test_new_rows_with_too_few_given_neighbours_are_refused():
    X, _ = groups()
    transformer = KNeighborsTransformer(n_neighbors=30, mode="distance").fit(X)
    model = LocalMAP(metric="precomputed", **FAST).fit(transformer.transform(X))
    few = KNeighborsTransformer(n_neighbors=5, mode="distance").fit(X).transform(X[:3])
    with pytest.raises(
        ValueError, match=r"needs .* neighbours in the graph, .* one has 6"
    ):
        model.transform(few)
    with pytest.raises(ValueError, match="must not be negative"):
        model.transform(-np.ones((1, 240)))


def test_landmarks_that_reach_no_distance_are_refused():
    """Every second row stands for the whole, and those are duplicates."""
    n, k = 64, 12
    even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
    graph = sp.lil_array((n, n))
    for part, step in ((even, 0.0), (odd, 1.0)):
        for i, row in enumerate(part):
            for j in range(1, k + 1):
                graph[row, part[(i + j) % len(part)]] = step * j or np.nan
    graph = sp.csr_array(graph)
    graph.data[np.isnan(graph.data)] = 0.0
    with pytest.raises(ValueError, match="reach each other only at distance 0"):
        LocalMAP(metric="precomputed", **FAST).fit(graph)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda D: 1 - D / D.max(), "Similarities are no distances"),
        (lambda D: D + np.eye(len(D)), "A row has no distance to itself; row"),
        (np.triu, "must be symmetric"),
        (lambda D: D * np.linspace(1, 2, len(D)), "must be symmetric"),
    ],
)
def test_what_is_no_distance_is_refused(make, words):
    X, _ = groups()
    D = cdist(X, X)
    LocalMAP(metric="precomputed", **FAST).fit(D * (1 + 1e-9))
    with pytest.raises(ValueError, match=words):
        LocalMAP(metric="precomputed", **FAST).fit(make(D))
