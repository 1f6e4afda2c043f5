"""Our numbers beside the paper's, table by table; why they differ, as data."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Final

from localmap.bench import paper, tuning
from localmap.bench.methods import COMPARED, METHODS
from localmap.bench.sections import Sheet

Rows = Sequence[dict[str, Any]]

SETS: Final = ("digits", *paper.SETS[:6])
SHOWN: Final = (*COMPARED, "localmap-10", "pacmap")

# Seconds that a run of a table may take without that being why it is missing.
LONG: Final = 1800

ELSEWHERE: Final = (
    "Seurat, Human Cortex and CBMC are not on this machine: the command takes their "
    "files. Digits is not in the paper."
)

# Why a method's numbers are not the paper's. What was not looked into says so.
REASONS: Final = {
    "hnne": "version 2, younger than the paper; version 1 is near it (variants)",
    "phate": "version 2 here; of COIL20 and 20NG version 1.0.11 has the paper's",
    "tsne": "not found out; the authors' script runs scikit-learn's, here openTSNE",
    "largevis": "another program: torchdr's, not the authors'",
    "infonc": "not found out; another seed gets the same",
    "umap": "not found out; one seed on all threads, where it is not repeatable",
    "pacmap": "the start, which here does not depend on units of the data",
    "localmap-10": "the start, which here does not depend on units of the data",
    "localmap": "the default measures its distance instead of the paper's 10",
}
WHEN_TUNED: Final = {
    "phate": "not found out; version 2 here, the paper's is older",
    "umap usps": "min_dist, misprinted as 10 and read as 0.1; 0 gives the paper's",
    "umap": "not found out; one seed",
}


def _why(method: str, dataset: str, *, tuned: bool) -> str:
    reasons = REASONS | WHEN_TUNED if tuned else REASONS
    default = reasons.get(method, "not found out")
    return reasons.get(f"{method} {dataset}", default)


def mean(
    rows: Rows, measure: str, dataset: str, method: str, params: Any = None
) -> Any:
    """Return the mean over seeds, or None; `params` as they were given."""
    found = [
        float(value)
        for row in rows
        if (row["dataset"], row["method"]) == (dataset, method)
        and row["params"] == (params or {})
        for value in [row.get(measure, row.get("measures", {}).get(measure))]
        if value is not None
    ]
    return statistics.fmean(found) if found else None


def table(rows: Rows, measure: str, digits: int = 2) -> Sheet:
    """Return ours (paper's; difference), a line a method."""
    sets = [name for name in SETS if any(row["dataset"] == name for row in rows)]
    lines = []
    for method in SHOWN:
        cells = []
        for dataset in sets:
            ours = mean(rows, measure, dataset, method)
            printed = paper.printed(measure, method, dataset)
            cells.append(_beside(ours, printed, digits))
        lines.append((METHODS[method].title, *cells))
    return Sheet(("", *sets), tuple(lines))


def _beside(ours: float | None, printed: float | None, digits: int) -> str:
    if ours is None:
        return "-" if printed is None else f"- (paper {printed:.2f})"
    if printed is None:
        return f"{ours:.{digits}f}"
    return f"{ours:.{digits}f} (paper {printed:.2f}; {ours - printed:+.2f})"


def differences(rows: Rows, measure: str, *, tuned: bool = False) -> Sheet:
    """Return what differs by more than the tolerance, with the reason."""
    lines = []
    for method in tuning.NAMES if tuned else SHOWN:
        for dataset in paper.SETS:
            params, printed = {}, paper.printed(measure, method, dataset)
            if tuned:
                params = tuning.named(
                    method, paper.best(measure, method, dataset) or ()
                )
                printed = paper.tuned(measure, method, dataset)
            ours = mean(rows, measure, dataset, method, params)
            if ours is None or printed is None:
                continue
            if abs(ours - printed) > paper.TOLERANCE[measure]:
                why = _why(method, dataset, tuned=tuned)
                title = METHODS[method].title
                lines.append((title, dataset, f"{ours:.3f}", f"{printed:.2f}", why))
    head = ("method", "set", "here", "paper", "why")
    return Sheet(
        head,
        tuple(lines),
        f"{measure}: differences of more than {paper.TOLERANCE[measure]}",
    )


def empty(rows: Rows, measure: str) -> tuple[str, ...]:
    """Say why a cell is empty, each reason once."""
    said: dict[str, list[str]] = {}
    sizes = {row["dataset"]: row["rows"] for row in rows if "rows" in row}
    for method in SHOWN:
        for dataset in SETS:
            if mean(rows, measure, dataset, method) is not None:
                continue
            own = [r for r in rows if (r["dataset"], r["method"]) == (dataset, method)]
            if own:
                why = own[-1].get("failed", "not measured")
            else:
                least = by_rate(rows, method, sizes.get(dataset, 0))
                why = not_run(least) if least > LONG else "not run"
            said.setdefault(f"{METHODS[method].title}: {why}", []).append(dataset)
    return tuple(f"Empty: {why} ({', '.join(sets)})." for why, sets in said.items())


def by_rate(rows: Rows, method: str, n: int) -> float:
    """Return the seconds a method takes for n rows at the least, by its largest run."""
    done = [row for row in rows if row["method"] == method and "seconds" in row]
    last = max(done, key=lambda row: int(row["rows"]), default=None)
    return last["seconds"] / last["rows"] * n if last else 0.0


def not_run(seconds: float) -> str:
    """Say why what takes so long was not run."""
    return f"not run, {seconds:.0f} s or more by its rate on fewer rows"


def at_best(rows: Rows, measure: str, default: Rows) -> Sheet:
    """Return the rivals with the paper's best parameters, beside our default."""
    lines = []
    for method in tuning.NAMES:
        cells = []
        for dataset in SETS:
            values = paper.best(measure, method, tuning.LIKE.get(dataset, dataset))
            if values is None:
                cells.append("-")
                continue
            ours = mean(rows, measure, dataset, method, tuning.named(method, values))
            told = _beside(ours, paper.tuned(measure, method, dataset), 2)
            cells.append(f"{told} at {', '.join(f'{v:g}' for v in values)}")
        lines.append((f"tuned {METHODS[method].title}", *cells))
    cells = [
        _beside(
            mean(default, measure, dataset, "localmap"),
            paper.printed(measure, "localmap", dataset),
            2,
        )
        for dataset in SETS
    ]
    lines.append(("LocalMAP (ours), default", *cells))
    return Sheet(("", *SETS), tuple(lines), f"{measure}: the paper's best parameters")


def grids(rows: Rows, dataset: str) -> Sheet:
    """Return what was tried of each grid on a set, and the best of it."""
    lines = []
    for method in tuning.METHODS:
        whole = tuning.grid(method)
        own = [
            row
            for row in rows
            if (row["dataset"], row["method"]) == (dataset, method)
            and row["params"] in whole
            and "failed" not in row
        ]
        if own:
            best = [_best(own, measure) for measure in paper.BEST]
            tried = f"{len(own)} of {len(whole)}"
            lines.append((METHODS[method].title, tried, *best))
    head = ("method", "tried", *(f"best {measure}" for measure in paper.BEST))
    return Sheet(head, tuple(lines), f"Grids on {dataset}")


def _best(rows: Rows, measure: str) -> str:
    found = [row for row in rows if measure in row.get("measures", {})]
    if not found:
        return "-"
    row = max(found, key=lambda row: row["measures"][measure])
    given = ", ".join(f"{k}={v}" for k, v in row["params"].items())
    return f"{row['measures'][measure]:.3f} ({given})"


def verdicts(rows: Rows, measure: str, default: Rows) -> Sheet:
    """Tell of every set whether our default is better than the best tuned rival."""
    lines = []
    for dataset in SETS:
        ours = mean(default, measure, dataset, "localmap")
        printed = [
            (value, METHODS[method].title)
            for method in tuning.NAMES
            for value in [paper.tuned(measure, method, dataset)]
            if value is not None
        ]
        here = [
            (row["measures"][measure], METHODS[row["method"]].title)
            for row in rows
            if row["dataset"] == dataset
            and row["method"] in tuning.NAMES
            and measure in row.get("measures", {})
        ]
        told = "-" if ours is None else f"{ours:.3f}"
        line = [dataset, told]
        for best in (max(printed, default=None), max(here, default=None)):
            line += _verdict(ours, best)
        lines.append(tuple(line))
    head = (
        "set", "our default", "best tuned rival, paper", "better?",
        "best tuned rival, run here", "better?",
    )  # fmt: skip
    title = f"{measure}: better than the best tuned rival?"
    return Sheet(head, tuple(lines), title)


def _verdict(ours: float | None, best: tuple[float, str] | None) -> list[str]:
    if best is None:
        return ["none", "-"]
    told = f"{best[0]:.2f} ({best[1]})"
    if ours is None:
        return [told, "-"]
    apart = round(ours, 2) - round(best[0], 2)  # the paper prints two places
    return [told, "equal" if abs(apart) < 0.005 else "yes" if apart > 0 else "no"]
