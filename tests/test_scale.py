"""Data beyond memory: the same map, wherever the data is and whoever works on it."""

import errno
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from localmap import LocalMAP, kernels, load
from localmap.estimators.preview import preview
from localmap.files import AXIS
from localmap.geometry import mid_near, workshop
from localmap.geometry.blas import one_thread
from localmap.geometry.workshop import Workshop
from localmap.method.parameters import size_of
from localmap.scale.check import look_at
from localmap.scale.choose import workshop_for
from localmap.scale.limits import free_memory, least, needed
from localmap.scale.scratch import OnDisk, ScratchError

N, D = 20_500, 8  # just more rows than are compared with each other
FILES = "608MB"  # between what is held and what a fit in memory takes
FAST = {"random_state": 0, "n_iters": (4, 4, 4), "n_jobs": 2}


def digest(Y):
    return hashlib.sha256(np.ascontiguousarray(Y).tobytes()).hexdigest()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = 5 * rng.normal(size=(12, D))
    X = centres[rng.integers(0, 12, N)] + rng.normal(size=(N, D))
    return X.astype(np.float32)


@pytest.fixture(scope="module")
def expected(rows):
    return digest(LocalMAP(**FAST).fit_transform(rows))


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Several parts of several blocks, though the data is small."""
    monkeypatch.setattr("localmap.geometry.blocks.BLOCK", 1 << 14)
    monkeypatch.setattr(workshop, "BLOCKS", 3)


def test_the_limit_asks_for_files(rows):
    from localmap.method.parameters import Parameters

    assert least(N) < size_of(FILES) < needed(N, D, 10)
    with workshop_for(rows, Parameters(memory_limit=FILES)) as files:
        assert isinstance(files, OnDisk)
    with workshop_for(rows, Parameters()) as memory:
        assert not isinstance(memory, OnDisk)
    assert len(workshop.parts_of(rows)) > 2


def test_the_digest_of_data_does_not_depend_on_parts(rows):
    found = look_at(rows, Workshop())
    assert found == look_at(rows, _InOnePart())
    other = rows.copy()
    other[-1, -1] += 1
    assert found != look_at(other, Workshop())


class _InOnePart(Workshop):
    def parts(self, X):
        return [workshop.Part(slice(0, len(X)))]


def _forbidden(*_):
    msg = "sparse rows were filled in"
    raise AssertionError(msg)


class TestOneMapForAll:
    def test_in_files(self, rows, expected, tmp_path):
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path / "s").fit(rows)
        assert digest(model.embedding_) == expected
        assert list((tmp_path / "s").iterdir()) == []

    @pytest.mark.parametrize("jobs", [1, 3])
    def test_any_number_of_threads(self, rows, expected, jobs):
        model = LocalMAP(**{**FAST, "n_jobs": jobs}, memory_limit=FILES)
        assert digest(model.fit_transform(rows)) == expected

    def test_any_layout(self, rows, expected):
        assert digest(LocalMAP(**FAST).fit_transform(np.asfortranarray(rows))) == (
            expected
        )
        wide = np.zeros((N, 2 * D), dtype=np.float32)
        wide[:, ::2] = rows
        assert digest(LocalMAP(**FAST).fit_transform(wide[:, ::2])) == expected

    def test_a_memory_map(self, rows, expected, tmp_path):
        np.save(tmp_path / "x.npy", rows)
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        assert digest(LocalMAP(**FAST).fit_transform(mapped)) == expected

    @pytest.mark.parametrize("chunks", [(777, 3), (5000, D)])
    @pytest.mark.parametrize("limit", [None, FILES])
    def test_zarr(self, rows, expected, tmp_path, chunks, limit):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        array = zarr.create_array(
            tmp_path / "x.zarr", shape=rows.shape, chunks=chunks, dtype="f4"
        )
        array[:] = rows
        model = LocalMAP(**FAST, memory_limit=limit)
        assert digest(model.fit_transform(array)) == expected
        np.testing.assert_array_equal(
            model.transform(array[:70]), model.embedding_[:70]
        )
        assert model.n_features_in_ == D

    def test_hdf5(self, rows, expected, tmp_path):
        h5py = pytest.importorskip("h5py", reason="needs the test extra")
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file["x"] = rows
            assert digest(LocalMAP(**FAST).fit_transform(file["x"])) == expected

    def test_parquet(self, rows, expected, tmp_path):
        import pyarrow as pa
        from pyarrow import dataset, parquet

        for part, block in enumerate(np.array_split(rows, 3)):
            table = pa.table({f"c{j}": block[:, j] for j in range(D)})
            parquet.write_table(table, tmp_path / f"{part}.parquet", row_group_size=999)
        model = LocalMAP(**FAST).fit(dataset.dataset(tmp_path))
        assert digest(model.embedding_) == expected
        assert list(model.feature_names_in_) == [f"c{j}" for j in range(D)]

    def test_cells_in_their_file(self, rows, tmp_path):
        anndata = pytest.importorskip("anndata", reason="needs the test extra")
        X = sp.csr_matrix(np.where(rows > 0, rows, 0))
        anndata.AnnData(X).write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        assert digest(LocalMAP(**FAST).fit_transform(backed.X)) == (
            digest(LocalMAP(**FAST).fit_transform(X))
        )

    @pytest.mark.parametrize(
        "how", [{}, {"metric": "correlation"}, {"scale": "standard"}], ids=str
    )
    def test_sparse_rows_of_many_columns(self, how, tmp_path, monkeypatch):
        """Nothing is filled in, in memory, in a file, or by Dask."""
        anndata = pytest.importorskip("anndata", reason="needs the test extra")
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        monkeypatch.setattr("localmap.geometry.pca.EXACT_PCA", 30)
        X = sp.random_array((N, 40), density=0.2, format="csr", rng=0, dtype="f4")
        X[: N // 2, :9] *= 4
        X = X.tocsr()
        anndata.AnnData(sp.csr_matrix(X)).write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r").X
        blocks = [
            da.from_array(X[a : a + 6000], asarray=False) for a in range(0, N, 6000)
        ]
        how = {**FAST, "pca_components": 12, **how}
        monkeypatch.setattr(sp.csr_array, "toarray", _forbidden)
        monkeypatch.setattr(sp.csr_matrix, "toarray", _forbidden)
        expected = digest(LocalMAP(**how).fit_transform(X))
        files = LocalMAP(**how, memory_limit=FILES)
        assert digest(files.fit_transform(X)) == expected
        assert digest(files.fit_transform(backed)) == expected
        assert digest(files.fit_transform(X.tocsc())) == expected
        by_dask = LocalMAP(**how).fit(da.concatenate(blocks))
        assert digest(by_dask.embedding_) == expected

    @pytest.mark.parametrize("chunks", [(6000, D), (1234, 3)])
    def test_dask(self, rows, expected, chunks, monkeypatch):
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        # Other parts than those of a fit in memory.
        monkeypatch.setattr("localmap.scale.with_dask.BLOCKS_OF_A_TASK", 2)
        X = da.from_array(rows, chunks=chunks)
        Y = LocalMAP(**FAST).fit_transform(X)
        assert isinstance(Y, da.Array)
        assert Y.chunks[0] == X.chunks[0]
        assert digest(Y.compute()) == expected

    @pytest.mark.parametrize("scheduler", ["synchronous", "processes"])
    def test_any_scheduler_of_dask(self, rows, expected, scheduler):
        dask = pytest.importorskip("dask", reason="needs the test extra")
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        X = da.from_array(rows, chunks=(6000, D))
        with dask.config.set(scheduler=scheduler):
            model = LocalMAP(**FAST).fit(X)
            placed = model.transform(X[:50]).compute()
        assert digest(model.embedding_) == expected
        np.testing.assert_array_equal(placed, model.transform(rows[:50]))

    def test_a_dask_data_frame(self, rows, expected):
        dd = pytest.importorskip("dask.dataframe", reason="needs the test extra")
        import pandas as pd

        frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(D)])
        model = LocalMAP(**FAST).fit(dd.from_pandas(frame, npartitions=4))
        assert digest(model.embedding_) == expected
        assert list(model.feature_names_in_) == list(frame.columns)
        words = dd.from_pandas(frame.assign(word="a"), npartitions=2)
        with pytest.raises(ValueError, match="1 of 9 columns of X hold no numbers"):
            LocalMAP(**FAST).fit(words)

    def test_saved_and_read_again(self, rows, expected, tmp_path):
        model = LocalMAP(**FAST, memory_limit=FILES).fit(rows)
        model.save(tmp_path / "m.localmap")
        again = load(tmp_path / "m.localmap")
        assert digest(again.embedding_) == expected
        new = rows[:300] + np.float32(0.1)
        np.testing.assert_array_equal(again.transform(new), model.transform(new))
        memory = LocalMAP(**FAST).fit(rows)
        np.testing.assert_array_equal(memory.transform(new), model.transform(new))

    def test_neighbours_and_callbacks_speak_of_the_rows_of_the_data(self, rows):
        seen = []
        model = LocalMAP(**FAST, callback=lambda i, Y, loss: seen.append(Y)).fit(rows)
        np.testing.assert_array_equal(seen[-1], model.embedding_)
        some = np.arange(0, N, 500)
        near = model.kneighbors(5)[some]
        exact = kernels.exact_neighbors(rows, 5, 2, some.astype(np.int32))[0]
        assert (near == exact).mean() > 0.95

    def test_a_start_belongs_to_the_rows_of_the_data(self, rows):
        start = np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)
        model = LocalMAP(random_state=0, n_iters=(0, 0, 0), init=start).fit(rows)
        np.testing.assert_array_equal(model.embedding_, start)


BLAS = """
import hashlib, numpy as np
from localmap import LocalMAP
rng = np.random.default_rng(0)
tall = (rng.normal(size=(4000, 300)) * np.linspace(3, .1, 300)).astype(np.float32)
wide = rng.normal(size=(300, 4000)).astype(np.float32)
both = rng.normal(size=(3100, 3200)).astype(np.float32)
plain = rng.normal(size=(4000, 60)).astype(np.float32)
for X in (tall, wide, both, plain):
    Y = LocalMAP(random_state=0, n_iters=(2, 2, 2)).fit_transform(X)
    print(hashlib.sha256(Y.tobytes()).hexdigest())
