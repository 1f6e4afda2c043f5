"""AnnData in, AnnData out, in the manner of scanpy."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import localmap
from localmap import LocalMAP, PaCMAP
from localmap.cells.placing import usual_limit
from localmap.cells.representation import column_names, place_named

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
sc = pytest.importorskip("scanpy", reason="needs the extra anndata")

from generated_cells import cells  # noqa: E402 - after the reason to skip

pytestmark = [
    # Not ours: what scanpy, anndata and what they import say about each other.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

FAST = {"n_iters": (20, 20, 30)}


@pytest.fixture
def adata():
    cells_ = cells()
    sc.pp.normalize_total(cells_, target_sum=1e4)
    sc.pp.log1p(cells_)
    sc.pp.pca(cells_, n_comps=20)
    return cells_


def test_a_map_of_x_pca_is_that_of_the_estimator_and_nothing_else_is_touched(adata):
    before = adata.copy()
    assert localmap.tl.localmap(adata, **FAST) is None
    model = LocalMAP(random_state=0, pca_components=None, **FAST)
    Y = model.fit_transform(before.obsm["X_pca"])
    np.testing.assert_array_equal(adata.obsm["X_localmap"], Y)
    np.testing.assert_array_equal(adata.obsm["X_pca"], before.obsm["X_pca"])
    assert (adata.X != before.X).nnz == 0
    assert set(adata.obsm) - set(before.obsm) == {"X_localmap"}
    assert set(adata.uns) - set(before.uns) == {"localmap"}


def test_the_record_says_how(adata):
    localmap.tl.localmap(adata, n_pcs=10, n_neighbors=8, random_state=3, **FAST)
    params = adata.uns["localmap"]["params"]
    assert params["use_rep"] == "X_pca"
    assert (params["n_pcs"], params["n_neighbors"], params["random_state"]) == (
        10,
        8,
        3,
    )
    assert params["n_iters"].tolist() == [20, 20, 30]
    assert params["learned"]["neighbor_recall"] == 1.0
    assert params["learned"]["proximal_distance"] > 0
    assert params["versions"]["localmap"] == localmap.__version__
    assert params["versions"]["scanpy"] == sc.__version__
    told = set(LocalMAP().get_params()) - {"callback", "verbose"}
    assert told <= set(params)


def test_wide_representations_are_not_reduced(adata):
    rng = np.random.default_rng(0)
    adata.obsm["X_scVI"] = rng.normal(size=(adata.n_obs, 130)).astype(np.float32)
    localmap.tl.localmap(adata, use_rep="X_scVI", **FAST)
    plain = LocalMAP(random_state=0, pca_components=None, **FAST)
    Y = plain.fit_transform(adata.obsm["X_scVI"])
    np.testing.assert_array_equal(adata.obsm["X_localmap"], Y)
    reduced = LocalMAP(random_state=0, **FAST).fit_transform(adata.obsm["X_scVI"])
    assert not np.array_equal(reduced, Y)


def test_pacmap_and_keys(adata):
    localmap.tl.pacmap(adata, **FAST)
    Y = PaCMAP(random_state=0, pca_components=None, **FAST)
    np.testing.assert_array_equal(
        adata.obsm["X_pacmap"], Y.fit_transform(adata.obsm["X_pca"])
    )
    assert adata.uns["pacmap"]["params"]["method"] == "PaCMAP"
    other = localmap.tl.localmap(adata, key_added="mine", copy=True, **FAST)
    assert "mine" in other.obsm
    assert "mine" in other.uns
    assert "mine" not in adata.obsm


@pytest.mark.parametrize(("name", "kind"), [("localmap", LocalMAP), ("pacmap", PaCMAP)])
def test_defaults_are_those_of_the_estimator(name, kind):
    ours = inspect.signature(getattr(localmap.tl, name)).parameters
    theirs = inspect.signature(kind).parameters
    # A representation is taken as it is.
    elsewhere = {"random_state", "init", "pca_components", "callback", "scale"}
    assert set(theirs) - elsewhere <= set(ours)
    for parameter in set(theirs) - elsewhere:
        assert ours[parameter].default == theirs[parameter].default
    kinds = {p.kind for p in list(ours.values())[1:]}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_what_is_mapped_when_nothing_is_named():
    few = cells()[:, :50].copy()
    localmap.tl.localmap(few, **FAST)
    assert few.uns["localmap"]["params"]["use_rep"] == "X"
    many = cells()[:, :51].copy()
    with pytest.raises(ValueError, match=r"no obsm\['X_pca'\].*pp.recipe.*use_rep='X'"):
        localmap.tl.localmap(many)
    localmap.tl.localmap(many, use_rep="X", **FAST)
    Y = LocalMAP(random_state=0, **FAST).fit_transform(many.X.toarray())
    np.testing.assert_array_equal(many.obsm["X_localmap"], Y)
    localmap.tl.localmap(many, n_pcs=0, key_added="zero", **FAST)
    np.testing.assert_array_equal(many.obsm["zero"], Y)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"use_rep": "X_no"}, r"obsm, which holds 'X_pca'; got 'X_no'"),
        ({"n_pcs": 21}, "from 1 to 20"),
        ({"n_pcs": -1}, "from 1 to 20"),
        ({"use_rep": "X", "n_pcs": 5}, "not genes"),
        ({"neighbors_key": "no"}, "no such graph; got 'no'"),
        ({"init_pos": "X_no"}, "'random', a key of obsm or an array; got 'X_no'"),
        ({"neighbors_key": "a", "use_rep": "X_pca"}, "leave out use_rep"),
        ({"neighbors_key": "a", "metric": "cosine"}, "leave out metric"),
    ],
)
def test_what_cannot_be_is_refused_in_words(adata, asked, message):
    with pytest.raises(ValueError, match=message):
        localmap.tl.localmap(adata, **asked)
    assert "X_localmap" not in adata.obsm


def test_only_anndata_is_taken():
    with pytest.raises(
        TypeError, match=r"got ndarray: .*localmap.LocalMAP\(\).fit\(X\)"
    ):
        localmap.tl.localmap(np.zeros((3, 3)))
    MuData = type("MuData", (), {"__module__": "mudata._core.mudata"})
    with pytest.raises(TypeError, match=r'mdata\["rna"\]'):
        localmap.tl.localmap(MuData())


def test_a_folder_that_is_not_there_is_told_before_the_work(adata, tmp_path):
    with pytest.raises(FileNotFoundError, match="save_model"):
        localmap.tl.localmap(adata, save_model=tmp_path / "no" / "m.localmap")
    assert "X_localmap" not in adata.obsm


def test_a_graph_of_enough_neighbours_is_the_representation(adata):
    sc.pp.neighbors(adata, n_neighbors=61, key_added="wide")
    localmap.tl.localmap(adata, neighbors_key="wide", **FAST)
    params = adata.uns["localmap"]["params"]
    assert (params["metric"], params["neighbors_key"]) == ("precomputed", "wide")
    graph = sp.csr_array(adata.obsp["wide_distances"])
    model = LocalMAP(metric="precomputed", random_state=0, **FAST)
    np.testing.assert_array_equal(adata.obsm["X_localmap"], model.fit_transform(graph))


def test_scanpys_default_graph_is_mapped_with_a_warning(adata):
    sc.pp.neighbors(adata)
    with pytest.warns(UserWarning, match=r"among the 14 .* of 60.*n_neighbors=61") as w:
        localmap.tl.localmap(adata, neighbors_key="neighbors", **FAST)
    assert w[0].filename == __file__
    assert adata.obsm["X_localmap"].shape == (240, 2)


def test_a_graph_of_too_few_neighbours_is_refused(adata):
    sc.pp.neighbors(adata, n_neighbors=8)
    with pytest.raises(ValueError, match=r"240 of 240 cells .* one has 7.*=61"):
        localmap.tl.localmap(adata, neighbors_key="neighbors")
    sc.pp.neighbors(adata, n_neighbors=10)  # nine others; a cell is not its own
    own = sp.identity(adata.n_obs, format="csr")
    adata.obsp["distances"] = sp.csr_matrix(adata.obsp["distances"] + own)
    with pytest.raises(ValueError, match="one has 9"):
        localmap.tl.localmap(adata, neighbors_key="neighbors")
    sc.pp.neighbors(adata)
    half = adata[::2].copy()
    with pytest.raises(ValueError, match="lost some when cells were taken out"):
        localmap.tl.localmap(half, neighbors_key="neighbors")
    del adata.obsp["distances"]
    with pytest.raises(ValueError, match="which is not there"):
        localmap.tl.localmap(adata, neighbors_key="neighbors")


def test_starts(adata):
    adata.obsm["X_umap"] = np.random.default_rng(0).normal(size=(adata.n_obs, 3))
    localmap.tl.localmap(adata, init_pos="X_umap", **FAST)
    assert adata.uns["localmap"]["params"]["init"] == "X_umap"
    by_key = adata.obsm["X_localmap"].copy()
    localmap.tl.localmap(adata, init_pos=adata.obsm["X_umap"][:, :2], **FAST)
    np.testing.assert_array_equal(adata.obsm["X_localmap"], by_key)
    localmap.tl.localmap(adata, init_pos="random", **FAST)
    assert not np.array_equal(adata.obsm["X_localmap"], by_key)


@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
@pytest.mark.filterwarnings("ignore:Writing zarr v2 data:UserWarning")
def test_what_was_written_can_be_kept(adata, tmp_path, kind):
    if kind == "zarr":
        pytest.importorskip("zarr", reason="anndata writes zarr with it")
    localmap.tl.localmap(adata, save_model=tmp_path / "m.localmap", **FAST)
    localmap.tl.transform(adata, tmp_path / "m.localmap", key_added="again")
    path = tmp_path / f"cells.{kind}"
    getattr(adata, f"write_{kind}")(path)
    back = getattr(anndata, f"read_{kind}")(path)
    np.testing.assert_array_equal(back.obsm["X_localmap"], adata.obsm["X_localmap"])
    params = back.uns["localmap"]["params"]
    assert params["near_strength"] == "None"
    assert params["learned"]["n_neighbors"] == 10
    assert back.obs["again_far"].dtype == bool


def test_scanpy_draws_it(adata):
    localmap.tl.localmap(adata, **FAST)
    import matplotlib as mpl

    mpl.use("agg")
    ax = sc.pl.embedding(adata, "localmap", color="cell_type", show=False)
    assert ax.get_xlabel() == "localmap1"


def test_views_become_cells_of_their_own(adata):
    view = adata[adata.obs["stim"] == "CTRL"]
    with pytest.warns(anndata.ImplicitModificationWarning):
        localmap.tl.localmap(view, **FAST)
    assert not view.is_view
    Y = LocalMAP(random_state=0, pca_components=None, **FAST)
    np.testing.assert_array_equal(
        view.obsm["X_localmap"], Y.fit_transform(view.obsm["X_pca"])
    )
    assert "X_localmap" not in adata.obsm


def test_backed_files_keep_their_x(adata, tmp_path, monkeypatch):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")

    def no_x(self):
        raise AssertionError("X was touched")

    with monkeypatch.context() as patch:
        patch.setattr(anndata.AnnData, "X", property(no_x))
        localmap.tl.localmap(backed, **FAST)
    localmap.tl.localmap(adata, **FAST)
    np.testing.assert_array_equal(backed.obsm["X_localmap"], adata.obsm["X_localmap"])
    with pytest.raises(ValueError, match="not loaded whole"):
        localmap.tl.localmap(backed, use_rep="X")
    with pytest.raises(ValueError, match="view of a backed file"):
        localmap.tl.localmap(backed[:100])


# ---- new cells on an existing map


def halves(adata):
    return adata[:160].copy(), adata[160:].copy()


def atlas_model(adata, path, **how):
    """Map 160 cells by components of their own; return them and the others."""
    atlas, query = halves(adata)
    sc.pp.pca(atlas, n_comps=15)
    for kept in (query.obsm, query.varm, query.uns):
        kept.clear()
    localmap.tl.localmap(atlas, save_model=path, **FAST, **how)
    return atlas, query


def test_a_model_of_components_places_cells_by_genes(adata, tmp_path):
    path = tmp_path / "m.localmap"
    atlas, query = atlas_model(adata, path)
    assert localmap.tl.transform(query, path) is None
    mean = np.asarray(atlas.X.mean(axis=0)).ravel()
    components = (query.X.toarray() - mean) @ atlas.varm["PCs"]
    by_hand = LocalMAP(random_state=0, pca_components=None, **FAST)
    expected = by_hand.fit(atlas.obsm["X_pca"]).transform(components)
    np.testing.assert_allclose(query.obsm["X_localmap"], expected, atol=0.05)
    own = atlas.obs["cell_type"].to_numpy()
    apart = query.obsm["X_localmap"][:, None] - atlas.obsm["X_localmap"]
    nearest = np.linalg.norm(apart, axis=2).argmin(axis=1)
    assert (own[nearest] == query.obs["cell_type"].to_numpy()).mean() > 0.95
    assert query.obs["localmap_distance"].median() < 1.5
    assert query.obs["localmap_far"].mean() < 0.1


def test_order_and_batches_of_cells_and_genes_do_not_matter(
    adata, tmp_path, monkeypatch
):
    path = tmp_path / "m.localmap"
    _, query = atlas_model(adata, path)
    whole = localmap.tl.transform(query, path, copy=True).obsm["X_localmap"]
    assert "X_localmap" not in query.obsm
    shuffled = query[:, np.random.default_rng(0).permutation(query.n_vars)].copy()
    monkeypatch.setattr("localmap.cells.genes.CELLS_AT_ONCE", 7)
    localmap.tl.transform(shuffled, path)
    np.testing.assert_array_equal(shuffled.obsm["X_localmap"], whole)
    shuffled.write_h5ad(tmp_path / "query.h5ad")
    backed = anndata.read_h5ad(tmp_path / "query.h5ad", backed="r")
    localmap.tl.transform(backed, path)
    np.testing.assert_array_equal(backed.obsm["X_localmap"], whole)
    named = query.copy()
    named.var["symbol"] = named.var_names
    named.var_names = [f"ENSG{i}" for i in range(named.n_vars)]
    named.layers["log"] = named.X.copy()
    named.X = named.X * 0
    localmap.tl.transform(named, path, gene_symbols="symbol", layer="log")
    np.testing.assert_array_equal(named.obsm["X_localmap"], whole)


def test_missing_genes_are_refused_or_filled_in_and_reported(adata, tmp_path):
    path = tmp_path / "m.localmap"
    atlas, query = atlas_model(adata, path)
    fewer = query[:, 10:].copy()
    with pytest.raises(
        ValueError, match=r"10 of the 1\d\d genes .* 'gene0', .* 5 more"
    ):
        localmap.tl.transform(fewer, path)
    localmap.tl.transform(fewer, path, missing="mean")
    lost = fewer.uns["localmap"]["params"]["missing_genes"]
    assert lost.tolist() == [f"gene{i}" for i in range(10)]
    filled = query.copy()
    filled.X = filled.X.toarray()
    filled.X[:, :10] = np.asarray(atlas.X[:, :10].mean(axis=0))
    localmap.tl.transform(filled, path)
    by_hand = filled.obsm["X_localmap"]
    np.testing.assert_allclose(fewer.obsm["X_localmap"], by_hand, atol=0.05)
    localmap.tl.transform(fewer, path, missing="zero")
    filled.X[:, :10] = 0
    localmap.tl.transform(filled, path)
    by_hand = filled.obsm["X_localmap"]
    np.testing.assert_allclose(fewer.obsm["X_localmap"], by_hand, atol=0.05)
    query.var_names = [f"ENSG{i}" for i in range(query.n_vars)]
    with pytest.raises(ValueError, match=r"none of the 1\d\d genes.*gene_symbols"):
        localmap.tl.transform(query, path, missing="mean")
    query.var_names = ["same"] * query.n_vars
    with pytest.raises(ValueError, match="occur twice"):
        localmap.tl.transform(query, path)


def test_cells_that_are_unlike_the_map_are_flagged(adata, tmp_path):
    path = tmp_path / "m.localmap"
    _, query = atlas_model(adata, path)
    query.X = query.X.toarray()
    query.X[:5] = query.X[:5, ::-1] * 3
    localmap.tl.transform(query, path)
    assert query.obs["localmap_far"][:5].all()
    assert query.obs["localmap_far"][5:].mean() < 0.1
    localmap.tl.transform(query, path, far=1e6)
    assert not query.obs["localmap_far"].any()
    assert query.uns["localmap"]["params"]["far"] == 1e6
    raw = cells()[160:].copy()
    raw.X = raw.X * 50
    with pytest.warns(UserWarning, match="80 of 80 cells are far .* normalised"):
        localmap.tl.transform(raw, path)


def test_of_cells_like_those_of_the_map_about_one_in_a_thousand_is_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 10)) + 4 * rng.integers(0, 3, (9000, 1))
    model = LocalMAP(random_state=0, **FAST).fit(X[:3000])
    limit = usual_limit(model)
    distance = model.transform(X[3000:], return_distance=True)[1]
    assert 0.0002 < (distance > limit).mean() < 0.004
    twice = LocalMAP(random_state=0, **FAST).fit(np.repeat(X[:20], 100, axis=0))
    assert np.isfinite(usual_limit(twice))
    other = LocalMAP(metric="manhattan", random_state=0, **FAST).fit(X[:200])
    assert usual_limit(other) == 3.0


def test_components_that_do_not_come_from_x_are_asked_for_themselves(adata, tmp_path):
    path = tmp_path / "m.localmap"
    atlas, query = halves(adata)
    atlas.X = atlas.X * 2  # X has changed since
    with pytest.warns(UserWarning, match=r"not for genes: .* X has changed since"):
        localmap.tl.localmap(atlas, save_model=path, **FAST)
    with pytest.raises(ValueError, match="computed from the new cells alone"):
        localmap.tl.transform(query, path)
    localmap.tl.transform(query, path, use_rep="X_pca")
    model = LocalMAP(random_state=0, pca_components=None, **FAST)
    expected = model.fit(atlas.obsm["X_pca"]).transform(query.obsm["X_pca"])
    np.testing.assert_array_equal(query.obsm["X_localmap"], expected)
    query.obsm["short"] = query.obsm["X_pca"][:, :3]
    with pytest.raises(ValueError, match="needs 20 columns; 'short' has 3"):
        localmap.tl.transform(query, path, use_rep="short")


def test_components_of_more_cells_than_are_mapped_are_still_those_of_genes(
    adata, tmp_path
):
    """As when cells are taken out after the PCA: their mean is another than its."""
    path = tmp_path / "m.localmap"
    some, query = adata[adata.obs["cell_type"] != "B"].copy(), adata.copy()
    localmap.tl.localmap(some, save_model=path, **FAST)
    localmap.tl.transform(query, path)
    model = LocalMAP(random_state=0, pca_components=None, **FAST)
    expected = model.fit(some.obsm["X_pca"]).transform(query.obsm["X_pca"])
    away = np.linalg.norm(query.obsm["X_localmap"] - expected, axis=1)
    assert np.median(away) < 0.01


def test_a_model_of_the_genes_of_many_cells_is_in_their_order(tmp_path):
    """More than are compared all with all: they stand in another order inside."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_100, 6)).astype(np.float32)
    X[::2] += 5.0
    many = anndata.AnnData(X)
    sc.pp.pca(many, n_comps=3)
    path = tmp_path / "m.localmap"
    localmap.tl.localmap(many, save_model=path, n_iters=(2, 2, 2))
    model = localmap.load(path)
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.embedding_, many.obsm["X_localmap"])
    some = many[:50].copy()
    localmap.tl.transform(some, path)
    away = np.linalg.norm(some.obsm["X_localmap"] - model.embedding_[:50], axis=1)
    assert np.median(away) < 0.01


