"""How much memory a fit takes, and how much there is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from localmap.method.pairs import EXTRA_CANDIDATES

UNITS: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BINARY: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

# Bytes a row that every fit holds: pairs of each kind, forces and Adam's memory of two
# components (172, the optimiser) and, before that, what pairs are chosen by.
HELD: Final = 260

# What Python, its libraries and the blocks that are worked on take, at least.
AT_LEAST: Final = 600e6

# Share of what is free that a fit may take without being told.
SHARE: Final = 0.8


def bytes_of(limit: Any) -> float:
    """Turn "4GB", "512 MiB" or a number of bytes into bytes."""
    rule = 'memory_limit must be a size such as "4GB" or a number of bytes'
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(I?)B?\s*", limit.upper())
        if found is not None and re.fullmatch(r"\d+(\.\d*)?|\.\d+", found[1]):
            units = BINARY if found[3] else UNITS
            if found[2] in units:
                size = float(found[1]) * units[found[2]]
                if size > 0:
                    return size
    elif isinstance(limit, (int, float)) and not isinstance(limit, bool) and limit > 0:
        return float(limit)
    msg = f"{rule}; got {limit!r}."
    raise ValueError(msg)


def free_memory() -> float:
    """Return the bytes that this machine, or the container it is, has free."""
    free = _available()
    for used, most in (
        ("memory.current", "memory.max"),
        ("memory/memory.usage_in_bytes", "memory/memory.limit_in_bytes"),
    ):
        limit, usage = (_number(Path("/sys/fs/cgroup") / name) for name in (most, used))
        if limit is not None and usage is not None:
            free = min(free, max(0.0, limit - usage))
    return SHARE * free


def _available() -> float:
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
    except OSError:
        pass  # no Linux: what the machine has in all
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such limit, or "max"
        return None


def needed(n: int, d: int, n_neighbors: int) -> float:
    """Return the bytes that a fit in memory takes beside its input.

    Rows of `d` numbers, once more as they are searched, the neighbours with their
    distances; after that what every fit holds.
    """
    searched = 8 * d + 8 * (n_neighbors + EXTRA_CANDIDATES) + 24
    return AT_LEAST + n * max(searched, 4 * d + HELD)


def least(n: int) -> float:
    """Return the bytes that a fit takes with all that can be in files."""
    return AT_LEAST + n * float(HELD)
