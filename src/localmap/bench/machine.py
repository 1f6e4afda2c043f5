"""What a result was measured on, and what a process takes of it."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def describe(*packages: str) -> dict[str, Any]:
    """Return date, processor, cores, Python and versions: what a result stands on."""
    return {
        "date": today(),
        "cpu": processor(),
        "cores": cores(),
        "python": platform.python_version(),
        "packages": {
            name: version_of(name) or "not installed"
            for name in ("localmap", "numpy", *packages)
        },
    }


def in_words() -> str:
    """Return the machine in words."""
    return f"{cores()} cores of {processor()}, Python {platform.python_version()}"


def today() -> str:
    """Return the date of a run."""
    return datetime.now(UTC).date().isoformat()


def version_of(package: str) -> str | None:
    """Return the version installed, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or "unknown CPU"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resident_mb(pid: int | None = None) -> float:
    """Return what a process and those it started hold now; 0 if it has ended."""
    import psutil

    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0.0
    held = 0
    for one in family:
        try:
            held += one.memory_info().rss
        except psutil.Error:  # it has just ended
            continue
    return float(held) / 2**20


def peak_mb() -> float:
    """Return the most that this process has held so far.

    psutil knows no peak on Linux, and what getrusage tells there may be that of the
    process that started this one.
    """
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
