"""Files of cells: read in three forms, written whole, never over the input."""

import gzip
import shutil

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import localmap
from localmap.cells import log_counts
from localmap.cells.files import (
    CellsError,
    holds_cells,
    obs_columns,
    read_cells,
    write_cells,
)
from localmap.cells.representation import layer_names, values_of
from localmap.cli import main

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
pytest.importorskip("scanpy", reason="needs the extra anndata")

from generated_cells import cells, counts  # noqa: E402 - after the reason to skip

pytestmark = [
    # Not ours: what scanpy, anndata and what they import say about each other.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # Names of genes that occur twice are what one of these tests is about.
    pytest.mark.filterwarnings("ignore:Variable names are not unique:UserWarning"),
]

FAST = {"n_iters": (20, 20, 20)}


def write_10x_h5(path, S, names):
    """Write as Cell Ranger 3 does: genes in rows, compressed by cell."""
    with h5py.File(path, "w") as file:
        matrix = file.create_group("matrix")
        matrix["barcodes"] = np.array([f"AAAC-{i}" for i in range(S.shape[0])], "S")
        matrix["data"] = S.data.astype(np.int32)
        matrix["indices"] = S.indices.astype(np.int64)
        matrix["indptr"] = S.indptr.astype(np.int64)
        matrix["shape"] = np.array(S.shape[::-1], dtype=np.int32)
        features = matrix.create_group("features")
        features["name"] = np.array(names, "S")
        features["id"] = np.array([f"ENSG{i}" for i in range(len(names))], "S")
        kind = np.array(["Gene Expression"] * len(names), "S")
        features["feature_type"] = kind
        features["genome"] = np.array(["GRCh38"] * len(names), "S")
        features["_all_tag_keys"] = np.array(["genome"], "S")


