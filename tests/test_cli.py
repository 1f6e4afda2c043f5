"""The command as a person types it."""

import inspect
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

pd = pytest.importorskip("pandas", reason="needs the cli extra")

import localmap  # noqa: E402
from localmap import LocalMAP, cli, files, metrics, plotting  # noqa: E402
from localmap.cli import parameters  # noqa: E402
from localmap.geometry.distances import NAMES  # noqa: E402
from localmap.geometry.scaling import SCALES  # noqa: E402

QUICK = ["--n-iters", "5", "5", "12", "--quiet"]


@pytest.fixture
def table(tmp_path):
    """A CSV with ids, numbers, a label and a column of words."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    frame.insert(0, "id", [f"cell{i}" for i in range(80)])
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame["note"] = "hello"
    path = tmp_path / "in.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return cli.main([str(a) for a in arguments])


def one_line_error(capsys):
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("localmap: error:")]
    assert len(lines) == 1
    assert "Traceback" not in err
    assert out == ""
    return lines[0]


def test_demo_writes_a_table_and_a_picture(tmp_path, capsys):
    assert run("demo", "--out", tmp_path / "new" / "folder", "--quiet") == 0
    out = capsys.readouterr().out
    frame = pd.read_csv(tmp_path / "new" / "folder" / "digits.csv")
    assert list(frame.columns) == ["digit", "localmap_1", "localmap_2"]
    assert len(frame) == 1797
    picture = (tmp_path / "new" / "folder" / "digits.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000
    told = ("1,797 handwritten digits", "neighbors", "optimize", "Silhouette")
    for words in (*told, "digits.png"):
        assert words in out


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_embed_keeps_label_and_id_columns(table, suffix, capsys):
    output = table.with_name(f"out{suffix}")
    assert run("embed", table, "-o", output, "--labels", "kind", *QUICK) == 0
    read = {".csv": pd.read_csv, ".parquet": pd.read_parquet}.get(
        suffix, lambda p: pd.read_csv(p, sep="\t")
    )
    frame = read(output)
    assert list(frame.columns) == ["id", "kind", "localmap_1", "localmap_2"]
    assert frame["id"].tolist() == [f"cell{i}" for i in range(80)]
    out, err = capsys.readouterr()
    assert "left out: `note`" in err
    assert "80 rows, 4 columns of numbers" in err
    assert "header yes, ',' between" in err
    assert "Silhouette" in out


def test_embed_equals_the_estimator(table):
    output = table.with_name("out.npy")
    assert run("embed", table, "-o", output, *QUICK, "--random-state", 5) == 0
    X = pd.read_csv(table)[list("abcd")].to_numpy()
    expected = LocalMAP(n_iters=(5, 5, 12), random_state=5).fit_transform(X)
    np.testing.assert_array_equal(np.load(output), expected)


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".npy", ".npz"])
def test_every_format_is_read_alike(table, suffix):
    frame = pd.read_csv(table)
    numbers = frame[list("abcd")].to_numpy()
    source = table.with_name(f"in2{suffix}")
    if suffix == ".tsv":
        frame.to_csv(source, sep="\t", index=False)
    elif suffix == ".parquet":
        frame.to_parquet(source)
    elif suffix == ".npy":
        np.save(source, numbers)
    else:
        np.savez(source, X=numbers, kind=frame["kind"].to_numpy(dtype="U8"))
    first, second = table.with_name("1.npy"), table.with_name("2.npy")
    assert run("embed", table, "-o", first, *QUICK) == 0
    labels = ["--labels", "kind"] if suffix != ".npy" else []
    assert run("embed", source, "-o", second, *labels, *QUICK) == 0
    kept = ["--id", "kind"] if suffix == ".npz" else []
    assert run("embed", source, "-o", table.with_name("3.csv"), *kept, *QUICK) == 0
    if suffix == ".npz":  # the CSV run embeds "a".."d" as well
        assert pd.read_csv(table.with_name("3.csv")).columns[0] == "kind"
    np.testing.assert_array_equal(np.load(first), np.load(second))


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_embed_draws(table, suffix):
    plot = table.with_name(f"map{suffix}")
    args = ["embed", table, "-o", table.with_name("o.csv"), "--plot", plot, *QUICK]
    assert run(*args, "--labels", "kind") == 0
    assert plot.stat().st_size > 3000


def test_every_parameter_has_an_option(capsys):
    with pytest.raises(SystemExit) as stop:
        run("embed", "--help")
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for name in inspect.signature(LocalMAP).parameters:
        if name not in ("callback", "verbose"):
            assert f"--{name.replace('_', '-')}" in shown


def test_the_options_are_those_of_the_estimator():
    own = {n: p.default for n, p in inspect.signature(LocalMAP).parameters.items()}
    del own["callback"], own["verbose"]
    assert own | {"random_state": 0} == parameters.DEFAULTS
    assert parameters.METRICS == NAMES
    assert parameters.SCALES == SCALES


def test_options_reach_the_estimator(table, monkeypatch):
    seen = {}

    def fit_transform(self, X):
        seen.update(self.get_params())
        self.stage_seconds_, self.n_iter_ = {}, 0
        return np.zeros((len(X), 2), dtype=np.float32)

    monkeypatch.setattr(LocalMAP, "fit_transform", fit_transform)
    start = table.with_name("start.npy")
    np.save(start, np.ones((80, 3)))
    options = {
        "n_components": "3", "n_neighbors": "auto", "mid_near_ratio": "0.7",
        "further_ratio": "1.5", "metric": "cosine", "proximal_distance": "8",
        "near_strength": "3", "locality": "0.5", "init": str(start),
        "learning_rate": "0.5", "pca_components": "none", "random_state": "9",
        "n_jobs": "2", "scale": "robust", "memory_limit": "4GB", "scratch": "aside",
    }  # fmt: skip
    flags = [w for k, v in options.items() for w in (f"--{k.replace('_', '-')}", v)]
    output = table.with_name("o.npy")
    assert run("embed", table, "-o", output, *flags, "--n-iters", 1, 2, 3) == 0
    init = seen.pop("init")
    assert init.shape == (80, 3)
    assert seen == {
        "n_components": 3, "n_neighbors": "auto", "mid_near_ratio": 0.7,
        "further_ratio": 1.5, "metric": "cosine", "proximal_distance": 8.0,
        "near_strength": 3.0, "locality": 0.5, "n_iters": (1, 2, 3),
        "learning_rate": 0.5, "pca_components": None, "random_state": 9, "n_jobs": 2,
        "callback": None, "verbose": True, "scale": "robust",
        "memory_limit": "4GB", "scratch": "aside",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", "-o", "o.csv"], "no such file: nowhere.csv"),
        (["{in}", "-o", "{dir}/o.xyz"], "expected one of .csv, .tsv"),
        (["{in}", "-o", "{dir}/none/o.csv"], "there is no folder"),
        (["{in}.txt", "-o", "{dir}/o.csv"], "no such file"),
        (["{in}", "-o", "{in}"], "it is the input; name another output"),
        (["{in}", "-o", "{dir}/o.csv", "--plot", "{dir}/o.csv"], "expected .png"),
        (["{in}", "-o", "{dir}/o.csv", "--save-model", "{dir}/o.csv"], "two outputs"),
        (["{in}", "-o", "{dir}/o.csv", "--labels", "colour"], "no column 'colour'"),
        (["{in}", "-o", "{dir}/o.csv", "--plot", "{dir}/o.xyz"], "expected .png"),
        (["{in}", "-o", "{dir}/o.csv", "--metric", "l3"], "invalid choice: 'l3'"),
        (["{in}", "-o", "{dir}/o.csv", "--n-neighbors", "0"], "n_neighbors must be"),
        (["{in}", "-o", "{dir}/o.csv", "--n-neighbors", "many"], "--n-neighbors"),
        (["{in}", "-o", "{dir}/o.csv", "--init", "{in}"], "init must have one row"),
        (["{in}", "-o", "{dir}/o.csv", "--colour"], "unrecognized arguments"),
        (["{in}"], "required: -o"),
        (["{dir}", "-o", "{dir}/o.csv"], "is a folder; name a file in it"),
    ],
)
def test_bad_arguments_are_one_clear_line(table, arguments, words, capsys):
    filled = [a.format(**{"in": table, "dir": table.parent}) for a in arguments]
    try:
        status = run("embed", *filled)
    except SystemExit as stop:
        status = stop.code
    assert status != 0
    assert words in one_line_error(capsys)
    assert {p.name for p in table.parent.iterdir()} == {"in.csv"}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "has no rows"),
        (b"name\nx\ny\n", "no numeric column"),
        (b"a,b\n1,2\n3,\n5,6\n", "1 cell is missing, in 1 of 3 rows"),
        (b"a,b\n1,2\n1,2\n", "the same number in every row"),
        (b"a,b\n1,2,3\n1\n1,2,3,4,5\n", "cells, the others"),
        (b"\xff\xfe\x00\x01", "has no rows"),
    ],
)
def test_bad_tables_are_one_clear_line(tmp_path, content, words, capsys):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert run("embed", path, "-o", tmp_path / "o.csv", "--quiet") != 0
    assert words in one_line_error(capsys)
    assert {p.name for p in tmp_path.iterdir()} == {"bad.csv"}


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_damaged_files_are_one_clear_line(tmp_path, suffix, capsys):
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(b"these are not the bytes you are looking for")
    assert run("embed", path, "-o", tmp_path / "o.csv", "--quiet") != 0
    assert "cannot read" in one_line_error(capsys)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_truncated_files_are_one_clear_line(tmp_path, suffix, capsys):
    path = tmp_path / f"cut{suffix}"
    X = np.random.default_rng(0).normal(size=(50, 4))
    if suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez_compressed(path, X=X)
    else:
        pd.DataFrame(X, columns=list("abcd")).to_parquet(path)
    whole = path.read_bytes()
    for share in (0.3, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        assert run("embed", path, "-o", tmp_path / "o.csv", "--quiet") != 0
        assert "cannot read" in one_line_error(capsys)


def test_a_table_without_header_loses_no_row(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.savetxt(tmp_path / "bare.csv", X, delimiter=",")
    pd.DataFrame(X).to_csv(tmp_path / "named.csv", index=False)  # header 0,1,2
    for name in ("bare", "named"):
        out = tmp_path / f"{name}.npy"
        assert run("embed", tmp_path / f"{name}.csv", "-o", out, *QUICK) == 0
        assert np.load(out).shape == (60, 2)


def test_names_of_rows_are_kept(tmp_path):
    rows = [f"cell{i}" for i in range(50)]
    X = np.random.default_rng(0).normal(size=(50, 3))
    lines = [",".join([row, *map(str, x)]) for row, x in zip(rows, X, strict=True)]
    (tmp_path / "r.csv").write_text("a,b,c\n" + "\n".join(lines))  # as R writes
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.Index(rows, name="cell"))
    frame.to_parquet(tmp_path / "p.parquet")
    for name, column in (("r.csv", "row"), ("p.parquet", "cell")):
        out = tmp_path / f"{name}.csv"
        assert run("embed", tmp_path / name, "-o", out, *QUICK) == 0
        kept = pd.read_csv(out)
        assert kept[column].tolist() == rows
        assert list(kept.columns) == [column, "localmap_1", "localmap_2"]


@pytest.mark.parametrize("command", ["demo --out {file}/sub", "demo --out {file}"])
def test_impossible_folders_are_one_clear_line(tmp_path, command, capsys):
    (tmp_path / "file").write_text("x")
    assert run(*command.format(file=tmp_path / "file").split(), "--quiet") != 0
    one_line_error(capsys)


def test_a_pickle_is_never_opened(tmp_path, capsys):
    path = tmp_path / "objects.npy"
    np.save(path, np.array([{"a": 1}, None]), allow_pickle=True)
    assert run("embed", path, "-o", tmp_path / "o.csv", "--quiet") != 0
    assert "cannot read" in one_line_error(capsys)


def test_an_output_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "o.csv"
    path.write_text("old")

    def full_disk(self, aside, **_):
        aside.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full_disk)
    with pytest.raises(files.TableError, match="No space left on device"):
        files.write(path, np.zeros((3, 2), np.float32), pd.DataFrame(index=range(3)))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("default")
def test_small_data_is_warned_about_in_one_line(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(9, 3)))
    assert run("embed", tmp_path / "x.npy", "-o", tmp_path / "o.csv", *QUICK) == 0
    err = capsys.readouterr().err.splitlines()
    assert len([line for line in err if "9 samples cannot give" in line]) == 1


def test_progress_goes_to_stderr_and_the_module_runs(table):
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "localmap",
            "embed",
            table,
            "-o",
            table.with_name("o.tsv"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "450/450" in result.stderr
    assert "450/450" not in result.stdout
    assert result.stdout.startswith("450 iterations in")


def test_ctrl_c_ends_the_command_with_nothing_half_written(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 20))
    np.save(tmp_path / "x.npy", X)
    process = subprocess.Popen(
        [sys.executable, "-m", "localmap", "embed", tmp_path / "x.npy",
         "-o", tmp_path / "o.csv", "--n-iters", "100", "100", "100000"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    shown = ""
    while "local" not in shown:  # phase 3 has begun
        more = os.read(process.stderr.fileno(), 200).decode()
        assert more, f"the command ended early: {shown}"
        shown += more
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=20)[1]
    assert time.monotonic() - start < 5
    assert process.returncode == 130
    assert "interrupted; no file is half written" in rest
    assert [p.name for p in tmp_path.iterdir()] == ["x.npy"]


def test_no_command_prints_help(capsys):
    assert run() == 0
    assert "demo" in capsys.readouterr().out


def test_save_transform_and_score(tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 150)
    X = 6 * np.eye(3)[labels] + rng.normal(size=(150, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=[f"k{x}" for x in labels])
    frame[:120].to_csv(tmp_path / "old.csv", index=False)
    frame[120:].to_csv(tmp_path / "new.csv", index=False)
    model = str(tmp_path / "m.localmap")
    old, new = str(tmp_path / "old.csv"), str(tmp_path / "new.csv")
    out = str(tmp_path / "map.csv")
    fit = ["embed", old, "-o", out, "--labels", "kind", "--save-model", model]
    assert cli.main([*fit, "--quiet"]) == 0
    placed = str(tmp_path / "placed.csv")
    assert cli.main(["transform", model, new, "-o", placed, "--labels", "kind"]) == 0
    assert "Placed 30 rows" in capsys.readouterr().out
    found = pd.read_csv(placed)
    assert list(found.columns) == ["kind", "distance", "localmap_1", "localmap_2"]
    strange = frame[120:].assign(a=1e6)
    strange.to_csv(new, index=False)
    again = ["transform", model, new, "-o", placed, "--labels", "kind"]
    assert cli.main(again) == 2
    assert "it exists; --force replaces it" in capsys.readouterr().err
    assert cli.main([*again, "--force"]) == 0
    assert "30 of them are more than 3 times as far" in capsys.readouterr().out
    frame[["a"]].to_csv(new, index=False)
    assert cli.main(["transform", model, new, "-o", placed, "--force"]) == 2
    assert (
        "lacks 2 of 3 columns of the model: b, c; it has a" in capsys.readouterr().err
    )
    assert cli.main(["transform", old, new, "-o", placed, "--force"]) == 2
    assert "cannot be read as a model" in capsys.readouterr().err

    data = str(tmp_path / "data.csv")
    frame[:120].drop(columns="kind").to_csv(data, index=False)
    more = ["--labels", "kind", "--data", data, "--other", out]
    assert cli.main(["score", out, *more]) == 0
    told = capsys.readouterr().out
    for name in metrics.MEASURES:
        assert name in told
    # The label is no data, and a distance is no axis of the map.
    frame[:120].assign(kind=labels[:120]).to_csv(data, index=False)
    numbered = pd.read_csv(out).assign(kind=labels[:120], distance=range(120))
    numbered.to_csv(out, index=False)
    assert cli.main(["score", out, *more]) == 0
    found = capsys.readouterr()
    assert "in 2 dimensions" in found.err
    assert found.out == told
    # Nor is it data where it was asked for by its number.
    by_number = ["--labels", "1", "--data", data, "--other", out]
    assert cli.main(["score", out, *by_number]) == 0
    assert capsys.readouterr().out == told


def test_score_tells_cuts_that_move(tmp_path, capsys):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(200, 2)) + 30 * (np.arange(200) < 60)[:, None]
    # The larger group cut in two, in another place in each map.
    for name, axis in (("one", 0), ("other", 1)):
        cut = Y + 40 * (Y[:, [axis]] > 0) * (np.arange(200) >= 60)[:, None]
        table = pd.DataFrame(cut, columns=["localmap_1", "localmap_2"])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    one, other = (str(tmp_path / f"{name}.csv") for name in ("one", "other"))
    assert cli.main(["score", one, "--other", one]) == 0
    said = capsys.readouterr()
    assert "agreement inside" in said.out
    assert "not cut alike" not in said.err
    assert cli.main(["score", one, "--other", one, "--other", other]) == 0
    assert "not cut alike" in capsys.readouterr().err
    named = table.assign(id=range(200))
    named.to_csv(tmp_path / "a.csv", index=False)
    named[::-1].to_csv(tmp_path / "b.csv", index=False)
    a, b = (str(tmp_path / name) for name in ("a.csv", "b.csv"))
    assert cli.main(["score", a, "--other", b]) == 2
    assert "id differs in 200 rows, the first of them row 1" in capsys.readouterr().err
    table.iloc[1:].to_csv(tmp_path / "few.csv", index=False)
    assert cli.main(["score", one, "--other", str(tmp_path / "few.csv")]) == 2
    assert "few.csv has 199 rows" in capsys.readouterr().err


class TestWine:
    """Columns of a table that people have: units, names, orders, missing cells."""

    @pytest.fixture(scope="class")
    @classmethod
    def fitted(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("wine")
        frame = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
        frame = frame.sample(frac=1.0, random_state=0, ignore_index=True)
        frame[:120].to_csv(folder / "old.csv", index=False)
        model = folder / "wine.localmap"
        how = ["--labels", "cultivar", "--scale", "standard", "--save-model", model]
        out = ["-o", folder / "map.csv", *how, "--quiet"]
        assert run("embed", folder / "old.csv", *out) == 0
        return model, pd.read_csv(folder / "map.csv"), frame[120:]

    def placed(self, fitted, frame, folder, *more):
        model, _, _ = fitted
        frame.to_csv(folder / "new.csv", index=False)
        how = ["--labels", "cultivar", "--force", *more]
        out = folder / "placed.csv"
        status = run("transform", model, folder / "new.csv", "-o", out, *how)
        return pd.read_csv(out) if status == 0 else None

    def accuracy(self, fitted, placed):
        _, old, _ = fitted
        axes = ["localmap_1", "localmap_2"]
        judge = KNeighborsClassifier(10).fit(old[axes].to_numpy(), old["cultivar"])
        return judge.score(placed[axes].to_numpy(), placed["cultivar"])

    def test_columns_in_another_order_are_matched_by_name(self, fitted, tmp_path):
        new = fitted[2]
        same = self.placed(fitted, new, tmp_path)
        assert self.accuracy(fitted, same) > 0.9
        shuffled = self.placed(fitted, new[new.columns[::-1]], tmp_path)
        pd.testing.assert_frame_equal(shuffled, same)

    def test_a_renamed_or_dropped_column_is_refused(self, fitted, tmp_path, capsys):
        renamed = fitted[2].rename(columns={"ash": "dust"})
        assert self.placed(fitted, renamed, tmp_path) is None
        said = capsys.readouterr().err
        assert "lacks 1 of 13 columns of the model: ash; it has alcohol" in said
        dropped = fitted[2].drop(columns="hue").assign(another=1.5)
        assert self.placed(fitted, dropped, tmp_path) is None
        assert "columns of the model: hue" in capsys.readouterr().err

    def test_columns_left_over_are_reported_and_not_used(
        self, fitted, tmp_path, capsys
    ):
        same = self.placed(fitted, fitted[2], tmp_path)
        capsys.readouterr()
        more = self.placed(fitted, fitted[2].assign(weight=7.5), tmp_path)
        assert "not of the model, not used: weight" in capsys.readouterr().err
        np.testing.assert_array_equal(more["localmap_1"], same["localmap_1"])

    def test_names_that_are_numbers_are_names(self, tmp_path, capsys):
        """A column called 3 that is not there is not the third column."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["3", "5", "7", "9"])
        frame.to_csv(tmp_path / "old.csv", index=False)
        model = tmp_path / "m.localmap"
        args = ["-o", tmp_path / "map.csv", "--save-model", model, "--header", *QUICK]
        assert run("embed", tmp_path / "old.csv", *args) == 0
        frame.rename(columns={"3": "4"}).to_csv(tmp_path / "new.csv", index=False)
        out = ["-o", tmp_path / "o.csv", "--header"]
        assert run("transform", model, tmp_path / "new.csv", *out) == 2
        assert "lacks 1 of 4 columns of the model: 3" in capsys.readouterr().err

    def test_without_names_a_shuffled_table_is_seen_by_its_distances(
        self, tmp_path, capsys
    ):
        X = StandardScaler().fit_transform(load_wine().data)
        X = X[np.random.default_rng(0).permutation(len(X))]
        LocalMAP(random_state=0).fit(X[:120]).save(tmp_path / "m.localmap")
        for name, rows in (("same", X[120:]), ("shuffled", X[120:, ::-1])):
            np.save(tmp_path / f"{name}.npy", rows)
            out = ["-o", tmp_path / f"{name}.csv"]
            model = tmp_path / "m.localmap"
            assert run("transform", model, tmp_path / f"{name}.npy", *out) == 0
            said = capsys.readouterr().err
            assert "knows no names of columns" in said
            assert ("may be of another kind" in said) == (name == "shuffled")

    def test_units_that_decide_are_pointed_out(self, tmp_path, capsys):
        frame = load_wine(as_frame=True).frame
        frame.to_csv(tmp_path / "wine.csv", index=False)
        args = ["embed", tmp_path / "wine.csv", "--labels", "target", *QUICK]
        assert run(*args, "-o", tmp_path / "raw.csv") == 0
        assert "proline of 13 columns make 100% of" in capsys.readouterr().err
        assert run(*args, "-o", tmp_path / "s.csv", "--scale", "standard") == 0
        assert "columns make" not in capsys.readouterr().err

    def test_missing_cells_are_filled_as_in_the_training(self, tmp_path, capsys):
        frame = load_wine(as_frame=True).frame
        frame.to_csv(tmp_path / "old.csv", index=False)
        model = tmp_path / "m.localmap"
        args = ["--labels", "target", "--missing", "median", "--scale", "standard"]
        fit = ["-o", tmp_path / "map.csv", "--save-model", model, *args, *QUICK]
        assert run("embed", tmp_path / "old.csv", *fit) == 0
        gone = frame[:3].copy()
        gone.loc[1, "ash"] = np.nan
        gone.to_csv(tmp_path / "new.csv", index=False)
        out = ["-o", tmp_path / "o.csv", "--labels", "target"]
        assert run("transform", model, tmp_path / "new.csv", *out) == 2
        assert "1 cell is missing" in capsys.readouterr().err
        out += ["--missing", "median"]
        assert run("transform", model, tmp_path / "new.csv", *out) == 0
        said = capsys.readouterr().err
        assert "1 missing cells filled with medians of the training" in said
        filled = frame[:3].copy()
        filled.loc[1, "ash"] = frame["ash"].median()
        data = filled.drop(columns="target")
        expected = localmap.load(model).transform(data)
        found = pd.read_csv(tmp_path / "o.csv")["localmap_1"]
        np.testing.assert_allclose(found, expected[:, 0], rtol=1e-5)


