"""What a model consists of: from arrays and settings to a fitted map, if they fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from localmap.geometry.cells import Cells
from localmap.geometry.distances import PRECOMPUTED
from localmap.geometry.precomputed import DistancesOnly
from localmap.geometry.preprocessing import Preprocessing
from localmap.geometry.rows import RowSpace
from localmap.geometry.scaling import ColumnScaling
from localmap.kernels import Weights
from localmap.method.adjust import AMONG, Rule, Trust
from localmap.method.out_of_sample import FittedMap
from localmap.method.parameters import FLOAT32_RANGE, Parameters

# What a fit learns beside the arrays, and of which type it is.
LEARNED: Final[dict[str, type | tuple[type, ...]]] = {
    "n_neighbors_": int,
    "neighbor_recall_": (int, float),
    "n_iter_": int,
    "far_distance_": (int, float),
    "n_features_in_": int,
    "proximal_distance_": (int, float),
    "near_strength_": (int, float),
    "counts_sum_": (int, float),  # of cells: their counts were brought to this sum
}


Estimator = TypeVar("Estimator")


class ModelFileError(ValueError):
    """A file that is not a whole, sound model."""


def assembled(
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    kinds: Mapping[str, Callable[..., Estimator]],
) -> tuple[Estimator, dict[str, Any], FittedMap]:
    """Return an estimator of its kind, what it learned, and the map; or refuse."""
    if header["kind"] not in kinds:
        msg = f"it holds a {header['kind']!r}, which is not one of {', '.join(kinds)}."
        raise ModelFileError(msg)
    params = dict(header["params"])
    if params["init"] == "init":
        params["init"] = arrays["init"]
    params["n_iters"] = tuple(params["n_iters"])
    Parameters(**{k: v for k, v in params.items() if k != "random_state"})
    learned: dict[str, Any] = {}
    for name, value in header["learned"].items():
        if not isinstance(value, LEARNED[name]) or isinstance(value, bool):
            msg = f"{name} is {value!r}."
            raise ModelFileError(msg)
        learned[name] = value
    learned["stage_seconds_"] = {
        str(k): float(v) for k, v in header["stage_seconds"].items()
    }
    if header["feature_names"] is not None:
        names = np.array([str(name) for name in header["feature_names"]], dtype=object)
        learned["feature_names_in_"] = names
    n = len(arrays["Y"])
    D = learned["n_features_in_"]
    if "filled" in arrays:
        learned["filled_"] = arrays["filled"]
    space = _space(params["metric"], float(header["unit"]), arrays, D)
    rule, reach = _rule(header["rule"]), float(header["reach"])
    weights = [float(weight) for weight in header["weights"]]
    learning_rate = float(header["learning_rate"])
    consistent = (
        len(space) == n
        and arrays["Y"].shape == (n, params["n_components"])
        and arrays["scales"].shape == (n,)
        and 1 <= int(header["n_neighbors"]) <= int(header["n_candidates"]) <= n
        and 0 <= int(header["n_further"]) < n
        and (arrays["scales"] > 0).all()
        and 0 < reach < math.inf
        and len(weights) == len(Weights._fields)
        and all(0 <= weight <= FLOAT32_RANGE[1] for weight in weights)
        and FLOAT32_RANGE[0] <= learning_rate <= FLOAT32_RANGE[1]
        and len(learned.get("feature_names_in_", range(D))) == D
        and len(learned.get("filled_", range(D))) == D
        and 0 < learned.get("counts_sum_", 1) < math.inf
    )
    if not consistent:
        msg = "its parts do not fit together."
        raise ModelFileError(msg)
    fitted = FittedMap(
        space,
        arrays["scales"],
        arrays["Y"],
        n_neighbors=int(header["n_neighbors"]),
        n_candidates=int(header["n_candidates"]),
        n_further=int(header["n_further"]),
        weights=Weights(*weights),
        rule=rule,
        trust=_trust(header["among"], arrays, n, int(header["n_candidates"])),
        reach=reach,
        far=float(learned["far_distance_"]),
        learning_rate=learning_rate,
        key=int(header["key"]) % 2**64,
    )
    return kinds[header["kind"]](**params), learned, fitted


def _rule(given: dict[str, Any]) -> Rule:
    """Return the rule of a fit, if it is one."""
    rule = Rule(**given)
    positive = (rule.reach, rule.redraw_every)
    sound = (
        0 <= rule.locality <= 1
        and all(x is None or 0 < x < math.inf for x in positive)
        and (rule.strength is None or 0 <= rule.strength < math.inf)
        and isinstance(rule.redraw_every, int | None)
        and isinstance(rule.trust, bool)
    )
    if not sound:
        msg = f"its rule makes no sense: {given}."
        raise ModelFileError(msg)
    return rule


def _trust(
    among: int | None, arrays: dict[str, NDArray[Any]], n: int, n_candidates: int
) -> Trust | None:
    """Return what trust is measured by, if its parts fit together."""
    parts = [arrays[name] for name in ("usual", "sizes") if name in arrays]
    if among is None and not parts:
        return None
    fit = len(parts) == 2 and all(part.shape == (n,) for part in parts)
    if among is None or not fit or not 1 <= int(among) <= min(n_candidates, AMONG):
        msg = "what it trusts does not fit together."
        raise ModelFileError(msg)
    return Trust(int(among), *parts)


def _space(
    metric: str, unit: float, arrays: dict[str, NDArray[Any]], D: int
) -> RowSpace | DistancesOnly:
    """Return what is known of the training rows, if its parts fit together."""
    if not 0 < unit < math.inf:
        msg = f"its unit is {unit}."
        raise ModelFileError(msg)
    if metric == PRECOMPUTED:
        return DistancesOnly(D, unit)
    Z, centre = arrays["Z"], arrays["centre"]
    components = arrays.get("components")
    shape = (D, D) if components is None else components.shape
    if len(centre) != D or shape != (D, Z.shape[1]):
        msg = "its columns do not fit together."
        raise ModelFileError(msg)
    scaling = _scaling(arrays, D)
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(len(Z))):
        msg = "it names rows that are not there, or twice."
        raise ModelFileError(msg)
    preprocessing = Preprocessing(metric, centre, unit, components, scaling)
    return RowSpace(preprocessing, Z, order, _cells(arrays, Z))


def _cells(arrays: dict[str, NDArray[Any]], Z: NDArray[Any]) -> Cells | None:
    """Return the cells in whose order the rows stand, if they were kept."""
    names = ("around", "cells", "lists", "starts")
    if not any(name in arrays for name in names):
        return None
    n, d = Z.shape
    sound = all(name in arrays for name in (*names, "order"))
    if sound:
        around, cells, lists, starts = (arrays[name] for name in names)
        sound = (
            around.shape[1] == cells.shape[1] == d
            and len(lists) == len(around)
            and 0 <= lists.min() <= lists.max() < len(cells)
            and len(starts) == len(cells) + 1
            and starts[0] == 0
            and starts[-1] == n
            and bool((np.diff(starts) >= 0).all())
        )
    if not sound:
        msg = "its cells do not fit together."
        raise ModelFileError(msg)
    return Cells.of(arrays).as_arranged()


def _scaling(arrays: dict[str, NDArray[Any]], D: int) -> ColumnScaling | None:
    """Return how columns were scaled, if they were."""
    spread = arrays.get("spread")
    if spread is None:
        return None
    if len(spread) != D or spread.min() <= 0:
        msg = "the scales of its columns do not fit together."
        raise ModelFileError(msg)
    return ColumnScaling(spread)
