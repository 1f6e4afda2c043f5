"""The whole paper by one command: what is run, then the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localmap.bench import sections
from localmap.bench.chapters import CHAPTERS

OURS: Final = ["localmap", "localmap-10", "pacmap"]
AUTHORS: Final = ["authors-localmap", "authors-pacmap"]


@dataclass(frozen=True)
class Step:
    """A preset of the comparison, the folder it fills, and its options."""

    preset: str
    folder: str
    quick: dict[str, Any]  # options of a run in minutes
    whole: dict[str, Any]


# Quick is all of it on digits, ten minutes on two cores; the whole takes days.
STEPS: Final = (
    Step("insights", "insights", {"datasets": ["digits"]}, {}),
    Step("paper", "bench", {"datasets": ["digits"], "runs": 1}, {"once_above": 60.0}),
    Step("ablation", "ablation", {"datasets": ["digits"], "runs": 1}, {}),
    Step(
        "init",
        "init",
        {"datasets": ["digits"], "runs": 2, "methods": OURS + AUTHORS},
        {},
    ),
    Step("tuned", "tuned", {"datasets": ["digits"], "at_best": True}, {}),
    Step(
        "scale",
        "scale",
        {
            "datasets": ["mixture1000", "mixture10000", "mixture30000"],
            "methods": ["localmap", *AUTHORS],
        },
        {"time_limit": 600.0},
    ),
    Step(
        "speed",
        "speed",
        {"datasets": ["mixture100000"], "methods": ["localmap", "pacmap"]},
        {"datasets": ["covtype", "mixture1000000"], "methods": ["localmap", "pacmap"]},
    ),
)


def reproduce(
    out: Path, do: Callable[[str, dict[str, Any]], None], *, quick: bool
) -> list[Path]:
    """Run every step by `do` (preset, options), then write the page.

    Runs stay under ``results`` in the folder: what is there is not done again.
    """
    for step in STEPS:
        options = step.quick if quick else step.whole
        do(step.preset, {"out": out / "results" / step.folder, **options})
    return page(out)


def page(out: Path) -> list[Path]:
    """Write the page of the results that are there."""
    return sections.write(out, [chapter(out / "results") for chapter in CHAPTERS])
