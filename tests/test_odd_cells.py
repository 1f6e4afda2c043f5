"""AnnData as people have it: odd names, types, places and files."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import localmap

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
sc = pytest.importorskip("scanpy", reason="needs the extra anndata")

from generated_cells import cells  # noqa: E402 - after the reason to skip

from localmap.cells.batches import corrected  # noqa: E402
from localmap.cells.files import CellsError, obs_columns, read_cells  # noqa: E402
from localmap.cli import main  # noqa: E402

pytestmark = [
    # Not ours: what scanpy, anndata and what they import say about each other.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    # Names that occur twice are what some of these tests are about.
    pytest.mark.filterwarnings("ignore:.* names are not unique:UserWarning"),
]

FAST = {"n_iters": (5, 5, 5)}


def components(adata, **how):
    """Components by the recipe, signs fixed."""
    localmap.pp.recipe(adata, n_top_genes=100, n_comps=4, **how)
    Z = adata.obsm["X_pca"]
    return Z * np.sign(Z[np.abs(Z).argmax(axis=0), range(4)])


@pytest.fixture(scope="module")
def expected():
    return components(cells()), components(cells(), batch_key="stim")


def in_two_parts(S):
    """The same numbers, each stored as two entries of one place."""
    S = sp.coo_matrix(S)
    order = np.argsort(np.tile(S.row, 2), kind="stable")
    indptr = np.r_[0, np.cumsum(2 * np.bincount(S.row, minlength=S.shape[0]))]
    data = np.r_[S.data - np.floor(S.data / 2), np.floor(S.data / 2)]
    return sp.csr_matrix((data[order], np.tile(S.col, 2)[order], indptr), S.shape)


FORMS = {
    "int8": lambda S: S.astype(np.int8),
    "uint16, dense": lambda S: S.toarray().astype(np.uint16),
    "int64, by genes": lambda S: sp.csc_matrix(S).astype(np.int64),
    "float64": lambda S: S.astype(np.float64),
    "columns first": lambda S: np.asfortranarray(S.toarray()),
    "sparse array": sp.csr_array,
    "sparse array, by genes": sp.csc_array,
    "in two parts": in_two_parts,
}


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("form", list(FORMS))
def test_counts_in_any_form_are_the_same_cells(form, in_blocks, expected):
    given = cells()
    adata = anndata.AnnData(FORMS[form](given.X), obs=given.obs, var=given.var)
    before = adata.X.copy()
    Z = components(adata, in_blocks=in_blocks)
    np.testing.assert_allclose(Z, expected[0], atol=2e-3)
    kept = adata.X if in_blocks else adata.layers["counts"]
    assert kept.dtype == before.dtype
    if sp.issparse(kept):
        assert kept.nnz == before.nnz
        np.testing.assert_array_equal(kept.toarray(), before.toarray())
    else:
        np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_odd_names_and_columns_of_obs_change_nothing(in_blocks, expected):
    adata = cells()
    adata.obs["number"] = (adata.obs["stim"] == "STIM").astype(int)
    adata.obs["text"] = adata.obs["stim"].astype("string")
    adata.obs["unused"] = adata.obs["stim"].cat.add_categories(["nobody", "else"])
    adata.obs["gaps"] = adata.obs["stim"].where(np.arange(240) > 5)
    adata.obs_names = ["same"] * adata.n_obs
    adata.var_names = ["gene"] * adata.n_vars
    for key in ("number", "text", "unused"):
        one = adata.copy()
        Z = components(one, batch_key=key, in_blocks=in_blocks)
        np.testing.assert_allclose(Z, expected[1], atol=2e-3)
        pd.testing.assert_series_equal(one.obs[key], adata.obs[key])
    with pytest.raises(ValueError, match=r"6 cells have no value in obs\['gaps'\]"):
        components(adata, batch_key="gaps", in_blocks=in_blocks)


def test_covariates_of_combat_are_kept():
    """By least squares: what remains of the kinds' difference within one batch."""
    adata = cells()
    adata.obs["half"] = np.where(adata.obs["cell_type"] == "B", 1.0, 0.0)
    # Batches that are of other kinds for the most part: here the covariate counts.
    b = (adata.obs["cell_type"] == "B").to_numpy()
    often = np.random.default_rng(0).random(adata.n_obs) < np.where(b, 0.85, 0.15)
    adata.obs["batch"] = np.where(often, "one", "other")
    X = np.log1p(adata.X.toarray())
    plain = corrected(X, adata.obs, "batch", [])
    by_number = corrected(X, adata.obs, "batch", ["half"])
    adata.obs["kind"] = pd.Categorical(b, categories=[False, True, "nobody"])
    adata.obs["truth"] = b
    adata.obs["it's) + 1/0"] = adata.obs["kind"].astype(str)  # no formula
    for name in ("kind", "truth", "it's) + 1/0"):
        found = corrected(X, adata.obs, "batch", [name])
        np.testing.assert_allclose(found, by_number, atol=1e-6)
    markers = slice(0, 15)  # of B
    contrast = [M[b, markers].mean() - M[~b, markers].mean() for M in (plain, found)]
    assert contrast[1] > 1.3 * contrast[0]
    adata.obs["0/0"] = adata.obs["batch"]
    np.testing.assert_array_equal(corrected(X, adata.obs, "0/0", []), plain)
    adata.obs_names = ["same"] * adata.n_obs
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".* names are not unique")
        again = corrected(X, adata.obs, "batch", [])
    np.testing.assert_array_equal(again, plain)


