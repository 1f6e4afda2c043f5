import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.preprocessing import RobustScaler, StandardScaler

import localmap
from localmap import LocalMAP, kernels
from localmap.geometry import pca as module
from localmap.geometry.pca import principal_components
from localmap.geometry.preprocessing import preprocess
from localmap.geometry.scaling import dominant_columns
from localmap.kernels import products


def data(n=300, d=150, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.linspace(3, 0.1, d) + rng.normal(size=d)


def same_up_to_sign(A, B, **tolerance):
    signs = np.sign((A * B).sum(axis=0))
    np.testing.assert_allclose(A * signs, B, **tolerance)


@pytest.mark.parametrize("factor", [2.0**-900, 0.25, 1024.0, 2.0**900])
@pytest.mark.parametrize("columns", [20, 150])
def test_a_power_of_two_changes_no_bit(factor, columns):
    X = data(d=columns)
    Z, _ = preprocess(X)
    scaled, _ = preprocess(X * factor)
    np.testing.assert_array_equal(Z, scaled)


@pytest.mark.parametrize("shape", [(400, 150), (90, 150), (400, 40)])
def test_scores_equal_scikit_learns_pca(shape):
    X = data(*shape)
    k = min(30, shape[1])
    Z, applied = preprocess(X, pca_components=k)
    if k < shape[1]:
        expected = PCA(k, svd_solver="full").fit_transform(X) / applied.unit
        same_up_to_sign(Z - Z.mean(axis=0), expected, atol=2e-5)
    else:
        centred = (X - X.mean(axis=0)) / applied.unit
        np.testing.assert_allclose(Z - Z.mean(axis=0), centred, atol=1e-6)
    assert Z.dtype == np.float32
    assert Z.flags.c_contiguous


def test_the_three_routes_agree(monkeypatch):
    X = data(300, 200) * 0.7 ** np.arange(200)
    covariance, _ = preprocess(X, pca_components=10)
    monkeypatch.setattr(module, "EXACT_PCA", 2)
    randomised, _ = preprocess(X, pca_components=10)
    same_up_to_sign(covariance, randomised, atol=1e-4)
    tall = data(120, 200) * 0.7 ** np.arange(200)
    monkeypatch.setattr(module, "EXACT_PCA", 150)
    gram, _ = preprocess(tall, pca_components=10)
    monkeypatch.setattr(module, "EXACT_PCA", 250)
    direct, _ = preprocess(tall, pca_components=10)
    same_up_to_sign(gram, direct, atol=1e-4)


def test_applied_to_the_training_rows_it_equals_the_fit():
    X = data()
    Z, applied = preprocess(X)
    np.testing.assert_allclose(applied.apply_by_row(X[5:9]), Z[5:9], atol=1e-6)


def test_distances_are_those_of_the_data():
    X = data(50, 30)
    Z, applied = preprocess(X)
    original = np.linalg.norm(X[:, None] - X, axis=2)
    kept = np.linalg.norm(Z[:, None] - Z, axis=2) * applied.unit
    np.testing.assert_allclose(kept, original, atol=1e-5)


def test_a_large_offset_is_taken_off_before_rounding_to_float32():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 5))
    Z, applied = preprocess(noise + 1e9)
    centred = noise - noise.mean(axis=0)
    np.testing.assert_allclose((Z - Z.mean(axis=0)) * applied.unit, centred, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float16, bool])
def test_number_types_agree_with_float64(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 130)).astype(dtype)
    Z, _ = preprocess(X)
    expected, _ = preprocess(X.astype(np.float64))
    np.testing.assert_allclose(Z, expected, atol=1e-5)


def test_integers_stay_exact_in_any_unit():
    X = np.random.default_rng(0).integers(0, 17, size=(80, 12))
    for factor in (1, 1000):
        Z, applied = preprocess(X * factor)
        exact = Z.astype(np.float64) * applied.unit
        differences = exact[:, None] - exact
        np.testing.assert_array_equal(differences, (X[:, None] - X) * factor)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_row_metrics_do_not_see_the_scale_of_a_row(metric):
    X = data(60, 20)
    factors = np.exp(np.random.default_rng(1).normal(size=(60, 1)) * 50)
    Z, _ = preprocess(X, metric)
    scaled, _ = preprocess(X * factors, metric)
    np.testing.assert_allclose(Z, scaled, atol=1e-6)


