"""Examples in the documentation run and print what they say."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import localmap

ROOT = Path(__file__).parent.parent
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


# Pages whose blocks need nothing that is not here; the others have tests of their own.
PAGES = ["README.md", "docs/start.md", "docs/reading-a-map.md"]
PAGES += [f"docs/guide/{name}.md" for name in ("inputs", "new-rows", "pictures")]
PAGES += ["docs/guide/reproducibility.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_on_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if not (ROOT / page).exists():
        pytest.skip("the site is not in this tree")
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    names = {}  # a page is read from top to bottom
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # noqa: S102
