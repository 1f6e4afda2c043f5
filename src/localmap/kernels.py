"""The only door to compiled code.

Every index array passes `_checked` once before native code sees it, every array gets
the layout the core expects, and no caller's array is written to unless its name says
so. The same functions stand in `_reference` in plain NumPy.
"""

from __future__ import annotations

import math
import os
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localmap import _core

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int32]

# Adam's constants as PaCMAP uses them; epsilon stands in adam.hpp.
BETA1: Final = 0.9
BETA2: Final = 0.999

# Fewer points than this are moved faster by one thread than by two.
ROWS_PER_THREAD: Final = 4096

# Smallest scale of a row in near pairs, in units of the preprocessed data.
SCALE_FLOOR: Final = 1e-10


class Weights(NamedTuple):
    """Weights of one iteration, in the order in which the core reads them.

    The near force of PaCMAP is multiplied by ``near_plain + near_local / sqrt(t)``:
    (1, 0) is PaCMAP, (0, d / 2) is LocalMAP.
    """

    near: float
    mid_near: float
    further: float
    near_plain: float = 1.0
    near_local: float = 0.0


class FiledPairs:
    """Pairs of one kind, filed by the blocks of rows that their points belong to.

    Each code holds a pair as two places of 16 bits; `starts` says where the pairs of
    each two blocks begin. The codes take the place of the partner matrix they are
    made from: a pair never takes more than four bytes.
    """

    def __init__(self, pairs: Ints, n_threads: int = 1) -> None:
        n = len(pairs)
        blocks = -(-n // _core.block_rows(n))
        self.starts = np.empty(blocks**2 + 1, dtype=np.int64)
        self.codes = _checked(pairs, n).view(np.uint32)
        self.file(n_threads)

    def file(self, n_threads: int = 1) -> None:
        """Put codes in the place of the partners."""
        _core.file_pairs(self.codes, self.starts, n_threads)

    def unfile(self, n_threads: int = 1) -> Ints:
        """Put the partners back in the place of the codes and return them."""
        _core.unfile_pairs(self.codes, self.starts, n_threads)
        return self.codes.view(np.int32)


def thread_count(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    available = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else (os.cpu_count() or 1)
    )
    return max(1, available + 1 + n_jobs)


def _checked(pairs: Ints, n: int, rows: int | None = None) -> Ints:
    """Return partners as the core reads them; refuse what would read out of bounds."""
    pairs = np.ascontiguousarray(pairs, dtype=np.int32)
    rows = n if rows is None else rows
    if pairs.ndim != 2 or pairs.shape[0] != rows:
        msg = f"pairs must have one row for each of {rows} points; got {pairs.shape}."
        raise ValueError(msg)
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        msg = (
            f"pairs must name rows from 0 to {n - 1}; got {pairs.min()}..{pairs.max()}."
        )
        raise ValueError(msg)
    return pairs


def forces(
    Y: Floats,
    near: FiledPairs,
    mid_near: FiledPairs,
    further: FiledPairs,
    weights: Weights,
    n_threads: int = 1,
) -> tuple[Floats, float]:
    """Gradient of the layout and PaCMAP's loss."""
    _check_same_points(Y, near, mid_near, further)
    gradient = np.zeros(Y.shape, dtype=np.float32)
    w = np.array(weights, dtype=np.float32)
    loss = _core.forces(_rows(Y), near, mid_near, further, w, gradient, n_threads)
    return gradient, loss


class Descent:
    """A map, its pairs and Adam's memory: what one iteration hands to the next.

    The map and the pairs are taken over: their arrays are rewritten.
    Filing forgets which slot a partner stood in. Where `redraw` is to leave some slots
    alone (a locality below one), `ordered` keeps a second copy of the further pairs.
    """

    def __init__(
        self,
        Y: Floats,
        near: Ints,
        mid_near: Ints,
        further: Ints,
        learning_rate: float = 1.0,
        n_threads: int = 1,
        *,
        ordered: bool = False,
    ) -> None:
        self.Y = _rows(Y)
        # Starting a thread takes as long as moving a few thousand points.
        self._n_threads = min(n_threads, 1 + len(Y) // ROWS_PER_THREAD)
        self._near = FiledPairs(near, self._n_threads)
        self._mid_near = FiledPairs(mid_near, self._n_threads)
        self._ordered = further.copy() if ordered else None
        self._further = FiledPairs(further, self._n_threads)
        _check_same_points(self.Y, self._near, self._mid_near, self._further)
        self._forces = np.zeros_like(self.Y)
        self._m = np.zeros_like(self.Y)
        self._v = np.zeros_like(self.Y)
        self._learning_rate = learning_rate
        self._steps = 0

    def step(self, weights: Weights, *, with_loss: bool = False) -> float:
        """Move all points once; return the loss before the move, or nan."""
        self._steps += 1
        rate = (
            self._learning_rate
            * math.sqrt(1.0 - BETA2**self._steps)
            / (1.0 - BETA1**self._steps)
        )
        return _core.step(
            self.Y,
            self._near,
            self._mid_near,
            self._further,
            np.array(weights, dtype=np.float32),
            self._forces,
            self._m,
            self._v,
            rate,
            BETA1,
            BETA2,
            with_loss,
            self._n_threads,
        )

    def redraw(self, reach: float, locality: float, key: int, iteration: int) -> None:
        """Draw the local share of the further pairs anew, within `reach`."""
        if locality < 1 and self._ordered is None:
            msg = f"locality={locality} needs a Descent with ordered=True."
            raise ValueError(msg)
        check_finite_map(self.Y)
        near = self._near.unfile(self._n_threads)
        further = self._further.unfile(self._n_threads)
        drawn = further if self._ordered is None else self._ordered
        # Checked when they were filed first; what is drawn are rows of the map.
        _core.local_further(
            self.Y, near, reach, locality, key, iteration, drawn, self._n_threads
        )
        if drawn is not further:
            further[:] = drawn
        self._near.file(self._n_threads)
        self._further.file(self._n_threads)

    def forget_mid_near(self) -> None:
        """Free the mid-near pairs, once their weight has come to nothing."""
        if self._mid_near.codes.size:
            self._mid_near = FiledPairs(np.empty((len(self.Y), 0), dtype=np.int32))


def near(
    indices: Ints, distances: Floats, n_neighbors: int, n_threads: int = 1
) -> Ints:
    """Of the nearest rows, those with the smallest scaled distance."""
    n, m = indices.shape
    if distances.shape != (n, m) or not 1 <= n_neighbors <= m:
        msg = (
            f"n_neighbors={n_neighbors} near pairs need as many neighbours and their "
            f"distances; got shapes {indices.shape} and {distances.shape}."
        )
        raise ValueError(msg)
    # A row's scale is its mean distance to its 4th to 6th neighbour (PaCMAP, section
    # 4). Duplicates have none: the floor is far below the unit to which preprocessing
    # brings all data.
    scales = np.maximum(
        distances[:, min(3, m - 1) : 6].mean(axis=1, dtype=np.float64), SCALE_FLOOR
    )
    out = np.empty((n, n_neighbors), dtype=np.int32)
    _core.near(_checked(indices, n), _rows(distances), scales, out, n_threads)
    return out


def mid_near(Z: Floats, slots: int, key: int, n_threads: int = 1) -> Ints:
    """For each point and slot: of six random others, the second closest."""
    n = Z.shape[0]
    if slots > max(0, n - 2):
        msg = f"{slots} mid-near pairs need more than {n} points."
        raise ValueError(msg)
    out = np.empty((n, slots), dtype=np.int32)
    _core.mid_near(_rows(Z), key, out, n_threads)
    return out


def further(near: Ints, slots: int, key: int, n_threads: int = 1) -> Ints:
    """Distinct random points that are not near pairs."""
    n, k = near.shape
    if slots > n - 1 - k:
        msg = f"{slots} further and {k} near pairs need more than {n} points."
        raise ValueError(msg)
    out = np.empty((n, slots), dtype=np.int32)
    _core.further(_checked(near, n), key, out, n_threads)
    return out


def local_further(
    Y: Floats,
    near: Ints,
    further: Ints,
    reach: float,
    locality: float,
    key: int,
    iteration: int,
    n_threads: int = 1,
) -> None:
    """Redraw the local share of `further`, in place, within `reach` in the map."""
    n = Y.shape[0]
    check_finite_map(Y)
    if _checked(further, n) is not further:
        msg = "further pairs are redrawn in place: they must be contiguous int32."
        raise ValueError(msg)
    _core.local_further(
        _rows(Y), _checked(near, n), reach, locality, key, iteration, further, n_threads
    )


def check_finite_map(Y: Floats) -> None:
    """Refuse a map that has left the numbers."""
    if not np.isfinite(Y).all():
        msg = (
            "The layout diverged: some coordinates are no longer finite. "
            "Use a smaller learning_rate, or an init of smaller numbers."
        )
        raise ValueError(msg)


def exact_neighbors(
    Z: Floats, k: int, n_threads: int = 1, queries: Ints | None = None
) -> tuple[Ints, Floats]:
    """Find the k nearest other rows of each row, or of the rows named by `queries`.

    Sorted by distance, then by index.
    """
    n = Z.shape[0]
    _check_k(k, n)
    if queries is None:
        queries = np.arange(n, dtype=np.int32)
    indices, distances = _graph(len(queries), k)
    rows = _checked(queries[:, None], n, len(queries)).ravel()
    _core.exact_neighbors(_rows(Z), rows, indices, distances, n_threads)
    return indices, distances


def cell_neighbors(
    Z: Floats,
    k: int,
    cells: int,
    sample: Ints,
    truth: Ints,
    recall: float,
    n_threads: int = 1,
) -> tuple[Ints, Floats, int]:
    """Find about the k nearest other rows of each row by searching in cells.

    As many cells are searched as hold the share `recall` of the true neighbours
    `truth` of the rows `sample`; their number is returned last. Rows whose cells hold
    fewer than k others have -1 and an infinite distance at the end.
    """
    n = Z.shape[0]
    _check_k(k, n)
    indices, distances = _graph(n, k)
    probes = _core.cell_neighbors(
        _rows(Z),
        min(cells, n),
        _checked(sample[:, None], n, len(sample)).ravel(),
        _checked(truth, n, len(sample)),
        recall,
        indices,
        distances,
        n_threads,
    )
    return indices, distances, probes


def make_mutual(indices: Ints, distances: Floats, n_threads: int = 1) -> None:
    """Let rows into the lists of those that they found; changes both arrays.

    Where i lists j and is nearer to j than the last in j's list, j lists i as well.
    """
    n, k = indices.shape
    if distances.shape != (n, k) or indices.max() >= n:
        msg = f"lists of rows below {n} and their distances must have one shape."
        raise ValueError(msg)
    _core.make_mutual(indices, distances, n_threads)


def _check_k(k: int, n: int) -> None:
    if not 1 <= k <= n - 1:
        msg = f"k must be from 1 to {n - 1} for {n} rows; got {k}."
        raise ValueError(msg)


def _graph(n: int, k: int) -> tuple[Ints, Floats]:
    return np.empty((n, k), dtype=np.int32), np.empty((n, k), dtype=np.float32)


def silhouette(
    Y: Floats, labels: NDArray[np.int64], n_threads: int = 1
) -> NDArray[np.float64]:
    """Silhouette of each point; `labels` are 0 .. number of labels - 1, none empty."""
    order = np.argsort(labels, kind="stable")
    axes = np.ascontiguousarray(Y[order].T, dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    by_place = np.empty(len(order), dtype=np.float64)
    _core.silhouette(axes, starts, by_place, n_threads)
    values = np.empty_like(by_place)
    values[order] = by_place
    return values


def _rows(X: Floats) -> Floats:
    return np.ascontiguousarray(X, dtype=np.float32)


def _check_same_points(Y: Floats, *kinds: FiledPairs) -> None:
    for pairs in kinds:
        if len(pairs.codes) != len(Y):
            msg = f"pairs are of {len(pairs.codes)} points, the map has {len(Y)}."
            raise ValueError(msg)
