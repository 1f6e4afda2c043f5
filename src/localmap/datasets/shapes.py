"""Generated data whose right answer is known: one piece, or two clouds and a gap.

A map that shows several groups of a set of `ONE_PIECE` invents them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Shape = Callable[[int, np.random.Generator], Points]


def _gauss(n: int, rng: np.random.Generator, d: int) -> Points:
    return rng.normal(size=(n, d))


def _cube(n: int, rng: np.random.Generator, d: int) -> Points:
    return rng.random((n, d))


def _sphere(n: int, rng: np.random.Generator, d: int) -> Points:
    """Points on the surface of d dimensions."""
    X = rng.normal(size=(n, d + 1))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _ball(n: int, rng: np.random.Generator, d: int) -> Points:
    return _sphere(n, rng, d - 1) * rng.random((n, 1)) ** (1 / d)


def _heavy(n: int, rng: np.random.Generator, d: int) -> Points:
    """Student's t with 3 degrees of freedom."""
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


def _stretched(n: int, rng: np.random.Generator, d: int) -> Points:
    """Return a Gaussian ten times as long as thin, turned at random."""
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray((rng.normal(size=(n, d)) * np.logspace(0, -1, d)) @ turn)


def _halo(n: int, rng: np.random.Generator, d: int) -> Points:
    """Half of the points in a core a fifth as wide as the halo around it."""
    X = rng.normal(size=(n, d))
    X[: n // 2] *= 0.2
    return X


def _in_noise(X: Points, rng: np.random.Generator, spread: float) -> Points:
    """Put X in ten dimensions, with noise in all of them."""
    padded = np.pad(X, ((0, 0), (0, 10 - X.shape[1])))
    return padded + spread * rng.normal(size=padded.shape)


def _sheet(n: int, rng: np.random.Generator) -> Points:
    return _in_noise(rng.random((n, 2)), rng, 0.03)


def _roll(n: int, rng: np.random.Generator, spread: float = 0.3) -> Points:
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    X = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    return _in_noise(X, rng, spread) if spread else X


def _circle(n: int, rng: np.random.Generator) -> Points:
    angle = rng.uniform(0, 2 * np.pi, n)
    return _in_noise(np.column_stack([np.cos(angle), np.sin(angle)]), rng, 0.1)


def _tree(n: int, rng: np.random.Generator) -> Points:
    """Return a stem, two branches and four twigs, each in its own direction."""
    ways, _ = np.linalg.qr(rng.normal(size=(10, 10)))
    start = np.zeros((7, 10))
    for branch in range(1, 7):  # 0 is the stem; 2 p + 1 and 2 p + 2 grow from p
        parent = (branch - 1) // 2
        start[branch] = start[parent] + ways[parent]
    part = rng.integers(0, 7, n)
    X = start[part] + rng.random((n, 1)) * ways[part]
    return np.asarray(X + 0.08 * rng.normal(size=X.shape))


ONE_PIECE: Final[dict[str, Shape]] = {
    **{f"gauss{d}": partial(_gauss, d=d) for d in (2, 3, 5, 8, 12, 20, 50)},
    **{f"cube{d}": partial(_cube, d=d) for d in (2, 3, 5, 8, 12, 20, 50)},
    **{f"ball{d}": partial(_ball, d=d) for d in (3, 5, 10)},
    **{f"sphere{d}": partial(_sphere, d=d) for d in (2, 5, 10)},
    **{f"heavy{d}": partial(_heavy, d=d) for d in (3, 5, 10)},
    **{f"stretched{d}": partial(_stretched, d=d) for d in (5, 10, 20)},
    **{f"halo{d}": partial(_halo, d=d) for d in (5, 10)},
    "sheet": _sheet,
    "roll": _roll,
    "swiss": partial(_roll, spread=0.0),
    "circle": _circle,
    "tree": _tree,
}


def one_piece(name: str, n: int, random_state: int = 0) -> Points:
    """Return points that are one piece.

    Parameters
    ----------
    name : str
        One of `ONE_PIECE`: Gaussians, cubes, balls, spheres' surfaces, heavy tails
        (Student's t), stretched Gaussians and a core in a halo, each with its number of
        dimensions; a sheet, a roll, a circle and a branching tree in ten dimensions
        with noise, and the swiss roll.
    n : int
        Number of points.
    random_state : int, default=0
        Decides the points.

    Returns
    -------
    X : ndarray of shape (n, n_features)
        The points.

    Examples
    --------
    >>> from localmap.datasets import one_piece
    >>> one_piece("cube5", 100).shape
    (100, 5)
    """
    if name not in ONE_PIECE:
        msg = f"name must be one of {', '.join(ONE_PIECE)}; got {name!r}."
        raise ValueError(msg)
    return ONE_PIECE[name](n, np.random.default_rng(random_state))


def two_clouds(
    kind: Literal["gauss", "cube"], d: int, gap: float, n: int, random_state: int = 0
) -> tuple[Points, NDArray[np.int64]]:
    """Return two clouds of equal size side by side, and which point is of which.

    Parameters
    ----------
    kind : {"gauss", "cube"}
        Gaussians of standard deviation 1, or cubes of side 1.
    d : int
        Number of dimensions.
    gap : float
        Distance of the Gaussians' centres: their density has two peaks above 2. Or
        width of the empty space between the cubes.
    n : int
        Number of points of both.
    random_state : int, default=0
        Decides the points.

    Returns
    -------
    X : ndarray of shape (n, d)
        The points.
    y : ndarray of shape (n,)
        0 or 1.
    """
    if kind not in ("gauss", "cube"):
        msg = f'kind must be "gauss" or "cube"; got {kind!r}.'
        raise ValueError(msg)
    rng = np.random.default_rng(random_state)
    X = _gauss(n, rng, d) if kind == "gauss" else _cube(n, rng, d)
    y = np.arange(n) % 2
    X[:, 0] += y * (gap if kind == "gauss" else 1.0 + gap)
    return X, y