@pytest.mark.parametrize("checked", [50, 1000])
@pytest.mark.parametrize("at_once", [33, 8192])
def test_a_correction_of_the_batch_that_comes_last_is_seen(
    adata, tmp_path, monkeypatch, checked, at_once
):
    monkeypatch.setattr("localmap.cells.genes.CHECKED_CELLS", checked)
    monkeypatch.setattr("localmap.cells.genes.CELLS_AT_ONCE", at_once)
    localmap.tl.localmap(adata, save_model=tmp_path / "m.localmap", **FAST)
    adata = adata[np.argsort(adata.obs["stim"].to_numpy(), kind="stable")].copy()
    last = (adata.obs["stim"] == "STIM").to_numpy()
    adata.obsm["X_pca"][last] += 3.0
    with pytest.warns(UserWarning, match="as after ComBat"):
        localmap.tl.localmap(adata, save_model=tmp_path / "m.localmap", **FAST)


def test_models_of_genes(adata, tmp_path):
    path = tmp_path / "m.localmap"
    atlas, query = halves(adata)
    localmap.tl.localmap(atlas, use_rep="X", save_model=path, **FAST)
    localmap.tl.transform(query, path)
    model = LocalMAP(random_state=0, **FAST).fit(atlas.to_df())
    fitted = localmap.tl.transform(query, model, copy=True)
    np.testing.assert_allclose(
        fitted.obsm["X_localmap"], query.obsm["X_localmap"], atol=0.05
    )
    with pytest.raises(ValueError, match="150 genes by name, not"):
        localmap.tl.transform(query, path, use_rep="X_pca")
    nameless = LocalMAP(**FAST).fit(atlas.obsm["X_pca"])
    with pytest.raises(ValueError, match="does not know the names"):
        localmap.tl.transform(query, nameless)
    cosine = LocalMAP(metric="cosine", **FAST).fit(atlas.to_df())
    with pytest.raises(ValueError, match="which knows its mean"):
        localmap.tl.transform(query[:, 5:].copy(), cosine, missing="mean")


def test_names_of_columns_are_told_from_genes():
    assert place_named(column_names("X_it's", 3)) is None
    assert place_named(column_names("X_scVI", 3)) == "X_scVI"
    assert place_named(np.array(["CD4", "CD8A"])) is None


# ---- the package without the extra


def test_tl_comes_when_it_is_asked_for():
    code = (
        "import sys, localmap; assert 'localmap.tl' not in sys.modules;"
        "localmap.tl, localmap.pp; assert 'tl' in dir(localmap);"
        "print(sorted({'anndata', 'scanpy', 'localmap.tl'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "['localmap.tl']"
    with pytest.raises(AttributeError, match="no attribute 'tools'"):
        _ = localmap.tools
