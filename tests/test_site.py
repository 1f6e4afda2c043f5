"""What the site says is there: every public name, and what it tells of the command."""

import inspect
import re
import runpy
from importlib import metadata
from operator import attrgetter
from pathlib import Path

import pytest

import localmap

DOCS = Path(__file__).parent.parent / "docs"
if not DOCS.exists():
    pytest.skip("the site is not in this tree", allow_module_level=True)
check = runpy.run_path(str(DOCS / "check.py"))


def listed():
    """Return the names in the tables of the API pages."""
    pages = "\n".join(page.read_text() for page in DOCS.glob("api/*.md"))
    tables = re.findall(r"^   ~(localmap\.[\w.]+)$", pages, flags=re.MULTILINE)
    data = re.findall(r"^```\{py:data\} (localmap\.[\w.]+)$", pages, re.MULTILINE)
    return [*tables, *data]


def test_every_public_name_is_on_an_api_page():
    """100 %, and each in one place; files of cells are told besides."""
    names = listed()
    assert len(names) == len(set(names))
    more = {name for name in names if name.startswith("localmap.cells.files.")}
    assert check["public_names"]() == set(names) - more


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="there.html#here">x</a><a href="there.html#gone">y</a>'
        '<a href="gone.html">z</a><img src="gone.png"><a href="#top">w</a>'
    )
    (tmp_path / "there.html").write_text('<p id="here">')
    found = {line.split(": ")[1] for line in check["broken_links"](tmp_path)}
    assert found == {"there.html#gone", "gone.html", "gone.png", "#top"}


def rows_of(section):
    """Return (theirs, here) of each line of a table of docs/coming-from.md."""
    text = (DOCS / "coming-from.md").read_text()
    part = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [
        [set(re.findall(r"`(\w+)`", cell)) for cell in line.split("|")[1:3]]
        for line in lines
    ]


def parameters_of(function):
    return set(inspect.signature(function).parameters) - {"self", "kwds", "kwargs"}


@pytest.mark.parametrize(
    ("section", "package", "names", "version"),
    [
        ("umap-learn", "umap", ["UMAP"], "0.5.12"),
        ("pacmap", "pacmap", ["LocalMAP", "PaCMAP"], "0.9.1"),
        ("openTSNE", "openTSNE", ["TSNE"], "1.0.4"),
        ("scanpy", "scanpy", ["tl.umap"], None),
    ],
)
@pytest.mark.filterwarnings("ignore")  # what importing others says
def test_the_tables_name_the_parameters_of_others(section, package, names, version):
    """All of theirs, and none that they do not have."""
    module = pytest.importorskip(package, reason=f"needs {section}")
    theirs = set().union(*(parameters_of(attrgetter(n)(module)) for n in names))
    told = [name for line in rows_of(section) for name in line[0]]
    assert len(told) == len(set(told))
    if version is None:  # any that the extra admits
        assert set(told) - theirs <= {"key_added", "neighbors_key"}
    elif metadata.version(section) == version:
        assert set(told) == theirs


@pytest.mark.parametrize("section", ["umap-learn", "pacmap", "openTSNE", "scanpy"])
def test_the_tables_name_parameters_of_ours(section):
    ours = parameters_of(
        localmap.tl.localmap if section == "scanpy" else localmap.LocalMAP
    )
    lines = rows_of(section)
    assert len(lines) > 10
    assert set().union(*(line[1] for line in lines)) <= ours


def test_pages_that_no_page_leads_to_are_found(tmp_path):
    (tmp_path / "index.html").write_text('<a href="one.html">x</a>')
    (tmp_path / "one.html").write_text('<a href="index.html#top">x</a>')
    (tmp_path / "two.html").write_text('<a href="two.html">x</a>')
    assert check["unreached"](tmp_path) == ["two.html"]
