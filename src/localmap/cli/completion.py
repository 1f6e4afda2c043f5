"""``localmap completion SHELL``: a script that completes commands and options.

It is made from the parsers, so that it knows every option there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from localmap.cli.main import COMMANDS, full_parser

SHELLS: Final = {
    "bash": 'eval "$(localmap completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(localmap completion zsh)" in ~/.zshrc, after compinit',
    "fish": "localmap completion fish > ~/.config/fish/completions/localmap.fish",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Prints a script. To use it: " + "; ".join(
        f"{shell}: {how}" for shell, how in SHELLS.items()
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="yours")


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    made = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    print("\n".join(made()))


@dataclass(frozen=True)
class Option:
    """An option by its names, or an argument without one, and what may follow."""

    flags: tuple[str, ...]
    about: str
    choices: tuple[str, ...]
    takes: bool

    @property
    def plain(self) -> str:
        """Return the help without what quotes would end."""
        return self.about.replace("'", "").replace('"', "").replace(":", ",")


def options(command: str) -> list[Option]:
    """Return what a command takes, in the order of its help."""
    found = []
    for action in full_parser(command)._actions:  # noqa: SLF001 - argparse tells no other way
        words: Any = action.choices or getattr(action, "completed", ())
        about = (action.help or "").replace("%%", "%")
        flags, takes = tuple(action.option_strings), action.nargs != 0
        found.append(Option(flags, about, tuple(map(str, words)), takes))
    return found


def _all() -> dict[str, list[Option]]:
    return {command: options(command) for command in COMMANDS}


def _words(found: list[Option]) -> str:
    """Return what may stand where no option waits for its value."""
    flags = [flag for option in found for flag in option.flags]
    return " ".join([*flags, *(w for o in found if not o.flags for w in o.choices)])


def _values(command: str, found: list[Option]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the cases in which an option waits for its value, and what it may be."""
    for option in found:
        if option.flags and option.takes:
            cases = "|".join(f"'{command} {flag}'" for flag in option.flags)
            yield cases, option.choices


def _bash() -> Iterator[str]:
    yield "_localmap() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" words=""'
    yield '  local before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f"    words='{' '.join(COMMANDS)} --help --version --verbose'"
    yield "  else"
    yield '    case "${COMP_WORDS[1]} $before" in'
    for command, found in _all().items():
        for cases, choices in _values(command, found):
            yield f"      {cases}) words='{' '.join(choices)}' ;;"
        yield f"      '{command} '*) words='{_words(found)}' ;;"
    yield "    esac"
    yield "  fi"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -F _localmap localmap"


def _zsh() -> Iterator[str]:
    yield "_localmap() {"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a commands=("
    yield from (f"      '{name}:{about}'" for name, about in COMMANDS.items())
    yield "    )"
    yield "    _describe command commands"
    yield "    return"
    yield "  fi"
    yield "  local before=$words[CURRENT-1]"
    yield "  local -a offered=()"
    yield '  case "$words[2] $before" in'
    for command, found in _all().items():
        for cases, choices in _values(command, found):
            offered = " ".join(f"'{word}'" for word in choices)
            yield f"    {cases}) offered=({offered}) ;;"
        told = [f"'{f}:{o.plain}'" for o in found for f in o.flags]
        told += [f"'{w}'" for o in found if not o.flags for w in o.choices]
        yield f"    '{command} '*) offered=({' '.join(told)}) ;;"
    yield "  esac"
    yield "  (( $#offered )) && _describe word offered"
    yield "  _files"
    yield "}"
    yield "compdef _localmap localmap"


def _fish() -> Iterator[str]:
    first = "complete -c localmap -n __fish_use_subcommand"
    for name, about in COMMANDS.items():
        yield f"{first} -f -a {name} -d '{about}'"
    yield f"{first} -l version -d 'show the version and exit'"
    for command, found in _all().items():
        inside = f"complete -c localmap -n '__fish_seen_subcommand_from {command}'"
        for option in found:
            choices = f" -a '{' '.join(option.choices)}'" if option.choices else ""
            if not option.flags:
                if choices:
                    yield f"{inside} -f{choices}"
                continue
            names = " ".join(
                f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}"
                for f in option.flags
            )
            value = (" -x" if choices else " -r") if option.takes else ""
            yield f"{inside} {names}{value}{choices} -d '{option.plain}'"
