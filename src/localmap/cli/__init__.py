"""The command ``localmap``: one file a subcommand.

Nothing heavy is imported before the arguments are known to be right.
"""

from localmap.cli.main import main

__all__ = ["main"]