def write_10x_folder(folder, S, names):
    folder.mkdir()
    with gzip.open(folder / "matrix.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, sp.coo_matrix(S.T))
    with gzip.open(folder / "barcodes.tsv.gz", "wt") as file:
        file.writelines(f"AAAC-{i}\n" for i in range(S.shape[0]))
    with gzip.open(folder / "features.tsv.gz", "wt") as file:
        file.writelines(
            f"ENSG{i}\t{name}\tGene Expression\n" for i, name in enumerate(names)
        )


@pytest.mark.parametrize("form", ["h5", "folder"])
def test_files_of_10x(tmp_path, form):
    S, *_ = counts(60, 90)
    names = [f"G{i}" for i in range(88)] + ["G0", "G1"]
    path = tmp_path / ("cells.h5" if form == "h5" else "cells")
    (write_10x_h5 if form == "h5" else write_10x_folder)(path, S, names)
    assert holds_cells(path)
    adata = read_cells(path)
    np.testing.assert_array_equal(adata.X.toarray(), S.toarray())
    assert adata.obs_names[3] == "AAAC-3"
    assert adata.var_names[-1] == "G1-1"
    localmap.pp.recipe(adata, n_top_genes=50, n_comps=10)
    localmap.tl.localmap(adata, **FAST)
    with pytest.raises(CellsError, match=r"only .h5ad files can stay on disk"):
        read_cells(path, backed=True)


def test_what_is_no_file_of_cells(tmp_path):
    with pytest.raises(CellsError, match="no such file or folder"):
        read_cells(tmp_path / "gone.h5ad")
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(CellsError, match=r"expected .h5ad, .h5 of 10x, or a folder"):
        read_cells(tmp_path / "a.csv")
    with pytest.raises(CellsError, match="expected"):
        read_cells(tmp_path)
    for name in ("broken.h5ad", "broken.h5"):
        (tmp_path / name).write_bytes(b"not what the name says")
        with pytest.raises(CellsError, match=rf"cannot read cells from .*{name}: \S"):
            read_cells(tmp_path / name)


def test_the_input_is_not_written_over_unless_told(tmp_path):
    path = tmp_path / "cells.h5ad"
    cells().write_h5ad(path)
    link = tmp_path / "link.h5ad"
    link.symlink_to(path)
    before = path.read_bytes()
    adata = read_cells(path)
    for other in (path, link):
        with pytest.raises(CellsError, match="is not written over unless told to"):
            write_cells(other, adata, source=path)
    backed = read_cells(path, backed=True)
    with pytest.raises(CellsError, match="is not written over"):
        write_cells(path, backed)
    assert path.read_bytes() == before
    adata.obs["new"] = 1
    write_cells(path, adata, source=path, overwrite=True)
    assert "new" in read_cells(path).obs
    with pytest.raises(CellsError, match=r"ends in .h5ad"):
        write_cells(tmp_path / "cells.csv", adata)
    with pytest.raises(CellsError, match="there is no folder"):
        write_cells(tmp_path / "no" / "cells.h5ad", adata)


@pytest.mark.parametrize("backed", [False, True])
def test_a_write_that_fails_leaves_what_was_there(tmp_path, backed):
    path = tmp_path / "in.h5ad"
    cells().write_h5ad(path)
    out = tmp_path / "out.h5ad"
    out.write_text("here before")
    adata = read_cells(path, backed=backed)
    adata.uns["bad"] = {"what": object()}
    with pytest.raises(Exception, match="object"):
        write_cells(out, adata)
    assert out.read_text() == "here before"
    assert {p.name for p in tmp_path.iterdir()} == {"in.h5ad", "out.h5ad"}


def test_backed_cells_are_written_without_their_x(tmp_path, monkeypatch):
    path = tmp_path / "in.h5ad"
    adata = cells()
    localmap.pp.recipe(adata, n_comps=10)
    adata.write_h5ad(path)
    backed = read_cells(path, backed=True)
    localmap.tl.localmap(backed, **FAST)
    localmap.tl.localmap(adata, **FAST)

    def no_x(self):
        raise AssertionError("X was touched")

    with monkeypatch.context() as patch:
        patch.setattr(anndata.AnnData, "X", property(no_x))
        write_cells(tmp_path / "out.h5ad", backed)
    out = read_cells(tmp_path / "out.h5ad")
    np.testing.assert_array_equal(out.obsm["X_localmap"], adata.obsm["X_localmap"])
    np.testing.assert_array_equal(out.X.toarray(), adata.X.toarray())
    assert out.uns["localmap"]["params"]["use_rep"] == "X_pca"
    assert out.layers["counts"].shape == adata.shape
    assert list(out.obs["cell_type"]) == list(adata.obs["cell_type"])
    # The file that was read is as it was.
    assert "X_localmap" not in read_cells(path).obsm


def test_layers_and_raw_can_stay_in_the_file_and_are_kept(tmp_path):
    adata = cells()
    adata.layers["umi"] = adata.X.copy()
    adata.raw = adata
    adata.varp["pairs"] = sp.identity(adata.n_vars, format="csr")
    path = tmp_path / "in.h5ad"
    adata.write_h5ad(path)
    light = read_cells(path, backed=True, layers=False)
    assert not light.layers
    assert light.shape == adata.shape
    assert set(read_cells(path, backed=True).layers) == {"umi"}
    assert layer_names(light) == ["umi"]
    values = values_of(light, "umi")
    assert not sp.issparse(values)  # still in the file
    assert (values[:] != adata.X).nnz == 0
    localmap.pp.recipe(light, n_comps=5)
    write_cells(tmp_path / "out.h5ad", light)
    out = read_cells(tmp_path / "out.h5ad")
    for kept in (out.layers["umi"], out.raw.X, out.X):
        assert (kept != adata.X).nnz == 0
    assert "pairs" in out.varp
    assert out.obsm["X_pca"].shape == (240, 5)


def test_columns_beside_a_map():
    adata = cells()
    table = obs_columns(adata, ["cell_type"])
    assert list(table.columns) == ["barcode", "cell_type"]
    assert table["barcode"].tolist() == list(adata.obs_names)
    assert table.index.tolist() == list(range(240))
    assert list(obs_columns(adata).columns) == ["barcode"]
    with pytest.raises(
        CellsError, match="no column 'no' in obs, which has 'cell_type'"
    ):
        obs_columns(adata, ["no"])


def test_folders_are_told_by_what_they_hold(tmp_path):
    S, *_ = counts(20, 90)
    write_10x_folder(tmp_path / "a", S, [f"G{i}" for i in range(90)])
    assert holds_cells(tmp_path / "a")
    shutil.move(tmp_path / "a" / "matrix.mtx.gz", tmp_path / "elsewhere")
    assert not holds_cells(tmp_path / "a")
    assert holds_cells("x.H5AD")
    assert not holds_cells("x.csv")


class TestCommand:
    """``localmap embed`` of files of cells."""

    @pytest.fixture
    def counted(self, tmp_path):
        adata = cells()
        path = tmp_path / "cells.h5ad"
        adata.write_h5ad(path)
        return path

    def run(self, *arguments):
        return main([str(a) for a in arguments])

    QUICK = ("--n-iters", "5", "5", "5", "--quiet")

    def test_counts_to_a_file_with_the_map(self, counted, capsys):
        out, plot = counted.with_name("out.h5ad"), counted.with_name("p.png")
        args = ["-o", out, "--color", "cell_type", "--plot", plot, *self.QUICK]
        assert self.run("embed", counted, *args) == 0
        written = anndata.read_h5ad(out)
        assert written.obsm["X_localmap"].shape == (written.n_obs, 2)
        assert "params" in written.uns["localmap"]
        assert plot.read_bytes().startswith(b"\x89PNG")
        assert "counts normalised" in capsys.readouterr().err
        assert "X_localmap" not in anndata.read_h5ad(counted).obsm

    def test_a_table_gets_barcodes_and_the_map_of_given_components(
        self, counted, capsys
    ):
        adata = anndata.read_h5ad(counted)
        rng = np.random.default_rng(0)
        adata.obsm["X_pca"] = rng.normal(size=(adata.n_obs, 5)).astype(np.float32)
        adata.write_h5ad(counted)
        out = counted.with_name("map.csv")
        assert (
            self.run("embed", counted, "-o", out, "--labels", "cell_type", *self.QUICK)
            == 0
        )
        table = pd.read_csv(out)
        assert list(table) == ["barcode", "cell_type", "localmap_1", "localmap_2"]
        assert table["barcode"].tolist() == adata.obs_names.tolist()
        assert "mapped by obsm['X_pca'] as it is" in capsys.readouterr().err
        again = ["-o", out, "--force", "--batch-key", "cell_type", *self.QUICK]
        assert self.run("embed", counted, *again) == 2
        assert "--batch-key works on raw counts" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            (["--scale", "standard"], "--scale is for tables"),
            (["--columns", "a"], "--columns is for tables"),
            (["--color", "nothing"], "no column 'nothing' in obs"),
            (["--use-rep", "X_none"], "X_none"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, counted, more, words, capsys):
        out = counted.with_name("o.h5ad")
        assert self.run("embed", counted, "-o", out, *more, *self.QUICK) == 2
        assert words in capsys.readouterr().err
        assert not out.exists()

    def test_x_is_never_loaded_whole(self, counted, monkeypatch):
        from anndata.abc import CSRDataset

        blocks = []
        plain = log_counts._plain

        def counting(block, form):
            blocks.append(block.shape[0])
            return plain(block, form)

        def whole(self):
            raise AssertionError("X was loaded whole")

        monkeypatch.setattr(log_counts, "_plain", counting)
        monkeypatch.setattr(log_counts, "LINES_AT_FIRST", 50)
        monkeypatch.setattr(log_counts, "GROWTH", 1)
        monkeypatch.setattr(log_counts, "DENSE_AT_ONCE", 50)
        out, model = counted.with_name("o.h5ad"), counted.with_name("m.localmap")
        args = ["--save-model", model, *self.QUICK]
        with monkeypatch.context() as patch:
            patch.setattr("localmap.cells.genes.CELLS_AT_ONCE", 50)
            patch.setattr(CSRDataset, "to_memory", whole)
            assert self.run("embed", counted, "-o", out, *args) == 0
        assert max(blocks) == 50
        written, given = anndata.read_h5ad(out), anndata.read_h5ad(counted)
        assert (written.X != given.X).nnz == 0
        assert not written.layers
        assert written.obsm["X_pca"].shape == (240, 50)
        assert localmap.load(model).counts_sum_ == 1e4

    def test_batches_and_layers(self, counted, capsys):
        adata = anndata.read_h5ad(counted)
        adata.layers["umi"] = adata.X.copy()
        adata.X = adata.X * 0.5
        adata.write_h5ad(counted)
        out = counted.with_name("o.h5ad")
        assert self.run("embed", counted, "-o", out, *self.QUICK) == 2
        said = capsys.readouterr().err
        assert "no whole numbers" in said
        assert "if a layer ('umi') holds counts, name it with --layer" in said
        args = ["--layer", "umi", "--batch-key", "stim", *self.QUICK]
        assert self.run("embed", counted, "-o", out, *args) == 0
        said = capsys.readouterr().err
        assert "counts of umi normalised, logarithms, 148 genes" in said
        assert "ComBat by stim, 50 components" in said
        written = anndata.read_h5ad(out)
        assert (written.layers["umi"] != adata.layers["umi"]).nnz == 0
        assert (written.X != adata.X).nnz == 0
        again = ["-o", counted.with_name("p.h5ad"), *args]
        assert self.run("embed", out, *again) == 2
        assert "--batch-key works on raw counts" in capsys.readouterr().err

    @pytest.mark.parametrize("change", ["nan", "part", "negative", "log", "other log"])
    def test_new_cells_are_counts_or_values_like_the_maps(
        self, counted, capsys, change
    ):
        out, model = counted.with_name("o.h5ad"), counted.with_name("m.localmap")
        args = ["-o", out, "--save-model", model, *self.QUICK]
        assert self.run("embed", counted, *args) == 0
        new = anndata.read_h5ad(counted)
        new.X = new.X.astype(np.float32)
        if "log" in change:
            counts = new.X.toarray() * (1e4 if change == "log" else 1e6)
            new.X = np.log1p(counts / np.asarray(new.X.sum(axis=1)).reshape(-1, 1))
        else:
            new.X.data[5] = {"nan": np.nan, "part": 1.5, "negative": -1.0}[change]
        new.write_h5ad(counted.with_name("new.h5ad"))
        placed = counted.with_name("placed.csv")
        capsys.readouterr()
        args = ["transform", model, counted.with_name("new.h5ad"), "-o", placed]
        if change == "log":
            assert self.run(*args) == 0
            return
        assert self.run(*args) == 2
        said = capsys.readouterr().err
        assert "The values are no counts (some values are" in said
        assert "where those of the map's cells add up to 10000" in said
        assert not placed.exists()

    @pytest.mark.parametrize("name", ["film.gif", "film.html"])
    def test_a_film(self, counted, name):
        out, film = counted.with_name("o.csv"), counted.with_name(name)
        args = ["-o", out, "--film", film, "--color", "cell_type", *self.QUICK]
        assert self.run("embed", counted, *args) == 0
        start = b"GIF8" if name.endswith("gif") else b"<!doctype html>"
        assert film.read_bytes().lower().startswith(start.lower())
        plain = counted.with_name("plain.csv")
        assert self.run("embed", counted, "-o", plain, *self.QUICK) == 0
        filmed, other = pd.read_csv(out), pd.read_csv(plain)
        np.testing.assert_array_equal(filmed.iloc[:, -2:], other.iloc[:, -2:])

    def test_new_cells_go_to_the_map_of_a_model(self, counted, capsys):
        model = counted.with_name("m.localmap")
        out = counted.with_name("o.h5ad")
        args = ["--save-model", model, *self.QUICK]
        assert self.run("embed", counted, "-o", out, *args) == 0
        query = counted.with_name("query.h5ad")
        cells(seed=1).write_h5ad(query)
        placed, table = (
            counted.with_name("placed.h5ad"),
            counted.with_name("placed.csv"),
        )
        capsys.readouterr()
        assert self.run("transform", model, query, "-o", placed) == 0
        said = capsys.readouterr()
        assert "raw counts: normalised as the cells of the map were" in said.err
        assert f"Placed 240 cells; wrote {placed}" in said.out
        expected = cells(seed=1)
        localmap.tl.transform(expected, model)
        written = anndata.read_h5ad(placed)
        for key in ("obsm", "obs"):
            assert set(getattr(expected, key)) <= set(getattr(written, key))
        np.testing.assert_array_equal(
            written.obsm["X_localmap"], expected.obsm["X_localmap"]
        )
        assert (written.X != expected.X).nnz == 0
        args = ["transform", model, query, "-o", table, "--labels", "cell_type"]
        assert self.run(*args) == 0
        kept = pd.read_csv(table)
        assert list(kept) == [
            "barcode", "cell_type", "distance", "far", "localmap_1", "localmap_2",
        ]  # fmt: skip
        np.testing.assert_allclose(
            kept[["localmap_1", "localmap_2"]], expected.obsm["X_localmap"], atol=1e-4
        )
        assert kept["far"].tolist() == expected.obs["localmap_far"].tolist()

    def test_new_cells_that_lack_genes_or_are_a_table(self, counted, capsys):
        model, out = counted.with_name("m.localmap"), counted.with_name("o.h5ad")
        args = ["--save-model", model, *self.QUICK]
        assert self.run("embed", counted, "-o", out, *args) == 0
        query = counted.with_name("query.h5ad")
        fewer = cells(seed=1)[:, 2:].copy()
        fewer.var["symbol"] = fewer.var_names
        fewer.var_names = [f"ENSG{i}" for i in range(fewer.n_vars)]
        fewer.layers["umi"] = fewer.X.copy()
        fewer.X = fewer.X * 0
        fewer.write_h5ad(query)
        to = ["transform", model, query, "-o", counted.with_name("placed.npy")]
        assert self.run(*to) == 2
        assert "none of the 148 genes" in capsys.readouterr().err
        to += ["--gene-symbols", "symbol", "--layer", "umi"]
        assert self.run(*to) == 2
        assert "2 of the 148 genes of the model are missing" in capsys.readouterr().err
        assert self.run(*to, "--missing-genes", "mean") == 0
        assert "2 genes missing, mean: gene0, gene1" in capsys.readouterr().err
        assert self.run(*to, "--missing", "median", "--force") == 2
        assert "--missing is for tables" in capsys.readouterr().err
        csv = counted.with_name("a.csv")
        csv.write_text("a,b\n1,2\n")
        args = ["-o", counted.with_name("b.csv"), "--gene-symbols", "x"]
        assert self.run("transform", model, csv, *args) == 2
        assert "--gene-symbols is for cells" in capsys.readouterr().err

    def test_the_input_is_never_the_output(self, counted, capsys):
        before = counted.read_bytes()
        args = ["embed", counted, "-o", counted, "--force", *self.QUICK]
        assert self.run(*args) == 2
        assert "it is the input" in capsys.readouterr().err
        assert counted.read_bytes() == before
