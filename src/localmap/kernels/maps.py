"""What is done with finished maps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, checked, contiguous
from localmap.kernels.descent import BETA1, BETA2, Weights

# Partners of a point that is placed are coded in 16 bits.
MOST_PARTNERS: Final = 1 << 16


def project(rows: Floats, components: Floats, n_threads: int = 1) -> Floats:
    """``rows @ components``, each row by itself: the same bits in any batch."""
    if rows.shape[1] != components.shape[0]:
        msg = f"cannot project {rows.shape} by {components.shape}."
        raise ValueError(msg)
    out = np.empty((len(rows), components.shape[1]), dtype=np.float32)
    _core.project(contiguous(rows), contiguous(components), out, n_threads)
    return out


def medoids(Y: Floats, near: Ints, n_threads: int = 1) -> Floats:
    """Of the points that each row of `near` names, the one nearest to all others."""
    out = np.empty((len(near), Y.shape[1]), dtype=np.float32)
    _core.medoids(contiguous(Y), checked(near, len(Y), len(near)), out, n_threads)
    return out


def relax(
    Y: Floats,
    near: Ints,
    start: Floats,
    weights: Weights,
    *,
    trusted: NDArray[np.uint16] | None = None,
    reach: float,
    learning_rate: float,
    n_iters: int,
    redraw_every: int,
    slots: int,
    key: int,
    n_threads: int = 1,
) -> Floats:
    """Move new points among those of a finished map, which stay.

    Each starts at its row of `start`, is pulled by the points that `near` names and
    pushed by `slots` points within `reach`, drawn anew every few iterations. The first
    ``trusted[i]`` near pairs of point i keep PaCMAP's force.
    """
    count, k = near.shape
    if k + slots > MOST_PARTNERS:
        msg = (
            f"A new row can have up to {MOST_PARTNERS} partners; this map gives it {k} "
            f"near and {slots} further ones. Fit with a smaller further_ratio."
        )
        raise ValueError(msg)
    if trusted is None:
        trusted = np.empty(0, dtype=np.uint16)
    elif trusted.shape != (count,) or (count and trusted.max() > k):
        msg = f"trusted must tell how many of {near.shape} partners are trusted."
        raise ValueError(msg)
    out = np.array(start, dtype=np.float32, order="C")
    if out.shape != (len(near), Y.shape[1]):
        msg = f"start has shape {out.shape} for {len(near)} points in {Y.shape[1]}-D."
        raise ValueError(msg)
    _core.relax(
        contiguous(Y),
        checked(near, len(Y), len(near)),
        np.ascontiguousarray(trusted, dtype=np.uint16),
        np.array(weights, dtype=np.float32),
        reach,
        learning_rate,
        BETA1,
        BETA2,
        n_iters,
        redraw_every,
        slots,
        key,
        out,
        n_threads,
    )
    return out


def silhouette(
    Y: Floats,
    labels: NDArray[np.int64],
    n_threads: int = 1,
    points: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Silhouette of all points, or of those that `points` names.

    `labels` are 0 .. number of labels - 1, none empty.
    """
    order = np.argsort(labels, kind="stable")
    axes = np.ascontiguousarray(Y[order].T, dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    if points is not None:
        place = place[points]
    sorting = np.argsort(place, kind="stable")
    values = np.empty(len(place), dtype=np.float64)
    by_place = np.empty_like(values)
    _core.silhouette(axes, starts, place[sorting], by_place, n_threads)
    values[sorting] = by_place
    return values
