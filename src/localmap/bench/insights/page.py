"""All of it on one page: pictures, tables, and the numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels, metrics
from localmap.bench import report, sets
from localmap.bench.insights import balance, joined, lengths
from localmap.bench.insights.lengths import RULES
from localmap.bench.machine import in_words, today, version_of
from localmap.files.atomic import atomic_file
from localmap.method.embed import Problem, lay_out, prepare
from localmap.method.parameters import Parameters
from localmap.metrics.validation import codes_of

# Rows at which pairs are counted, as far as there are so many; steps in which other
# classes join.
SIZES: Final = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
STEPS: Final = 5
AT: Final = np.array([0.0, 1.0, 2.0, 5.0, 10.0, 20.0])  # lengths of the table


class Data(NamedTuple):
    """Rows with classes."""

    X: Any
    codes: NDArray[np.int64]
    names: tuple[str, ...]


def write(
    out: Path,
    dataset: str = "mnist",
    *,
    labels: str | None = None,
    seed: int = 0,
    sizes: Sequence[int] = SIZES,
) -> list[Path]:
    """Measure and draw the insights on a set with labels; return the files written.

    Parameters
    ----------
    out : Path
        The folder: report.md, results.json and the pictures.
    dataset : str
        A name of `localmap.bench.sets`, or a file.
    labels : str or None
        The column with the groups, in a file.
    seed : int
        Decides all that is random.
    sizes : sequence of int
        Numbers of rows at which pairs between classes are counted; all rows come last.
    """
    data = load(dataset, labels)
    params = Parameters()
    problem = prepare(data.X, params)
    maps = {t: lay_out(problem, params, seed, rule=r).Y for t, r in RULES.items()}
    found = {
        "lengths": _lengths(problem, maps, data.codes),
        "weights": {t: lengths.weight(r, AT).tolist() for t, r in RULES.items()},
        "joined": joined.map_alone(data.X, data.codes, maps, params, seed),
        "balance": _balance(problem, data, params, seed, sizes),
    }
    out.mkdir(parents=True, exist_ok=True)
    files = _drawn(problem, maps, data, found)
    told = known(_told(dataset, data, seed, found))
    files["results.json"] = (json.dumps(told, indent=1) + "\n").encode()
    files["report.md"] = report.filled("insights.md", {"at": AT.tolist(), **told})
    for name, content in files.items():
        with atomic_file(out / name) as aside:
            aside.write_bytes(content)
    return [out / name for name in files]


def known(value: Any) -> Any:
    """Return None for what is no number or beyond all: neither is JSON."""
    if isinstance(value, dict):
        return {name: known(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [known(one) for one in value]
    return value if not isinstance(value, float) or np.isfinite(value) else None


def load(dataset: str, labels: str | None) -> Data:
    """Return rows with at least three classes."""
    X, y = sets.load(dataset, labels=labels)
    if y is None:
        msg = f"insights need the classes of {dataset}: name their column with --labels"
        raise ValueError(msg)
    y = np.asarray(y)
    codes = codes_of(y)
    names = tuple(str(y[np.flatnonzero(codes == c)[0]]) for c in range(codes.max() + 1))
    if len(names) < 3:
        msg = f"insights need at least three classes; {dataset} has {len(names)}"
        raise ValueError(msg)
    return Data(X, codes, names)


def _lengths(
    problem: Problem, maps: dict[str, kernels.Floats], codes: NDArray[np.int64]
) -> dict[str, Any]:
    pairs = lengths.near_pairs(problem)
    crosses = lengths.crossing(pairs, codes)
    by_map = {}
    for title, Y in maps.items():
        length = lengths.lengths(Y, pairs)
        by_map[title] = {
            "silhouette": metrics.silhouette(Y, codes),
            "ranges": lengths.by_length(length, crosses),
            "told apart": lengths.told_apart(length, crosses),
        }
    return {
        "pairs": len(pairs),
        "crossing": float(crosses.mean()),
        "doubted": lengths.doubted(problem, codes),
        "maps": by_map,
    }


def _balance(
    problem: Problem, data: Data, params: Parameters, seed: int, sizes: Sequence[int]
) -> dict[str, Any]:
    n = len(data.codes)
    classes = balance.closest_classes(lengths.near_rows(problem), data.codes)
    given = (data.X, data.codes, classes)
    rows = balance.more_rows(n, [*(s for s in sizes if s < n), n], seed)
    others = balance.more_classes(data.codes, classes, STEPS)
    growths = {
        "other classes join": balance.counts(*given, others, params, seed),
        "more rows of all classes": balance.counts(*given, rows, params, seed),
    }
    return {"classes": [data.names[c] for c in classes], "growths": growths}


def _drawn(
    problem: Problem,
    maps: dict[str, kernels.Floats],
    data: Data,
    found: dict[str, Any],
) -> dict[str, bytes]:
    from localmap.bench.insights import drawings

    pairs = lengths.near_pairs(problem)
    length = {title: lengths.lengths(Y, pairs) for title, Y in maps.items()}
    crosses = lengths.crossing(pairs, data.codes)
    names = np.array(data.names)
    near = lengths.near_rows(problem)
    figures = {
        "pairs.png": drawings.near_pairs(maps, near, names[data.codes]),
        "lengths.png": drawings.crossing_by_length(length, crosses),
        "weight.png": drawings.weights(np.linspace(0.0, 20.0, 401)),
        "joined.png": drawings.alone(maps, found["joined"], data.codes, data.names),
        "balance.png": drawings.balance(found["balance"]["growths"]),
    }
    return {name: report.png(figure) for name, figure in figures.items()}


def _told(dataset: str, data: Data, seed: int, found: dict[str, Any]) -> dict[str, Any]:
    """Return all numbers by name, as the page and the JSON file have them."""
    ranges = found["lengths"]["maps"]
    maps = {
        title: one | {"ranges": [part._asdict() for part in one["ranges"]]}
        for title, one in ranges.items()
    }
    groups = [
        {
            "classes": [data.names[c] for c in group.classes],
            "rows": len(group.rows),
            "seen": {title: seen._asdict() for title, seen in group.seen.items()},
        }
        for group in found["joined"]
    ]
    growths = {
        how: {
            "slopes": {title: balance.slope(counts, title) for title in RULES},
            "counts": [
                one._asdict()
                | {"expected": one.expected, "p": one.p}
                | {"ratios": {title: one.ratio(title) for title in RULES}}
                for one in counts
            ],
        }
        for how, counts in found["balance"]["growths"].items()
    }
    return {
        "dataset": dataset, "rows": len(data.codes), "seed": seed,
        "date": today(), "machine": in_words(), "version": version_of("localmap"),
        "lengths": found["lengths"]
        | {"maps": maps, "doubted": found["lengths"]["doubted"]._asdict()},
        "weights": found["weights"],
        "joined": groups,
        "balance": found["balance"] | {"growths": growths},
    }  # fmt: skip
