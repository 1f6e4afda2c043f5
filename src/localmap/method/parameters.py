"""The parameters of a map, checked once and then trusted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from os import PathLike
from typing import Any, Final, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from localmap.geometry.distances import METRICS, NAMES
from localmap.geometry.scaling import SCALES
from localmap.kernels import thread_count
from localmap.method.adjust import Rule, rule_of
from localmap.method.schedule import PHASES

# A number, a unit, and an I for powers of 1024.
SIZE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?(?:([KMGT])(I?))?B?")

# Distances and steps in the map are float32; their squares must be, too.
FLOAT32_RANGE = (1e-15, 1e15)


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """What `embed` needs to know; see `localmap.LocalMAP` for what each one means."""

    n_components: int = 2
    n_neighbors: int | Literal["auto"] = 10
    mid_near_ratio: float = 0.5
    further_ratio: float = 2.0
    metric: str = "euclidean"
    proximal_distance: float | Literal["auto"] = "auto"
    near_strength: float | None = None
    locality: float = 1.0
    scale: str = "none"
    init: str | NDArray[Any] = "pca"
    n_iters: tuple[int, ...] = tuple(phase.n_iters for phase in PHASES)
    learning_rate: float = 1.0
    pca_components: int | None = 100
    n_jobs: int | None = -1
    memory_limit: str | float | None = None
    scratch: str | PathLike[str] | None = None
    callback: Callable[[int, NDArray[np.float32], float], object] | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        _integer("n_components", self.n_components, 1)
        if self.n_neighbors != "auto":
            _integer("n_neighbors", self.n_neighbors, 1, also='or "auto"')
        _number("mid_near_ratio", self.mid_near_ratio, 0.0)
        _number("further_ratio", self.further_ratio, 0.0)
        _metric(self.metric, self.scale)
        if self.proximal_distance != "auto":
            _number(
                "proximal_distance",
                self.proximal_distance,
                *FLOAT32_RANGE,
                also='or "auto"',
            )
        if self.near_strength is not None:
            _number("near_strength", self.near_strength, 0.0, also="or None")
        _number("locality", self.locality, 0.0, 1.0)
        _init(self.init)
        _n_iters(self.n_iters)
        _number("learning_rate", self.learning_rate, *FLOAT32_RANGE)
        if self.pca_components is not None:
            _integer("pca_components", self.pca_components, 1, also="or None")
        _resources(self.n_jobs, self.memory_limit, self.scratch)
        if self.callback is not None and not callable(self.callback):
            _refuse(
                "callback", self.callback, "a function of (iteration, Y, loss) or None"
            )
        if not isinstance(self.verbose, (bool, np.bool_, Integral)):
            _refuse("verbose", self.verbose, "True or False")

    @property
    def rule(self) -> Rule:
        """How the graph is adjusted in the last phase."""
        return rule_of(self.proximal_distance, self.near_strength, self.locality)

    @property
    def most_memory(self) -> float | None:
        """Bytes that `memory_limit` stands for."""
        return None if self.memory_limit is None else size_of(self.memory_limit)

    @cached_property
    def n_threads(self) -> int:
        """Number of threads that `n_jobs` stands for."""
        return thread_count(self.n_jobs)


def size_of(limit: Any) -> float:
    """Turn "4GB", "512 MiB" or a number of bytes into bytes."""
    rule = 'a size such as "4GB", a number of bytes, or None'
    size = 0.0
    if isinstance(limit, str):
        found = SIZE.fullmatch(limit.strip().upper())
        if found is not None:
            number, unit, binary = found.groups()
            power = "KMGT".index(unit) + 1 if unit else 0
            size = float(number) * (1024.0 if binary else 1000.0) ** power
    elif isinstance(limit, Real) and not isinstance(limit, (bool, np.bool_)):
        size = float(limit)
    else:
        _refuse("memory_limit", limit, rule)
    if not 0 < size < math.inf:
        _refuse("memory_limit", limit, rule, ValueError)
    return size


def random_key(random_state: Any) -> int:
    """Turn any usual ``random_state`` into the 64-bit key of all random draws."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not -(2**63) <= int(random_state) < 2**64:
            rule = "an integer of at most 64 bits"
            _refuse("random_state", random_state, rule, ValueError)
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**63, dtype=np.int64))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    rule = "None, an integer, a numpy.random.RandomState or a numpy.random.Generator"
    return _refuse("random_state", random_state, rule)


def _resources(n_jobs: Any, memory_limit: Any, scratch: Any) -> None:
    """Check what a fit may use."""
    if n_jobs is not None:
        _integer("n_jobs", n_jobs, also="or None")
        if n_jobs == 0:
            rule = "a number of threads, or -1 for all cores"
            _refuse("n_jobs", 0, rule, ValueError)
    if memory_limit is not None:
        size_of(memory_limit)
    if not isinstance(scratch, (str, PathLike, type(None))):
        _refuse("scratch", scratch, "the path of a folder, or None")


def _refuse(
    name: str, value: Any, rule: str, error: type[Exception] = TypeError
) -> NoReturn:
    """Say what was given and the rule."""
    given = repr(value)
    if len(given) > 60:
        given = f"{given[:57]}..."
    msg = f"{name} must be {rule}; got {given} ({type(value).__name__})."
    raise error(msg)


def _integer(name: str, value: Any, low: int | None = None, also: str = "") -> None:
    rule = "an integer" if low is None else f"an integer of at least {low}"
    rule = f"{rule} {also}".strip()
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
        _refuse(name, value, rule)
    if low is not None and int(value) < low:
        _refuse(name, value, rule, ValueError)


def _number(
    name: str, value: Any, low: float, high: float = math.inf, also: str = ""
) -> None:
    rule = f"a number from {low:g} to {high:g}"
    if high == math.inf:
        rule = f"a finite number of at least {low:g}"
    rule = f"{rule} {also}".strip()
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        _refuse(name, value, rule)
    if not (math.isfinite(value) and low <= float(value) <= high):
        _refuse(name, value, rule, ValueError)


def _metric(metric: Any, scale: Any) -> None:
    if metric not in NAMES:
        _refuse("metric", metric, f"one of {', '.join(map(repr, NAMES))}")
    if scale not in SCALES:
        _refuse("scale", scale, f"one of {', '.join(map(repr, SCALES))}")
    if scale != "none" and not (metric in METRICS and METRICS[metric].scalable):
        rule = f"'none' with metric={metric!r}, to which scales of columns mean nothing"
        _refuse("scale", scale, rule, ValueError)


def _init(value: Any) -> None:
    rule = '"pca", "random", or an array of shape (n_samples, n_components)'
    if isinstance(value, str):
        if value not in ("pca", "random"):
            _refuse("init", value, rule, ValueError)
    elif not hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        _refuse("init", value, rule)


def _n_iters(value: Any) -> None:
    rule = f"{len(PHASES)} integers of at least 0, the iterations of each phase"
    if not isinstance(value, (tuple, list, np.ndarray)):
        _refuse("n_iters", value, rule)
    if len(value) != len(PHASES):
        _refuse("n_iters", value, rule, ValueError)
    for count in value:
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 0:
            _refuse("n_iters", value, rule, ValueError)
