"""New rows in a finished map."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from localmap import LocalMAP, PaCMAP, kernels
from localmap.method import reference


@pytest.fixture(scope="module", params=[LocalMAP, PaCMAP])
def held_out(request, digits):
    X, y = digits
    model = request.param(random_state=0).fit(X[:1400])
    return model, X, y


def test_training_rows_land_on_themselves(held_out):
    model, X, _ = held_out
    some = np.arange(0, 1400, 3)
    np.testing.assert_array_equal(model.transform(X[some]), model.embedding_[some])


def test_a_row_does_not_depend_on_its_batch(held_out):
    model, X, _ = held_out
    together = model.transform(X[1400:])
    order = np.random.default_rng(0).permutation(397)
    np.testing.assert_array_equal(model.transform(X[1400:][order]), together[order])
    for i in (0, 7, 396):
        np.testing.assert_array_equal(model.transform(X[1400 + i][None]), together[[i]])
    alone = model.set_params(n_jobs=1).transform(X[1400:])
    np.testing.assert_array_equal(alone, together)


def test_new_rows_join_their_group(held_out):
    model, X, y = held_out
    classifier = KNeighborsClassifier(10).fit(model.embedding_, y[:1400])
    # Among the training rows themselves 0.985 of the neighbours agree; random places
    # in the map reach 0.10.
    assert classifier.score(model.transform(X[1400:]), y[1400:]) > 0.94


def test_rows_unlike_any_seen_are_told(held_out):
    model, X, _ = held_out
    _, seen = model.transform(X[1400:], return_distance=True)
    strange = 16 * np.random.default_rng(0).random((50, 64))
    Y, far = model.transform(strange, return_distance=True)
    assert 0.7 < np.median(seen) < 1.5
    assert np.quantile(seen, 0.95) < far.min()
    assert np.isfinite(Y).all()
    assert np.abs(Y).max() < 2 * np.abs(model.embedding_).max()


def test_other_columns_or_no_fit_are_refused(held_out):
    model, X, _ = held_out
    with pytest.raises(ValueError, match="63 features"):
        model.transform(X[:, 1:])
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((1, 64), np.nan))
    with pytest.raises(NotFittedError):
        LocalMAP().transform(X)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_row_metrics(digits, metric):
    X, _ = digits
    model = LocalMAP(metric=metric, random_state=0, n_iters=(20, 20, 20)).fit(X[:500])
    scale = np.random.default_rng(0).uniform(0.5, 2.0, (40, 1))
    new = X[500:540]
    np.testing.assert_allclose(
        model.transform(new * scale), model.transform(new), atol=1e-3
    )


def test_small_and_wide_data():
    rng = np.random.default_rng(0)
    model = PaCMAP(random_state=0).fit(rng.normal(size=(60, 200)))
    assert np.isfinite(model.transform(rng.normal(size=(3, 200)))).all()
    with pytest.warns(UserWarning, match="cannot give each point"):
        tiny = LocalMAP(random_state=0).fit(rng.normal(size=(5, 3)))
    assert tiny.transform(rng.normal(size=(2, 3))).shape == (2, 2)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_settling_without_repulsion_equals_the_reference(dim):
    rng = np.random.default_rng(dim)
    Y = rng.normal(size=(30, dim)).astype(np.float32)
    near = rng.integers(0, 30, (4, 5)).astype(np.int32)
    start = rng.normal(size=(4, dim)).astype(np.float32)
    weights = kernels.Weights(1.0, 0.0, 1.0, 0.3, 2.0)
    found = kernels.relax(
        Y, near, start, weights, reach=1.0, learning_rate=0.5, n_iters=12,
        redraw_every=5, slots=0, key=0,
    )  # fmt: skip
    for row, partners in enumerate(near):
        y = start[[row]].astype(np.float64)
        m, v = np.zeros_like(y), np.zeros_like(y)
        none = np.empty((6, 0), dtype=np.int32)
        pairs = np.full((6, 5), 0, dtype=np.int32)
        pairs[0] = np.arange(1, 6)
        for step in range(12):
            points = np.concatenate([y, Y[partners]])
            one = np.where(np.arange(6)[:, None] == 0, pairs, np.arange(6)[:, None])
            gradient = reference.forces(points, one, none, none, weights)[0][:1]
            y, m, v = reference.adam_step(
                y, gradient, m, v, step + 1, learning_rate=0.5 * (1 - step / 12)
            )
        np.testing.assert_allclose(found[[row]], y, atol=1e-4)


def test_points_around_push():
    """A ring of near pairs around a crowd: the crowd pushes the new point out of it."""
    rng = np.random.default_rng(0)
    crowd = 0.3 * rng.normal(size=(300, 2))
    Y = np.concatenate([crowd, [[3.0, 0.0]]]).astype(np.float32)
    near = np.full((1, 3), 300, dtype=np.int32)
    settings = {
        "reach": 10.0, "learning_rate": 1.0, "n_iters": 50, "redraw_every": 10, "key": 0
    }  # fmt: skip
    weights = kernels.Weights(1.0, 0.0, 1.0, 1.0, 0.0)
    pushed = kernels.relax(Y, near, Y[:1], weights, slots=20, **settings)
    free = kernels.relax(Y, near, Y[:1], weights, slots=0, **settings)
    assert np.linalg.norm(pushed) > 1.5
    assert np.linalg.norm(pushed - free) > 0.3


def test_projection_equals_a_product_of_matrices():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(7, 50)), rng.normal(size=(50, 11))
    found = kernels.project(X.astype("f4"), C.astype("f4"), 2)
    np.testing.assert_allclose(found, X @ C, atol=1e-4)
    with pytest.raises(ValueError, match="cannot project"):
        kernels.project(X.astype("f4"), C.astype("f4").T)


def test_the_start_is_the_neighbour_nearest_to_all_others():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(50, 3)).astype(np.float32)
    near = rng.integers(0, 50, (40, 7)).astype(np.int32)
    groups = Y[near].astype(np.float64)
    apart = np.linalg.norm(groups[:, :, None] - groups[:, None], axis=3).sum(axis=2)
    expected = Y[near[np.arange(40), apart.argmin(axis=1)]]
    np.testing.assert_array_equal(kernels.medoids(Y, near, 2), expected)


def test_large_models_search_in_cells_and_rows_still_stand_alone(monkeypatch):
    monkeypatch.setattr("localmap.geometry.rows.EXACT_ROWS", 2000)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 4000)
    X = rng.normal(size=(4000, 10)) + 6 * rng.normal(size=(8, 10))[y]
    model = LocalMAP(random_state=0, n_iters=(50, 50, 100)).fit(X[:3500])
    Y = model.transform(X[3500:])
    assert hasattr(model._fitted.space, "_index")
    np.testing.assert_array_equal(model.transform(X[3600:3601]), Y[[100]])
    np.testing.assert_array_equal(model.transform(X[:100]), model.embedding_[:100])
    back = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(back.transform(X[3500:]), Y)
    classifier = KNeighborsClassifier(10).fit(model.embedding_, y[:3500])
    assert classifier.score(Y, y[3500:]) > 0.97


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_projected_rows_stand_alone_and_find_themselves(metric, monkeypatch):
    """Two tight groups far apart: what rounding leaves is large beside the scales."""
    monkeypatch.setattr("localmap.geometry.blocks.BLOCK", 150 * 64)
    rng = np.random.default_rng(0)
    X = 1 + 1e-3 * rng.normal(size=(400, 150))
    X[:200, ::2] *= -1
    model = LocalMAP(random_state=0, metric=metric, n_iters=(20, 20, 20)).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    new = X + 1e-3 * rng.normal(size=X.shape)
    Y = model.transform(new)
    np.testing.assert_array_equal(model.transform(np.asfortranarray(new)), Y)
    for i in (0, 63, 64, 399):
        np.testing.assert_array_equal(model.transform(new[[i]]), Y[[i]])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "hamming"])
@pytest.mark.parametrize("far", [1e20, 1e40, 1e300, -1e308])
def test_rows_beyond_all_numbers_spoil_no_others(digits, metric, far):
    X = digits[0]
    model = LocalMAP(random_state=0, metric=metric, n_iters=(5, 5, 5)).fit(X[:300])
    rows = np.vstack([X[300:310], np.full((1, 64), far)])
    Y, away = model.transform(rows, return_distance=True)
    np.testing.assert_array_equal(Y[:10], model.transform(X[300:310]))
    assert np.isfinite(Y).all()
    assert np.isfinite(away).all()
    if metric != "hamming":
        assert away[10] > 1000


def test_shared_rows_of_new_ones_by_definition():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 5)).astype(np.float32)
    new = rng.normal(size=(30, 5)).astype(np.float32)
    found, _ = kernels.neighbors_of(Z, new, 40)
    near = found[:, :7].copy()
    sizes = kernels.exact_neighbors(Z, 40)[1][:, -1]
    expected = reference.shared_within(Z, found[:, :35], near, sizes)
    for threads in (1, 3):
        counts = kernels.shared_within(Z, found, 35, near, sizes, threads)
        np.testing.assert_array_equal(counts, expected)
    assert 5 < expected.mean() < 35
    with pytest.raises(ValueError, match="a size for each row"):
        kernels.shared_within(Z, found, 35, near, sizes[:5])
    with pytest.raises(ValueError, match="from 1 to 40; got 41"):
        kernels.shared_within(Z, found, 41, near, sizes)


def test_a_training_row_shares_as_in_the_fit():
    """Placed as new, its pairs have the rows in common that they have in the graph."""
    X = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)
    indices, distances = kernels.exact_neighbors(X, 60)
    near = indices[:, :10].copy()
    counts = kernels.shared_within(X, indices, 60, near, distances[:, -1])
    np.testing.assert_array_equal(counts, kernels.shared_neighbors(indices, 60, near))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_trusted_pairs_of_placed_rows_keep_their_pull(metric, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    model = LocalMAP(random_state=0, metric=metric, n_iters=(50, 50, 50)).fit(X[:500])
    seen = []
    relax = kernels.relax

    def spy(*args, trusted, keep=True, **how):
        seen.append(trusted)
        return relax(*args, trusted=trusted if keep else None, **how)

    monkeypatch.setattr(kernels, "relax", spy)
    placed = model.transform(X[500:])
    assert 5 < seen[0].mean() < 10
    monkeypatch.setattr(kernels, "relax", partial(spy, keep=False))
    assert (model.transform(X[500:]) != placed).any()


def test_more_partners_than_codes_are_refused():
    Y = np.zeros((10, 2), dtype=np.float32)
    with pytest.raises(
        ValueError, match=r"up to 65536 partners.*smaller further_ratio"
    ):
        kernels.relax(
            Y, np.zeros((1, 1), dtype=np.int32), Y[:1], kernels.Weights(1, 0, 1),
            reach=1.0, learning_rate=1.0, n_iters=1, redraw_every=1, slots=65_536,
            key=0,
        )  # fmt: skip
