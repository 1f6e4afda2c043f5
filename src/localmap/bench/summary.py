"""Results as tables: means, spreads, what is best and what is not different from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import ttest_ind_from_stats

from localmap.bench.methods import METHODS
from localmap.bench.paper import printed

# Measures of which less is better.
LESS: Final = ("seconds", "startup", "peak_mb", "splits", "merges")

# Measures of which neither more nor less is better: that depends on the data.
NEUTRAL: Final = ("visible groups", "pieces", "strays")
TITLES: Final = {
    "seconds": "time, s",
    "startup": "time before that, s",
    "peak_mb": "peak memory, MB",
}
DIGITS: Final = {
    "seconds": 2, "startup": 1, "peak_mb": 0, "splits": 1, "merges": 1, "pieces": 1,
    "visible groups": 1,
}  # fmt: skip

# A table with more sets than this has a row for each of them, not a column.
MOST_ACROSS: Final = 10

# Measures of several seeds together: one number, no spread and no test.
AGREEMENT: Final = "agreement of seeds"
INSIDE: Final = "agreement of seeds inside the largest group"
OF_SEVERAL: Final = (AGREEMENT, INSIDE)

# Differences from the best with a larger p-value than this are not called differences.
LEVEL: Final = 0.05


@dataclass(frozen=True)
class Cell:
    """One method on one data set: values of all seeds, or why there are none."""

    values: tuple[float, ...]
    digits: int = 3
    failed: str = ""
    best: bool = False
    close: bool = False
    paper: float | None = None

    def differs_from_paper(self, tolerance: float) -> bool:
        """Whether the mean is not what the paper prints."""
        if self.paper is None or not self.values:
            return False
        return bool(abs(np.mean(self.values) - self.paper) > tolerance)

    @property
    def text(self) -> str:
        """Mean and, of several seeds, spread."""
        if not self.values:
            return "-"
        shown = f"{np.mean(self.values):.{self.digits}f}"
        if len(self.values) > 1:
            shown += f" ± {np.std(self.values, ddof=1):.{self.digits}f}"
        return shown

    @property
    def beside(self) -> str:
        """The paper's number; it prints silhouettes to two places."""
        if self.paper is None:
            return ""
        return f" (paper {self.paper:.{min(self.digits, 2)}f})"


@dataclass(frozen=True)
class Table:
    """One measure: a row a method, a column a data set."""

    measure: str
    datasets: tuple[str, ...]
    rows: dict[str, tuple[Cell, ...]]

    @property
    def title(self) -> str:
        """The measure, in words."""
        return TITLES.get(self.measure, self.measure)

    @property
    def lines(self) -> dict[str, tuple[Cell, ...]]:
        """The cells as they are shown: a line a method, or a set of very many."""
        if len(self.datasets) <= MOST_ACROSS:
            return self.rows
        return {
            dataset: tuple(cells[place] for cells in self.rows.values())
            for place, dataset in enumerate(self.datasets)
        }

    @property
    def head(self) -> tuple[str, ...]:
        """What stands above the columns."""
        return self.datasets if self.lines is self.rows else tuple(self.rows)

    def cells(self) -> Iterator[tuple[str, str, Cell]]:
        """Yield each cell with its method and data set."""
        for title, cells in self.rows.items():
            for dataset, cell in zip(self.datasets, cells, strict=True):
                yield title, dataset, cell

    def of(self, dataset: str) -> Table:
        """Return the column of one data set."""
        place = self.datasets.index(dataset)
        only: dict[str, tuple[Cell, ...]] = {
            title: (cells[place],) for title, cells in self.rows.items()
        }
        return Table(self.measure, (dataset,), only)


def label(row: dict[str, Any]) -> str:
    """Return the method's title, with its parameters if it was given any."""
    title = METHODS[row["method"]].title
    given = ", ".join(f"{k}={v}" for k, v in row["params"].items())
    return f"{title} ({given})" if given else title


def tables(results: Sequence[dict[str, Any]]) -> list[Table]:
    """Return a table for each measure that any run has."""
    made = [name for row in results for name in row.get("measures", {})]
    made += [name for name in TITLES if any(name in row for row in results)]
    if not made:  # every run failed: the first table tells why
        made = ["seconds"]
    return [table(results, measure) for measure in dict.fromkeys(made)]


def _value(row: dict[str, Any], measure: str) -> float | None:
    value = row.get(measure, row.get("measures", {}).get(measure))
    return None if value is None else float(value)


def table(results: Sequence[dict[str, Any]], measure: str) -> Table:
    """Return the table of one measure."""
    datasets = tuple(dict.fromkeys(row["dataset"] for row in results))
    labels = {label(row): row["method"] for row in results}
    rows = {}
    columns = [_column(results, measure, dataset) for dataset in datasets]
    for title in labels:
        rows[title] = tuple(column[title] for column in columns)
    return Table(measure, datasets, rows)


def _column(
    results: Sequence[dict[str, Any]], measure: str, dataset: str
) -> dict[str, Cell]:
    """Return the cells of one data set, the best and those not different marked."""
    found: dict[str, list[float]] = {}
    failed: dict[str, list[str]] = {}
    paper: dict[str, float | None] = {}
    for row in results:
        title = label(row)
        values = found.setdefault(title, [])
        # The paper's times are of maps: no method placed new rows in one.
        by_default = not row["params"] and row.get("task", "map") == "map"
        paper[title] = printed(measure, row["method"], dataset) if by_default else None
        if row["dataset"] != dataset:
            continue
        value = _value(row, measure)
        if value is not None:
            values.append(value)
        elif "failed" in row:
            failed.setdefault(title, []).append(row["failed"])
        else:
            unmeasured = row["unmeasured"] | {"startup": row.get("not_warm", "")}
            why = unmeasured.get(measure) or "not measured"
            failed.setdefault(title, []).append(why)
    if measure in OF_SEVERAL:
        found = {t: [float(np.mean(v))] if v else [] for t, v in found.items()}
    sign = -1.0 if measure in LESS else 1.0
    judged = {} if measure in NEUTRAL else found
    means = {t: sign * float(np.mean(v)) for t, v in judged.items() if v}
    best = max(means, key=lambda t: means[t], default="")
    return {
        title: Cell(
            tuple(values),
            DIGITS.get(measure, 3),
            "; ".join(dict.fromkeys(failed.get(title, []))),
            best=title in means and means[title] == means[best],
            close=title in means
            and means[title] != means[best]
            and not differs(values, found[best]),
            paper=paper[title],
        )
        for title, values in found.items()
    }


def differs(values: Sequence[float], best: Sequence[float]) -> bool:
    """Welch's t-test; with fewer than two seeds of either nothing can be said."""
    if len(values) < 2 or len(best) < 2:
        return True
    if np.ptp(values) == 0 and np.ptp(best) == 0:
        return bool(values[0] != best[0])
    one, other = (
        (np.mean(found), np.std(found, ddof=1), len(found)) for found in (values, best)
    )
    return bool(ttest_ind_from_stats(*one, *other, equal_var=False).pvalue < LEVEL)
