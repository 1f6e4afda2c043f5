"""What can be seen in a map without labels: groups, pieces, strays."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_consistent_length

from localmap.metrics.validation import as_map, codes_of, labelled

# Share of a label's points that makes a group one of its parts.
PART: Final = 0.1

# Agreement inside the largest group below which its cuts move from map to map. Cuts
# through one cloud of cells by two seeds agreed with .15 to .38.
CUTS_AGREE: Final = 0.8

# Points among which groups are looked for.
MOST_SEEN: Final = 20_000


def visible_groups(Y: ArrayLike) -> NDArray[np.int64]:
    """Find groups that can be seen without labels, by HDBSCAN; -1 is none.

    A group has at least 15 points and at least one in 150 of all. Of more than 20,000
    points as many are looked at, and the others join the nearest of them.
    """
    from sklearn.cluster import HDBSCAN

    points = as_map(Y)
    if len(points) > MOST_SEEN:
        some = points[np.arange(MOST_SEEN) * len(points) // MOST_SEEN]
        nearest = cKDTree(some).query(points, workers=-1)[1]
        of_some = visible_groups(some)
        return np.asarray(of_some[nearest])
    size = max(15, len(points) // 150)
    if len(points) < size:
        return np.full(len(points), -1)
    model = HDBSCAN(min_cluster_size=size, min_samples=5, copy=True)
    with warnings.catch_warnings():  # a map of few points: HDBSCAN divides by zero
        warnings.simplefilter("ignore", RuntimeWarning)
        labels: NDArray[np.int64] = model.fit_predict(points.astype(np.float64))
    return labels


def visible_agreement(Y: ArrayLike, labels: ArrayLike) -> float:
    """Return the adjusted Rand index of the visible groups with the labels."""
    from sklearn.metrics import adjusted_rand_score

    _, codes = labelled(Y, labels)
    return float(adjusted_rand_score(codes, visible_groups(Y)))


class SplitsAndMerges(NamedTuple):
    """Labels seen in more than one group, and groups that hold more than one label."""

    splits: int
    merges: int


def splits_and_merges(labels: ArrayLike, groups: NDArray[np.int64]) -> SplitsAndMerges:
    """Count how the visible `groups` divide and join the labels.

    A group is a part of a label if it holds a tenth of its points. A label in three
    parts makes two splits; a group that is the largest part of three labels makes two
    merges. Points outside all groups do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from localmap.metrics import splits_and_merges
    >>> splits_and_merges(["a", "a", "a", "b", "c"], np.array([0, 0, 1, 2, 2]))
    SplitsAndMerges(splits=1, merges=1)
    """
    codes = codes_of(labels)
    check_consistent_length(codes, groups)
    parts, home = parts_of(codes, groups)
    splits = np.maximum(parts.sum(axis=1) - 1, 0).sum()
    merges = np.maximum(np.bincount(home[home >= 0], minlength=1) - 1, 0).sum()
    return SplitsAndMerges(int(splits), int(merges))


def parts_of(
    codes: NDArray[np.int64], groups: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Tell which group is a part of which label, and each label's largest; -1: none."""
    seen = groups >= 0
    table = np.zeros((codes.max() + 1, max(1, groups.max() + 1)), dtype=np.int64)
    np.add.at(table, (codes[seen], groups[seen]), 1)
    parts = (table >= PART * np.bincount(codes)[:, None]) & (table > 0)
    home = np.where(parts.any(axis=1), table.argmax(axis=1), -1)
    return parts, home


class Agreement(NamedTuple):
    """How far several maps of the same rows show the same groups."""

    groups: float
    inside: float


def agreement(
    maps: Sequence[NDArray[np.int64]], labels: ArrayLike | None = None
) -> Agreement:
    """Tell whether maps of the same rows, of several seeds say, show the same groups.

    Parameters
    ----------
    maps : sequence of ndarray of shape (n_samples,)
        What `visible_groups` finds in each map; at least two.
    labels : array-like of shape (n_samples,) or None, default=None
        The group that each row is known to belong to.

    Returns
    -------
    agreement : Agreement
        ``groups`` is the adjusted Rand index of one map's groups with another's, the
        mean over all pairs of maps; points in no group count as one. ``inside`` is the
        same among the rows of the largest label or, without labels, of the largest
        group of the two maps; parts of less than a tenth of those rows, and points in
        no group, do not count. Near 0, one map cuts it where the other does not, or
        elsewhere. 1 is full agreement.

    Examples
    --------
    >>> import numpy as np
    >>> from localmap.metrics import agreement
    >>> agreement([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])])
    Agreement(groups=1.0, inside=1.0)
    """
    from sklearn.metrics import adjusted_rand_score

    if len(maps) < 2:
        msg = f"agreement is that of at least two maps; got {len(maps)}."
        raise ValueError(msg)
    maps = [np.asarray(groups) for groups in maps]
    check_consistent_length(*maps)
    known = None
    if labels is not None:
        codes = codes_of(labels)
        check_consistent_length(codes, maps[0])
        known = codes == np.bincount(codes).argmax()
    whole, inside = [], []
    for one, other in itertools.combinations(maps, 2):
        whole.append(adjusted_rand_score(one, other))
        rows = _largest(one, other) if known is None else known
        rows = rows & _in_a_part(one, rows) & _in_a_part(other, rows)
        alike = adjusted_rand_score(one[rows], other[rows]) if rows.any() else 1.0
        inside.append(alike)
    return Agreement(float(np.mean(whole)), float(np.mean(inside)))


def _largest(*maps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the rows of the largest group of any map; all rows if there is none."""
    best = np.ones(len(maps[0]), dtype=bool)
    size = 0
    for groups in maps:
        sizes = np.bincount(groups[groups >= 0], minlength=1)
        if sizes.max() > size:
            size = int(sizes.max())
            best = groups == sizes.argmax()
    return best


def _in_a_part(groups: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which points are in a group that holds a tenth of `rows`."""
    sizes = np.bincount(groups[rows & (groups >= 0)], minlength=groups.max() + 1)
    part = np.append(sizes >= PART * rows.sum(), False)
    return np.asarray(part[groups])


class Pieces(NamedTuple):
    """Connected pieces of a map and the share of points in none of them."""

    number: int
    strays: float


def pieces(Y: ArrayLike, *, scale: float = 5.0) -> Pieces:
    """Count what hangs together in the map at one scale for the whole map.

    Points are linked to those of their 30 nearest that are closer than `scale` times
    the median distance to the fifth nearest. A piece has at least one point in a
    hundred; points in smaller ones are strays.
    """
    found = pieces_of(Y, scale=scale)
    return Pieces(int(found.max(initial=-1)) + 1, float(np.mean(found < 0)))


def pieces_of(Y: ArrayLike, *, scale: float = 5.0) -> NDArray[np.int64]:
    """Return the piece of each point, as `pieces` counts them; -1 is a stray's."""
    points = as_map(Y)
    n = len(points)
    looked = cKDTree(points).query(points, k=min(31, n), workers=-1)
    away, found = (of.reshape(n, -1) for of in looked)
    close = away <= scale * np.median(away[:, min(5, n - 1)])
    rows = np.nonzero(close)[0]
    links = coo_array((np.ones(len(rows)), (rows, found[close])), shape=(n, n))
    member = connected_components(links, directed=False)[1]
    big = np.bincount(member) >= 0.01 * n
    numbers = np.where(big, np.cumsum(big) - 1, -1)
    return np.asarray(numbers[member], dtype=np.int64)