@pytest.mark.parametrize("covariates", [["same"], ["cell_type", "is_b"], ["one"]])
def test_covariates_that_say_what_others_say_are_refused(covariates):
    adata = cells()
    adata.obs["same"] = adata.obs["stim"].astype(str)
    adata.obs["is_b"] = adata.obs["cell_type"] == "B"
    adata.obs["one"] = 1.0
    with pytest.raises(ValueError, match=r"ComBat cannot keep .* remove 'stim'"):
        localmap.pp.recipe(adata, batch_key="stim", covariates=covariates)
    assert not adata.layers
    localmap.pp.recipe(adata, batch_key="stim", covariates=["cell_type"], n_comps=5)


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.filterwarnings("ignore::anndata.ImplicitModificationWarning")
def test_views_leave_what_they_are_of_alone(in_blocks):
    whole = cells()
    view = whole[whole.obs["stim"] == "CTRL", 10:]
    own = view.copy()
    Z = components(view, in_blocks=in_blocks)
    np.testing.assert_allclose(Z, components(own), atol=2e-3)
    assert (whole.X != cells().X).nnz == 0
    assert not whole.layers
    assert not whole.obsm


def test_cells_without_x_are_told_of_their_layers(tmp_path, expected, capsys):
    adata = cells()
    adata.layers["umi"] = adata.X.copy()
    adata.X = None
    with pytest.raises(ValueError, match=r"X is empty: .* \('umi'\) with the"):
        localmap.pp.recipe(adata)
    Z = components(adata.copy(), layer="umi")
    np.testing.assert_allclose(Z, expected[0], atol=2e-3)
    path, out = tmp_path / "cells.h5ad", tmp_path / "out.h5ad"
    model = tmp_path / "m.localmap"
    adata.write_h5ad(path)
    quick = ["--n-iters", "5", "5", "5", "--quiet", "--save-model", str(model)]
    assert main(["embed", str(path), "-o", str(out), *quick]) == 2
    assert "name a layer ('umi') with --layer" in capsys.readouterr().err
    assert main(["embed", str(path), "-o", str(out), "--layer", "umi", *quick]) == 0
    assert localmap.load(model).counts_sum_ == 1e4
    placed = tmp_path / "placed.h5ad"
    assert main(["transform", str(model), str(path), "-o", str(placed)]) == 2
    assert "name a layer ('umi') with --layer" in capsys.readouterr().err
    # The counts behind the components are found again, in the layer.
    again = [str(out), "-o", str(placed), *quick, "--force"]
    assert main(["embed", *again]) == 0
    assert localmap.load(model).counts_sum_ == 1e4
    # With components and no X at all a model asks for the components.
    adata.obsm["X_pca"], adata.varm["PCs"] = Z, np.ones((adata.n_vars, 4))
    with pytest.warns(UserWarning, match="no X to take the means of genes from"):
        localmap.tl.localmap(adata, save_model=model, **FAST)


