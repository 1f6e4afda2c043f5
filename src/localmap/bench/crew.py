"""Processes that do the runs, and what each of them may take.

A run has a process of its own, so that it finds what a user finds: nothing loaded,
nothing compiled, nobody's memory. Where only maps are wanted, not times, a process may
go on to the next run of the same method on the same set.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Self

from localmap.bench.machine import resident_mb

LOOK_EVERY: Final = 0.2  # seconds between looks at a process's memory
MOST_KEPT: Final = 6  # processes that wait for their next run

Kind = tuple[str, str]  # data set and method


@dataclass(frozen=True)
class Limits:
    """What a run may take."""

    seconds: float = 3600.0
    gigabytes: float = 16.0


@dataclass
class Worker:
    """A process that does one job after the other; jobs come by its standard input."""

    process: subprocess.Popen[str]
    errors: IO[str]

    @classmethod
    def start(cls) -> Worker:
        """Start a process that waits for jobs."""
        errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "localmap.bench.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
        return cls(process, errors)

    def take(self, job: Path) -> None:
        """Hand it a job."""
        if self.process.stdin is not None:  # a pipe, as `start` asks
            self.process.stdin.write(f"{job}\n")
            self.process.stdin.flush()

    def complaint(self) -> str:
        """Return why it ended, in a line."""
        code = self.process.returncode
        if code is not None and code < 0:
            return f"ended by signal {-code}"
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        return lines[-1][:300] if lines else "said nothing"

    def end(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self.errors.close()


@dataclass
class Crew:
    """The processes at work; with `together` they are kept for runs of their kind."""

    together: bool = False
    kept: dict[Kind, Worker] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Begin with none."""
        return self

    def __exit__(self, *_: object) -> None:
        """End those that wait."""
        for worker in self.kept.values():
            worker.end()
        self.kept.clear()

    def do(self, job: Path, kind: Kind, limits: Limits) -> dict[str, Any]:
        """Have a job done, the result of which the file beside it holds."""
        worker = self.kept.pop(kind, None) or Worker.start()
        well = False
        try:
            found = _watched(worker, job, limits)
            well = worker.process.poll() is None and _done(job).exists()
            return found
        finally:
            if well and self.together:
                self.kept[kind] = worker
                while len(self.kept) > MOST_KEPT:
                    self.kept.pop(next(iter(self.kept))).end()
            else:
                worker.end()


def _done(job: Path) -> Path:
    return job.with_name("done")


def _watched(worker: Worker, job: Path, limits: Limits) -> dict[str, Any]:
    """Wait for a job; stop when its map or its measures take too long or too much."""
    result, process = job.with_name("result.json"), worker.process
    worker.take(job)
    start, mapped = time.monotonic(), False
    while process.poll() is None and not _done(job).exists():
        time.sleep(LOOK_EVERY)
        if result.exists() and not mapped:  # from here on it measures
            start, mapped = time.monotonic(), True
        if time.monotonic() - start > limits.seconds:
            return _stopped(job, result, f"{limits.seconds:g} s", limits)
        if resident_mb(process.pid) / 1024 > limits.gigabytes:
            return _stopped(job, result, f"{limits.gigabytes:g} GB", limits)
    found: dict[str, Any] = {}
    if result.exists():
        found = json.loads(result.read_text())
    if _done(job).exists() and found:
        return found
    reason = worker.complaint()
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
