"""Data sets: found, fetched from a server on this machine, or missed in words."""

import functools
import hashlib
import http.server
import io
import json
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pooch
import pytest
import scipy.sparse as sp
from PIL import Image
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from localmap import datasets
from localmap.cells import log_counts
from localmap.datasets import files, recipes, sources


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """No test sees the data or the cache of this machine."""
    monkeypatch.setenv("LOCALMAP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALMAP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data", tmp_path / "cache"


@pytest.fixture
def server(tmp_path):
    """A folder, and the address at which this machine serves it."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def test_digits_are_always_there():
    digits = datasets.load("digits")
    np.testing.assert_array_equal(digits.X, load_digits().data)
    assert (digits.name, digits.licence) == ("digits", "CC BY 4.0")


def test_every_set_says_what_it_is_and_where_it_comes_from():
    wanted = {
        "mnist", "fmnist", "usps", "coil20", "20ng", "kang", "seurat", "human_cortex",
        "cbmc", "pbmc_1m", "aida", "digits", "mammoth",
    }  # fmt: skip
    assert wanted <= set(datasets.names())
    for entry in sources.ENTRIES.values():
        assert len(entry.description) > 20
        assert len(entry.source) > 10


def test_the_users_folder_comes_before_the_cache(folders):
    data, cache = folders
    cache.mkdir()
    np.savez(data / "usps.npz", X=np.ones((3, 2)), y=np.arange(3))
    np.savez(cache / "usps.npz", X=np.zeros((3, 2)), y=np.arange(3))
    assert datasets.load("usps").X.all()
    (data / "usps.npz").unlink()
    assert not datasets.load("usps").X.any()


def test_kang_has_the_papers_fifty_components(folders):
    np.savez(folders[0] / "kang.npz", X=np.ones((3, 100)), y=np.arange(3))
    assert datasets.load("kang").X.shape == (3, 50)


def test_what_is_not_here_is_named_with_its_place_and_source(folders):
    match = r"seurat.*seurat\.npz or .*seurat\.npz.*GSE128639"
    with pytest.raises(datasets.DatasetError, match=match):
        datasets.load("seurat")
    with pytest.raises(datasets.DatasetError, match="Data sets: digits, mnist"):
        datasets.load("nothing")


def test_no_network_is_an_error_that_names_the_file(monkeypatch):
    def unreachable(entry):
        raise ConnectionError("no route to host")

    entry = replace(sources.ENTRIES["usps"], fetch=unreachable)
    monkeypatch.setitem(sources.ENTRIES, "usps", entry)
    with pytest.raises(datasets.DatasetError, match=r"no route to host.*usps\.npz"):
        datasets.load("usps")


def test_without_pooch_the_users_folder_is_read_and_fetching_says_what_it_needs(
    folders, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("LOCALMAP_CACHE")
    np.savez(folders[0] / "usps.npz", X=np.ones((3, 2)), y=np.arange(3))
    assert datasets.load("usps").X.shape == (3, 2)
    with pytest.raises(datasets.DatasetError, match=r"localmap\[data\].*mnist\.npz"):
        datasets.load("mnist")
    monkeypatch.delenv("LOCALMAP_DATA")
    with pytest.raises(datasets.DatasetError, match=r"\$LOCALMAP_DATA/mnist\.npz"):
        datasets.load("mnist")


def test_the_cache_is_where_pooch_says(monkeypatch, tmp_path):
    monkeypatch.delenv("LOCALMAP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert files.cache_folder() == Path(pooch.os_cache("localmap"))


def coil_zip(folder):
    """A small archive of the same form: two objects from three sides."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (2, 3, 128, 128)).astype(np.uint8)
    with zipfile.ZipFile(folder / "coil.zip", "w") as archive:
        for thing in (1, 0):
            for pose in (2, 0, 1):
                buffer = io.BytesIO()
                Image.fromarray(pixels[thing, pose]).save(buffer, "PNG")
                name = f"coil-20-proc/obj{thing + 1}__{pose}.png"
                archive.writestr(name, buffer.getvalue())
    return pixels.reshape(6, -1)


def test_coil20_is_fetched_checked_sorted_and_kept(server, folders, monkeypatch):
    folder, address = server
    pixels = coil_zip(folder)
    entry = sources.ENTRIES["coil20"]
    wrong = replace(entry, url=f"{address}/coil.zip")
    monkeypatch.setitem(sources.ENTRIES, "coil20", wrong)
    with pytest.raises(datasets.DatasetError, match=r"is not the data set.*checksum"):
        datasets.load("coil20")
    assert not (folders[1] / "coil20.npz").exists()
    right = replace(wrong, sha256=hashlib.sha256(pixels.tobytes()).hexdigest())
    monkeypatch.setitem(sources.ENTRIES, "coil20", right)
    found = datasets.load("coil20")
    np.testing.assert_array_equal(found.X, pixels)
    assert found.y.tolist() == [0, 0, 0, 1, 1, 1]
    (folder / "coil.zip").unlink()  # from now on it comes from the cache
    np.testing.assert_array_equal(datasets.load("coil20").X, pixels)


def test_mammoth_is_fetched(server, monkeypatch):
    folder, address = server
    points = np.random.default_rng(0).normal(size=(20, 3)).round(3)
    (folder / "m.json").write_text(json.dumps(points.tolist()))
    entry = replace(sources.ENTRIES["mammoth"], url=f"{address}/m.json")
    monkeypatch.setitem(sources.ENTRIES, "mammoth", entry)
    found = datasets.load("mammoth")
    np.testing.assert_allclose(found.X, points, atol=1e-6)
    assert found.y is None


def counts(seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 120)
    rate = rng.gamma(0.5, 1.0, (3, 400))
    depth = rng.uniform(0.3, 3, (120, 1))
    return sp.csr_array(rng.poisson(rate[kind] * depth).astype(np.float64)), kind


def test_cells_become_components_that_do_not_depend_on_depth(monkeypatch):
    monkeypatch.setattr(log_counts, "NUMBERS_AT_ONCE", 5000)
    S, kind = counts()
    X = log_counts.counts_to_components(S)
    assert X.shape == (120, 50)
    centres = np.array([X[kind == k, :2].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(X[:, None, :2] - centres, axis=2).argmin(axis=1)
    assert (nearest == kind).mean() > 0.95
    # The recipe written out densely.
    dense = S.toarray()
    logs = np.log1p(dense / dense.sum(axis=1, keepdims=True) * 1e4)
    values = np.linalg.svd(logs - logs.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(X, axis=0)[:5], values[:5], rtol=1e-3)


def test_h5ad_with_components_or_counts(folders):
    S, kind = counts()
    obs = pd.DataFrame(
        {"cell_type": [f"t{k}" for k in kind]}, index=map(str, range(120))
    )
    cells = anndata.AnnData(sp.csr_matrix(S), obs=obs)
    cells.write_h5ad(folders[0] / "seurat.h5ad")
    found = datasets.load("seurat")
    np.testing.assert_allclose(found.X, log_counts.counts_to_components(S), atol=1e-4)
    assert found.y[0] == f"t{kind[0]}"
    cells.obsm["X_pca"] = np.arange(120 * 60.0).reshape(120, 60)
    cells.write_h5ad(folders[0] / "cbmc.h5ad")
    found = datasets.load("cbmc")
    np.testing.assert_array_equal(found.X, cells.obsm["X_pca"][:, :50])


def test_kang_from_raw_counts(folders):
    S, kind = counts()
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr}
    np.savez(folders[0] / "kang_counts.npz", **parts, shape=S.shape, y=kind)
    found = datasets.load("kang")
    np.testing.assert_array_equal(found.X, log_counts.counts_to_components(S))
    np.testing.assert_array_equal(found.y, kind)


def test_newsgroups_recipe_on_a_few_texts():
    texts = [f"word{i % 7} word{i % 11} word{i % 13} stop" for i in range(150)]
    words = recipes.text_to_tfidf(texts)
    assert sp.issparse(words)
    assert words.shape == (150, 14)
    many = [" ".join(f"w{i * j % 131}" for j in range(1, 9)) for i in range(150)]
    X = recipes.text_to_components(many)
    assert X.shape == (150, 100)
    values = np.linalg.svd(recipes.text_to_tfidf(many).toarray(), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(X, axis=0)[:5], values[:5], rtol=1e-3)


def test_files_of_your_own(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "a.npy", X)
    np.testing.assert_array_equal(datasets.load(tmp_path / "a.npy").X, X)
    table = pd.DataFrame(X, columns=list("abc")).assign(label=list("xyxy"), note="-")
    table.to_csv(tmp_path / "a.csv", index=False)
    found = datasets.load(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == list("xyxy")
    np.savez(tmp_path / "bad.npz", Z=X)
    with pytest.raises(datasets.DatasetError, match="holds no array X; it holds Z"):
        datasets.load(tmp_path / "bad.npz")


def test_tables_of_your_own_are_read_as_the_command_reads_them(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    table = pd.DataFrame(X, columns=list("abc")).assign(Class=[1, 2, 1, 2])
    path = tmp_path / "a.csv"
    table.to_csv(path)  # with row numbers, as pandas writes them
    found = datasets.load(path)
    np.testing.assert_array_equal(found.X, X)
    assert found.y.tolist() == [1, 2, 1, 2]
    np.testing.assert_array_equal(datasets.load(path, labels="b").y, X[:, 1])
    np.savetxt(tmp_path / "bare.csv", X + 0.5, delimiter=",")
    np.testing.assert_array_equal(datasets.load(tmp_path / "bare.csv").X, X + 0.5)
    table.to_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(datasets.load(tmp_path / "a.parquet").X, X)
    sp.save_npz(tmp_path / "s.npz", sp.csc_array(X[:3]))
    np.testing.assert_array_equal(datasets.load(tmp_path / "s.npz").X.toarray(), X[:3])
    np.savez(tmp_path / "short.npz", X=X, y=np.arange(3))
    with pytest.raises(datasets.DatasetError, match=r"each of 4 rows; got \(3,\)"):
        datasets.load(tmp_path / "short.npz")
    with pytest.raises(datasets.DatasetError, match="a file that is there"):
        datasets.load(tmp_path / "gone.npz")


def test_normalised_cells_are_not_normalised_again(tmp_path):
    S, _ = counts()
    cells = anndata.AnnData(sp.csr_matrix(S) * 0.5)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    with pytest.raises(datasets.DatasetError, match="must not be normalised again"):
        datasets.load(tmp_path / "cells.h5ad")
    cells.raw = anndata.AnnData(sp.csr_matrix(S))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    found = datasets.load(tmp_path / "cells.h5ad")
    np.testing.assert_allclose(found.X, log_counts.counts_to_components(S), atol=1e-4)


def test_a_cache_that_cannot_be_written_costs_nothing(folders, monkeypatch):
    entry = replace(sources.ENTRIES["usps"], fetch=lambda _: (np.ones((3, 2)), None))
    monkeypatch.setitem(sources.ENTRIES, "usps", entry)
    folders[1].write_text("a file where the folder would be")
    assert not datasets.is_here("usps")
    with pytest.warns(UserWarning, match="could not be kept"):
        assert datasets.load("usps").X.shape == (3, 2)


def test_labels_of_any_kind_are_read_back(folders, monkeypatch):
    def fetch(entry):
        return np.ones((3, 2)), np.array(["5", "0", "4"], dtype=object)

    entry = replace(sources.ENTRIES["mnist"], fetch=fetch)
    monkeypatch.setitem(sources.ENTRIES, "mnist", entry)
    datasets.load("mnist")
    assert (folders[1] / "mnist.npz").exists()
    assert datasets.load("mnist").y.tolist() == ["5", "0", "4"]


def test_a_bad_download_is_not_kept(server, folders, monkeypatch):
    folder, address = server
    (folder / "m.json").write_text("<html>sign in first</html>")
    entry = replace(sources.ENTRIES["mammoth"], url=f"{address}/m.json")
    monkeypatch.setitem(sources.ENTRIES, "mammoth", entry)
    with pytest.raises(datasets.DatasetError, match="JSONDecodeError"):
        datasets.load("mammoth")
    (folder / "m.json").write_text("[[1, 2, 3]]")
    assert datasets.load("mammoth").X.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("name", datasets.ONE_PIECE)
def test_shapes_are_finite_repeatable_and_one_piece_in_space(name):
    X = datasets.one_piece(name, 500, 1)
    assert X.shape[0] == 500
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X, datasets.one_piece(name, 500, 1))
    assert not np.array_equal(X, datasets.one_piece(name, 500, 2))
    graph = kneighbors_graph(X, 15)
    assert connected_components(graph, directed=False)[0] == 1


def test_shapes_are_what_they_are_called():
    assert np.linalg.norm(datasets.one_piece("sphere5", 50), axis=1) == pytest.approx(1)
    assert datasets.one_piece("sphere5", 50).shape == (50, 6)
    radii = np.linalg.norm(datasets.one_piece("ball5", 4000), axis=1)
    assert (radii < 0.5).mean() == pytest.approx(0.5**5, abs=0.01)
    long, *_, thin = np.linalg.svd(datasets.one_piece("stretched10", 4000))[1]
    assert long / thin == pytest.approx(10, rel=0.1)
    X, y = datasets.two_clouds("cube", 3, 0.25, 2000)
    assert X[y == 1, 0].min() - X[y == 0, 0].max() == pytest.approx(0.25, abs=0.01)
    X, y = datasets.two_clouds("gauss", 3, 4.0, 4000)
    assert X[y == 1, 0].mean() - X[y == 0, 0].mean() == pytest.approx(4, abs=0.1)
    with pytest.raises(ValueError, match=r"one of gauss2, .*; got 'cube4'"):
        datasets.one_piece("cube4", 10)
    with pytest.raises(ValueError, match="kind must be"):
        datasets.two_clouds("ball", 3, 1.0, 10)