def test_counts_are_looked_for_in_raw_and_estimates_are_told_to_be_rounded():
    adata = cells()
    adata.raw = adata.copy()
    adata.X = adata.X * 0.5
    with pytest.raises(ValueError, match=r"in raw \(adata.raw.to_adata\(\)\)"):
        localmap.pp.recipe(adata)
    localmap.pp.recipe(adata.raw.to_adata(), n_comps=5)
    del adata.raw
    with pytest.raises(ValueError, match=r"estimated ones, .* rounded"):
        localmap.pp.recipe(adata)


def test_a_model_needs_genes_that_can_be_told_apart(tmp_path):
    adata = cells()
    localmap.pp.recipe(adata, n_comps=5)
    adata.var_names = ["A", "A", "B", "B", *adata.var_names[4:]]
    for rep in ("X_pca", "X"):
        with pytest.raises(ValueError, match=r"2 names .*\('A', 'B'\).*make_unique"):
            localmap.tl.localmap(
                adata, use_rep=rep, save_model=tmp_path / "m.localmap", **FAST
            )
    assert "X_localmap" not in adata.obsm
    localmap.tl.localmap(adata, **FAST)


def test_a_file_that_is_open_twice(tmp_path):
    cells().write_h5ad(tmp_path / "cells.h5ad", compression="gzip")
    one, other = (read_cells(tmp_path / "cells.h5ad", backed=True) for _ in range(2))
    np.testing.assert_array_equal(components(one), components(other))
    one.file.close()  # is opened again when it is needed
    one.obsm.clear()
    np.testing.assert_array_equal(components(one), components(other))


def test_each_name_is_once_in_a_table():
    adata = cells()
    adata.obs["barcode"] = "x"
    with pytest.raises(CellsError, match="'barcode' of obs has the name of one"):
        obs_columns(adata, ["barcode"])
    with pytest.raises(CellsError, match="'stim' of obs has the name of one"):
        obs_columns(adata, ["stim"], own=["stim"])
    assert list(obs_columns(adata, ["stim", "stim"])) == ["barcode", "stim"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--color", "stim", "--labels", "stim"], "give one of them"),
        (["--color", "no"], "no column 'no' in obs"),
        (["--id", "localmap_1"], "'localmap_1' of obs has the name"),
        (["--use-rep", "X"], "--part X"),
        (["--use-rep", "X_pca", "--batch-key", "stim"], "works on raw counts"),
    ],
)
def test_what_the_command_cannot_do_is_told_before_the_work(
    tmp_path, monkeypatch, capsys, options, words
):
    def work(*_, **__):
        raise AssertionError("worked before it looked")

    monkeypatch.setattr(localmap.pp, "recipe", work)
    path = tmp_path / "cells.h5ad"
    adata = cells()
    adata.obs["localmap_1"] = 1.0
    adata.write_h5ad(path)
    assert main(["embed", str(path), "-o", str(tmp_path / "o.csv"), *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(0, 150), (1, 150), (240, 0), (240, 1)])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_too_little_to_map_is_told(shape, in_blocks):
    adata = cells()[: shape[0], : shape[1]].copy()
    with pytest.raises(ValueError, match=f"{shape[0]} cells with {shape[1]} genes"):
        localmap.pp.recipe(adata, in_blocks=in_blocks)
    assert not adata.layers
