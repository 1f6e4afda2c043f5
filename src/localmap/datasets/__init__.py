"""The data sets on which maps are compared, by name, and any of your own by path.

A set is looked for in the folder ``$LOCALMAP_DATA``, then in a cache folder
(``$LOCALMAP_CACHE``, or pooch's place for caches), as ``NAME.npz`` with arrays X and y
or as ``NAME.h5ad``; then it is fetched from its public source and kept in the cache.
Fetching needs ``pip install "localmap[data]"``.

`one_piece` and `two_clouds` generate data whose right answer is known.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localmap.cells.log_counts import COMPONENTS
from localmap.datasets.files import (
    READERS,
    DatasetError,
    cache_folder,
    folders,
    keep,
)
from localmap.datasets.shapes import ONE_PIECE, one_piece, two_clouds
from localmap.datasets.sources import ENTRIES, Entry

__all__ = [
    "ONE_PIECE",
    "Dataset",
    "DatasetError",
    "is_here",
    "load",
    "names",
    "one_piece",
    "two_clouds",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Numbers, the groups they are known to have, and where they come from."""

    name: str
    X: Any
    y: NDArray[Any] | None
    description: str
    source: str
    licence: str


def names() -> tuple[str, ...]:
    """Return the names that `load` knows."""
    return tuple(ENTRIES)


def is_here(name: str) -> bool:
    """Tell whether a named set needs no fetching."""
    return name == "digits" or _path(name) is not None


def load(name: str | PathLike[str], *, labels: str | None = None) -> Dataset:
    """Return a data set.

    Parameters
    ----------
    name : str or path-like
        One of `names()`, or the path of an ``.npz`` (arrays X and y), ``.npy``,
        ``.csv``, ``.tsv``, ``.parquet`` (numeric columns are data) or ``.h5ad`` file.
    labels : str or None, default=None
        The column with the groups in a table of your own, or in ``obs`` of an
        ``.h5ad`` file. None takes the first that is called label, labels, cell_type,
        celltype, class, target or y.

    Returns
    -------
    dataset : Dataset
        With attributes X, y (or None), description, source and licence.

    Examples
    --------
    >>> from localmap.datasets import load
    >>> digits = load("digits")
    >>> digits.X.shape, digits.description
    ((1797, 64), 'Handwritten digits, 8 x 8 pixels')
    """
    text = os.fspath(name)
    entry = ENTRIES.get(text)
    if entry is None:
        path = Path(text)
        if path.suffix.lower() in READERS and path.exists():
            X, y = READERS[path.suffix.lower()](path, labels)
            _check_labels(text, X, y)
            return Dataset(path.stem, X, y, f"{text}", "a file of your own", "yours")
        msg = (
            f"{text!r} is neither a data set nor a file that is there and ends in "
            f"{', '.join(READERS)}. Data sets: {', '.join(ENTRIES)}."
        )
        raise DatasetError(msg)
    X, y = _found(text) or _fetched(text, entry)
    return Dataset(text, X, y, entry.description, entry.source, entry.licence)


def _path(name: str) -> Path | None:
    for folder in folders():
        for suffix in (".npz", ".h5ad"):
            path = folder / f"{name}{suffix}"
            if path.exists():
                return path
    return None


def _found(name: str) -> tuple[Any, Any] | None:
    path = _path(name)
    if path is None:
        return None
    X, y = READERS[path.suffix](path, None)
    _check_labels(str(path), X, y)
    return (X[:, :COMPONENTS], y) if name == "kang" else (X, y)


def _check_labels(path: str, X: Any, y: Any) -> None:
    if y is not None and y.shape != (X.shape[0],):
        msg = f"{path} must hold a label for each of {X.shape[0]} rows; got {y.shape}."
        raise DatasetError(msg)


def _fetched(name: str, entry: Entry) -> tuple[Any, Any]:
    problem = "localmap does not know how to fetch it"
    if entry.fetch is not None:
        try:
            if name != "digits":
                cache_folder()  # where it will be kept
            X, y = entry.fetch(entry)
        except ImportError as error:
            problem = f'{error}; fetching needs pip install "localmap[data]"'
        except Exception as error:  # noqa: BLE001 - networks fail in many ways
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            _check(name, entry, X)
            if isinstance(X, np.ndarray) and name != "digits":
                try:
                    keep(name, X, y)
                except OSError as error:
                    text = f"{name} was fetched but could not be kept: {error}"
                    warnings.warn(text, UserWarning, stacklevel=3)
            return X, y
    places = " or ".join(str(folder / f"{name}.npz") for folder in folders())
    places = places or f"$LOCALMAP_DATA/{name}.npz"
    msg = (
        f"The data set {name!r} is not here and could not be fetched ({problem}). Put "
        f"it at {places} with arrays X and y, or as {name}.h5ad beside. "
        f"What it is: {entry.description}. Where it comes from: {entry.source}."
    )
    raise DatasetError(msg)


def _check(name: str, entry: Entry, X: Any) -> None:
    if not entry.sha256:
        return
    found = hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()
    if found != entry.sha256:
        msg = (
            f"What was fetched for {name!r} from {entry.url} is not the data set: its "
            f"numbers have the checksum {found}, not {entry.sha256}."
        )
        raise DatasetError(msg)
