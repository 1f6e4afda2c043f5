"""What a result was measured on, and where results go."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def describe(*packages):
    cpu = "unknown CPU"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if "model name" in line]
        cpu = names[0].split(":")[1].strip() if names else cpu
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in ("localmap", "numpy", *packages)},
    }


def merged(name, rows):
    """Rows of this run and, where it did not measure, of the run before it."""
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text())["rows"] if path.exists() else []
    both = {(row["data"], row["method"]): row for row in (*known, *rows)}
    return list(both.values())


def save(name, title, machine, table, rows):
    """Write docs/results/NAME.json and .md; print the table."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {"machine": machine, "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    versions = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
    where = f"{machine['cores']} cores of {machine['cpu']}, {versions}"
    text = (
        f"# {title}\n\n`python -m benchmarks.{name}`, {machine['date']}, {where}.\n\n"
        f"{table}\n"
    )
    (RESULTS / f"{name}.md").write_text(text)
    print(text)


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
