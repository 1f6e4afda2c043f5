"""``localmap help TOPIC``: pages of the site, in the terminal."""

from __future__ import annotations

import argparse
import pydoc
import re
import sys
from importlib.resources import files
from typing import Any

from localmap.cli.main import COMMANDS, full_parser


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "topic",
        nargs="?",
        metavar="TOPIC",
        help="a page or a command; without it, all there are",
    ).completed = names()  # type: ignore[attr-defined]


def names() -> list[str]:
    """Return pages and commands."""
    return [*sorted(_pages()), *COMMANDS]


def run(arguments: argparse.Namespace) -> None:
    """Show a page, the options of a command, or what there is."""
    pages, topic = _pages(), arguments.topic
    if topic is None:
        _show(_overview(pages))
    elif topic in pages:
        _show(plain(pages[topic].read_text(encoding="utf-8")))
    elif topic in COMMANDS:
        _show(full_parser(topic).format_help())
    else:
        msg = f"no topic is called {topic!r}; there are {', '.join(names())}"
        raise ValueError(msg)


def _pages() -> dict[str, Any]:
    folder = files("localmap.cli") / "topics"
    return {
        page.name.removesuffix(".md"): page
        for page in (folder.iterdir() if folder.is_dir() else ())
        if page.name.endswith(".md")
    }


def _overview(pages: dict[str, Any]) -> str:
    titles = {
        name: page.read_text(encoding="utf-8").lstrip("# ").partition("\n")[0]
        for name, page in sorted(pages.items())
    }
    lines = ["localmap help TOPIC shows a page:", ""]
    lines += [f"  {name:<14} {title}" for name, title in titles.items()]
    lines += ["", "or the options of a command:", ""]
    return "\n".join([*lines, *(f"  {n:<14} {t}" for n, t in COMMANDS.items())])


def _show(text: str) -> None:
    """Page by page for a person, as it is for a program."""
    if sys.stdout.isatty():
        pydoc.pager(text)
    else:
        print(text)


def plain(markdown: str) -> str:
    """Return Markdown as a terminal shows it: no pictures, links by their words.

    Examples
    --------
    >>> plain("See [scale](scale.md) and `fit`.")
    'See scale and `fit`.'
    """
    lines, code = [], False
    for line in markdown.splitlines():
        if line.startswith("```"):
            code = not code
        elif code:
            lines.append(f"    {line}")
        elif not re.match(r"\s*(!\[|:::|\(.+\)=$|<!--)", line):
            lines.append(_without_links(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _without_links(line: str) -> str:
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"\{\w+\}(?=`)", "", line).replace("**", "")