def test_missing_labels_are_no_group(tmp_path, capsys):
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(90) % 3 == 0, None, np.where(np.arange(90) % 2, "a", "b"))
    X = rng.normal(size=(90, 3)) + 9 * (kind == "a")[:, None]
    frame = pd.DataFrame(X, columns=list("xyz")).assign(kind=kind)
    frame.to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "map.csv"
    assert run("embed", tmp_path / "in.csv", "-o", out, "--labels", "kind", *QUICK) == 0
    told = float(
        capsys.readouterr().out.split("in the map: ")[1].rstrip(".\n").split()[0][:-1]
        or 0
    )
    assert run("score", out, "--labels", "kind") == 0
    scored = capsys.readouterr().out.split()[1]
    assert float(told) == pytest.approx(float(scored), abs=6e-4)


def test_large_maps_are_scored_by_a_sample(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("localmap.metrics.scorecard.SILHOUETTE_EXACT", 100)
    monkeypatch.setattr("localmap.metrics.scorecard.SILHOUETTE_SAMPLE", 50)
    X = np.random.default_rng(0).normal(size=(200, 3))
    kind = np.arange(200) % 2
    np.savez(tmp_path / "in.npz", X=X, kind=kind)
    out = ["-o", tmp_path / "o.csv", "--labels", "kind", *QUICK]
    assert run("embed", tmp_path / "in.npz", *out) == 0
    assert "(of a sample of 20,000 points)" in capsys.readouterr().out


def test_standard_input_and_output(table, capsys, monkeypatch):
    content = table.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "localmap", "embed", "-", "-o", "-", *QUICK],
        input=content, capture_output=True, check=True,
    )  # fmt: skip
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "id,localmap_1,localmap_2"
    assert len(lines) == 81
    assert b"iterations" in done.stderr


