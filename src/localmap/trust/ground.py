"""What is judged: rows with their graph, of data or of a fitted model.

Everything random is left to the runs. A model keeps no near pairs (40 bytes a row):
they are found again from the rows that it keeps, so that a model read from a file can
be judged as well.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from localmap import kernels
from localmap.estimators.base import MapEstimator
from localmap.estimators.localmap import LocalMAP
from localmap.geometry.cells import by_row
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.precomputed import GraphSpace, MatrixSpace
from localmap.geometry.rows import RowSpace
from localmap.geometry.space import Space
from localmap.geometry.workshop import Workshop
from localmap.method.embed import Problem, Stopwatch, problem_of, searched
from localmap.method.pairs import EXTRA_CANDIDATES, PairCounts, pair_counts
from localmap.method.parameters import Parameters, random_key

# A visible group has at least 15 points, and one group alone is no group.
LEAST_ROWS: Final = 30


@dataclass(frozen=True, eq=False)
class Ground:
    """Rows, their graph and near pairs; by place, which `order` turns into rows."""

    problem: Problem
    graph: KNNGraph
    params: Parameters
    key: int
    Y: kernels.Floats | None  # the map of a model, by row
    order: kernels.Ints | None  # row at each place; None: the same

    def __len__(self) -> int:
        return len(self.problem.space)

    @property
    def near(self) -> kernels.Ints:
        """Near pairs, by place."""
        near = self.problem.near
        if near is None:
            msg = "The near pairs were given away: lay out with keep=True."
            raise ValueError(msg)
        return near

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values by row of the data, of values by place."""
        return by_row(self.order, values)

    def rows(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of the rows that stand at places."""
        return places if self.order is None else self.order[places]


def ground_of(data: Any, estimator: MapEstimator | None = None) -> Ground:
    """Return what is judged: of a fitted model, or of data under an estimator."""
    if isinstance(data, MapEstimator):
        if estimator is not None:
            msg = "estimator is for data; a fitted model has its own parameters."
            raise ValueError(msg)
        return _of_model(data)
    return _of_data(data, LocalMAP(random_state=0) if estimator is None else estimator)


def parameters_of(model: MapEstimator, settings: dict[str, Any]) -> Parameters:
    """Return the parameters of a model, without what watches a fit."""
    kept = {k: v for k, v in settings.items() if k != "random_state"}
    params = Parameters(**model._fixed, **kept)  # noqa: SLF001
    return replace(params, callback=None, verbose=False)


def _of_data(X: Any, estimator: MapEstimator) -> Ground:
    if not isinstance(estimator, MapEstimator):
        msg = (
            "estimator must be a LocalMAP or PaCMAP with the parameters of the maps; "
            f"got {type(estimator).__name__}."
        )
        raise TypeError(msg)
    model = clone(estimator)
    settings = model.get_params(deep=False)
    params = parameters_of(model, settings)
    checked = model._checked(X, params.metric, reset=True)  # noqa: SLF001
    check_rows(checked.shape[0])
    workshop = Workshop(params.n_threads)
    space, graph, counts = searched(checked, params, Stopwatch(), workshop)
    problem = problem_of(space, graph, counts, params)
    key = random_key(settings["random_state"])
    return Ground(problem, graph, params, key, None, problem.order)


def _of_model(model: MapEstimator) -> Ground:
    check_is_fitted(model)
    fitted = model._fitted  # noqa: SLF001
    space = fitted.space
    if not isinstance(space, RowSpace):
        msg = (
            "A model of given distances keeps none of them, so its near pairs cannot "
            "be found again. Give the distances: "
            'trust.groups(D, estimator=LocalMAP(metric="precomputed")).'
        )
        raise ValueError(msg)  # noqa: TRY004 - it is a matter of the metric
    check_rows(len(space))
    params = parameters_of(model, model._fitted_with)  # noqa: SLF001
    k = min(len(space) - 1, fitted.n_candidates)
    graph = space.neighbors(k, Workshop(params.n_threads), at=fitted.n_neighbors)
    problem = problem_of(
        space, graph, _counts(len(space), fitted.n_neighbors, params), params
    )
    return Ground(problem, graph, params, fitted.key, fitted.by_row, space.order)


def _counts(n: int, n_neighbors: int, params: Parameters) -> PairCounts:
    with warnings.catch_warnings():  # the fit has told it
        warnings.simplefilter("ignore", UserWarning)
        return pair_counts(n, n_neighbors, params.mid_near_ratio, params.further_ratio)


def check_rows(n: int) -> None:
    """Refuse data of too few rows to have groups."""
    if n < LEAST_ROWS:
        msg = (
            f"Groups are judged of at least {LEAST_ROWS} rows (two groups of 15); "
            f"got {n}."
        )
        raise ValueError(msg)


def part_of(ground: Ground, places: NDArray[np.int64]) -> Problem:
    """Return the problem of some rows: their share of the graph, nothing searched.

    Where too few of the neighbours of a row are among them, they are searched again.
    """
    space = _space_at(ground.problem.space, places)
    wanted = ground.problem.counts.near
    graph = _graph_at(ground.graph, places)
    if graph.indices.shape[1] < 2 * wanted:
        k = min(len(space) - 1, wanted + EXTRA_CANDIDATES)
        graph = space.neighbors(k, Workshop(ground.params.n_threads), at=wanted)
    counts = _counts(len(space), wanted, ground.params)
    return problem_of(space, graph, counts, ground.params)


def _space_at(space: Space, places: NDArray[np.int64]) -> Space:
    if isinstance(space, RowSpace):
        return RowSpace(space.preprocessing, np.ascontiguousarray(space.Z[places]))
    if isinstance(space, MatrixSpace):
        return MatrixSpace(space.D[np.ix_(places, places)], space.unit)
    if isinstance(space, GraphSpace):
        return GraphSpace(space.graph[places][:, places], space.unit)
    msg = f"no part can be taken of a {type(space).__name__}; give subsamples=0."
    raise TypeError(msg)


def _graph_at(graph: KNNGraph, places: NDArray[np.int64]) -> KNNGraph:
    """Keep the neighbours that are among some places, as many as every row has."""
    new = np.full(len(graph.indices), -1, dtype=np.int32)
    new[places] = np.arange(len(places), dtype=np.int32)
    found = new[graph.indices[places]]
    here = found >= 0
    k = int(here.sum(axis=1).min())
    first = np.argsort(~here, axis=1, kind="stable")[:, :k]
    return KNNGraph(
        np.ascontiguousarray(np.take_along_axis(found, first, axis=1)),
        np.ascontiguousarray(
            np.take_along_axis(graph.distances[places], first, axis=1)
        ),
        graph.recall,
    )
