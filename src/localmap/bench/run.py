"""Do the runs, one process after the other, and keep what comes out as it comes.

A folder holds ``results.jsonl``, a line a run, and ``maps/``. A run that is in it is
not done again: a benchmark that was killed goes on where it was. What was stopped by a
limit is tried again when it may take more.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from tqdm.auto import tqdm

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
    quiet: bool = False,
) -> list[dict[str, Any]]:
    """Do what is not done yet; return all results of the runs that were planned.

    What took more than `once_above` seconds with the first seed, or failed, is not
    planned for the others.
    """
    (folder / "maps").mkdir(parents=True, exist_ok=True)
    known = {
        row["name"]: row
        for row in results(folder)
        if _is_whole(row, set(measures), limits)
    }
    done = []
    with tqdm(planned, disable=quiet, unit="run") as bar:
        for job in bar:
            bar.set_description(f"{job.dataset}, {METHODS[job.method].title}")
            first = known.get(replace(job, seed=0).name, {"seconds": 0.0})
            if job.seed and first.get("seconds", math.inf) > once_above:
                continue
            if job.name not in known:
                row = _result(job, folder, measures, limits)
                known[job.name] = row
                _append(folder / "results.jsonl", row)
            done.append(known[job.name])
    return done


def _is_whole(row: dict[str, Any], measures: set[str], limits: Limits) -> bool:
    """Tell whether a run need not be done again: what failed may work now."""
    if row["version"] != METHODS[row["method"]].version:
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


def _result(
    job: Job, folder: Path, measures: Sequence[str], limits: Limits
) -> dict[str, Any]:
    method = METHODS[job.method]
    row: dict[str, Any] = {"name": job.name, **asdict(job), "version": method.version}
    if method.version is None:
        return row | {"failed": f"{method.package} is not installed"}
    task = asdict(job) | {
        "measures": list(measures),
        "map": str(folder / "maps" / f"{job.name}.npz"),
    }
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "job.json"
        task["result"] = str(Path(place) / "result.json")
        path.write_text(json.dumps(task))
        return row | _watched(path, Path(place), limits)


def _watched(job: Path, place: Path, limits: Limits) -> dict[str, Any]:
    """Run a worker; end it when it takes too long or too much."""
    command = [sys.executable, "-m", "localmap.bench.worker", str(job)]
    with (place / "errors").open("w+", errors="replace") as errors:
        process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.DEVNULL, stderr=errors
        )
        start = time.monotonic()
        try:
            while process.poll() is None:
                time.sleep(LOOK_EVERY)
                if time.monotonic() - start > limits.seconds:
                    return _stopped(f"{limits.seconds:g} s", limits)
                if _resident_gb(process.pid) > limits.gigabytes:
                    return _stopped(f"{limits.gigabytes:g} GB", limits)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        errors.seek(0)
        complaint = errors.read().strip().splitlines()
    if process.returncode == 0:
        result: dict[str, Any] = json.loads((place / "result.json").read_text())
        return result
    if process.returncode < 0:
        return {"failed": f"ended by signal {-process.returncode}"}
    return {"failed": complaint[-1][:300] if complaint else "said nothing"}


def _stopped(limit: str, limits: Limits) -> dict[str, Any]:
    return {"failed": f"took more than {limit}", "allowed": asdict(limits)}


def _resident_gb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):  # it has just ended, or no /proc here
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30
