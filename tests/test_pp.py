"""The paper's preprocessing, by scanpy's own functions."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import localmap
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


def test_backed_cells_are_told_what_to_do(tmp_path):
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = sc.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"backed by a file.*to_memory\(\)"):
        localmap.pp.recipe(backed)


def test_without_scanpy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scanpy", None)
    with pytest.raises(ImportError, match=r'pip install "localmap\[anndata\]"'):
        localmap.pp.recipe(cells())
