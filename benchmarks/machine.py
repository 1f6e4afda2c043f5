"""Where results go, and what they were measured on."""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from localmap.bench.machine import describe

__all__ = ["RESULTS", "describe", "fresh", "merged", "save", "table"]

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def fresh(function, *arguments):
    """Return what a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def table(head, lines):
    """Return a Markdown table; `head` has its cells divided by ``|``."""
    names = head.split("|")
    rows = [names, ["---"] * len(names), *lines]
    return "\n".join(f"| {' | '.join(str(c).strip() for c in row)} |" for row in rows)


def merged(name, rows):
    """Return these rows and, of what they do not measure, those that are kept."""
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text())["rows"] if path.exists() else []
    both = {(row["data"], row["method"]): row for row in (*known, *rows)}
    return list(both.values())


def save(name, title, machine, text, rows):
    """Write docs/results/NAME.json and .md; print the text."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {"machine": machine, "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    versions = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
    where = f"{machine['cores']} cores of {machine['cpu']}, {versions}"
    text = (
        f"# {title}\n\n`python -m benchmarks.{name}`, {machine['date']}, {where}.\n\n"
        f"{text}\n"
    )
    (RESULTS / f"{name}.md").write_text(text)
    print(text)
