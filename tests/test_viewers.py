"""The lines of docs/viewers.md run, and show the map they were given."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")

TEXT = (Path(__file__).parent.parent / "docs" / "viewers.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
Y = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)


def run(package):
    pytest.importorskip(
        package, reason=f"{package} is shown only where it is installed"
    )
    block = next(b for b in BLOCKS if package in b)
    names = {
        "Y": Y,
        "y": (Y[:, 0] > 0).astype(int),
        "neighbors": np.argsort(((Y[:, None] - Y[None]) ** 2).sum(axis=2))[:, 1:4],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other people's
        exec(compile(block, "viewers.md", "exec"), names)  # noqa: S102
    return names


def test_embedding_atlas(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    monkeypatch.chdir(tmp_path)
    run("localmap")
    table = pq.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["x", "y", "label", "neighbors"]
    np.testing.assert_array_equal(table["x"].to_numpy(), Y[:, 0])


def test_datamapplot():
    ax = run("datamapplot")["ax"]
    assert ax.figure is not None


def test_jupyter_scatter():
    scatter = run("jscatter")["scatter"]
    assert len(scatter._points) == 200


def test_plotly():
    figure = run("plotly")["figure"]
    assert sum(len(trace.x) for trace in figure.data) == 200
    assert {trace.type for trace in figure.data} == {"scattergl"}


def test_every_line_is_tested():
    assert len(BLOCKS) == 4
