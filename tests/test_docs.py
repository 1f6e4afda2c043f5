"""Examples in the documentation run and print what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import localmap

README = Path(__file__).parent.parent / "README.md"
MODULES = [
    m.name
    for m in pkgutil.walk_packages(localmap.__path__, "localmap.")
    if not m.name.endswith(("__main__", "._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_examples_were_run():
    """A package that re-exports names has no examples of its own: modules have."""
    for name in (
        "localmap.estimators.localmap",
        "localmap.metrics.scorecard",
        "localmap.metrics.clusters",
        "localmap.datasets.shapes",
    ):
        assert doctest.testmod(importlib.import_module(name)).attempted, name


def test_readme_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102
