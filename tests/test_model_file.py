"""Saved models: whole, sound, or refused."""

import dataclasses
import json
import os
import pickle
import struct

import numpy as np
import pandas as pd
import pytest

import localmap
from localmap import LocalMAP, PaCMAP
from localmap.estimators import model_file

FAST = {"n_iters": (10, 10, 20), "random_state": 3}


def blobs(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 5 * rng.integers(0, 3, (n, 1))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.localmap"
    model = LocalMAP(**FAST).fit(blobs())
    model.save(path)
    return model, path


@pytest.mark.parametrize(
    "model",
    [
        LocalMAP(**FAST),
        PaCMAP(**FAST, metric="cosine"),
        LocalMAP(**FAST, n_components=3, locality=0.5, pca_components=4),
        LocalMAP(**FAST, init=np.zeros((200, 2)) + np.arange(200)[:, None] / 100),
    ],
    ids=["plain", "pacmap", "dial", "start"],
)
def test_a_model_comes_back(model, tmp_path):
    X = pd.DataFrame(blobs(), columns=list("abcdef"))
    model.fit(X)
    model.save(tmp_path / "m.localmap")
    back = localmap.load(tmp_path / "m.localmap")
    assert type(back) is type(model)
    np.testing.assert_array_equal(back.embedding_, model.embedding_)
    new = pd.DataFrame(blobs(seed=1), columns=list("abcdef"))
    for a, b in zip(
        back.transform(new, return_distance=True),
        model.transform(new, return_distance=True),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    for name, value in model.get_params().items():
        np.testing.assert_array_equal(back.get_params()[name], value)
    learned = [name for name in vars(model) if name.endswith("_")]
    assert {"embedding_", "feature_names_in_", "n_iter_"} <= set(learned)
    for name in learned:
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    assert list(back.get_feature_names_out()) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(back.fit(X).embedding_, model.embedding_)


@pytest.mark.parametrize("metric", ["manhattan", "hamming", "jaccard"])
def test_models_of_other_metrics_come_back(metric, tmp_path):
    X = np.round(blobs())
    model = LocalMAP(**FAST, metric=metric).fit(X)
    model.save(tmp_path / "m.localmap")
    back = localmap.load(tmp_path / "m.localmap")
    np.testing.assert_array_equal(back.transform(X + 1), model.transform(X + 1))


def test_a_model_of_given_distances_comes_back(tmp_path):
    X = blobs()
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = LocalMAP(**FAST, metric="precomputed").fit(D)
    model.save(tmp_path / "m.localmap")
    back = localmap.load(tmp_path / "m.localmap")
    np.testing.assert_array_equal(back.transform(D[:9] + 1), model.transform(D[:9] + 1))


def test_large_arrays_may_be_mapped_from_the_file(saved):
    model, path = saved
    mapped = localmap.load(path, mmap_mode="r")
    assert isinstance(mapped._fitted.space.Z, np.memmap)
    np.testing.assert_array_equal(mapped.transform(blobs()), model.transform(blobs()))
    with pytest.raises(ValueError, match="mmap_mode"):
        localmap.load(path, mmap_mode="w+")


def test_pickle_too(saved):
    model, _ = saved
    back = pickle.loads(pickle.dumps(model))  # noqa: S301
    new = blobs(seed=2)
    np.testing.assert_array_equal(back.transform(new), model.transform(new))


def test_every_cut_is_refused(saved, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    cut = tmp_path / "cut.localmap"
    for size in [*range(0, 200, 7), *range(200, len(whole), 997), len(whole) - 1]:
        cut.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"cut\.localmap cannot be read as"):
            localmap.load(cut)


# python -m pytest tests/test_model_file.py -k mutations with LOCALMAP_MUTATIONS=10000
# is the whole campaign; a small part of it runs with the tests.
MUTATIONS = int(os.environ.get("LOCALMAP_MUTATIONS", "200"))


def mutated(data, rng):
    """The bytes of a file after something has gone wrong with them."""
    bad = bytearray(data)
    size = len(bad)
    # Half of the damage goes to the header, which is a small part of the file.
    place = int(rng.integers(0, size if rng.random() < 0.5 else 1500))
    run = int(rng.integers(1, 64))
    kind = rng.choice(["flip", "overwrite", "cut", "insert", "delete", "swap", "zero"])
    if kind == "flip":
        bad[place] ^= 1 << int(rng.integers(0, 8))
    elif kind == "overwrite":
        bad[place : place + run] = rng.bytes(min(run, size - place))
    elif kind == "cut":
        del bad[place:]
    elif kind == "insert":
        bad[place:place] = rng.bytes(run)
    elif kind == "delete":
        del bad[place : place + run]
    elif kind == "swap":
        other = int(rng.integers(0, size - run))
        bad[place : place + run] = bad[other : other + run]
    else:
        bad[place : place + run] = bytes(min(run, size - place))
    return bytes(bad)


def test_mutations_are_refused_or_change_nothing(saved, tmp_path):
    model, path = saved
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    file = tmp_path / "mutated.localmap"
    new = blobs(seed=1)
    expected = model.transform(new)
    refused = changed = 0
    for _ in range(MUTATIONS):
        bad = mutated(whole, rng)
        changed += bad != whole
        file.write_bytes(bad)
        try:
            back = localmap.load(file)
        except model_file.ModelFileError as error:
            assert "cannot be read as a model" in str(error)  # noqa: PT017
            refused += 1
        else:
            np.testing.assert_array_equal(back.transform(new), expected)
    print(f"{MUTATIONS} mutations, {changed} changed the file, {refused} were refused")
    # What is left changed padding, or a byte after the last array.
    assert refused > 0.95 * changed


ODD = [None, -1, 0, 1, 2**40, 1e300, -1e-300, "", "x", [], {}, True, [1e9] * 5]


def test_headers_with_odd_values_are_refused_or_make_sound_models(saved, tmp_path):
    """A header whose checksum is right, with one value replaced."""
    _, path = saved
    rng = np.random.default_rng(1)
    out = tmp_path / "odd.localmap"
    refused = 0
    for _ in range(MUTATIONS // 2):

        def change(header):
            place = header
            while True:
                key = rng.choice(list(place))
                if not isinstance(place[key], dict) or rng.random() < 0.1:
                    break
                place = place[key]
            place[key] = ODD[rng.integers(len(ODD))]

        forged(path, out, change)
        try:
            back = localmap.load(out)
        except model_file.ModelFileError:
            refused += 1
        else:
            new = blobs(seed=1)
            assert np.isfinite(back.set_params(n_jobs=1).transform(new)).all()
    assert refused > 0.5 * (MUTATIONS // 2)


def forged(path, out, change):
    """The same file with another header and a right checksum."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[8:16])
    header = json.loads(data[16 : 16 + length])
    start = model_file._padded(20 + length)
    change(header)
    text = json.dumps(header).encode()
    head = data[:8] + struct.pack("<Q", len(text)) + text
    head += struct.pack("<I", model_file.zlib.crc32(text))
    out.write_bytes(head.ljust(model_file._padded(len(head)), b"\0") + data[start:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda h: h.update(version=1),
            "has version 1, this localmap reads versions 3 to 5",
        ),
        (lambda h: h.update(kind="os.system"), "holds a 'os.system'"),
        (lambda h: h["params"].update(n_neighbors=-3), "settings make no sense"),
        (lambda h: h["params"].update(surprise=1), "settings make no sense"),
        (lambda h: h["arrays"]["Y"].update(shape=[100, 4]), "do not fit together"),
        (lambda h: h["learned"].update(n_features_in_=5), "do not fit together"),
        (lambda h: h["learned"].update(counts_sum_=-1.0), "do not fit together"),
        (lambda h: h.update(unit=0.0), "its unit is 0.0"),
        (lambda h: h.update(learning_rate=1e300), "do not fit together"),
        (lambda h: h["weights"].__setitem__(0, float("nan")), "do not fit together"),
        (lambda h: h.update(kind="PaCMAP"), "settings make no sense"),
        (lambda h: h["arrays"]["Y"].update(shape=[200, -2]), "Y has shape"),
        (lambda h: h["arrays"]["Z"].update(offset=-64), "Z is cut off"),
        (lambda h: h["arrays"]["Z"].update(shape=[2**40, 6]), "Z is cut off"),
        (lambda h: h["arrays"].pop("scales"), "holds no scales"),
        (lambda h: h["learned"].update(n_iter_="many"), "n_iter_ is 'many'"),
        (lambda h: h.update(n_neighbors=10**6), "do not fit together"),
        (lambda h: h.pop("key"), "settings make no sense"),
    ],
)
def test_forged_headers_are_refused(saved, tmp_path, change, message):
    _, path = saved
    out = tmp_path / "forged.localmap"
    forged(path, out, change)
    with pytest.raises(ValueError, match=message):
        localmap.load(out)


def test_other_files_are_refused(tmp_path):
    other = tmp_path / "other.npz"
    np.savez(other, a=np.ones(3))
    with pytest.raises(ValueError, match=r"Was it written by model\.save"):
        localmap.load(other)
    with pytest.raises(FileNotFoundError):
        localmap.load(tmp_path / "missing.localmap")


def test_a_failed_save_leaves_the_old_file(saved, tmp_path, monkeypatch):
    model, path = saved
    target = tmp_path / "m.localmap"
    target.write_bytes(path.read_bytes())

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_file, "_write", full)
    with pytest.raises(OSError, match="No space"):
        model.save(target)
    assert target.read_bytes() == path.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["m.localmap"]


def test_what_was_fitted_is_saved_not_what_was_set_since(tmp_path):
    model = LocalMAP(**FAST).fit(blobs())
    expected = model.transform(blobs(seed=1))
    model.set_params(n_components=3, metric="cosine").save(tmp_path / "m.localmap")
    back = localmap.load(tmp_path / "m.localmap")
    np.testing.assert_array_equal(back.transform(blobs(seed=1)), expected)
    assert (back.metric, back.n_components) == ("euclidean", 2)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "m.localmap").stat().st_mode & 0o777 == 0o666 & ~mask


def test_changing_the_map_that_was_returned_changes_no_model(saved):
    model = LocalMAP(**FAST)
    Y = model.fit_transform(blobs())
    before = model.transform(blobs(seed=1))
    Y *= 100
    np.testing.assert_array_equal(model.transform(blobs(seed=1)), before)


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        LocalMAP().save(tmp_path / "m.localmap")


def test_a_model_holds_what_was_fitted_not_what_was_set_since(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = LocalMAP(random_state=0, n_iters=(5, 5, 5)).fit(X)
    expected = model.transform(X[:5] + 0.1)
    model.set_params(n_neighbors=0, metric="cosine", n_components=3)
    model.save(tmp_path / "model.localmap")
    read = localmap.load(tmp_path / "model.localmap")
    assert (read.n_neighbors, read.metric, read.n_components) == (10, "euclidean", 2)
    np.testing.assert_array_equal(read.transform(X[:5] + 0.1), expected)


def test_many_further_pairs_are_read_back(tmp_path):
    """2^15 and more of them were written and not read."""
    X = np.random.default_rng(0).normal(size=(33_000, 2))
    model = LocalMAP(random_state=0, n_neighbors=2, n_iters=(1, 0, 0)).fit(X)
    model._fitted = dataclasses.replace(model._fitted, n_further=2**15 + 1)
    model.save(tmp_path / "model.localmap")
    assert localmap.load(tmp_path / "model.localmap")._fitted.n_further == 2**15 + 1


def test_mapped_rows_are_not_read(tmp_path):
    """Damage in them is not seen, by what the documentation says, until they are."""
    X = np.random.default_rng(0).normal(size=(300, 40))
    LocalMAP(random_state=0, n_iters=(5, 5, 5)).fit(X).save(tmp_path / "m.localmap")
    content = (tmp_path / "m.localmap").read_bytes()
    model = localmap.load(tmp_path / "m.localmap", mmap_mode="r")
    Z = model._fitted.space.Z
    assert isinstance(Z, np.memmap)
    place = content.index(np.asarray(Z).tobytes())
    damaged = bytearray(content)
    damaged[place + 5] ^= 1
    (tmp_path / "damaged.localmap").write_bytes(damaged)
    localmap.load(tmp_path / "damaged.localmap", mmap_mode="r")
    with pytest.raises(model_file.ModelFileError, match="Z is damaged"):
        localmap.load(tmp_path / "damaged.localmap")


@pytest.fixture(scope="module")
def in_cells(tmp_path_factory):
    """A model of rows in cells, and its file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("localmap.geometry.rows.EXACT_ROWS", 500)
        X = np.random.default_rng(0).normal(size=(900, 5))
        model = LocalMAP(random_state=0, n_iters=(5, 5, 5)).fit(X)
        path = tmp_path_factory.mktemp("cells") / "m.localmap"
        model.save(path)
        yield model, X, path


def test_new_rows_are_searched_in_the_cells_of_the_fit(in_cells, tmp_path, monkeypatch):
    model, X, path = in_cells
    new = X[:50] + 0.01
    expected = model.transform(new)
    read = localmap.load(path)
    # Made anew the cells would be others.
    monkeypatch.setattr("localmap.geometry.neighbors.group", None)
    np.testing.assert_array_equal(read.transform(new), expected)
    monkeypatch.undo()
    old = tmp_path / "old.localmap"
    cells = ("around", "cells", "lists", "starts")
    forged(path, old, lambda h: [h["arrays"].pop(name) for name in cells])
    monkeypatch.setattr("localmap.geometry.rows.EXACT_ROWS", 500)
    assert localmap.load(old).transform(new).shape == (50, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells.pop("starts"),
        lambda cells: cells.pop("order"),
        lambda cells: cells.update(lists=cells["lists"] + 10_000),
        lambda cells: cells.update(lists=-1 - cells["lists"]),
        lambda cells: cells.update(lists=cells["lists"][1:]),
        lambda cells: cells.update(starts=cells["starts"][::-1].copy()),
        lambda cells: cells.update(starts=cells["starts"] + 1),
        lambda cells: cells.update(cells=cells["cells"][:, :4].copy()),
        lambda cells: cells.update(around=cells["around"][:, :4].copy()),
    ],
)
def test_cells_that_do_not_fit_are_refused(in_cells, tmp_path, monkeypatch, change):
    model, _, _ = in_cells
    out = tmp_path / "m.localmap"
    write = model_file._write

    def changed(file, header, data):
        change(data)
        write(file, header, data)

    monkeypatch.setattr(model_file, "_write", changed)
    model.save(out)
    with pytest.raises(model_file.ModelFileError, match="cells do not fit together"):
        localmap.load(out)
