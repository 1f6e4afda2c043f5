"""Tables, sparse matrices, missing values: taken as they are, or refused in words."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from localmap import LocalMAP, PaCMAP
from localmap.geometry import sparse_pca
from localmap.geometry.distances import METRICS
from localmap.geometry.finite import check_finite
from localmap.geometry.pca import by_iteration
from localmap.geometry.preprocessing import preprocess

FAST = {"n_iters": (20, 20, 20), "random_state": 0}
NAMES = ["a", "b", "c", "d"]


def blobs(n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 6 * rng.integers(0, 3, (n, 1))


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table({n: X[:, i] for i, n in enumerate(NAMES)}),
}


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.bsr_array])
@pytest.mark.parametrize(
    ("part", "place", "value", "match"),
    [
        ("indptr", 3, 10**6, "indptr must rise from 0"),
        ("indptr", -1, 10**6, "indptr ends at 1000000"),
        ("indices", 7, 10**8, r"from 0 to \d+; got \d+..100000000"),
        ("indices", 7, -5, r"from 0 to \d+; got -5.."),
    ],
)
def test_damaged_sparse_matrices_are_refused(make, part, place, value, match):
    whole = np.random.default_rng(0).normal(size=(60, 6))
    X = make(whole)
    LocalMAP(**FAST).fit(X)
    getattr(X, part)[place] = value
    with pytest.raises(ValueError, match=match):
        LocalMAP(**FAST).fit(X)
    with pytest.raises(ValueError, match=match):
        LocalMAP(**FAST).fit(whole).transform(X)


def test_damaged_coordinates_are_refused():
    X = sp.coo_array(np.random.default_rng(0).normal(size=(60, 6)))
    X.coords[1][5] = 77
    with pytest.raises(ValueError, match=r"col must be from 0 to 5; got 0..77"):
        LocalMAP(**FAST).fit(X)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_give_the_map_of_their_numbers_and_keep_their_names(table):
    X = blobs()
    expected = LocalMAP(**FAST).fit(X)
    model = LocalMAP(**FAST).fit(table(X))
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    assert list(model.feature_names_in_) == NAMES
    new = blobs(20, seed=1)
    np.testing.assert_array_equal(model.transform(table(new)), expected.transform(new))


@pytest.mark.parametrize("table", [TABLES["pandas"], TABLES["polars"]])
@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd), ("polars", pl)])
def test_maps_come_as_the_tables_asked_for(table, kind, frame):
    model = LocalMAP(**FAST).set_output(transform=kind)
    Y = model.fit_transform(table(blobs()))
    assert isinstance(Y, frame.DataFrame)
    assert list(Y.columns) == ["localmap0", "localmap1"]
    assert Y.shape == (150, 2)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_columns_that_are_no_numbers_are_named(table):
    frame = table(blobs())
    if isinstance(frame, pa.Table):
        frame = frame.append_column("city", pa.array(["x"] * 150))
    elif isinstance(frame, pl.DataFrame):
        frame = frame.with_columns(pl.lit("x").alias("city"))
    else:
        frame = frame.assign(city="x")
    with pytest.raises(ValueError, match=r"1 of 5 columns .* 'city' \(.*OneHotEncoder"):
        LocalMAP(**FAST).fit(frame)


def test_dates_and_categories_are_no_numbers_but_booleans_and_nullable_ones_are():
    X = pd.DataFrame(blobs(), columns=NAMES)
    fine = X.assign(yes=X.a > 0, whole=pd.array(range(150), dtype="Int64"))
    assert LocalMAP(**FAST).fit_transform(fine).shape == (150, 2)
    wrong = X.assign(
        day=pd.date_range("2026-01-01", periods=150),
        kind=pd.Categorical(["x", "y", "z"] * 50),
    )
    with pytest.raises(ValueError, match=r"'day' .* 'kind'"):
        LocalMAP(**FAST).fit(wrong)


def test_missing_values_are_counted_and_named():
    X = pd.DataFrame(blobs(), columns=NAMES)
    X.loc[[3, 9], "b"] = np.nan
    X.loc[9, "d"] = np.inf
    match = (
        r"2 NaN and 1 infinity in 2 rows, first at row 3, column 'b'; "
        r"columns with such values: 'b', 'd'.*SimpleImputer"
    )
    with pytest.raises(ValueError, match=match):
        LocalMAP(**FAST).fit(X)
    sparse = sp.csr_array(X.to_numpy())
    with pytest.raises(ValueError, match="2 NaN and 1 infinity in 2 rows"):
        LocalMAP(**FAST).fit(sparse)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_the_first_bad_number_is_named_across_blocks(value, word, monkeypatch):
    monkeypatch.setattr("localmap.geometry.blocks.BLOCK", 1)  # rows 64 at a time
    X = blobs(200, 5)
    X[130, 3] = value
    X[150, 0] = value
    with pytest.raises(
        ValueError, match=rf"2 {word} in 2 rows, first at row 130, column 3"
    ):
        check_finite(X)


FORMATS = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "coo_matrix": sp.coo_matrix,
}


def counts(n=200, D=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, n)
    rate = np.full((4, D), 0.02)
    for g in range(4):
        rate[g, g * 20 : g * 20 + 20] = 1.5
    return rng.poisson(rate[group]).astype(np.float32), group


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
def test_every_sparse_format_gives_the_map_of_the_dense_numbers(make):
    X, _ = counts()
    dense = PaCMAP(**FAST).fit(X)
    model = PaCMAP(**FAST).fit(make(X))
    np.testing.assert_array_equal(model.embedding_, dense.embedding_)
    np.testing.assert_array_equal(model.transform(make(X[:10])), model.embedding_[:10])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_wide_sparse_data_is_projected_as_if_it_were_dense(metric, monkeypatch):
    X, _ = counts(400, 600)
    X[7] = 0  # a row without a direction
    expected, _ = preprocess(X.astype(np.float64), metric, 20)
    monkeypatch.setattr("localmap.geometry.pca.EXACT_PCA", 500)
    monkeypatch.setattr(sp.csr_array, "toarray", forbidden)
    Z, applied = preprocess(sp.csr_array(X), metric, 20)
    assert Z.shape == (400, 20)
    # The first axes are the groups; later ones are noise that only exact PCA orders.
    between = np.linalg.norm(expected[:, None, :3] - expected[:, :3], axis=2)
    ours = np.linalg.norm(Z[:, None, :3] - Z[:, :3], axis=2)
    scale = ours.max() / between.max()  # units may differ by a power of two
    np.testing.assert_allclose(ours, between * scale, atol=2e-3 * ours.max())
    alone = applied.apply_by_row(sp.csr_array(X[:3]))
    np.testing.assert_array_equal(alone, Z[:3])


def forbidden(*_):
    msg = "a sparse matrix was filled in"
    raise AssertionError(msg)


def test_randomised_axes_are_the_principal_axes():
    X, _ = counts(300, 500)
    S, shift = sparse_pca.prepared(sp.csr_array(X), METRICS["euclidean"])
    low, high, sums = sparse_pca.extent(S, shift)
    np.testing.assert_array_equal([low, high], [X.min(axis=0), X.max(axis=0)])
    centre = sums / 300
    np.testing.assert_allclose(centre, X.mean(axis=0), atol=1e-6)

    def times(span):
        narrow = span.astype(np.float32)
        return sparse_pca.second_moments(S, shift, centre, 1.0, narrow)

    axes = by_iteration(times, X.shape, 3)
    exact = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:3]
    np.testing.assert_allclose(np.abs(axes.T @ exact.T), np.eye(3), atol=2e-3)


def test_wide_sparse_data_makes_a_map_and_places_new_rows():
    X, group = counts(400, 5000)
    wide = sp.csr_array(X)
    model = LocalMAP(random_state=0, metric="cosine").fit(wide[:300])
    np.testing.assert_array_equal(model.transform(wide[:50]), model.embedding_[:50])
    Y = model.transform(wide[300:])
    np.testing.assert_array_equal(model.transform(wide[[333]]), Y[[33]])
    nearest = np.linalg.norm(Y[:, None] - model.embedding_, axis=2).argmin(axis=1)
    assert (group[nearest] == group[300:]).mean() > 0.95


def test_sparse_data_that_would_be_filled_in_is_refused():
    with pytest.raises(ValueError, match="pca_components"):
        LocalMAP(pca_components=None).fit(sp.csr_array(counts(100, 5000)[0]))
    with pytest.raises(TypeError, match="Sparse"):
        LocalMAP(metric="manhattan").fit(sp.csr_array(counts()[0]))


def test_codes_too_long_for_single_precision_are_refused():
    codes = 20_000_000 + np.random.default_rng(0).integers(0, 5, (100, 3))
    with pytest.raises(ValueError, match=r"equal, and column 0 .*OrdinalEncoder"):
        LocalMAP(metric="hamming").fit(codes)
    LocalMAP(metric="hamming", **FAST).fit(codes - 20_000_000)


def test_missing_values_in_wide_sparse_data_are_counted_without_filling_in(monkeypatch):
    monkeypatch.setattr(sp.csr_array, "toarray", forbidden)
    wide = sp.random_array((60, 50_000), density=1e-3, format="csr", rng=0)
    wide.data[[7, 99]] = np.nan
    with pytest.raises(ValueError, match="2 NaN in 2 rows, first at row 0, column"):
        LocalMAP().fit(wide)


@pytest.mark.parametrize("codes", [[1, 2, 3], ["a", "b", "c"], [True, False, True]])
def test_categories_are_no_numbers(codes):
    pd = pytest.importorskip("pandas", reason="needs the test extra")
    rows = np.arange(60) % 3
    table = pd.DataFrame(
        {"x": np.arange(60.0), "kind": pd.Categorical(np.array(codes)[rows])}
    )
    with pytest.raises(ValueError, match=r"1 of 2 columns .*'kind' \(category\)"):
        LocalMAP().fit(table)


@pytest.mark.parametrize("sparse", [False, True])
def test_hellinger_compares_shares(sparse, monkeypatch):
    """By definition on dense rows, and the same without filling in zeros."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(60, 40)).astype(np.float64)
    X[5] = 0
    X[:, 7] = 0  # so that 39 components are all there are
    shares = X / np.maximum(X.sum(axis=1, keepdims=True), 1)
    roots = np.sqrt(shares)
    expected = np.linalg.norm(roots[:, None] - roots, axis=2)
    if sparse:
        monkeypatch.setattr("localmap.geometry.pca.EXACT_PCA", 30)
        Z, done = preprocess(sp.csr_array(X), "hellinger", 39)
    else:
        Z, done = preprocess(X, "hellinger", None)
    found = np.linalg.norm(Z[:, None].astype(np.float64) - Z, axis=2) * done.unit
    np.testing.assert_allclose(found, expected, atol=2e-3 if sparse else 1e-6)