"""


def test_the_map_does_not_depend_on_the_threads_of_blas():
    told = set()
    for threads in ("1", "2", "4"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        told.add(
            subprocess.run(
                [sys.executable, "-c", BLAS],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    assert len(told) == 1


def blas_threads():
    return [
        lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"
    ]


def test_threads_of_blas_are_given_back_when_the_last_has_left():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) == {1}
        first.__exit__(None, None, None)  # not in turn, as in two threads
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_threads_of_blas_are_held_and_given_back_whichever_thread_set_them_first():
    # threadpoolctl 3.8 obeys one thread alone until that one has let go.
    at_work, done = threading.Event(), threading.Event()

    def another():
        with threadpool_limits(2, user_api="blas"):
            at_work.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(another)
        assert at_work.wait(60)
        before = blas_threads()
        with one_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with threadpool_limits(1, user_api="blas"):  # of the caller, after a fit
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        done.set()
        other.result()


class Stop(Exception):  # noqa: N818 - what a user's callback may raise
    pass


def cut_off(rows, scratch, error=Stop):
    """Fit until the first iteration, as far as neighbours and pairs."""

    def stop(*_):
        raise error

    model = LocalMAP(**FAST, memory_limit=FILES, scratch=scratch, callback=stop)
    with pytest.raises(error) as raised:
        model.fit(rows)
    return raised.value


def only_folder(scratch):
    (folder,) = scratch.iterdir()
    return folder


class TestScratch:
    @pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
    def test_a_temporary_one_is_removed_whatever_happens(
        self, rows, error, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        cut_off(rows, None, error)
        assert list(tmp_path.iterdir()) == []

    def test_one_that_is_named_goes_on_where_it_was(
        self, rows, expected, tmp_path, monkeypatch
    ):
        error = cut_off(rows, tmp_path)
        assert str(tmp_path) in error.__notes__[0]
        searched = []
        monkeypatch.setattr(kernels, "find_in_cells", lambda *a: searched.append(a))
        monkeypatch.setattr(kernels, "cell_homes", lambda *a: searched.append(a))
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path).fit(rows)
        assert digest(model.embedding_) == expected
        assert searched == []
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "name", ["arranged.bin", "neighbors.bin", "distances.bin", "cells.npz"]
    )
    @pytest.mark.parametrize("damage", ["short", "other", "gone"])
    def test_damage_is_noticed_and_made_again(
        self, rows, expected, tmp_path, name, damage
    ):
        cut_off(rows, tmp_path)
        path = only_folder(tmp_path) / name
        if damage == "gone":
            path.unlink()
        elif damage == "short":
            os.truncate(path, path.stat().st_size // 3)
        else:
            with path.open("r+b") as file:
                file.seek(path.stat().st_size // 2)
                file.write(b"something else")
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path).fit(rows)
        assert digest(model.embedding_) == expected

    def test_logs_that_were_cut_off(self, rows, expected, tmp_path):
        cut_off(rows, tmp_path)
        for log in only_folder(tmp_path).glob("*.done"):
            text = log.read_text()
            log.write_text(text[: len(text) * 2 // 3])
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path).fit(rows)
        assert digest(model.embedding_) == expected

    def test_other_data_of_the_same_shape_is_other_data(self, rows, tmp_path):
        cut_off(rows, tmp_path)
        other = rows[::-1].copy()
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path).fit(other)
        again = LocalMAP(**FAST).fit(other)
        assert digest(model.embedding_) == digest(again.embedding_)

    def test_a_full_disk_is_one_error_and_leaves_nothing(
        self, rows, tmp_path, monkeypatch
    ):
        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "posix_fallocate", full)
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path)
        with pytest.raises(
            ScratchError, match=r"room for .* GB, and 'rows' alone"
        ) as e:
            model.fit(rows)
        assert str(tmp_path) in str(e.value)
        assert list(tmp_path.iterdir()) == []

    def test_two_fits_at_once_keep_apart(self, rows, expected, tmp_path):
        other = rows[::-1].copy()
        inner = []

        def meanwhile(*_):
            if not inner:
                model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path)
                inner.append(digest(model.fit_transform(other)))
                assert len(list(tmp_path.iterdir())) == 1

        how = {"memory_limit": FILES, "scratch": tmp_path}
        model = LocalMAP(**FAST, **how, callback=meanwhile).fit(rows)
        assert digest(model.embedding_) == expected
        assert inner == [digest(LocalMAP(**FAST).fit_transform(other))]
        assert list(tmp_path.iterdir()) == []

    def test_bad_data_leaves_nothing_to_go_on_from(self, rows, tmp_path):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        bad = rows.copy()
        bad[3, 1] = np.nan
        array = zarr.create_array(tmp_path / "x.zarr", shape=bad.shape, dtype="f4")
        array[:] = bad
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path / "s")
        with pytest.raises(ValueError, match="row 3") as raised:
            model.fit(array)
        assert not hasattr(raised.value, "__notes__")
        assert list((tmp_path / "s").iterdir()) == []

    def test_a_model_of_files_goes_to_other_processes(self, rows):
        joblib = pytest.importorskip("joblib")
        model = LocalMAP(**FAST, memory_limit=FILES).fit(rows)
        new = rows[:50] + np.float32(0.1)
        (there,) = joblib.Parallel(2)([joblib.delayed(model.transform)(new)])
        np.testing.assert_array_equal(there, model.transform(new))

    def test_a_disk_that_fills_up_on_the_way(self, rows, tmp_path, monkeypatch):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(np, "savez", full)
        model = LocalMAP(**FAST, memory_limit=FILES, scratch=tmp_path)
        with pytest.raises(ScratchError, match=r"room for .* GB left, which is not"):
            model.fit(rows)
        assert list(tmp_path.iterdir()) == []


class TestLimits:
    @pytest.mark.parametrize(
        ("text", "size"),
        [
            ("4GB", 4e9),
            ("512 MiB", 512 * 2**20),
            ("1.5t", 1.5e12),
            ("7", 7),
            (3e9, 3e9),
        ],
    )
    def test_sizes(self, text, size):
        assert size_of(text) == size

    def test_too_little_is_told(self, rows):
        with pytest.raises(ValueError, match=r"20,500 rows holds 0\.6\d GB"):
            LocalMAP(memory_limit="100MB").fit(rows)

    def test_as_much_as_is_told_is_enough(self):
        X = np.random.default_rng(0).normal(size=(40_000, 3))
        with pytest.raises(ValueError, match="too small") as refused:
            LocalMAP(memory_limit="100MB").fit(X)
        told = re.search(r"holds (\S+) GB", str(refused.value))[1]
        few = {"n_iters": (1, 1, 1), "memory_limit": f"{told}GB"}
        assert LocalMAP(**few).fit(X).embedding_.shape == (40_000, 2)

    def test_where_it_goes_is_said(self, rows, capsys):
        LocalMAP(**FAST, memory_limit=FILES, verbose=True).fit(rows)
        told = capsys.readouterr().err
        assert re.search(r"0\.6\d GB allowed: rows and neighbours go to files", told)

    def test_free_memory_is_that_of_this_machine(self):
        assert 1e8 < free_memory() < 1e14


class TestSources:
    def test_numbers_that_are_not_finite_are_located(self, rows, tmp_path):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        bad = rows.copy()
        bad[17_003, 5] = np.nan
        bad[19_000, 2] = np.inf
        array = zarr.create_array(tmp_path / "x.zarr", shape=bad.shape, dtype="f4")
        array[:] = bad
        for X in (array, da.from_array(bad, chunks=(900, D))):
            with pytest.raises(
                ValueError, match=r"first at row 17003, column 5; .* 2, 5"
            ):
                LocalMAP(**FAST).fit(X)

    def test_what_cannot_be_rows(self, tmp_path):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        cube = zarr.create_array(tmp_path / "x.zarr", shape=(4, 4, 4), dtype="f4")
        with pytest.raises(ValueError, match="two axes"):
            LocalMAP().fit(cube)
        words = zarr.create_array(tmp_path / "y.zarr", shape=(4, 4), dtype="c8")
        with pytest.raises(ValueError, match="must hold numbers"):
            LocalMAP().fit(words)
        one = zarr.create_array(tmp_path / "z.zarr", shape=(1, 4), dtype="f4")
        with pytest.raises(ValueError, match="at least 2 rows"):
            LocalMAP().fit(one)
        with pytest.raises(ValueError, match="must be in memory"):
            LocalMAP(metric="precomputed").fit(one)

    def test_few_rows_and_other_metrics(self, tmp_path):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
        array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, dtype="f4")
        array[:] = X
        for metric in ("euclidean", "manhattan"):
            how = {**FAST, "metric": metric}
            assert digest(LocalMAP(**how).fit_transform(array)) == (
                digest(LocalMAP(**how).fit_transform(X))
            )

    def test_other_columns_are_refused(self, rows, tmp_path):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        model = LocalMAP(**FAST).fit(rows[:500])
        array = zarr.create_array(tmp_path / "x.zarr", shape=(9, 3), dtype="f4")
        with pytest.raises(ValueError, match="X has 3 features, but LocalMAP is"):
            model.transform(array)

    @pytest.mark.parametrize("kind", ["int64", "bool"])
    def test_cells_without_a_value_are_refused(self, rows, kind):
        import pyarrow as pa
        from pyarrow import dataset

        numbers = (100 * rows).astype(kind)
        table = {f"c{j}": pa.array(numbers[:, j]) for j in range(D)}
        empty = np.arange(N) == 17_003
        table["c3"] = pa.array(numbers[:, 3], mask=empty)
        with pytest.raises(ValueError, match="first at row 17003, column 'c3'"):
            LocalMAP(**FAST).fit(dataset.dataset(pa.table(table)))

    def test_columns_in_another_order_are_refused(self, rows):
        import pandas as pd
        import pyarrow as pa
        from pyarrow import dataset

        frame = pd.DataFrame(rows[:500], columns=list("abcdefgh"))
        model = LocalMAP(**FAST).fit(frame)
        turned = frame[list("abdcefgh")]
        told = "column 2 is 'd', it was 'c'"
        with pytest.raises(ValueError, match=told):
            model.transform(dataset.dataset(pa.table(turned)))
        dd = pytest.importorskip("dask.dataframe", reason="needs the test extra")
        with pytest.raises(ValueError, match=told):
            model.transform(dd.from_pandas(turned, npartitions=2))

    @pytest.mark.parametrize("scale", ["standard", "robust"])
    def test_columns_are_scaled_where_they_are(self, rows, tmp_path, scale):
        import pyarrow as pa
        from pyarrow import dataset

        anndata = pytest.importorskip("anndata", reason="needs the test extra")
        how = {**FAST, "scale": scale}
        table = pa.table({f"c{j}": rows[:, j] for j in range(D)})
        assert digest(LocalMAP(**how).fit(dataset.dataset(table)).embedding_) == (
            digest(LocalMAP(**how).fit_transform(rows))
        )
        X = sp.csr_matrix(np.where(rows > 0, rows, 0))
        anndata.AnnData(X).write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        assert np.isfinite(LocalMAP(**how).fit_transform(backed.X)).all()


class TestDask:
    def test_what_is_no_table_of_numbers(self, rows):
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        dd = pytest.importorskip("dask.dataframe", reason="needs the test extra")
        import pandas as pd

        X = da.from_array(rows, chunks=(9000, D))
        with pytest.raises(ValueError, match="masked"):
            LocalMAP(**FAST).fit(da.ma.masked_greater(X, 8))
        frame = pd.DataFrame(rows, columns=list("aabcdefg"))
        with pytest.raises(ValueError, match="must be unique; 'a'"):
            LocalMAP(**FAST).fit(dd.from_pandas(frame, npartitions=2))
        with pytest.raises(TypeError, match="Dask array or data frame; got Series"):
            LocalMAP(**FAST).fit(dd.from_pandas(frame["b"], npartitions=2))

    def test_rows_to_be_placed_outlive_the_model(self, rows):
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        new = da.from_array(rows[:50], chunks=(25, D))
        lazy = LocalMAP(**FAST).fit(rows[:500]).transform(new)
        assert lazy.compute().shape == (50, 2)

    def test_rows_are_placed_lazily(self, rows):
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        model = LocalMAP(**FAST).fit(rows[:3000])
        computed = []

        def read(block):
            computed.append(len(block))
            return block

        new = da.from_array(rows[3000:5000], chunks=(700, 4)).map_blocks(
            read, dtype=np.float32, meta=np.empty((0, 0), dtype=np.float32)
        )
        Y, away = model.transform(new, return_distance=True)
        assert computed == []
        assert Y.chunks == ((700, 700, 600), (2,))
        placed, distance = model.transform(rows[3000:5000], return_distance=True)
        np.testing.assert_array_equal(Y.compute(), placed)
        np.testing.assert_array_equal(away.compute(), distance)
        with pytest.raises(ValueError, match="X has 4 features"):
            model.transform(new[:, :4])

    def test_the_file_of_a_model_goes_with_it(self, rows, tmp_path):
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        model = LocalMAP(**FAST, scratch=tmp_path).fit(rows[:500])
        lazy = model.transform(da.from_array(rows[:50], chunks=(25, D)))
        assert len(list(tmp_path.iterdir())) == 1
        lazy.compute()
        del model, lazy
        import gc

        from localmap.estimators import lazy as module

        module._loaded.cache_clear()
        gc.collect()
        assert list(tmp_path.iterdir()) == []

    def test_it_is_imported_when_it_is_used(self):
        code = "import sys, localmap; localmap.LocalMAP(); print('dask' in sys.modules)"
        told = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert told.stdout == "False\n"

    @pytest.mark.parametrize("stage", ["project", "search"])
    def test_a_worker_that_dies_costs_a_rerun(self, rows, expected, tmp_path, stage):
        distributed = pytest.importorskip("distributed", reason="needs the test extra")
        da = pytest.importorskip("dask.array", reason="needs the test extra")
        killed = []

        def kill(client):
            while not killed:
                if list(tmp_path.glob(f"*/{stage}-*.shared")):
                    victim = next(iter(client.run(os.getpid).values()))
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                time.sleep(0.005)

        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            threading.Thread(target=kill, args=(client,), daemon=True).start()
            X = da.from_array(rows, chunks=(4000, D))
            Y = LocalMAP(**FAST, scratch=tmp_path).fit(X).embedding_
        assert killed
        assert digest(Y) == expected
        assert list(tmp_path.iterdir()) == []


class TestBuckets:
    def test_one_bucket_is_all_rows(self, rows):
        np.testing.assert_array_equal(
            mid_near.in_buckets(rows, 5, 3, 2), kernels.mid_near(rows, 5, 3, 2)
        )

    def test_pairs_stay_in_buckets_that_are_dealt_at_random(self, rows, monkeypatch):
        monkeypatch.setattr(mid_near, "BUCKET", 4000)
        pairs = mid_near.in_buckets(rows, 5, 3, 2)
        again = mid_near.in_buckets(rows, 5, 3, 1)
        np.testing.assert_array_equal(pairs, again)
        own = np.arange(N)[:, None]
        assert (pairs != own).all()
        assert all(len(set(row)) == 5 for row in pairs[::100])
        graph = sp.csr_array(
            (np.ones(pairs.size), (np.repeat(np.arange(N), 5), pairs.ravel())), (N, N)
        )
        count, bucket = sp.csgraph.connected_components(graph, directed=False)
        assert count == 6
        # Of any bucket, each sixth of the data holds a sixth.
        for number in range(count):
            share = np.histogram(np.flatnonzero(bucket == number), 6, (0, N))[0]
            assert share.min() > 0.8 * N / 36
        # The second closest of six is nearer than a random row.
        away = np.linalg.norm(rows[:, None] - rows[pairs], axis=2).mean()
        chance = np.linalg.norm(rows - rows[::-1], axis=1).mean()
        assert away < 0.9 * chance


class TestPreview:
    def test_a_sample_is_mapped_and_the_rest_placed(self, rows):
        X = rows[:3000]
        model = LocalMAP(**FAST)
        Y = preview(model, X, 600)
        assert Y.shape == (3000, 2)
        assert np.isfinite(Y).all()
        chosen = np.sort(np.random.default_rng(0).choice(3000, 600, replace=False))
        np.testing.assert_array_equal(Y[chosen], model.embedding_)
        others = np.setdiff1d(np.arange(3000), chosen)
        np.testing.assert_array_equal(Y[others], model.transform(X[others]))

    def test_tables_and_sparse_rows(self, rows):
        import pandas as pd

        X = rows[:2000]
        plain = preview(LocalMAP(**FAST), X, 300)
        table = pd.DataFrame(X, columns=list("abcdefgh"))
        np.testing.assert_array_equal(preview(LocalMAP(**FAST), table, 300), plain)
        assert preview(LocalMAP(**FAST), sp.csr_array(X), 300).shape == (2000, 2)

    @pytest.mark.parametrize("count", [1, 500, 900])
    def test_impossible_samples(self, rows, count):
        with pytest.raises(ValueError, match=f"2 to 499 of 500 rows; got {count}"):
            preview(LocalMAP(), rows[:500], count)


class TestCommand:
    def run(self, *words):
        from localmap.cli import main

        return main([str(word) for word in words])

    def test_zarr_in_files(self, rows, expected, tmp_path, capsys):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        array = zarr.create_array(tmp_path / "x.zarr", shape=rows.shape, dtype="f4")
        array[:] = rows
        out = tmp_path / "o.npy"
        fast = ("--n-iters", 4, 4, 4, "--memory", FILES, "--scratch", tmp_path / "s")
        assert self.run("embed", tmp_path / "x.zarr", "-o", out, *fast) == 0
        assert digest(np.load(out)) == expected
        assert "read in parts" in capsys.readouterr().err

    def test_a_folder_of_parquet(self, rows, tmp_path):
        import pandas as pd

        frame = pd.DataFrame(rows[:900], columns=[f"c{j}" for j in range(D)])
        frame["kind"] = np.where(rows[:900, 0] > 0, "plus", "minus")
        frame["name"] = [f"row{i}" for i in range(900)]
        (tmp_path / "in").mkdir()
        for part, block in enumerate(np.array_split(np.arange(900), 3)):
            frame.iloc[block].to_parquet(tmp_path / "in" / f"{part}.parquet")
        out = tmp_path / "map.parquet"
        words = ("--labels", "kind", "--id", "name", "--n-iters", 4, 4, 4)
        assert self.run("embed", tmp_path / "in", "-o", out, *words) == 0
        made = pd.read_parquet(out)
        assert list(made["name"]) == list(frame["name"])
        assert list(made["kind"]) == list(frame["kind"])
        axes = [name for name in made.columns if AXIS.fullmatch(name)]
        Y = LocalMAP(**FAST).fit_transform(rows[:900])
        np.testing.assert_array_equal(made[axes].to_numpy(np.float32), Y)

    def test_columns_of_a_folder_are_told_apart(self, rows, tmp_path, capsys):
        import pandas as pd

        frame = pd.DataFrame(rows[:90], columns=list("abcdefgh")).assign(word="w")
        frame.insert(0, "id", range(90))
        (tmp_path / "in" / "year=2024").mkdir(parents=True)
        frame.to_parquet(tmp_path / "in" / "year=2024" / "0.parquet")
        out, fast = tmp_path / "o.csv", ("--n-iters", 1, 1, 1, "--drop", "year")
        assert self.run("embed", tmp_path / "in", "-o", out, *fast) == 0
        told = capsys.readouterr().err
        assert "`id` names rows: kept" in told
        assert "left out: `word`: is text" in told
        assert "90 rows, 8 columns of numbers, read in parts, files by name" in told
        assert list(pd.read_csv(out)["id"]) == list(range(90))
        assert (
            self.run(
                "embed", tmp_path / "in", "-o", tmp_path / "p.csv", "--labels", "kind"
            )
            == 2
        )
        assert "no column 'kind'" in capsys.readouterr().err
        missing = ("--missing", "drop-rows", "--force")
        assert self.run("embed", tmp_path / "in", "-o", out, *missing) == 2
        assert "is read in parts" in capsys.readouterr().err

    def test_a_sample(self, rows, tmp_path):
        np.save(tmp_path / "x.npy", rows[:2000])
        out = tmp_path / "o.npy"
        words = ("--n-iters", 4, 4, 4, "--sample", 300)
        assert self.run("embed", tmp_path / "x.npy", "-o", out, *words) == 0
        expected = preview(LocalMAP(**FAST), rows[:2000], 300)
        np.testing.assert_array_equal(np.load(out), expected)

    def test_a_sample_is_no_fit_of_all_rows(self, rows, tmp_path, capsys):
        np.save(tmp_path / "x.npy", rows[:500])
        words = ("embed", tmp_path / "x.npy", "-o", tmp_path / "o.npy", "--sample", 90)
        assert self.run(*words, "--film", tmp_path / "f.gif") == 2
        assert "leave out --sample" in capsys.readouterr().err
        assert self.run(*words, "--scheduler", "tcp://127.0.0.1:1") == 2
        assert "leave out --scheduler" in capsys.readouterr().err
        page = tmp_path / "p.html"
        assert self.run(*words, "--html", page, "--n-iters", 2, 2, 2) == 0
        assert page.exists()

    def test_a_group_of_arrays_asks_for_one(self, tmp_path, capsys):
        zarr = pytest.importorskip("zarr", reason="needs the test extra")
        group = zarr.open_group(tmp_path / "g.zarr", mode="w")
        group.create_array("counts", shape=(9, 3), dtype="f4")
        assert self.run("embed", tmp_path / "g.zarr", "-o", tmp_path / "o.csv") == 2
        assert "group of arrays (counts): name one" in capsys.readouterr().err

    def test_workers_of_a_cluster(self, rows, expected, tmp_path, capsys):
        distributed = pytest.importorskip("distributed", reason="needs the test extra")
        np.save(tmp_path / "x.npy", rows)
        out = tmp_path / "o.npy"
        words = ("--n-iters", 4, 4, 4, "--scratch", tmp_path / "s", "--scheduler")
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=None
        ) as cluster:
            address = cluster.scheduler_address
            assert (
                self.run("embed", tmp_path / "x.npy", "-o", out, *words, address) == 0
            )
        assert digest(np.load(out)) == expected
        table = tmp_path / "t.csv"
        table.write_text("a,b\n1,2\n3,4\n5,7\n")
        assert self.run("embed", table, "-o", tmp_path / "p.csv", *words, address) == 2
        assert (
            "--scheduler is for data that is read in parts" in capsys.readouterr().err
        )


def test_progress_of_long_stages_is_shown(rows, capsys):
    LocalMAP(**FAST, memory_limit=FILES, verbose=True).fit(rows)
    shown = capsys.readouterr().err
    assert "project" in shown
