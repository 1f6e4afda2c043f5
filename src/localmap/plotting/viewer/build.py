"""One HTML file of a template, a style, a script and the data."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

from localmap.plotting.viewer.pack import Blocks

# In the order in which they are put together: each uses only names of those before it.
SCRIPTS: Final = (
    "decode", "space", "view", "columns", "csv", "webgl", "flat", "overlay",
    "legend", "selection", "card", "film", "picture", "pointer",
    "explorer", "panel", "main",
)  # fmt: skip


def build(blocks: Blocks, meta: int) -> str:
    """Return the page; `meta` is the block that describes all others."""
    script, style = page_script(), _source("page.css")
    # The policy comes first and allows nothing but this script, this style and images
    # that the page holds itself: no network, no script from anywhere else.
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = "\n".join(
        f'<script type="text/plain" id="block-{number}">{text}</script>'
        for number, text in enumerate(blocks.texts)
    )
    parts = {
        "policy": policy, "style": style, "script": script, "data": data,
        "meta": str(meta),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], _source("page.html"))


@cache
def page_script() -> str:
    """Return the script of the page: its modules, put together into one."""
    return "\n".join(_as_part(_source(f"{name}.mjs")) for name in SCRIPTS)


def _as_part(module: str) -> str:
    """Drop imports and exports: in one script every name is at hand."""
    text = re.sub(r"^import [^;]*;\n", "", module, flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


@cache
def _source(name: str) -> str:
    return (files(__package__) / "script" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
