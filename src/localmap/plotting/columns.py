"""What a column says of each point: a group, a number, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.plotting.colors import MAX_NAMED

# A scale runs over all values unless the outermost hundredth takes more than half of
# it: one stray value shall not leave every other point in one colour.
TAIL: Final = 0.005
MOST_FOR_TAILS: Final = 0.5


@dataclass(frozen=True)
class Groups:
    """A group of each point; code -1 is a missing value."""

    names: tuple[str, ...]
    codes: NDArray[np.int32]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Points of no group."""
        return self.codes < 0


@dataclass(frozen=True)
class Scale:
    """A number of each point; NaN is a missing value."""

    values: NDArray[np.float64]
    low: float
    high: float
    date: bool = False  # seconds since 1970

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Points of no number."""
        return np.isnan(self.values)

    @property
    def beyond(self) -> str:
        """Where values lie outside low and high, in matplotlib's words."""
        known = self.values[~self.missing]
        below, above = (known < self.low).any(), (known > self.high).any()
        return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[
            int(below), int(above)
        ]


Column: TypeAlias = Groups | Scale


def map_of(Y: ArrayLike) -> NDArray[np.float64]:
    """Return the first two columns of a map, checked; one column gets a second of 0."""
    values = np.asarray(Y, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        msg = (
            f"a map has one row for each point and at least one column; "
            f"got shape {values.shape}."
        )
        raise ValueError(msg)
    if values.shape[1] == 1:
        return np.column_stack([values, np.zeros(len(values))])
    values = values[:, :2]
    wrong = ~np.isfinite(values).all(axis=1)
    if wrong.any():
        msg = (
            f"a map has finite coordinates; got {wrong.sum():,} rows with NaN or "
            f"infinity, first row {wrong.argmax()}. Leave those rows out."
        )
        raise ValueError(msg)
    return values


def column_of(values: ArrayLike, n: int, name: str = "labels") -> Column:
    """Read a column of `n` values: groups by name, or numbers on a scale.

    Text, truth values and categories are groups, and so are numbers of at most
    `MAX_NAMED` different values. None, NaN, NaT, pandas' NA and masked entries are
    missing.
    """
    given: Any = values
    categories = getattr(getattr(given, "dtype", None), "categories", None)
    array = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)
    if array.shape != (n,):
        msg = (
            f"{name} must hold one value for each of the {n:,} points of the map; "
            f"got shape {array.shape}."
        )
        raise ValueError(msg)
    hidden = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    array = np.asarray(array)
    missing = _missing(array)
    if hidden is not None:
        missing |= hidden
    if categories is not None:
        return _groups(array, missing, [str(c) for c in categories])
    if array.dtype.kind == "M":
        seconds = array.astype("datetime64[s]").astype(np.float64)
        return _scale(seconds, missing, date=True)
    numbers = _numbers(array, missing)
    if numbers is None:
        return _groups(array, missing)
    if _too_long(array, numbers[~missing]):
        return _groups(array, missing)
    if len(np.unique(numbers[~missing])) > MAX_NAMED:
        return _scale(numbers, missing)
    return _groups(array if array.dtype.kind != "O" else numbers, missing)


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind == "M":
        return np.asarray(np.isnat(array))
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=bool)
    # pandas' NA answers neither yes nor no to a comparison, so it is known by its type.
    return np.fromiter(
        (
            v is None or type(v).__name__ in ("NAType", "NaTType") or _is_nan(v)
            for v in array
        ),
        dtype=bool,
        count=len(array),
    )


def _is_nan(value: object) -> bool:
    return isinstance(value, Real) and bool(value != value)  # noqa: PLR0124


def _numbers(
    array: NDArray[Any], missing: NDArray[np.bool_]
) -> NDArray[np.float64] | None:
    """Return the column as numbers, or None if it holds anything else."""
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind != "O" or missing.all():
        return None
    known = array[~missing]
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in known):
        return None
    numbers = np.full(len(array), np.nan)
    numbers[~missing] = known.astype(np.float64)
    return numbers


def _too_long(array: NDArray[Any], known: NDArray[np.float64]) -> bool:
    """Tell integers that a float64 would round: identifiers, which are names."""
    return array.dtype.kind in "iuO" and bool((np.abs(known) >= 2**53).any())


def _scale(
    values: NDArray[np.float64], missing: NDArray[np.bool_], *, date: bool = False
) -> Scale:
    values = np.where(missing, np.nan, values)
    finite = values[np.isfinite(values)]
    low, high = (
        (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    )
    if len(finite):
        inner = np.quantile(finite, [TAIL, 1 - TAIL])
        if 0 < inner[1] - inner[0] < MOST_FOR_TAILS * (high - low):
            low, high = float(inner[0]), float(inner[1])
    return Scale(values, low, high if high > low else low + 1.0, date)


def _groups(
    array: NDArray[Any],
    missing: NDArray[np.bool_],
    order: list[str] | None = None,
) -> Groups:
    """Sort groups as given, else numbers by size and everything else by name."""
    known = array[~missing]
    by_number = order is None and known.dtype.kind in "biuf"
    keys, inverse = np.unique(
        known if by_number else known.astype(str), return_inverse=True
    )
    names = [_number(k) if by_number else str(k) for k in keys]
    if order is None and not by_number:
        order = sorted(names, key=_natural)
    if order is not None:
        places = {name: place for place, name in enumerate(order)}
        inverse = np.array([places[name] for name in names], dtype=int)[inverse]
        names = order
    codes = np.full(len(array), -1, dtype=np.int32)
    codes[~missing] = inverse
    return Groups(tuple(names), codes)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which "cell 2" comes before "cell 10"."""
    parts = re.split(r"(\d{1,18})", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]


def _number(value: Any) -> str:
    """3.0 of a column of floats is group 3."""
    if isinstance(value, np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def scale_text(value: float, column: Scale) -> str:
    """Return the text of a value on a scale: a date, or a short number."""
    if column.date:
        return str(np.datetime64(int(value), "s")).replace("T", " ")
    return f"{value:.6g}"