def test_cosine_is_the_cosine():
    X = data(30, 10)
    X[4] = 0.0
    Z, applied = preprocess(X, "cosine")
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2) * applied.unit**2
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    expected = ((unit[:, None] - unit) ** 2).sum(axis=2)  # 2 - 2 cos
    np.testing.assert_allclose(squared, expected, atol=1e-5)


def test_constant_columns_carry_nothing():
    X = data(50, 10)
    padded = np.column_stack([X[:, :4], np.full(50, 7.5), X[:, 4:]])
    Z, _ = preprocess(X)
    Z_padded, _ = preprocess(padded)
    np.testing.assert_array_equal(np.delete(Z_padded, 4, axis=1), Z)
    assert (Z_padded[:, 4] == Z_padded[0, 4]).all()


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="All rows of X are equal:"):
        preprocess(np.ones((20, 3)))
    with pytest.raises(ValueError, match="equal under metric='cosine'"):
        preprocess(np.outer([1, 3, 7], [0.1, 0.2, 0.7]), "cosine")


def test_a_constant_row_has_no_correlation():
    X = data(20, 3)
    X[3] = 0.1  # its mean is 0.10000000000000002
    Z, applied = preprocess(X, "correlation")
    np.testing.assert_allclose(Z[3] * applied.unit, -applied.centre, atol=1e-6)


def test_wide_data_without_pca_starts_from_its_rows():
    X = data(40, 3000).astype(np.float32)
    scores = principal_components(X, 2)
    same_up_to_sign(scores, PCA(2, svd_solver="full").fit_transform(X), atol=1e-2)


def test_principal_components_have_fixed_signs():
    X = data(80, 6)
    scores = principal_components(X.astype(np.float32), 2)
    same_up_to_sign(scores, PCA(2).fit_transform(X), atol=1e-4)
    np.testing.assert_array_equal(principal_components(X.astype(np.float32), 2), scores)


