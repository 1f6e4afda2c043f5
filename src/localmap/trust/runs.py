"""Maps of one graph by several seeds, and of some of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.method.embed import lay_out
from localmap.method.parameters import Parameters
from localmap.trust.ground import LEAST_ROWS, Ground, part_of

# Share of the rows in a subsample: half, as Hennig's clusterboot takes them.
SHARE: Final = 0.5

# Stands between the keys of seeds and the draws of rows, so that they are not the same.
ROWS_STAGE: Final = 0x726F7773


@dataclass(frozen=True, eq=False)
class Run:
    """A map, of all rows or of some."""

    Y: kernels.Floats
    seed: int
    rows: NDArray[np.int64] | None = None  # of the data, rising; None: all


def check_runs(runs: int, subsamples: int | None, n: int) -> tuple[int, int]:
    """Return how many runs have all rows, and how many half of them."""
    if runs < 2:
        msg = f"runs must be at least 2: one map has none to agree with; got {runs}."
        raise ValueError(msg)
    half = runs // 2 if subsamples is None else subsamples
    if not 0 <= half < runs:
        msg = (
            f"subsamples must be from 0 to {runs - 1}, below the number of runs: the "
            f"map that is judged has all rows; got {half}."
        )
        raise ValueError(msg)
    if half and int(SHARE * n) < LEAST_ROWS:
        msg = (
            f"A subsample would have {int(SHARE * n)} of {n} rows, too few for groups: "
            f"at least {LEAST_ROWS} are needed. Give subsamples=0."
        )
        raise ValueError(msg)
    return runs - half, half


def seeds(ground: Ground, count: int) -> Iterator[Run]:
    """Lay the graph out with several seeds; the first is the model's own map."""
    for seed in range(count):
        key = (ground.key + seed) % 2**64
        if seed == 0 and ground.Y is not None:
            yield Run(ground.Y, key)
        else:
            yield Run(lay_out(ground.problem, ground.params, key).Y, key)


def halves(ground: Ground, count: int) -> Iterator[Run]:
    """Lay out half of the rows, others in each run."""
    n = len(ground)
    for number in range(count):
        rng = np.random.default_rng([ground.key, ROWS_STAGE, number])
        places = np.sort(rng.choice(n, int(SHARE * n), replace=False))
        params = _start_at(ground, ground.rows(places))
        key = (ground.key + number) % 2**64
        Y = lay_out(part_of(ground, places), params, key).Y
        rows = ground.rows(places)
        rising = np.argsort(rows)
        yield Run(Y[rising], key, rows[rising])


def _start_at(ground: Ground, rows: NDArray[np.int64]) -> Parameters:
    """Return the parameters, with the start of some rows where one was given."""
    init = ground.params.init
    if isinstance(init, str):
        return ground.params
    return replace(ground.params, init=np.asarray(init)[rows])
