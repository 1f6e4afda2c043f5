"""All measures of a map, by name; what several of them need is made once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from localmap.geometry.preprocessing import preprocess
from localmap.metrics import clusters, structure, supervised
from localmap.metrics.validation import as_map, codes_of, missing

# Above this many points the silhouette is the mean over a sample of as many as below;
# its standard error is then at most 1 / sqrt(20,000) = 0.007, in practice a third.
SILHOUETTE_EXACT: Final = 100_000
SILHOUETTE_SAMPLE: Final = 20_000


class Scorecard:
    """A map and what is known of its rows.

    Rows without a label take no part in what is measured with labels. Of sparse data
    the 100 principal components stand for the data.
    """

    def __init__(
        self,
        Y: ArrayLike,
        labels: ArrayLike | None,
        X: Any,
        random_state: int = 0,
        others: Sequence[ArrayLike] = (),
    ) -> None:
        self.Y = as_map(Y)
        self.random_state = random_state
        self._X = X
        self.others = [as_map(other) for other in others]
        for other in self.others:
            if len(other) != len(self.Y):
                msg = (
                    f"maps are compared row by row: the other must have {len(self.Y)} "
                    f"points as this one; got {len(other)}."
                )
                raise ValueError(msg)
        if X is not None:
            check_consistent_length(X, self.Y)
        self.known = np.zeros(len(self.Y), dtype=bool)
        if labels is not None:
            names = column_or_1d(labels)
            check_consistent_length(names, self.Y)
            self.known = ~missing(names)
            self.codes = codes_of(names[self.known])

    @cached_property
    def data(self) -> Any:
        """Return the data, dense."""
        return preprocess(self._X)[0] if issparse(self._X) else np.asarray(self._X)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Groups that can be clusters."""
        return clusters.visible_groups(self.Y)

    @cached_property
    def torn(self) -> clusters.SplitsAndMerges:
        """How the visible groups divide and join the labels."""
        return clusters.splits_and_merges(self.codes, self.groups[self.known])

    @cached_property
    def pieces(self) -> clusters.Pieces:
        """What hangs together."""
        return clusters.pieces(self.Y)

    @cached_property
    def same(self) -> clusters.Agreement:
        """How far the other maps show the groups of this one."""
        known = self.known if self.known.any() else np.ones(len(self.Y), dtype=bool)
        codes = self.codes if self.known.any() else None
        own = self.groups[known]
        each = [
            clusters.agreement([own, clusters.visible_groups(other)[known]], codes)
            for other in self.others
        ]
        return clusters.Agreement(*np.mean(each, axis=0).tolist())

    def silhouette(self) -> float:
        """Return it exactly, or from a sample."""
        large = self.known.sum() > SILHOUETTE_EXACT
        return supervised.silhouette(
            self.Y[self.known],
            self.codes,
            sample=SILHOUETTE_SAMPLE if large else None,
            random_state=self.random_state,
        )

    def agreement(self) -> float:
        """Return the adjusted Rand index of the visible groups and the labels."""
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(self.codes, self.groups[self.known]))

    def of_data(self, measure: Callable[..., float]) -> float:
        """Compare data and map."""
        return measure(self.data, self.Y, random_state=self.random_state)


class Measure(NamedTuple):
    """How a number is made, and what it needs beside the map."""

    make: Callable[[Scorecard], float]
    labels: bool = False
    data: bool = False
    others: bool = False


MEASURES: Final[dict[str, Measure]] = {
    "silhouette": Measure(Scorecard.silhouette, labels=True),
    "SVM accuracy": Measure(
        lambda m: supervised.svm_accuracy(
            m.Y[m.known], m.codes, random_state=m.random_state
        ),
        labels=True,
    ),
    "10-NN accuracy": Measure(
        lambda m: supervised.knn_accuracy(m.Y[m.known], m.codes), labels=True
    ),
    "ARI of visible groups": Measure(Scorecard.agreement, labels=True),
    "splits": Measure(lambda m: m.torn.splits, labels=True),
    "merges": Measure(lambda m: m.torn.merges, labels=True),
    "preservation": Measure(lambda m: m.of_data(structure.preservation), data=True),
    "trustworthiness": Measure(
        lambda m: m.of_data(structure.trustworthiness), data=True
    ),
    "continuity": Measure(lambda m: m.of_data(structure.continuity), data=True),
    "random triplets": Measure(
        lambda m: m.of_data(structure.random_triplets), data=True
    ),
    "centroid triplets": Measure(
        lambda m: structure.centroid_triplets(
            m.data[m.known], m.Y[m.known], m.codes, random_state=m.random_state
        ),
        labels=True,
        data=True,
    ),
    "visible groups": Measure(lambda m: m.groups.max() + 1),
    "pieces": Measure(lambda m: m.pieces.number),
    "strays": Measure(lambda m: m.pieces.strays),
    "agreement": Measure(lambda m: m.same.groups, others=True),
    "agreement inside": Measure(lambda m: m.same.inside, others=True),
}


class Result(NamedTuple):
    """A measure: its value, or why there is none."""

    name: str
    value: float | None
    why_not: str = ""


def measured(card: Scorecard, wanted: Iterable[str]) -> Iterable[Result]:
    """Yield the measures asked for, one after the other; none costs another."""
    for name in wanted:
        measure = MEASURES[name]
        if measure.labels and not card.known.any():
            yield Result(name, None, "there are no labels")
            continue
        if measure.others and not card.others:
            yield Result(name, None, "there is no other map")
            continue
        try:
            told = Result(name, float(measure.make(card)))
        except Exception as error:  # noqa: BLE001 - told, and the next one is made
            told = Result(name, None, f"{error}".split("\n")[0] or type(error).__name__)
        yield told


def score(
    Y: ArrayLike,
    labels: ArrayLike | None = None,
    X: Any = None,
    *,
    others: Sequence[ArrayLike] = (),
    random_state: int = 0,
) -> dict[str, float]:
    """All measures that can be told from what is given, by name.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    labels : array-like of shape (n_samples,) or None, default=None
        The group of each row; rows without one (None or NaN) are left out of what is
        measured with labels.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        The data that the map is of.
    others : sequence of array-like of shape (n_samples, n_components), default=()
        Other maps of the same rows, with other seeds say: how far the visible groups
        of Y are theirs, as a whole and inside the largest, of the labels if there are
        any (see `agreement`). Rows without a label are left out.
    random_state : int, default=0
        Decides the samples of large data.

    Returns
    -------
    measures : dict of str to float
        What cannot be told of these rows is left out, with a warning that says why.

    Examples
    --------
    >>> from localmap.metrics import score
    >>> Y = [[x, 90.0 * (x % 2)] for x in range(40)]
    >>> found = score(Y, labels=[x % 2 for x in range(40)])
    >>> round(found["10-NN accuracy"], 2)
    1.0
    """
    wanted = [
        name
        for name, measure in MEASURES.items()
        if (labels is not None or not measure.labels)
        and (X is not None or not measure.data)
        and (len(others) > 0 or not measure.others)
    ]
    told = list(measured(Scorecard(Y, labels, X, random_state, others), wanted))
    missed = [f"{name} ({why})" for name, value, why in told if value is None]
    if missed:
        warnings.warn(f"not measured: {'; '.join(missed)}", UserWarning, stacklevel=2)
    return {name: value for name, value, _ in told if value is not None}