def test_nothing_appears_unless_all_outputs_do(table, monkeypatch, capsys):
    def no_picture(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("localmap.plotting.save", no_picture)
    out, plot, model = (table.with_name(n) for n in ("o.csv", "o.png", "o.localmap"))
    args = ["-o", out, "--plot", plot, "--save-model", model]
    assert run("embed", table, *args, *QUICK) == 2
    assert "No space left" in one_line_error(capsys)
    assert {p.name for p in table.parent.iterdir()} == {"in.csv"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["demo", "--help"],
        ["help", "cells"],
        ["embed", "--help"],
        ["embed", "x.csv", "--n-neighbors"],
    ],
)
def test_help_and_wrong_arguments_load_nothing_heavy(arguments):
    code = (
        "import sys\nfrom localmap.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_page_a_film_and_a_page_of_a_written_map(table, capsys, monkeypatch):
    html, film, out = (table.with_name(n) for n in ("m.html", "m.gif", "map.csv"))
    args = ["-o", out, "--html", html, "--film", film, "--labels", "kind", *QUICK]
    assert run("embed", table, *args) == 0
    page = html.read_text()
    assert page.startswith("<!doctype html>")
    assert "cell79" not in page  # names of rows are packed, never markup
    assert film.read_bytes().startswith(b"GIF8")
    colors = []
    page_of = plotting.page
    monkeypatch.setattr(
        plotting,
        "page",
        lambda *a, color, **k: colors.append(color) or page_of(*a, **k),
    )
    assert run("view", out, "--labels", "kind") == 0
    assert colors == ["kind"]
    assert "Wrote" in capsys.readouterr().out
    written = out.with_suffix(".html").read_text()
    assert written.startswith("<!doctype html>")
    assert run("view", out) == 2
    assert "it exists" in one_line_error(capsys)
    assert run("embed", table, "-o", table.with_name("x.csv"), "--film", "a.avi") == 2
    assert "expected .gif, .mp4, .html" in one_line_error(capsys)
    one = table.with_name("one.csv")
    pd.DataFrame({"localmap_1": [1.0, 2.0, 4.0]}).to_csv(one, index=False)
    assert run("view", one) == 2
    assert "a page needs two" in one_line_error(capsys)


def test_rows_that_are_left_are_numbered_where_nothing_names_them(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "o.csv"
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(70, 3)).round(3))
    numbers.columns = ["x", "y", "z"]
    numbers.loc[[4, 30], "y"] = np.nan
    numbers.to_csv(path, index=False)
    model = tmp_path / "m.localmap"
    dropped = ["--missing", "drop-rows", "--force"]
    assert run("embed", path, "-o", out, "--save-model", model, *dropped, *QUICK) == 0
    assert "the column row" in capsys.readouterr().err
    left = [i + 1 for i in range(70) if i not in (4, 30)]
    assert pd.read_csv(out)["row"].tolist() == left
    assert run("transform", model, path, "-o", out, *dropped) == 0
    assert pd.read_csv(out)["row"].tolist() == left
    assert run("embed", path, "-o", out, "--missing", "median", "--force", *QUICK) == 0
    assert list(pd.read_csv(out)) == ["localmap_1", "localmap_2"]
    numbers.assign(name=[f"n{i}" for i in range(70)]).to_csv(path, index=False)
    assert run("embed", path, "-o", out, "--id", "name", *dropped, *QUICK) == 0
    assert list(pd.read_csv(out)) == ["name", "localmap_1", "localmap_2"]


