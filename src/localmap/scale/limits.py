"""How much memory a fit takes, and how much there is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from localmap.method.pairs import EXTRA_CANDIDATES

# Bytes a row that every fit holds: pairs of each kind, forces and Adam's memory of two
# components (235, the optimiser) and, before that, what pairs are chosen by.
HELD: Final = 260

# What Python, its libraries and the blocks that are worked on take, at least.
AT_LEAST: Final = 600e6

# Share of what is free that a fit may take without being told.
SHARE: Final = 0.8


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
    if not hasattr(os, "sysconf"):
        return float("inf")  # nobody tells: `memory_limit` may
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
