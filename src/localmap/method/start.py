"""Step 5: where the points start."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.geometry.space import Space
from localmap.kernels import Floats

# Spread of the start along its widest axis. The first steps of Adam are one unit
# long, so any start much smaller than that is equally small.
START_SPREAD: Final = 1e-2

# Axes for which the data has no component start as noise, this much of the spread:
# points on a line would never leave it.
NOISE: Final = 1e-2

# Steps of the start in one spread. Rounding errors of the principal components, which
# depend on the unit of the data, would grow to other maps; on a grid they vanish.
GRID: Final = 2.0**13


def initialize(
    space: Space,
    init: str | NDArray[Any],
    n_components: int,
    key: int,
    n_threads: int = 1,
) -> Floats:
    """Return the start: principal components, noise, or the array as given."""
    if not isinstance(init, str):
        start = (
            np.asarray(init) if space.order is None else np.asarray(init)[space.order]
        )
        return np.array(start, dtype=np.float32, order="C")
    shape = (len(space), n_components)
    noise = np.random.default_rng(key).standard_normal(shape)
    if init == "random":
        return (START_SPREAD * noise).astype(np.float32)
    Y = NOISE * noise
    scores = space.principal(n_components, n_threads)
    spread = scores.std(axis=0)
    used = spread > spread[0] * np.finfo(np.float32).eps
    Y[:, : len(spread)][:, used] = scores[:, used] / spread[0]
    return (START_SPREAD * np.round(Y * GRID) / GRID).astype(np.float32)
