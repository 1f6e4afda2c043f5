"""Which subcommand it is, and how its errors are told."""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final, NoReturn

# Subcommands, each a module with `add`, its options, and `run`, what it does.
COMMANDS: Final = {
    "demo": "embed data that is at hand, to see a map",
    "embed": "embed a table of your own",
    "transform": "place other rows in the map of a saved model",
    "score": "tell how good a map is",
    "trust": "tell which groups of a map are groups of the data",
    "view": "make a page to explore a map in",
    "bench": "compare methods on data sets",
    "help": "read about a topic: how to read a map, cells, large data, ...",
    "completion": "make your shell complete commands and options",
}


# Options as messages of the library call them, and as they are typed.
TYPED: Final = (
    (r"\bthe options? (\w+) or (\w+)(?= settle)", r"--\1 or --\2"),
    (r"\bthe options? (\w+)\b", r"--\1"),
    (r"\bgive (skip|sep|decimal|encoding)=", r"give --\1 "),
    (r"\bgive skip and header\b", "give --skip and --header"),
    (r"(?<=means missing, )drop\b", "--drop"),
    (r"\bmissing='(mean|zero)'", r"--missing-genes \1"),
    (r"\bgene_symbols\b(?!')", "--gene-symbols"),
    (r"\buse_rep='([^']*)'", r"--use-rep \1"),
    (r"\bsklearn\.impute\.SimpleImputer\b", "--missing median (tables and .npy)"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except KeyboardInterrupt:
        return fail("interrupted; no file is half written", status=130)
    except BrokenPipeError:  # what read our output has ended
        sys.stderr.close()
        return 1
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        return fail(_told(error))


def _run(words: Sequence[str]) -> int:
    arguments = _parser(words).parse_args(words)
    if arguments.version:
        return _tell_version(verbose=arguments.verbose_version)
    if arguments.verbose_version:
        _parser(words).error("--verbose goes with --version")
    if arguments.command is None:
        _parser(words).print_help()
        return 0
    with _warnings_in_one_line():
        import_module(f"localmap.cli.{arguments.command}").run(arguments)
    return 0


def _tell_version(*, verbose: bool) -> int:
    if verbose:
        from localmap.cli.about import lines

        print("\n".join(lines()))
    else:
        from localmap import __version__

        print(f"localmap {__version__}")
    return 0


def _told(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f'{error}; the command needs pip install "localmap[cli]"'
    if isinstance(error, MemoryError):
        return "out of memory; try fewer rows or a machine with more memory"
    told = str(error)
    for called, typed in TYPED:
        told = re.sub(called, typed, told)
    return told or type(error).__name__


def say(line: str) -> None:
    """Tell the person at the terminal; results go to standard output, this does not."""
    print(line, file=sys.stderr)


def fail(message: str, status: int = 2) -> int:
    """Tell what went wrong in one line; return the exit status."""
    say(f"localmap: error: {' '.join(message.split())}")
    return status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(fail(f"{message} (see {self.prog} --help)"))


def full_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of one subcommand, with all its options."""
    parser = _Parser(prog=f"localmap {name}")
    import_module(f"localmap.cli.{name}").add(parser)
    return parser


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser; only the subcommand that is asked for gets its options."""
    parser = _Parser(
        prog="localmap",
        description="Turn tables of numbers into maps whose groups are real.",
    )
    parser.add_argument(
        "--version", action="store_true", help="show the version and exit"
    )
    parser.add_argument(
        "--verbose",
        dest="verbose_version",
        action="store_true",
        help="with --version: also processor, threads, linear algebra and packages",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        own = commands.add_parser(name, help=text)
        if name == asked:
            import_module(f"localmap.cli.{name}").add(own)
    return parser


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"localmap: {message}")
        yield
