"""Which groups of a map are groups of the data, and which come back in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.estimators.base import MapEstimator
from localmap.kernels import Floats
from localmap.trust.borders import Joined, joined
from localmap.trust.ground import ground_of
from localmap.trust.judged import FOUND, Group
from localmap.trust.looks import Look, look_at, outcomes
from localmap.trust.pairs import Pairs, pairs_of
from localmap.trust.runs import check_runs, halves, seeds
from localmap.trust.seen import by_size, groups_seen
from localmap.trust.typical import most_typical


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a map, judged; see `groups`."""

    Y: Floats  # the map that is judged
    labels: NDArray[np.int64]  # group of each row, from 1
    seen: NDArray[np.int64]  # group that the map shows of each row, from 1
    groups: tuple[Group, ...]
    together: NDArray[np.float64]
    maps: tuple[Floats, ...]  # of the seeds, all rows
    n_seeds: int
    n_subsamples: int
    pairs: Pairs

    @property
    def supported(self) -> tuple[Group, ...]:
        """The groups that data and maps support."""
        return tuple(g for g in self.groups if g.verdict == "supported")

    @property
    def headline(self) -> str:
        """What was found, in one sentence."""
        shown, good = int(self.seen.max()), len(self.supported)
        n = f"{len(self.labels):,} rows"
        if len(self.groups) == 1:
            if shown == 1:
                return f"No groups: {n} are one piece, and the map shows it as one."
            return (
                f"No groups: the map shows {shown}, but the data support no border "
                f"between them; {n} are one piece."
            )
        return (
            f"{good} of {len(self.groups)} groups of {n} are supported by the data and "
            f"by other maps; the map shows {shown}."
        )

    @property
    def summary(self) -> str:
        """What was found, a line for each group."""
        lines = [self.headline]
        if len(self.groups) > 1:
            lines += [group.sentence for group in self.groups]
        lines.append(
            f"Judged by {self.n_seeds} seeds and {self.n_subsamples} halves of the "
            "rows. Whether a group means anything, its rows must tell."
        )
        return "\n".join(lines)

    def named(self, labels: ArrayLike) -> list[tuple[str, float]]:
        """Return the most common label of each group, and its share of the group."""
        names = np.asarray(labels).astype(str)
        if names.shape != self.labels.shape:
            msg = (
                f"labels must be one for each of {len(self.labels)} rows; got shape "
                f"{names.shape}."
            )
            raise ValueError(msg)
        told = []
        for group in self.groups:
            name, count = Counter(names[self.labels == group.number]).most_common(1)[0]
            told.append((str(name), count / group.size))
        return told


def groups(
    data: Any,
    *,
    runs: int = 10,
    subsamples: int | None = None,
    estimator: MapEstimator | None = None,
) -> Groups:
    """Tell which groups of a map are groups of the data, without labels.

    The graph of near pairs is found once and laid out with several seeds, and half of
    its rows several times. Groups that the map shows are joined where the data do not
    support the border between them (`localmap.trust.borders`); of each group that
    remains it is told how often it comes back in the other maps, and what becomes of it
    when it does not.

    Parameters
    ----------
    data : array-like, table, sparse matrix or fitted LocalMAP or PaCMAP
        The data, or a model of it, whose own map is then judged.
    runs : int, default=10
        Maps that are made, at least 2; the one that is judged is one of them.
    subsamples : int or None, default=None
        How many of the runs have half of the rows, drawn at random; None is half of
        the runs.
    estimator : LocalMAP, PaCMAP or None, default=None
        The parameters of the maps, for data; None is ``LocalMAP(random_state=0)``.

    Returns
    -------
    groups : Groups
        ``summary`` tells it in words. ``groups`` holds the numbers of each group,
        ``labels`` the group of each row (from 1, the largest first), ``Y`` the map that
        was judged: that of the model, or of the seeds the one most like the others.
        ``together[a, b]`` is the share of runs in which a row of group a + 1 is in one
        group with a row of group b + 1.

    Examples
    --------
    >>> from localmap import trust
    >>> from localmap.datasets import two_clouds
    >>> X, _ = two_clouds("gauss", 5, gap=9.0, n=400)
    >>> found = trust.groups(X, runs=4)
    >>> [(group.size, group.verdict) for group in found.groups]
    [(200, 'supported'), (200, 'supported')]
    """
    ground = ground_of(data, estimator)
    n_seeds, n_halves = check_runs(runs, subsamples, len(ground))
    pairs = pairs_of(ground)
    laid = list(seeds(ground, n_seeds))
    chosen = 0 if ground.Y is not None else most_typical([run.Y for run in laid]).chosen
    own = laid[chosen]
    seen = groups_seen(own.Y)
    judged = joined(pairs, seen, own.Y)
    order = by_size(judged.groups)
    runs_beside = chain(
        (run for run in laid if run is not own), halves(ground, n_halves)
    )
    beside = [look_at(run, pairs, order) for run in runs_beside]
    return Groups(
        Y=own.Y,
        labels=order + 1,
        seen=seen + 1,
        groups=tuple(_judged(order, seen, judged, beside)),
        together=np.mean([look.together for look in beside], axis=0),
        maps=tuple(run.Y for run in laid),
        n_seeds=n_seeds,
        n_subsamples=n_halves,
        pairs=pairs,
    )


def _judged(
    order: NDArray[np.int64],
    seen: NDArray[np.int64],
    judged: Joined,
    beside: Sequence[Look],
) -> Iterator[Group]:
    """Yield the groups, numbered by size; borders have them in their own order."""
    n, borders = len(order), judged.borders
    own = np.zeros(int(order.max()) + 1, dtype=np.int64)
    own[order] = judged.groups
    back = np.argsort(own)
    overlaps = np.array([look.overlaps for look in beside])
    parts = [np.bincount(seen[order == g]) for g in range(len(own))]
    for number, place in enumerate(own):
        size = int((order == number).sum())
        crossing = borders.crossing[place]
        yield Group(
            number=number + 1,
            size=size,
            parts=tuple(sorted(parts[number][parts[number] > 0].tolist())[::-1]),
            overlap=float(overlaps[:, number].mean()),
            found=int((overlaps[:, number] >= FOUND).sum()),
            runs=len(beside),
            leaves=float(borders.leaving[place] / borders.pairs[place]),
            chance=(n - size) / (n - 1),
            depth=float(borders.whole_depth[place]),
            deep=bool(judged.deep[place]),
            nearest=int(back[crossing.argmax()]) + 1 if crossing.any() else None,
            outcomes=outcomes(number, beside),
        )
