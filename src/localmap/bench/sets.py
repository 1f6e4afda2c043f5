"""The data of a comparison, by name: real sets, files, and sets that are generated.

=========================  =====================================================
``usps``, ``mine.npz``     a set of `localmap.datasets`, or a file
``coil20_unit``            its numbers divided by 255: pixels from 0 to 1
``mixture10000``           10,000 rows of 200 Gaussian groups, 50 columns
``mixture10000x100``       the same with 100 columns
``cube5_8000``             8,000 rows of a set of `localmap.datasets.ONE_PIECE`
``gauss5_gap3.5_6000``     `localmap.datasets.two_clouds`: 5 dimensions, 3.5 apart
=========================  =====================================================

Another seed draws other points of the last two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from localmap import datasets
from localmap.datasets import ONE_PIECE, one_piece, two_clouds

UNIT: Final = "_unit"
MIXTURE: Final = re.compile(r"mixture(\d+)(?:x(\d+))?")
PIECE: Final = re.compile(rf"({'|'.join(ONE_PIECE)})_(\d+)")
CLOUDS: Final = re.compile(r"(gauss|cube)(\d+)_gap(\d+(?:\.\d+)?)_(\d+)")


def load(name: str, *, seed: int = 0, labels: str | None = None) -> tuple[Any, Any]:
    """Return X and y, or None for y."""
    make = _generator(name)
    if make is not None:
        return make(seed)
    found = datasets.load(_source(name), labels=labels)
    X = found.X
    if found.name == "covtype":  # columns of many units
        X = X.astype(np.float32)
        X -= X.mean(axis=0)
        X /= X.std(axis=0)
    if name.endswith(UNIT):
        X = X.astype(np.float32) / 255
    return X, found.y


def fetch(name: str) -> bool:
    """See to it that a set is here; tell whether it had to be fetched."""
    source = _source(name)
    here = is_generated(name) or Path(source).exists()
    if here or (source in datasets.names() and datasets.is_here(source)):
        return False
    datasets.load(source)  # says what there is, if there is no such set
    return True


def _source(name: str) -> str:
    return name if Path(name).exists() else name.removesuffix(UNIT)


def is_generated(name: str) -> bool:
    """Tell sets that are drawn at random from real ones."""
    return _generator(name) is not None


def is_one_piece(name: str) -> bool:
    """Tell sets that hang together: what a map divides it invents."""
    return PIECE.fullmatch(name) is not None or name.startswith("mammoth")


def mixture_rows(name: str) -> int | None:
    """Return the rows of a generated mixture of 50 columns; None of another set."""
    found = MIXTURE.fullmatch(name)
    return None if found is None or found[2] else int(found[1])


def gap(name: str) -> tuple[str, int, float] | None:
    """Return kind, dimensions and gap of two clouds; None of another set."""
    found = CLOUDS.fullmatch(name)
    return None if found is None else (found[1], int(found[2]), float(found[3]))


def _generator(name: str) -> Callable[[int], tuple[Any, Any]] | None:
    """Return a function of a seed."""
    if found := MIXTURE.fullmatch(name):
        shape = {"n": int(found[1]), "columns": int(found[2] or 50)}
        return lambda _: mixture(**shape)
    if found := PIECE.fullmatch(name):
        piece, rows = found[1], int(found[2])
        return lambda seed: (one_piece(piece, rows, seed), None)
    if found := CLOUDS.fullmatch(name):
        kind: Any = found[1]
        return partial(two_clouds, kind, int(found[2]), float(found[3]), int(found[4]))
    return None


def mixture(n: int, groups: int = 200, columns: int = 50) -> tuple[Any, Any]:
    """Gaussian groups of different sizes and spreads."""
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((groups, columns), dtype=np.float32)
    spreads = rng.uniform(0.5, 1.5, groups).astype(np.float32)
    y = rng.choice(groups, n, p=rng.dirichlet(np.full(groups, 5.0)))
    X = rng.standard_normal((n, columns), dtype=np.float32)
    X *= spreads[y, None]
    X += centres[y]
    return X, y
