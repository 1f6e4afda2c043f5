"""Names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first few names and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(map(str, names[:most]))
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown
