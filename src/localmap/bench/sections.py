"""A page in sections: what the paper shows, what is found here, tables and pictures.

Sections are plain data, so that whoever measures something can add one; the forms are
the templates ``paper.md`` and ``paper.html``.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from localmap.bench.report import filled
from localmap.files.atomic import atomic_file

TITLE = "The paper, whole, beside what is found here"


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the first of each line is its name."""

    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture and what it shows."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper."""

    title: str
    paper: str  # what the paper shows or claims
    command: str  # what makes it here
    here: tuple[str, ...] = ()  # what is found, and why it differs
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()


def write(folder: Path, sections: Sequence[Section]) -> list[Path]:
    """Write paper.md and paper.html, which needs no other file."""
    here = folder.resolve()
    seen = {
        picture.path: {
            "link": Path(os.path.relpath(picture.path.resolve(), here)).as_posix(),
            "data": base64.b64encode(picture.path.read_bytes()).decode(),
        }
        for section in sections
        for picture in section.pictures
    }
    page = {"title": TITLE, "sections": sections, "seen": seen}
    written = [folder / "paper.md", folder / "paper.html"]
    for path in written:
        with atomic_file(path) as aside:
            aside.write_bytes(filled(path.name, page))
    return written
