"""What the site says is there: every public name, and what it tells of the command."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
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
