"""Do the runs, one process after the other, and keep what comes out as it comes.

A folder holds ``results.jsonl``, a line a run, and ``maps/``. A run that is in it is
not done again: a benchmark that was killed goes on where it was. What was stopped by a
limit is tried again when it may take more.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from tqdm.auto import tqdm

from localmap.bench.machine import in_words, resident_mb, today
from localmap.bench.methods import METHODS
from localmap.bench.plan import Job

LOOK_EVERY: Final = 0.2  # seconds between looks at a process's memory


@dataclass(frozen=True)
class Limits:
    """What a run may take."""

    seconds: float = 3600.0
    gigabytes: float = 16.0


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
    known_only: bool = False,
    quiet: bool = False,
) -> Iterator[dict[str, Any]]:
    """Do what is not done yet; yield the results of all runs that were planned.

    What is not random, took more than `once_above` seconds with the first seed, or
    failed with it while there is such a bound, is not done with the others. With
    `known_only` nothing is done, and what is there is yielded.
    """
    (folder / "maps").mkdir(parents=True, exist_ok=True)
    known = {
        row["name"]: row
        for row in results(folder)
        if known_only or _is_whole(row, set(measures), limits)
    }
    with tqdm(planned, disable=quiet, unit="run") as bar:
        for job in bar:
            bar.set_description(f"{job.dataset}, {METHODS[job.method].title}")
            first = known.get(replace(job, seed=0).name, {"seconds": 0.0})
            slow = first.get("seconds", math.inf) > once_above
            if job.seed and (slow or not METHODS[job.method].random):
                continue
            if job.name not in known:
                if known_only:
                    continue
                row = run_one(job, folder, measures, limits)
                known[job.name] = row
                _append(folder / "results.jsonl", row)
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


def run_one(
    job: Job, folder: Path, measures: Sequence[str], limits: Limits
) -> dict[str, Any]:
    """Do one run in a process of its own; return its result, or why there is none."""
    method = METHODS[job.method]
    row: dict[str, Any] = {
        "name": job.name,
        **asdict(job),
        "version": method.version,
        "machine": in_words(),
        "date": today(),
    }
    if method.version is None:
        return row | {"failed": f"{method.package} is not installed"}
    task = asdict(job) | {
        "measures": list(measures),
        "parent": os.getpid(),
        "map": str(folder / "maps" / f"{job.name}.npz"),
    }
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "job.json"
        task["result"] = str(Path(place) / "result.json")
        path.write_text(json.dumps(task))
        return row | _watched(path, Path(place), limits)


def _watched(job: Path, place: Path, limits: Limits) -> dict[str, Any]:
    """Run a worker; end it when its map or its measures take too long or too much."""
    command = [sys.executable, "-m", "localmap.bench.worker", str(job)]
    result = place / "result.json"
    with (place / "errors").open("w+", errors="replace") as errors:
        process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        start, mapped = time.monotonic(), False
        try:
            while process.poll() is None:
                time.sleep(LOOK_EVERY)
                if result.exists() and not mapped:  # from here on it measures
                    start, mapped = time.monotonic(), True
                if time.monotonic() - start > limits.seconds:
                    return _stopped(job, result, f"{limits.seconds:g} s", limits)
                if resident_mb(process.pid) / 1024 > limits.gigabytes:
                    return _stopped(job, result, f"{limits.gigabytes:g} GB", limits)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        errors.seek(0)
        complaint = errors.read().strip().splitlines()
    found: dict[str, Any] = {}
    if result.exists():
        found = json.loads(result.read_text())
    if process.returncode == 0 and found:
        return found
    if process.returncode < 0:
        reason = f"ended by signal {-process.returncode}"
    else:
        reason = complaint[-1][:300] if complaint else "said nothing"
    return _unmeasured(job, found, reason) if found else {"failed": reason}


def _stopped(job: Path, result: Path, limit: str, limits: Limits) -> dict[str, Any]:
    reason = f"took more than {limit}"
    if result.exists():
        return _unmeasured(job, json.loads(result.read_text()), reason)
    return {"failed": reason, "allowed": asdict(limits)}


def _unmeasured(job: Path, found: dict[str, Any], reason: str) -> dict[str, Any]:
    """Return a map's result whose last measures are not there."""
    for name in json.loads(job.read_text())["measures"]:
        if name not in found["measures"] and name not in found["unmeasured"]:
            found["unmeasured"][name] = reason
    return found
