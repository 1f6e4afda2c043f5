"""The paper's preprocessing, by scanpy's own functions."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import localmap
from localmap.cells import batches, log_counts
from localmap.cells.counts import why_not_counts

sc = pytest.importorskip("scanpy", reason="needs the extra anndata")

from generated_cells import cells  # noqa: E402 - after the reason to skip

pytestmark = [
    # Not ours: what scanpy, anndata and what they import say about each other.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def written_out(counts, n_top):
    """Return log values and the places of the genes of largest variance, densely."""
    X = counts.toarray().astype(np.float64)
    X = np.log1p(X / X.sum(axis=1, keepdims=True) * 1e4)
    return X, np.sort(np.argsort(-X.var(axis=0))[:n_top])


def spread(X):
    """Singular values after centring: what PCA finds, whatever the signs."""
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False)


@pytest.mark.parametrize("form", ["csr", "csc", "dense", "integers"])
def test_the_recipe_is_what_it_says(form):
    adata = cells()
    counts = adata.X.copy()
    turned = {"csr": lambda X: X, "csc": sp.csc_matrix, "dense": sp.csr_matrix.toarray}
    adata.X = turned.get(form, lambda X: X.astype(np.int32))(adata.X)
    given = adata.X.copy()
    assert localmap.pp.recipe(adata, n_top_genes=100, n_comps=12) is None
    X, used = written_out(counts, 100)
    now = adata.X.toarray() if sp.issparse(adata.X) else adata.X
    np.testing.assert_allclose(now, X, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(np.flatnonzero(adata.var["highly_variable"]), used)
    np.testing.assert_allclose(adata.var["variances"], X.var(axis=0), rtol=1e-3)
    kept = adata.layers["counts"]
    assert kept.dtype == given.dtype
    assert abs(kept - given).sum() == 0
    assert adata.obsm["X_pca"].shape == (240, 12)
    lengths = np.linalg.norm(adata.obsm["X_pca"], axis=0)
    np.testing.assert_allclose(lengths, spread(X[:, used])[:12], rtol=1e-3)
    again = (X - X.mean(axis=0)) @ adata.varm["PCs"]
    np.testing.assert_allclose(again, adata.obsm["X_pca"], atol=1e-2)
    assert adata.uns["recipe"]["params"]["batch_key"] == "None"


def mixing(Z, batch):
    """Share of the 10 nearest that come from another batch."""
    apart = np.linalg.norm(Z[:, None] - Z, axis=2)
    nearest = np.argsort(apart, axis=1)[:, 1:11]
    return (batch[nearest] != batch[:, None]).mean()


def test_combat_mixes_batches_in_the_components_alone():
    adata = cells()
    plain = localmap.pp.recipe(adata, n_comps=10, copy=True)
    assert "counts" not in adata.layers
    assert not np.shares_memory(plain.layers["counts"].data, adata.X.data)
    localmap.pp.recipe(adata, n_comps=10, batch_key="stim")
    batch = adata.obs["stim"].to_numpy()
    assert mixing(plain.obsm["X_pca"], batch) < 0.1
    assert mixing(adata.obsm["X_pca"], batch) > 0.35
    np.testing.assert_array_equal(adata.X.toarray(), plain.X.toarray())
    by_hand = plain[:, plain.var["highly_variable"]].copy()
    by_hand.X = by_hand.X.toarray()
    with np.errstate(divide="ignore"):  # genes that one batch does not have
        sc.pp.combat(by_hand, "stim")
    lengths = np.linalg.norm(adata.obsm["X_pca"], axis=0)
    np.testing.assert_allclose(lengths, spread(by_hand.X)[:10], rtol=1e-3)


def test_a_map_follows_and_its_model_says_what_it_asks_for(tmp_path):
    adata = cells()
    localmap.pp.recipe(adata, n_top_genes=100, n_comps=20)
    fast = {"n_iters": (20, 20, 20)}
    localmap.tl.localmap(adata, save_model=tmp_path / "m.localmap", **fast)
    names = localmap.load(tmp_path / "m.localmap").feature_names_in_
    assert set(names) == set(adata.var_names[adata.var["highly_variable"]])
    other = cells()
    localmap.pp.recipe(other, batch_key="stim", n_comps=20)
    with pytest.warns(UserWarning, match="not for genes: .* as after ComBat"):
        localmap.tl.localmap(other, save_model=tmp_path / "m.localmap", **fast)
    names = localmap.load(tmp_path / "m.localmap").feature_names_in_
    assert names[0] == "obsm['X_pca'][0]"
    adata.write_h5ad(tmp_path / "cells.h5ad")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda a: sc.pp.normalize_total(a, target_sum=1e4), "no whole numbers, such"),
        (sc.pp.scale, "negative, such as"),
        (lambda a: a.uns.update(log1p={}), r"uns\['log1p'\] says"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # scanpy: scaling fills in zeros
def test_normalised_values_are_recognised(change, reason):
    adata = cells()
    change(adata)
    with pytest.raises(ValueError, match=f"X holds no raw counts: .*{reason}.*twice"):
        localmap.pp.recipe(adata)
    assert "counts" not in adata.layers
    adata.layers["counts"] = cells().X
    with pytest.raises(ValueError, match="layer='counts'"):
        localmap.pp.recipe(adata)
    adata.layers["raw"] = adata.layers.pop("counts")
    localmap.pp.recipe(adata, layer="raw", n_comps=5)
    both = adata.layers["raw"], adata.layers["counts"]
    assert not np.shares_memory(both[0].data, both[1].data)
    expected = cells()
    localmap.pp.recipe(expected, n_comps=5)
    np.testing.assert_array_equal(adata.X.toarray(), expected.X.toarray())


def test_one_odd_value_anywhere_is_found(monkeypatch):
    monkeypatch.setattr("localmap.cells.counts.AT_ONCE", 64)
    for matrix in (np.ones((50, 30)), sp.csr_matrix(np.ones((50, 30)))):
        assert why_not_counts(matrix) is None
        matrix[49, 29] = 0.5
        assert why_not_counts(matrix) == "some values are no whole numbers, such as 0.5"
        matrix[49, 29] = np.nan
        assert why_not_counts(matrix) == "some values are NaN or infinite"
    assert why_not_counts(np.array([[1, -2]])).startswith("some values are negative")
    assert why_not_counts(np.ones((3, 3), dtype=np.uint8)) is None


def one_alone(adata):
    adata.obs["donor"] = ["a"] + ["b"] * (adata.n_obs - 1)


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        (None, {"batch_key": "no"}, "'no' is no column of adata.obs, which has 'cell"),
        (None, {"batch_key": "stim", "covariates": ["x"]}, "'x' is no column"),
        (lambda a: a.obs.insert(0, "one", 1), {"batch_key": "one"}, "no batches apart"),
        (one_alone, {"batch_key": "donor"}, "2 cells or more.* 'a' .* has 1"),
        (
            lambda a: a.obs.insert(0, "some", [None] * 9 + ["b"] * 231),
            {"batch_key": "some"},
            "9 cells have no value",
        ),
        (
            lambda a: a.obs.insert(0, "some", [None] * 9 + ["b"] * 231),
            {"batch_key": "stim", "covariates": ["some"]},
            "9 cells have no value in obs..some",
        ),
        (None, {"batch_key": "stim", "covariates": ["stim"]}, "removed and kept"),
        (None, {"n_top_genes": 0}, "n_top_genes must be at least 1"),
        (None, {"layer": "no"}, r"adata.layers \(no layer\)"),
        (lambda a: a.layers.update(counts=a.X * 2), {}, "holds other numbers than X"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_changes(change, asked, message):
    adata = cells()
    if change is not None:
        change(adata)
    with pytest.raises(ValueError, match=message):
        localmap.pp.recipe(adata, **asked)
    assert (adata.X != cells().X).nnz == 0
    assert "X_pca" not in adata.obsm


def test_unused_categories_and_layers_that_are_the_same(tmp_path):
    adata = cells()
    adata.obs["stim"] = adata.obs["stim"].cat.add_categories(["nobody"])
    adata.layers["counts"] = adata.X.copy()
    localmap.pp.recipe(adata, batch_key="stim", n_comps=5)
    assert np.isfinite(adata.obsm["X_pca"]).all()


FORMS = {
    "csr": lambda X: X,
    "csc": sp.csc_matrix,
    "dense": sp.csr_matrix.toarray,
    "integers": lambda X: X.astype(np.int32),
}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(log_counts, "LINES_AT_FIRST", 7)
    monkeypatch.setattr(log_counts, "NUMBERS_AT_ONCE", 3000)
    monkeypatch.setattr(log_counts, "DENSE_AT_ONCE", 41)


def assert_same_components(one, other):
    """Up to the sign, which no decomposition knows."""
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(one * signs, other, atol=2e-3)


@pytest.mark.parametrize("batch_key", [None, "stim"])
@pytest.mark.parametrize("target_sum", [1e4, None])
@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.usefixtures("small_blocks")
def test_blocks_of_a_backed_file_give_what_memory_gives(
    tmp_path, form, target_sum, batch_key
):
    adata = cells()
    adata.X = FORMS[form](adata.X)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    backed = sc.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    how = {"n_top_genes": 100, "n_comps": 5, "batch_key": batch_key}
    localmap.pp.recipe(backed, target_sum=target_sum, **how)
    localmap.pp.recipe(adata, target_sum=target_sum, **how)
    used = adata.var["highly_variable"]
    assert used.sum() == 100
    np.testing.assert_array_equal(backed.var["highly_variable"], used)
    np.testing.assert_allclose(
        backed.var["variances"], adata.var["variances"], rtol=1e-5
    )
    assert_same_components(backed.obsm["X_pca"], adata.obsm["X_pca"])
    assert_same_components(backed.varm["PCs"], adata.varm["PCs"])
    for name in ("variance", "variance_ratio"):
        np.testing.assert_allclose(
            backed.uns["pca"][name], adata.uns["pca"][name], rtol=1e-4
        )
    ours, theirs = (a.uns["recipe"]["params"] for a in (backed, adata))
    assert (ours["X"], theirs["X"]) == ("counts", "log values")
    assert ours["summed_to"] == pytest.approx(theirs["summed_to"])
    assert {k: v for k, v in ours.items() if k != "X"} == {
        k: v for k, v in theirs.items() if k != "X"
    }
    assert not backed.layers
    backed.file.close()
    assert (tmp_path / "cells.h5ad").read_bytes() == before


def test_blocks_in_memory_leave_x_and_layers_as_they_are():
    adata, expected = cells(), cells()
    adata.layers["raw"] = adata.X * 1
    adata.X = adata.X * 0.5
    localmap.pp.recipe(adata, layer="raw", in_blocks=True, n_comps=5)
    localmap.pp.recipe(expected, n_comps=5)
    assert_same_components(adata.obsm["X_pca"], expected.obsm["X_pca"])
    assert (adata.X != cells().X * 0.5).nnz == 0
    assert set(adata.layers) == {"raw"}


def test_a_model_of_counts_in_a_file_is_one_of_genes(tmp_path):
    """Also where X holds counts, and new cells come as counts or as log values."""
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = sc.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    localmap.pp.recipe(backed, n_top_genes=100, n_comps=10)
    path, fast = tmp_path / "m.localmap", {"n_iters": (20, 20, 20)}
    localmap.tl.localmap(backed, save_model=path, **fast)
    model = localmap.load(path)
    assert model.counts_sum_ == 1e4
    assert len(model.feature_names_in_) == 100
    raw, logs = cells(seed=1), cells(seed=1)
    sc.pp.normalize_total(logs, target_sum=1e4)
    sc.pp.log1p(logs)
    localmap.tl.transform(raw, path)
    localmap.tl.transform(logs, path)
    assert raw.uns["localmap"]["params"]["values"] == "log values of counts"
    assert logs.uns["localmap"]["params"]["values"] == "as they are"
    np.testing.assert_allclose(
        raw.obsm["X_localmap"], logs.obsm["X_localmap"], atol=0.05
    )
    by_genes = cells(seed=1)
    by_genes.X = sp.csc_matrix(by_genes.X)
    localmap.tl.transform(by_genes, path)
    np.testing.assert_array_equal(by_genes.obsm["X_localmap"], raw.obsm["X_localmap"])


def test_a_model_of_values_that_changed_since_the_recipe_knows_no_sum(tmp_path):
    adata = cells()
    localmap.pp.recipe(adata, n_comps=10)
    path, fast = tmp_path / "m.localmap", {"n_iters": (20, 20, 20)}
    localmap.tl.localmap(adata, save_model=path, **fast)
    assert localmap.load(path).counts_sum_ == 1e4
    adata.X = adata.X * 2
    sc.pp.pca(adata, n_comps=10)
    localmap.tl.localmap(adata, save_model=path, **fast)
    assert not hasattr(localmap.load(path), "counts_sum_")


@pytest.mark.parametrize("in_blocks", [True, False])
def test_cells_without_counts_are_told(in_blocks):
    adata = cells()
    empty = sp.diags((np.arange(adata.n_obs) >= 3).astype(np.float32))
    adata.X = sp.csr_matrix(empty @ adata.X)
    with pytest.warns(UserWarning, match="3 of 240 cells have no counts") as told:
        localmap.pp.recipe(adata, n_comps=5, in_blocks=in_blocks)
    assert [w.filename for w in told] == [__file__]
    Z = adata.obsm["X_pca"]
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z[:3], Z[[0, 0, 0]], rtol=1e-4)
    adata.X = adata.layers["counts"] = adata.X * 0
    adata.uns.clear()
    with pytest.raises(ValueError, match="All counts are 0"):
        localmap.pp.recipe(adata, in_blocks=in_blocks)


def test_combat_that_does_not_fit_is_refused_with_the_way_out(monkeypatch, tmp_path):
    adata = cells()
    monkeypatch.setattr(batches, "free_memory", lambda: 10**6)
    with pytest.raises(ValueError, match=r"240 cells x 150 genes needs .*harmony"):
        localmap.pp.recipe(adata, batch_key="stim")
    assert "counts" not in adata.layers
    monkeypatch.setattr(batches, "free_memory", lambda: 10**7)
    localmap.pp.recipe(adata, batch_key="stim", in_blocks=True)


def test_components_in_blocks_are_the_same_on_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(3000, 400)) * np.linspace(1, 3, 400)
    found = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(log_counts.principal_components(X, X.mean(axis=0), 20))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"in_blocks": False}, "a backed file is read in blocks"),
        ({"copy": True}, "would copy the file"),
        ({"target_sum": 0.0}, "positive number or None; got 0"),
    ],
)
def test_what_cannot_be_of_a_backed_file(tmp_path, asked, message):
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = sc.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=message):
        localmap.pp.recipe(backed, **asked)
    assert "X_pca" not in backed.obsm


def test_more_genes_than_can_be_decomposed_are_refused_in_blocks(monkeypatch):
    monkeypatch.setattr(localmap.pp, "MOST_IN_BLOCKS", 100)
    with pytest.raises(ValueError, match=r"at most 100 genes .*=1000 with 150 genes"):
        localmap.pp.recipe(cells(), in_blocks=True)
    localmap.pp.recipe(cells(), in_blocks=True, n_top_genes=100)


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_blocks_grow_to_what_may_be_held_and_no_further(form, monkeypatch):
    monkeypatch.setattr(log_counts, "LINES_AT_FIRST", 4)
    monkeypatch.setattr(log_counts, "NUMBERS_AT_ONCE", 2000)
    filled = np.ones((400, 300), dtype=np.float32)
    filled[:200, :150] = 0
    blocks = list(log_counts.stored_blocks(FORMS[form](sp.csr_matrix(filled))))
    again = np.zeros_like(filled)
    for rows, genes, block in blocks:
        again[rows, genes] += block.toarray() if sp.issparse(block) else block
    np.testing.assert_array_equal(again, filled)
    held = [block.nnz if sp.issparse(block) else block.size for *_, block in blocks]
    assert sorted(held)[len(held) // 2] > 1000
    assert max(held) <= 2 * 2000  # where lines hold twice as many as those before


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_moments_in_blocks_lose_no_digits(form):
    X = 1e4 + np.random.default_rng(0).random((200, 90))
    X[:, 5] = 7.0
    found = log_counts.moments_of(FORMS[form](sp.csr_matrix(X)))
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.variance, X.var(axis=0), rtol=1e-9)
    assert not log_counts.largest(found.variance, 90)[5]


def test_without_scanpy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scanpy", None)
    with pytest.raises(ImportError, match=r'pip install "localmap\[anndata\]"'):
        localmap.pp.recipe(cells())