def wine(n=300, seed=0):
    """Columns of different units; the last is constant, one has a far row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1e-3, 1.0, 50.0, 1e4, 7.0, 0.0] + [
        0,
        3,
        1e5,
        0,
        -2,
        4,
    ]
    X[0, 1] = 1e4
    return X


@pytest.mark.parametrize(
    ("scale", "scaler"),
    [("standard", StandardScaler()), ("robust", RobustScaler(unit_variance=True))],
)
def test_scaled_columns_are_those_of_scikit_learn(scale, scaler):
    X = wine()
    Z, done = preprocess(X, scale=scale)
    expected = scaler.fit_transform(X)
    away = np.linalg.norm(expected[:, None] - expected, axis=2)
    found = np.linalg.norm(Z[:, None].astype(np.float64) - Z, axis=2) * done.unit
    np.testing.assert_allclose(found, away, rtol=1e-3, atol=1e-2)
    np.testing.assert_array_equal(done.apply_by_row(X[:7]), Z[:7])


def test_sparse_columns_are_scaled_without_filling_in(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (80, 30)) * rng.uniform(1, 100, 30)
    monkeypatch.setattr("localmap.geometry.pca.EXACT_PCA", 20)
    Z, done = preprocess(sp.csr_array(X), pca_components=29, scale="standard")
    spread = X.std(axis=0)
    np.testing.assert_allclose(done.scaling.spread, np.where(spread > 0, spread, 1))
    expected, _ = preprocess(X / done.scaling.spread, pca_components=None)
    away = [np.linalg.norm(A[:, None].astype(float) - A, axis=2) for A in (Z, expected)]
    assert np.corrcoef(away[0].ravel(), away[1].ravel())[0, 1] > 0.999
    with pytest.raises(ValueError, match="quartiles, which sparse data"):
        preprocess(sp.csr_array(X), pca_components=9, scale="robust")


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_dense_and_sparse_rows_are_scaled_alike(metric):
    """Also where the fit saw the other kind; a shift of dense rows alone did not."""
    X = np.random.default_rng(0).normal(size=(120, 6)) + 7
    how = {"metric": metric, "random_state": 0, "n_iters": (20, 20, 20)}
    model = LocalMAP(scale="standard", **how).fit(X)
    sparse = LocalMAP(scale="standard", **how).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.embedding_, model.embedding_, atol=1e-2)
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(model.transform(rows), model.embedding_)


def test_scales_are_refused_where_they_make_no_sense():
    for metric in ("hamming", "jaccard", "hellinger", "precomputed"):
        with pytest.raises(
            ValueError, match=f"scale must be 'none' with metric='{metric}"
        ):
            LocalMAP(metric=metric, scale="standard").fit(np.eye(40))
    with pytest.raises(TypeError, match="scale must be one of 'none', 'standard'"):
        LocalMAP(scale="minmax").fit(np.eye(40))


def test_a_scaled_model_scales_new_rows_also_after_loading(tmp_path):
    X = wine()
    model = LocalMAP(scale="robust", random_state=0, n_iters=(20, 20, 20)).fit(X)
    placed = model.transform(X[:9] + 1e-3)
    model.save(tmp_path / "wine.localmap")
    read = localmap.load(tmp_path / "wine.localmap")
    assert read.scale == "robust"
    np.testing.assert_array_equal(read.transform(X[:9] + 1e-3), placed)
    np.testing.assert_array_equal(read.transform(X[:9]), model.embedding_[:9])


def test_columns_that_decide_all_are_told():
    found = dominant_columns(wine())
    assert found.columns == (3,)
    assert found.share > 0.95
    assert dominant_columns(wine() / wine().std(axis=0).clip(1e-9)) is None
    assert dominant_columns(wine()[:, :4]) is None  # of few columns some always do


def test_rounding_is_no_column():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 2] = np.where(np.arange(50) % 2, 0.3, 0.1 + 0.2)
    Z, done = preprocess(X, scale="standard")
    assert done.scaling.spread[2] == pytest.approx(0.5)  # the unit, not the rounding
    assert np.ptp(Z[:, 2]) < 1e-6


def test_the_verbose_line_tells_columns_that_decide(capsys):
    how = {"random_state": 0, "n_iters": (2, 2, 2), "verbose": True}
    LocalMAP(**how).fit(wine())
    assert "columns 3 of 6 make 100% of the distances" in capsys.readouterr().err
    for quiet in ({"scale": "standard"}, {"verbose": False}):
        LocalMAP(**(how | quiet)).fit(wine())
        assert "of the distances" not in capsys.readouterr().err


@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (70, 97), (2049, 49), (4100, 100)])
def test_products_of_bytes_are_exact(shape, by_rows, able, monkeypatch):
    if not able:
        monkeypatch.setattr(products._core, "multiplies_bytes", lambda: False)
    X = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    X[:, 0] = 255
    found = kernels.ByteProducts(shape[1], by_rows=by_rows)
    given = X.T if by_rows else X
    found.add(given[:, :2] if by_rows else given[:2])
    found.add(given[:, 2:] if by_rows else given[2:])
    whole = X.astype(np.int64)
    assert np.array_equal(np.triu(found.products), np.triu(whole.T @ whole))
    assert np.array_equal(found.sums, whole.sum(axis=0))
    with pytest.raises(ValueError, match="do not go with"):
        found.add(np.zeros((shape[1] + 1, shape[1] + 1), dtype=np.uint8))


@pytest.mark.parametrize("shape", [(900, 130), (90, 4000)])  # by columns, by rows
@pytest.mark.parametrize("last", [255.0, 254.5])  # the last is no byte
def test_bytes_have_the_principal_axes_of_their_numbers(shape, last, monkeypatch):
    """Whole numbers up to 255 go another road, whatever type and unit they come in."""
    taken = []
    counted = kernels.ByteProducts.add
    monkeypatch.setattr(
        kernels.ByteProducts,
        "add",
        lambda sums, X: taken.append(len(X)) or counted(sums, X),
    )
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 200, (5, shape[1]))
    X = groups[rng.integers(0, 5, shape[0])] + rng.integers(0, 50, shape)
    X = X.astype(np.float64)
    X[0, 0], X[-1, 0], X[-1, -1] = 0, 255, last
    Z, how = preprocess(X, pca_components=4)
    whole = last == 255
    assert bool(taken) == whole
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:4]
    cosines = np.abs(np.linalg.svd(axes @ how.components)[1])
    assert cosines.min() > 1 - 1e-5
    forms = [X / 16, np.asfortranarray(X)]
    if whole:
        forms += [X.astype(np.uint8), X.astype(np.int64), X.astype(np.float32)]
    for form in forms:
        assert np.array_equal(preprocess(form, pca_components=4)[0], Z)
