"""The command ``localmap bench``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Any, Final

from localmap import datasets
from localmap.bench import plan, sets
from localmap.bench.methods import METHODS
from localmap.metrics import MEASURES

INSIGHTS: Final = "near pairs between classes, against length and against n"
REPRODUCE: Final = "all of the paper, and a page of it"
PAGES: Final = ("insights", "reproduce")


def add(compare: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = "; ".join(f"{name}: {preset.help}" for name, preset in plan.PRESETS.items())
    about += f"; insights: {INSIGHTS}; reproduce: {REPRODUCE}"
    compare.description = (
        f"Presets. {about}. A run that was killed goes on where it was."
    )
    compare.add_argument(
        "preset", nargs="?", default="quick", choices=(*plan.PRESETS, *PAGES)
    )
    compare.add_argument(
        "--datasets", nargs="+", metavar="SET", help="names, or files of your own"
    )
    compare.add_argument(
        "--labels", metavar="COLUMN", help="the groups, in files of your own"
    )
    compare.add_argument("--methods", nargs="+", metavar="METHOD", choices=METHODS)
    compare.add_argument("--runs", type=int, metavar="N", help="seeds of each")
    compare.add_argument(
        "--once-above",
        type=float,
        default=float("inf"),
        metavar="SECONDS",
        help="what takes longer with the first seed gets no other",
    )
    compare.add_argument("--metrics", nargs="+", metavar="NAME", help="measures")
    compare.add_argument("--out", type=Path, default=Path("bench"), metavar="FOLDER")
    compare.add_argument(
        "--at-best", action="store_true", help="of tuned: the paper's best alone"
    )
    compare.add_argument(
        "--hours", type=float, metavar="H", help="begin no run after so many"
    )
    compare.add_argument(
        "--quick", action="store_true", help="of reproduce: on digits, in minutes"
    )
    compare.add_argument("--time-limit", type=float, default=3600.0, metavar="SECONDS")
    compare.add_argument("--memory-limit", type=float, default=16.0, metavar="GB")
    compare.add_argument(
        "--report-only", action="store_true", help="run nothing; tell what is there"
    )
    compare.add_argument("--quiet", action="store_true", help="show no progress")


def bench(arguments: argparse.Namespace) -> None:
    """Compare methods on data sets, each run in a process of its own."""
    _check_installed("jinja2", "psutil")
    if arguments.preset == "insights":
        _insights(arguments)
        return
    if arguments.preset == "reproduce":
        _reproduce(arguments)
        return
    from localmap.bench import report, run, seeds, worker
    from localmap.bench.crew import Limits

    preset = plan.PRESETS[arguments.preset]
    planned = plan.jobs(
        preset,
        arguments.datasets,
        arguments.methods,
        arguments.runs,
        arguments.labels,
        at_best=arguments.at_best,
    )
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    usual = worker.USUAL if preset.measures is None else preset.measures
    wanted = arguments.metrics or usual
    known = [name for name, measure in MEASURES.items() if not measure.others]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        msg = f"no such measure: {unknown[0]!r}; there are {', '.join(known)}"
        raise ValueError(msg)
    if not arguments.report_only:
        for name in dict.fromkeys(job.dataset for job in planned):
            _fetch(name)
    found: list[dict[str, Any]] = []
    coming = run.run(
        planned,
        out,
        wanted,
        Limits(arguments.time_limit, arguments.memory_limit),
        once_above=arguments.once_above,
        hours=arguments.hours,
        together=preset.tuned,
        rising=preset.rising,
        known_only=arguments.report_only,
        quiet=arguments.quiet,
    )
    try:
        found.extend(coming)
    finally:  # also of a benchmark that is interrupted
        if found:
            title = f"Maps compared: {arguments.preset}"
            report.write(out, seeds.with_agreement(out, found), title)
    failed = sum("failed" in row for row in found)
    page = out / "report.html"
    print(f"{len(found)} runs, {failed} of them failed; wrote {page} and others.")


def _insights(arguments: argparse.Namespace) -> None:
    """Measure and draw the paper's two insights on one set: no comparison of runs."""
    from localmap.bench import insights

    for option in ("methods", "runs", "metrics", "report_only"):
        if getattr(arguments, option):
            told = option.replace("_", "-")
            msg = f"insights takes --datasets, --labels and --out; got --{told}"
            raise ValueError(msg)
    names = arguments.datasets or ["mnist"]
    if len(names) > 1:
        msg = f"insights are those of one set; got {', '.join(names)}"
        raise ValueError(msg)
    _fetch(names[0])
    insights.write(arguments.out, names[0], labels=arguments.labels)
    print(f"Wrote {arguments.out / 'report.md'} and others.")


def _reproduce(arguments: argparse.Namespace) -> None:
    """Run what the paper shows, part by part, and write its page."""
    from localmap.bench import reproduce

    def do(preset: str, options: dict[str, Any]) -> None:
        start = time.perf_counter()
        bench(argparse.Namespace(**vars(arguments) | {"preset": preset} | options))
        print(f"{preset}: {time.perf_counter() - start:.0f} s")

    if arguments.report_only:
        written = reproduce.page(arguments.out)
    else:
        written = reproduce.reproduce(arguments.out, do, quick=arguments.quick)
    print(f"Wrote {' and '.join(map(str, written))}.")


def _check_installed(*packages: str) -> None:
    """Refuse now what would be missed when all runs are done."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            msg = (
                f"bench needs {package}: pip install {package}, or "
                '"localmap[bench]" for it and all methods.'
            )
            raise ValueError(msg) from error


def _fetch(name: str) -> None:
    """See to it that a set is here before the clocks run; refuse what is none."""
    try:
        if sets.fetch(name):
            print(f"Fetched {name}.", file=sys.stderr)
    except datasets.DatasetError as error:
        if name.removesuffix(sets.UNIT) not in datasets.names():
            raise
        print(f"localmap: {error}", file=sys.stderr)  # its runs will tell
