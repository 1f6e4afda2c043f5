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
    m.name for m in pkgutil.iter_modules(localmap.__path__) if m.name != "__main__"
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"localmap.{name}")
    assert doctest.testmod(module).failed == 0


def test_some_examples_were_run():
    assert sum(
        doctest.testmod(importlib.import_module(f"localmap.{n}")).attempted
        for n in ("estimator", "metrics")
    )


def test_readme_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102
