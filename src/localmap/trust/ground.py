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
from localmap.geometry.neighbors import KNNGraph
from localmap.geometry.precomputed import GraphSpace, MatrixSpace
from localmap.geometry.rows import RowSpace
from localmap.geometry.space import Space
from localmap.method.adjust import trusted_first
from localmap.method.embed import Problem, prepare
from localmap.method.out_of_sample import usual_distance
from localmap.method.pairs import EXTRA_CANDIDATES, PairCounts, pair_counts, scales
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
    order: NDArray[np.integer[Any]] | None  # row at each place; None: the same

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
        if self.order is None:
            return values
        rows = np.empty_like(values)
        rows[self.order] = values
        return rows

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
    problem = prepare(checked, params)
    k = min(len(problem.space) - 1, problem.counts.near + EXTRA_CANDIDATES)
    graph = problem.space.neighbors(k, params.n_threads, at=problem.counts.near)
    key = random_key(settings["random_state"])
    return Ground(problem, graph, params, key, None, _order_of(problem))


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
    graph = space.neighbors(k, params.n_threads, at=fitted.n_neighbors)
    problem = problem_of(space, graph, params, fitted.n_neighbors)
    return Ground(problem, graph, params, fitted.key, fitted.Y, _order_of(space))


def _order_of(holder: Any) -> NDArray[np.integer[Any]] | None:
    """Return the row that stands at each place, where rows have been numbered anew."""
    order: NDArray[np.integer[Any]] | None = getattr(holder, "order", None)
    return order


def problem_of(
    space: Space, graph: KNNGraph, params: Parameters, n_neighbors: int
) -> Problem:
    """Return what is laid out, of a space whose neighbours are known."""
    own = scales(graph.distances)
    counts = _counts(len(space), n_neighbors, params)
    near = kernels.near(
        graph.indices, graph.distances, own, counts.near, params.n_threads
    )
    trusted, trust = None, None
    if params.rule.trust:
        near, trusted, trust = trusted_first(graph, near, params.n_threads)
    return Problem(
        space=space,
        counts=counts,
        near=near,
        trusted=trusted,
        trust=trust,
        scales=own,
        far=usual_distance(own, near),
        n_candidates=graph.indices.shape[1],
        recall=graph.recall,
    )


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
        graph = space.neighbors(k, ground.params.n_threads, at=wanted)
    return problem_of(space, graph, ground.params, wanted)


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
