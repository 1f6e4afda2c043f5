"""What a reader of a report must not miss, line by line under headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from localmap.bench.methods import METHODS
from localmap.bench.paper import TOLERANCE
from localmap.bench.seeds import moving
from localmap.bench.sets import is_one_piece
from localmap.bench.summary import INSIDE, OF_SEVERAL, Table

Notes = dict[str, list[str]]

# More of these than PaCMAP shows of the same data is told: a map that tears.
TORN: Final = {"pieces": 0.3, "strays": 0.003}


def notes_of(found: Sequence[Table]) -> Notes:
    """Return what is to be told of the tables."""
    notes = {
        **{
            f"{measure}: more than {most} from the paper's": list(
                _differences(found, measure, most)
            )
            for measure, most in TOLERANCE.items()
        },
        f"One piece torn: by {TORN['pieces']} pieces or {TORN['strays']:.1%} strays "
        "more than by PaCMAP": list(_torn(found)),
        "Cuts that move with the seed: parts that are no groups": list(_moving(found)),
        "Cells without a number": list(_failures(found)),
    }
    return {heading: lines for heading, lines in notes.items() if lines}


def _differences(found: Sequence[Table], measure: str, most: float) -> Iterator[str]:
    for table in found:
        if table.measure != measure:
            continue
        for title, dataset, cell in table.cells():
            if cell.differs_from_paper(most):
                yield (
                    f"{table.title} of {title} on {dataset}: {cell.text} here, "
                    f"{cell.paper:.2f} in the paper"
                )


def _torn(found: Sequence[Table]) -> Iterator[str]:
    for table in found:
        usual = table.rows.get(METHODS["pacmap"].title)
        if table.measure not in TORN or usual is None:
            continue
        of_pacmap = dict(zip(table.datasets, usual, strict=True))
        for title, dataset, cell in table.cells():
            other = of_pacmap[dataset]
            if not (is_one_piece(dataset) and cell.values and other.values):
                continue
            more = np.mean(cell.values) - np.mean(other.values)
            if more > TORN[table.measure] + 1e-9:
                yield (
                    f"{table.title} of {title} on {dataset}: {cell.text}, of PaCMAP "
                    f"{other.text}"
                )


def _moving(found: Sequence[Table]) -> Iterator[str]:
    for table in found:
        if table.measure == INSIDE:
            for title, dataset, cell in table.cells():
                said = moving(title, dataset, cell.values)
                if said is not None:
                    yield said


def _failures(found: Sequence[Table]) -> Iterator[str]:
    """Yield why each empty cell is empty, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for table in found:
        for title, dataset, cell in table.cells():
            if cell.values and not cell.failed:
                continue
            reason = cell.failed or "not run"
            if table.measure in OF_SEVERAL and not cell.failed:
                continue  # one seed, or no maps kept: nothing failed
            if cell.values:
                reason += " (with some seeds)"
            sets = reasons.setdefault((title, reason), [])
            if dataset not in sets:
                sets.append(dataset)
    for (title, reason), sets in reasons.items():
        yield f"{title} on {', '.join(sets)}: {reason}"
