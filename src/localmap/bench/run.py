"""Do the runs, one process after the other, and keep what comes out as it comes.

A folder holds ``results.jsonl``, a line a run, and ``maps/``. A run that is in it is
not done again: a benchmark that was killed goes on where it was. What was stopped by a
limit is tried again when it may take more.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from tqdm.auto import tqdm

from localmap.bench.crew import Crew, Limits
from localmap.bench.machine import in_words, today
from localmap.bench.methods import METHODS
from localmap.bench.plan import Job

# What a run in a process that others ran in before it cannot tell of itself.
OF_A_PROCESS: Final = ("seconds", "startup", "not_warm", "peak_mb", "loaded_mb")


def results(folder: Path) -> list[dict[str, Any]]:
    """Return what is known; a line that was cut off is as if it had never been."""
    path = folder / "results.jsonl"
    if not path.exists():
        return []
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def run(
    planned: Sequence[Job],
    folder: Path,
    measures: Sequence[str],
    limits: Limits,
    *,
    once_above: float = math.inf,
    hours: float | None = None,
    together: bool = False,
    rising: bool = False,
    known_only: bool = False,
    quiet: bool = False,
) -> Iterator[dict[str, Any]]:
    """Do what is not done yet; yield the results of all runs that were planned.

    What is not random, took more than `once_above` seconds with the first seed, or
    failed with it while there is such a bound, is not done with the others. After so
    many `hours`, if given, no run begins. With `together` a method's runs on one set
    share a process, which compiles and loads but once; no times are told then. Where
    sets are `rising`, what was stopped by a limit on one is not tried on a larger one.
    With `known_only` nothing is done, and what is there is yielded.
    """
    end = math.inf if hours is None else time.monotonic() + 3600 * hours
    (folder / "maps").mkdir(parents=True, exist_ok=True)
    known = {
        row["name"]: row
        for row in results(folder)
        if known_only or _is_whole(row, set(measures), limits)
    }
    stopped: dict[str, dict[str, Any]] = {}  # methods, and how
    with Crew(together=together) as crew, tqdm(planned, disable=quiet) as bar:
        for job in bar:
            bar.set_description(f"{job.dataset}, {METHODS[job.method].title}")
            first = known.get(replace(job, seed=0).name, {"seconds": 0.0})
            slow = first.get("seconds", math.inf) > once_above
            if job.seed and (slow or not METHODS[job.method].random):
                continue
            if job.name not in known:
                if known_only or time.monotonic() > end:
                    continue
                hopeless = stopped.get(job.method) if rising else None
                if hopeless is None:
                    row = run_one(job, folder, measures, limits, crew)
                else:
                    row = told_of(job) | hopeless
                known[job.name] = row
                _append(folder / "results.jsonl", row)
            if "allowed" in known[job.name]:
                stopped[job.method] = _as_on(known[job.name])
            yield known[job.name]


def _is_whole(row: dict[str, Any], measures: set[str], limits: Limits) -> bool:
    """Tell whether a run need not be done again: what failed may work now."""
    method = METHODS.get(row["method"])
    if method is None or row["version"] != method.version:
        return False
    if "failed" not in row:
        return measures <= {*row["measures"], *row["unmeasured"]}
    allowed = Limits(**row.get("allowed", {"seconds": 0.0, "gigabytes": 0.0}))
    return limits.seconds <= allowed.seconds and limits.gigabytes <= allowed.gigabytes


def _append(path: Path, row: dict[str, Any]) -> None:
    # A line that was cut off by a kill gets its end, so that the next one is whole.
    cut = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    with path.open("a") as file:
        if cut:
            file.write("\n")
        file.write(json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def told_of(job: Job) -> dict[str, Any]:
    """Return what is known of a run before it is done."""
    return {
        "name": job.name,
        **asdict(job),
        "version": METHODS[job.method].version,
        "machine": in_words(),
        "date": today(),
    }


def _as_on(row: dict[str, Any]) -> dict[str, Any]:
    """Say of a larger set what stopped a method on this one."""
    reason = row["failed"]
    if not reason.startswith("as on"):
        reason = f"as on {row['dataset']}: {reason}"
    return {"failed": reason, "allowed": row["allowed"]}


def run_one(
    job: Job, folder: Path, measures: Sequence[str], limits: Limits, crew: Crew
) -> dict[str, Any]:
    """Let a process do one run; return its result, or why there is none."""
    row = told_of(job)
    if row["version"] is None:
        package = METHODS[job.method].package
        return row | {"failed": f"{package} is not installed"}
    task = asdict(job) | {
        "measures": list(measures),
        "map": str(folder / "maps" / f"{job.name}.npz"),
    }
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "job.json"
        path.write_text(json.dumps(task))
        found = row | crew.do(path, (job.dataset, job.method), limits)
    if crew.together:
        return {key: found[key] for key in found if key not in OF_A_PROCESS}
    return found
