"""Checks of a site that was built: links inside it lead somewhere, no name is missing.

``python docs/check.py build/site``
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import localmap


def public_names() -> set[str]:
    """Return every public name: of the package, of the modules it offers."""
    names = {f"localmap.{name}" for name in localmap.__all__}
    for module in localmap._MODULES:  # noqa: SLF001 - the list of what it offers
        found = importlib.import_module(f"localmap.{module}")
        names |= {f"localmap.{module}.{name}" for name in _offered(found)}
    return names


def _offered(module: object) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = inspect.getmembers(module, inspect.isfunction)
    return [
        name
        for name, value in own
        if not name.startswith("_") and value.__module__ == module.__name__
    ]


def members(names: set[str]) -> set[str]:
    """Return the public methods and properties of the classes among `names`."""
    found = set()
    for name in names:
        module, _, last = name.rpartition(".")
        value = getattr(importlib.import_module(module), last)
        if inspect.isclass(value):
            found |= {f"{name}.{member}" for member in _members(value)}
    return found


def _members(cls: type) -> Iterator[str]:
    for name, value in inspect.getmembers(cls):
        code = getattr(value, "fget", None) or getattr(value, "func", None) or value
        own = str(getattr(code, "__module__", "")).startswith("localmap")
        if own and not name.startswith("_") and callable(code):
            yield name


class Links(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take up links and anchors."""
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.add(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> list[str]:
    """Return the links within the site that lead nowhere."""
    pages = {page: Links(page) for page in sorted(site.rglob("*.html"))}
    return [
        f"{page.relative_to(site)}: {target}"
        for page, links in pages.items()
        if "_static" not in page.parts and "_downloads" not in page.parts
        for target in sorted(links.targets)
        if not _leads_somewhere(page, target, pages)
    ]


def _leads_somewhere(page: Path, target: str, pages: dict[Path, Links]) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:  # another site: there is no network to ask
        return True
    place = _place(page, target)
    if not place.exists():
        return False
    fragment = unquote(parts.fragment)
    return not fragment or place not in pages or fragment in pages[place].anchors


def _place(page: Path, target: str) -> Path:
    path = unquote(urlsplit(target).path)
    place = (page.parent / path).resolve() if path else page
    return place / "index.html" if place.is_dir() else place


def unreached(site: Path) -> list[str]:
    """Return the pages that no other page links to."""
    pages = {page: Links(page) for page in sorted(site.rglob("*.html"))}
    reached = {
        _place(page, target)
        for page, links in pages.items()
        for target in links.targets
        if not urlsplit(target).scheme and _place(page, target) != page
    }
    return [
        str(page.relative_to(site))
        for page in pages
        if page not in reached and not {"_static", "_downloads"} & {*page.parts}
    ]


def main(site: Path) -> int:
    """Print what was checked; 1 if anything is wrong."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    names = public_names()
    wanted = names | members(names)
    told = {
        name
        for kind, entries in inventory.data.items()
        if kind.startswith("py:")
        for name in entries
    }
    missing = sorted(wanted - told)
    site = site.resolve()
    broken = broken_links(site)
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages, {len(broken)} broken links inside")
    print(f"{len(wanted) - len(missing)} of {len(wanted)} public names are in the API")
    for page in unreached(site):
        print(f"no page leads to {page}")
    for line in (*broken, *(f"no page tells of {name}" for name in missing)):
        print(line)
    return bool(broken or missing)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
