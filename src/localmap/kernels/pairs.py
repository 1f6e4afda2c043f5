"""Near, mid-near and further pairs."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap.kernels import _core
from localmap.kernels.arrays import Floats, Ints, check_finite_map, checked, contiguous

# Counts are bytes.
MOST_COUNTED: Final = 255


class Around(NamedTuple):
    """What is known of rows by which pairs are trusted."""

    usual: NDArray[np.floating]  # what near pairs share around a row
    sizes: NDArray[np.floating]  # how far its surroundings reach


class Trusting(NamedTuple):
    """From what share on a pair is trusted (`method/adjust.py` tells why)."""

    enough: float  # share of what is usual
    chance: float  # deviations of a count below the usual that make no difference
    among: int  # rows that were counted


def near(
    indices: Ints,
    distances: Floats,
    own: NDArray[np.float64],
    n_neighbors: int,
    n_threads: int = 1,
    *,
    scales: NDArray[np.float64] | None = None,
) -> Ints:
    """Of the nearest rows, those with the smallest scaled distance.

    `own` are the scales of the rows; `scales` those of the rows that `indices` names,
    if they are others.
    """
    n, m = indices.shape
    scales = own if scales is None else scales
    if distances.shape != (n, m) or own.shape != (n,) or not 1 <= n_neighbors <= m:
        msg = (
            f"n_neighbors={n_neighbors} near pairs need as many neighbours, their "
            f"distances and a scale for each row; got shapes {indices.shape}, "
            f"{distances.shape} and {own.shape}."
        )
        raise ValueError(msg)
    out = np.empty((n, n_neighbors), dtype=np.int32)
    rows = checked(indices, len(scales), n)
    _core.near(rows, contiguous(distances), own, scales, out, n_threads)
    return out


def shared_neighbors(
    indices: Ints, among: int, near: Ints, n_threads: int = 1
) -> NDArray[np.uint8]:
    """Count the rows that two near partners have in common among their nearest."""
    n, m = indices.shape
    _check_among(among, min(m, MOST_COUNTED))
    out = np.empty(near.shape, dtype=np.uint8)
    _core.shared_neighbors(checked(indices, n), among, checked(near, n), out, n_threads)
    return out


def shared_within(
    Z: Floats, found: Ints, among: int, near: Ints, sizes: Floats, n_threads: int = 1
) -> NDArray[np.uint8]:
    """Count which of the first `among` rows `found` for new ones their near pairs have.

    Row j has the others that are no farther than ``sizes[j]``.
    """
    n, rows = len(Z), len(found)
    if sizes.shape != (n,) or near.shape[0] != rows:
        msg = (
            f"{rows} new rows among {n} need near pairs each, and a size for each row "
            f"of Z; got shapes {near.shape} and {sizes.shape}."
        )
        raise ValueError(msg)
    _check_among(among, min(found.shape[1], MOST_COUNTED))
    out = np.empty(near.shape, dtype=np.uint8)
    _core.shared_within(
        contiguous(Z),
        np.ascontiguousarray(sizes, dtype=np.float32),
        checked(found, n, rows),
        among,
        checked(near, n, rows),
        out,
        n_threads,
    )
    return out


def mean_shares(near: Ints, shared: NDArray[np.uint8], n_threads: int = 1) -> Floats:
    """Average what near partners share with the near pairs around them.

    Those are the pairs that lead from a partner of one to a partner of the other; the
    pair itself counts as often as a row has partners.
    """
    if shared.shape != near.shape:
        msg = f"each of {near.shape} pairs needs its count; got {shared.shape}."
        raise ValueError(msg)
    out = np.empty(near.shape, dtype=np.float32)
    _core.mean_shares(
        checked(near, len(near)), np.ascontiguousarray(shared), out, n_threads
    )
    return out


def means(
    values: NDArray[np.floating], named: Ints, among: int, n_threads: int = 1
) -> NDArray[np.float64]:
    """Mean of the values of the first `among` rows that each row of `named` names."""
    n, m = named.shape
    _check_among(among, m)
    out = np.empty(n, dtype=np.float64)
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    _core.means(numbers, checked(named, len(values), n), among, out, n_threads)
    return out


def trusted_first(
    near: Ints,
    shares: Floats,
    how: Trusting,
    own: Around,
    partners: Around | None = None,
    n_threads: int = 1,
) -> tuple[Ints, NDArray[np.uint16]]:
    """Put the pairs of each row that share enough first; count them.

    `own` is known of the rows, `partners` of those that `near` names, if others.
    """
    n = len(near)
    known = [own, own if partners is None else partners]
    (usual, sizes), (partners_usual, partners_sizes) = (
        [np.ascontiguousarray(part, dtype=np.float64) for part in of] for of in known
    )
    if (
        shares.shape != near.shape
        or not len(usual) == len(sizes) == n
        or len(partners_usual) != len(partners_sizes)
    ):
        msg = f"{near.shape} pairs need as many shares, and two numbers of each row."
        raise ValueError(msg)
    if how.among < 1:
        msg = f"among must be at least 1; got {how.among}."
        raise ValueError(msg)
    ordered = np.empty(near.shape, dtype=np.int32)
    count = np.empty(n, dtype=np.uint16)
    _core.trusted_first(
        checked(near, len(partners_usual), n),
        contiguous(shares),
        *how,
        usual,
        sizes,
        partners_usual,
        partners_sizes,
        ordered,
        count,
        n_threads,
    )
    return ordered, count


def mid_near(Z: Floats, slots: int, key: int, n_threads: int = 1) -> Ints:
    """For each point and slot: of six random others, the second closest."""
    n = Z.shape[0]
    if slots > max(0, n - 2):
        msg = f"{slots} mid-near pairs need more than {n} points."
        raise ValueError(msg)
    out = np.empty((n, slots), dtype=np.int32)
    _core.mid_near(contiguous(Z), key, out, n_threads)
    return out


def further(near: Ints, slots: int, key: int, n_threads: int = 1) -> Ints:
    """Distinct random points that are not near pairs."""
    n, k = near.shape
    if slots > n - 1 - k:
        msg = f"{slots} further and {k} near pairs need more than {n} points."
        raise ValueError(msg)
    out = np.empty((n, slots), dtype=np.int32)
    _core.further(checked(near, n), key, out, n_threads)
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
    if checked(further, n) is not further:
        msg = "further pairs are redrawn in place: they must be contiguous int32."
        raise ValueError(msg)
    _core.local_further(
        contiguous(Y),
        checked(near, n),
        reach,
        locality,
        key,
        iteration,
        further,
        n_threads,
    )


def _check_among(among: int, most: int) -> None:
    """Refuse to look at no rows, or at more than there are."""
    if not 1 <= among <= most:
        msg = f"among must be from 1 to {most}; got {among}."
        raise ValueError(msg)
