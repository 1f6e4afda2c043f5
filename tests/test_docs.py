"""Examples in the documentation run and print what they say."""

import doctest
import importlib
import pkgutil
import re
import shutil
import subprocess
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


def test_what_stands_beside_the_readme_is_on_the_site():
    page = ROOT / "docs" / "project.md"
    if not page.exists():
        pytest.skip("the site is not in this tree")
    tree = page.read_text().partition("{toctree}")[2].split()
    pages = [page.with_name(f"{name}.md") for name in tree if name.isalpha()]
    included = {
        name
        for text in (path.read_text() for path in pages if path.exists())
        for name in re.findall(r"\{include\} \.\./(\S+)", text)
    }
    assert included == {path.name for path in ROOT.glob("*.md")} - {"README.md"}


def test_pictures_on_pages_are_kept_with_them():
    """What a benchmark drew here, and nobody added, is missing in a clean checkout."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("only a checkout knows which files are kept")
    listed = subprocess.check_output([git, "ls-files", "docs"], cwd=ROOT, text=True)
    kept = {ROOT / name for name in listed.splitlines()}
    shown = {
        (page.parent / picture).resolve()
        for page in kept
        if page.suffix == ".md" and page.exists()
        for picture in re.findall(r"!\[[^]]*\]\(([^):]+)\)", page.read_text())
    }
    assert shown
    assert not shown - kept
