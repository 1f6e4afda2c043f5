"""Micro-measurements still run: each on a few rows, writing aside."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array, save_npz

from localmap.bench import plan

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").exists():
    pytest.skip("benchmarks are not in this tree", allow_module_level=True)

SMALL = "mixture300x120"


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    machine = importlib.import_module("benchmarks.machine")
    monkeypatch.setattr(machine, "RESULTS", tmp_path)
    return tmp_path


def ran(name, *arguments):
    module = importlib.import_module(f"benchmarks.{name}")
    try:
        module.main([str(argument) for argument in arguments])
    except SystemExit as done:
        assert not done.code, done.code  # noqa: PT017 - how a command ends


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cores", [SMALL]),
        ("limits", [SMALL]),
        ("memory", [SMALL]),
        ("neighbors", ["mixture1100x20", "--rounds", 1, "--threads", 1]),
        ("newsgroups", [SMALL, "--seeds", 1]),
        ("oracle", [SMALL, "--seeds", 2]),
        ("optimizer", [SMALL, "--rounds", 1]),
        ("rate", [3000, "--rounds", 2]),
        ("reproducible", [SMALL]),
        ("settings", [SMALL, "--seeds", 1]),
        ("silhouette", [SMALL, "--rounds", 1]),
    ],
)
def test_a_measurement_is_made_and_kept(name, arguments, results):
    if name == "memory" and not Path("/proc/self/clear_refs").exists():
        pytest.skip("sets the high-water mark of memory back, which only Linux can")
    ran(name, *arguments)
    kept = json.loads((results / f"{name}.json").read_text())
    assert kept["rows"]
    assert "localmap" in kept["machine"]["packages"]
    text = (results / f"{name}.md").read_text()
    assert f"`python -m benchmarks.{name}`" in text
    assert "nan" not in text


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")  # umap: of one seed, one thread
class TestCells:
    """Each part of the measurements of cells, on a few of them."""

    @pytest.fixture
    def kang(self, results, monkeypatch, tmp_path):
        pytest.importorskip("scanpy", reason="needs the extra anndata")
        from generated_cells import kang_file

        kang_file(tmp_path / "kang_counts.npz", n=300)
        with np.load(tmp_path / "kang_counts.npz") as archive:
            parts = {name: archive[name] for name in ("y", "label_names", "stim")}
        X = np.random.default_rng(0).normal(size=(300, 60)).astype(np.float32)
        np.savez(tmp_path / "kang.npz", X=X, **parts)
        monkeypatch.setenv("LOCALMAP_DATA", str(tmp_path))
        return results

    def test_quality(self, kang):
        methods = ["tl.localmap", "tl.pacmap"]
        ran("cells", "--parts", "quality", "--methods", *methods)
        rows = json.loads((kang / "cells.json").read_text())["rows"]
        assert len(rows) == 6
        plain, mixed = rows[0], rows[2]
        assert plain["mixing"] < 0.2 < mixed["mixing"]
        assert plain["silhouette"] > 0.3
        text = (kang / "cells.md").read_text()
        assert "| recipe, no batches | tl.localmap |" in text

    def test_time(self, kang, monkeypatch):
        cells = importlib.import_module("benchmarks.cells")
        monkeypatch.setattr(cells, "COMPILED_BY", 300)
        ran("cells", "--parts", "time", "--rounds", 1, "--generated", 320)
        rows = json.loads((kang / "cells.json").read_text())["rows"]
        assert {row["method"] for row in rows} == {
            "tl.localmap",
            "sc.pp.neighbors + sc.tl.umap",
        }
        assert all(seconds > 0 for row in rows for seconds in row["seconds"])

    def test_memory(self, kang):
        ran("cells", "--parts", "memory", "--rows", 400, "--genes", 120)
        rows = json.loads((kang / "cells.json").read_text())["rows"]
        assert len(rows) == 3
        assert all(0.05 < row["peak_gb"] < 5 for row in rows)
        assert "backed, raw counts: recipe in blocks" in rows[1]["method"]
        assert rows[0]["data"].startswith("400 x 120, ")


def test_trust_is_measured_part_by_part(results):
    small = ["--draws", 4, "--rows", 60, "--seeds", 2, "--datasets", SMALL]
    for part in ("edges", "groups", "typical", "cost", "clouds", "pictures"):
        ran("trust", part, *small)
    kept = json.loads((results / "trust.json").read_text())["rows"]
    parts = {row["method"] for row in kept}
    assert parts == {"edges", "groups", "typical", "cost", "clouds"}
    text = (results / "trust.md").read_text()
    assert "nan" not in text
    assert text.count("## ") == 5
    assert (results / "trust.png").exists()


def test_unusual_input(results, monkeypatch, tmp_path):
    monkeypatch.setenv("LOCALMAP_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    words = random_array((200, 1500), density=0.02, format="csr", rng=rng)
    save_npz(tmp_path / "words.npz", words)
    with np.load(tmp_path / "words.npz") as archive:
        parts = dict(archive) | {"y": np.arange(200) % 3}
    np.savez(tmp_path / "words.npz", **parts)
    ran("inputs", SMALL, tmp_path / "words.npz")
    rescaled, sparse = json.loads((results / "inputs.json").read_text())["rows"]
    assert rescaled["same"] == 1.0
    assert sparse["home"]


def test_readers_are_compared(results):
    ran("readers", "--out", results / "readers.md")
    assert re.search(r"\| localmap \S+ \| \d+ \| 0 \| 0 \| \d+ \| 0 \|",
                     (results / "readers.md").read_text())  # fmt: skip


def test_digests_tell_a_changed_map(results, monkeypatch):
    digests = importlib.import_module("benchmarks.digests")
    made = iter("abababac")
    monkeypatch.setattr(digests, "digest", lambda _: next(made))
    monkeypatch.setattr(digests, "maps", lambda _: [("x", int), ("y", int)] * 2)
    ran("digests", SMALL)
    with pytest.raises(AssertionError, match=f"changed: {SMALL}, y"):
        ran("digests", "--check", SMALL)


def test_every_way_of_mapping_has_a_digest(results):
    ran("digests", SMALL)
    assert len(json.loads((results / "digests.json").read_text())) == 9


def test_first_use_times_every_package(results, monkeypatch):
    """Here an environment is this one, and nothing is installed."""
    first_use = importlib.import_module("benchmarks.first_use")

    def here(folder, **_):
        (folder / "bin").mkdir(parents=True)
        python = folder / "bin" / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)

    monkeypatch.setattr(first_use.venv, "create", here)
    run = first_use.subprocess.run
    monkeypatch.setattr(
        first_use.subprocess,
        "run",
        lambda command, **how: "pip" in command or run(command, **how),
    )
    ran("first_use", "--rounds", 1, "--methods", "localmap")
    text = (results / "first_use.md").read_text()
    assert "| localmap |" in text
    assert "| `import localmap` |" in text
    assert "scikit-learn's base class alone take" in text
    timed = {"us: numpy": [1.0, 2.0], "us: import us": [3.5, 2.5]}
    assert first_use.beyond_numpy(timed) == {"us: import us": [2.5, 0.5]}


def test_every_result_has_a_command():
    """The table of docs/benchmarks.md names what is kept, and nothing else."""
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    named = {
        target.split("/")[0].split(".")[0]: command
        for target, command in re.findall(r"\]\(results/(\S+)\)[^|]* \| `(.+?)`", text)
    }
    kept = {path.name.split(".")[0] for path in (ROOT / "docs" / "results").iterdir()}
    assert set(named) == kept
    for name, command in named.items():
        words = command.split()
        if words[0] == "localmap":
            assert words[2] in {*plan.PRESETS, "insights"}
            assert words[-2:] == ["--out", f"docs/results/{name}"]
        else:
            assert words[:2] == ["python", "-m"]
            assert (ROOT / f"{words[2].replace('.', '/')}.py").exists()
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    told = set(re.findall(r"python -m benchmarks\.(\w+)", text))
    no_results = {"__init__", "data", "demo_data", "machine"}
    assert scripts - no_results == told - {"NAME"}
