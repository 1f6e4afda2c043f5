"""The one exception of this package."""

from __future__ import annotations


class TableError(ValueError):
    """What is wrong with a file, in one line for the person who named it."""
