"""The page of the command, made from its parsers: what is not there is not told."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive


class CommandPage(Directive):
    """``localmap-command``: a section for each subcommand with all its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        from localmap.cli.main import COMMANDS

        width, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "78"
        try:
            top = nodes.literal_block("", _help_of_the_command(), language="text")
            return [top, *(self._section(n, text) for n, text in COMMANDS.items())]
        finally:
            if width is None:
                del os.environ["COLUMNS"]
            else:
                os.environ["COLUMNS"] = width

    def _section(self, name: str, text: str) -> nodes.section:
        parser = argparse.ArgumentParser(prog=f"localmap {name}")
        import_module(f"localmap.cli.{name}").add(parser)
        section = nodes.section(ids=[f"localmap-{name}"], names=[f"localmap {name}"])
        section += nodes.title("", f"localmap {name}")
        self.state.document.note_explicit_target(section)
        told = parser.description or f"{text[0].upper()}{text[1:]}."
        section += nodes.paragraph("", told)
        usage = parser.format_usage().strip()
        section += nodes.literal_block("", usage, language="text")
        for group in parser._action_groups:  # noqa: SLF001 - argparse tells no other way
            section += _group(parser, group)
        return section


def _help_of_the_command() -> str:
    from localmap.cli.main import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(["--help"])
    return out.getvalue().strip()


def _group(parser: argparse.ArgumentParser, group: Any) -> list[nodes.Node]:
    actions = [a for a in group._group_actions if a.help != argparse.SUPPRESS]  # noqa: SLF001
    if not actions:
        return []
    heading = (
        f"{group.title}: {group.description}" if group.description else group.title
    )
    return [
        nodes.rubric("", heading[0].upper() + heading[1:]),
        nodes.definition_list("", *(_option(parser, action) for action in actions)),
    ]


def _option(parser: argparse.ArgumentParser, action: Any) -> nodes.Node:
    formatter = parser._get_formatter()  # noqa: SLF001
    words = formatter._format_action_invocation(action)  # noqa: SLF001
    told = formatter._expand_help(action) if action.help else ""  # noqa: SLF001
    return nodes.definition_list_item(
        "",
        nodes.term("", "", nodes.literal("", words)),
        nodes.definition("", nodes.paragraph("", told)),
    )


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("localmap-command", CommandPage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