def test_hellinger_refuses_negative_numbers():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(ValueError, match=r"hellinger.*no number may be negative"):
        LocalMAP(metric="hellinger").fit(X)


class TestWhatIsNoData:
    def test_anndata_is_told_what_to_call(self):
        anndata = pytest.importorskip("anndata", reason="needs the test extra")
        adata = anndata.AnnData(np.ones((5, 3), dtype=np.float32))
        with pytest.raises(TypeError, match=r"localmap\.tl\.localmap\(adata\)"):
            LocalMAP().fit(adata)

    def test_a_matrix_in_its_file_by_columns_is_refused(self, tmp_path):
        anndata = pytest.importorskip("anndata", reason="needs the test extra")
        X = sp.random(50, 30, 0.3, format="csc", random_state=0)
        anndata.AnnData(X).write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        with pytest.raises(TypeError, match=r"column by column.*X\.to_memory"):
            LocalMAP().fit(backed.X)

    def test_a_lazy_frame_is_to_be_collected(self):
        lazy = pl.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}).lazy()
        with pytest.raises(TypeError, match=r"fit X\.collect\(\)"):
            LocalMAP().fit(lazy)

    def test_masked_cells_hold_no_data(self):
        X = np.ma.masked_equal(np.arange(120.0).reshape(30, 4), 17.0)
        with pytest.raises(ValueError, match="1 masked cells"):
            LocalMAP().fit(X)
        whole = np.ma.array(np.random.default_rng(0).normal(size=(60, 4)))
        assert LocalMAP(n_iters=(2, 2, 2)).fit_transform(whole).shape == (60, 2)

    @pytest.mark.parametrize("mode", ["distance", "connectivity"])
    @pytest.mark.parametrize("symmetric", [False, True])
    def test_a_graph_needs_the_metric_precomputed(self, mode, symmetric):
        points = np.random.default_rng(0).normal(size=(80, 3))
        graph = kneighbors_graph(points, 15, mode=mode)
        graph = graph.maximum(graph.T) if symmetric else graph
        with pytest.raises(
            ValueError, match=r"looks like a neighbour graph.*precomput"
        ):
            LocalMAP().fit(graph)

    def test_square_sparse_data_is_data(self):
        X = sp.random(60, 60, 0.2, format="csr", random_state=0)
        assert LocalMAP(n_iters=(2, 2, 2)).fit_transform(X).shape == (60, 2)

    def test_tensors_are_read_where_they_are(self):
        """What arrays of torch do, whatever scikit-learn is set to."""
        X = np.random.default_rng(0).normal(size=(60, 4))

        class Tensor:
            def __init__(self, device):
                self.device = device

            def __dlpack_device__(self):
                return (self.device, 0)

            def __dlpack__(self, **how):
                return X.__dlpack__(**how)

        model = LocalMAP(random_state=0, n_iters=(2, 2, 2))
        np.testing.assert_array_equal(
            model.fit_transform(Tensor(1)), model.fit_transform(X)
        )
        with pytest.raises(TypeError, match=r"move it there first, X\.cpu\(\)"):
            model.fit(Tensor(2))

    def test_distances_without_their_metric_are_doubted(self):
        points = np.random.default_rng(0).normal(size=(60, 3))
        away = np.linalg.norm(points[:, None] - points, axis=2)
        with pytest.warns(UserWarning, match="looks like distances of 60 rows"):
            LocalMAP(n_iters=(2, 2, 2)).fit(away)

    def test_cells_that_are_no_numbers(self):
        with pytest.raises(ValueError, match="20 NaN in 20 rows"):
            LocalMAP().fit([[1, None], [3, 2]] * 20)
        with pytest.raises(ValueError, match="must hold numbers; got datetime64"):
            LocalMAP().fit(np.zeros((30, 2), dtype="datetime64[D]"))

    def test_names_that_stand_for_two_columns(self):
        table = pd.DataFrame(np.eye(30)[:, :3], columns=["a", "a", "b"])
        with pytest.raises(ValueError, match="must be unique; 'a' stand for several"):
            LocalMAP().fit(table)