@pytest.mark.parametrize(
    ("called", "typed"),
    [
        ("a quote; the option quote settles it", "a quote; --quote settles it"),
        ("the option sep or decimal settles it", "--sep or --decimal settles it"),
        ("take it out, or give skip and header", "or give --skip and --header"),
        ("the option na says that `?` means missing, drop leaves", "g, --drop leaves"),
        ("take missing='mean' (as in", "take --missing-genes mean (as in"),
        ("names? See gene_symbols.", "names? See --gene-symbols."),
        ("where they are: use_rep='X_pca'.", "where they are: --use-rep X_pca."),
        ("example with sklearn.impute.SimpleImputer.", "with --missing median (tab"),
    ],
)
def test_options_are_told_as_they_are_typed(called, typed, capsys, monkeypatch):
    def fails(_):
        raise ValueError(called)

    monkeypatch.setattr(sys.modules["localmap.cli.main"], "_run", fails)
    assert run("embed") == 2
    assert typed in one_line_error(capsys)


def test_quotes_and_escapes_may_be_given(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = [f"|a{i};b|;{i * 7 % 5}.5;{i % 3}.25" for i in range(60)]
    path.write_text("name;x;y\n" + "\n".join(rows))
    args = ["-o", path.with_name("o.csv"), "--id", "name", "--quote", "|", *QUICK]
    assert run("embed", path, *args) == 0
    assert "quotes |" in capsys.readouterr().err
    assert pd.read_csv(path.with_name("o.csv"))["name"][3] == "a3;b"


def test_a_page_of_another_programs_map_says_which_columns_it_is(tmp_path, capsys):
    path = tmp_path / "m.csv"
    numbers = np.random.default_rng(0).normal(size=(40, 3)).round(3)
    pd.DataFrame(numbers, columns=["x", "y", "age"]).to_csv(path, index=False)
    assert run("view", path) == 2
    error = one_line_error(capsys)
    assert "no columns localmap_1 and localmap_2, but 3 columns of numbers" in error
    assert "x, y, age" in error
    assert "--columns" in error
    assert run("view", path, "--columns", "x", "y") == 0
    assert "the map is x and y" in capsys.readouterr().err
    np.save(tmp_path / "a.npy", numbers)
    assert run("view", tmp_path / "a.npy") == 0
    assert "the first two of 3 axes are shown" in capsys.readouterr().err
    np.save(tmp_path / "b.npy", np.tile(numbers, 2))
    assert run("view", tmp_path / "b.npy") == 2
    assert "6 columns of numbers: name the two" in one_line_error(capsys)


class TestSameRows:
    """What goes beside a map must be of the same rows."""

    @pytest.fixture
    def mapped(self, table):
        out = table.with_name("map.csv")
        assert run("embed", table, "-o", out, "--labels", "kind", *QUICK) == 0
        return out

    def test_data_in_another_order_is_refused(self, table, mapped, capsys):
        frame = pd.read_csv(table)
        frame[::-1].to_csv(table, index=False)
        assert run("score", mapped, "--labels", "kind", "--data", table) == 2
        assert "id differs in 80 rows" in capsys.readouterr().err
        frame[1:].to_csv(table, index=False)
        assert run("score", mapped, "--labels", "kind", "--data", table) == 2
        assert "in.csv has 79 rows" in capsys.readouterr().err

    def test_standard_input_is_read_once(self, table, mapped):
        model = table.with_name("m.localmap")
        out = ["-o", table.with_name("again.csv"), "--save-model", str(model), *QUICK]
        assert run("embed", table, "--labels", "kind", *out) == 0
        for command in (
            ["transform", model, "-", "-o", "-", "--labels", "kind"],
            ["score", "-", "--labels", "kind"],
        ):
            content = table if command[0] == "transform" else mapped
            done = subprocess.run(
                [sys.executable, "-m", "localmap", *map(str, command)],
                input=content.read_bytes(), capture_output=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert len(done.stdout.splitlines()) > 5


def test_demo_destroys_nothing(tmp_path, capsys):
    (tmp_path / "digits.csv").write_text("mine")
    assert run("demo", "--out", tmp_path, "--quiet") == 2
    assert "it exists; --force replaces it" in capsys.readouterr().err
    assert (tmp_path / "digits.csv").read_text() == "mine"


def test_a_table_without_names_makes_a_model_without(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 4))
    np.savetxt(tmp_path / "old.csv", X, delimiter=",")
    np.savetxt(tmp_path / "more.csv", np.c_[X[:, :1], X], delimiter=",")
    model = tmp_path / "m.localmap"
    args = ["-o", tmp_path / "map.csv", "--save-model", model, *QUICK]
    assert run("embed", tmp_path / "old.csv", *args) == 0
    assert not hasattr(localmap.load(model), "feature_names_in_")
    assert run("transform", model, tmp_path / "more.csv", "-o", tmp_path / "o.csv") == 2
    assert "5 features" in capsys.readouterr().err
