"""One file that holds a fitted map: numbers and settings, nothing to execute.

Layout: 8 bytes of magic, 8 bytes with the length of a header, the header (JSON, UTF-8),
4 bytes of its checksum, then the arrays it describes, each at a multiple of 64 bytes.
The header names the version, the settings, and each array's type, shape, offset and
checksum. Everything is checked before anything is used; but for training rows that are
mapped, not read: of those the place, the type and the shape are checked, not the
numbers.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from localmap.estimators.model_parts import (
    LEARNED,
    Estimator,
    ModelFileError,
    assembled,
)
from localmap.geometry.rows import RowSpace
from localmap.method.out_of_sample import FittedMap

MAGIC: Final = b"LocalMAP"
VERSION: Final = 5
READABLE: Final = (3, 4, 5)  # 3 had no rows in another order, 4 no cells of them
ALIGNED: Final = 64

# Longer headers are damage: a million column names take less.
LONGEST_HEADER: Final = 1 << 28

# The arrays of a fitted map: type and number of axes.
ARRAYS: Final = {
    "Y": ("<f4", 2),
    "Z": ("<f4", 2),
    "order": ("<i4", 1),
    "around": ("<f4", 2),
    "cells": ("<f4", 2),
    "lists": ("<i4", 2),
    "starts": ("<i8", 1),
    "scales": ("<f8", 1),
    "centre": ("<f8", 1),
    "components": ("<f4", 2),
    "init": ("<f8", 2),
    "usual": ("<f4", 1),
    "sizes": ("<f4", 1),
    "spread": ("<f8", 1),
    "filled": ("<f8", 1),
}
OPTIONAL: Final = set(ARRAYS) - {"Y", "scales"}

# The arrays that stay in the file when it is mapped: the training rows.
MAPPED: Final = ("Z",)

# What reading a header that makes no sense may end in.
DAMAGE: Final = (
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    AttributeError,
    RecursionError,
)


def write_model(
    path: str | PathLike[str],
    kind: str,
    params: Mapping[str, Any],
    learned: Mapping[str, Any],
    fitted: FittedMap,
) -> None:
    """Write all or nothing: what stood at `path` stays until the new file is whole."""
    arrays: dict[str, NDArray[Any]] = {"Y": fitted.Y, "scales": fitted.scales}
    space = fitted.space
    if isinstance(space, RowSpace):
        unit = space.preprocessing.unit
        arrays |= {"Z": space.Z, "centre": space.preprocessing.centre}
        if space.cells is not None:
            arrays |= space.cells.named()
        if space.order is not None:
            arrays["order"] = space.order
        if space.preprocessing.components is not None:
            arrays["components"] = space.preprocessing.components
        scaling = space.preprocessing.scaling
        if scaling is not None:
            arrays["spread"] = scaling.spread
    else:
        unit = space.unit
    if fitted.trust is not None:
        arrays |= {"usual": fitted.trust.usual, "sizes": fitted.trust.sizes}
    if learned.get("filled_") is not None:
        arrays["filled"] = learned["filled_"]
    settings = dict(params)
    # Not data: a model read back draws no new map by the old callback or generator.
    settings |= {"callback": None, "memory_limit": None, "scratch": None}
    if not isinstance(settings["random_state"], (int, np.integer, type(None))):
        settings["random_state"] = None
    if not isinstance(settings["init"], str):
        arrays["init"] = np.asarray(settings["init"])
        settings["init"] = "init"
    names = learned.get("feature_names_in_")
    header = {
        "version": VERSION,
        "kind": kind,
        "params": settings,
        "learned": {k: learned[k] for k in LEARNED if k in learned},
        "stage_seconds": learned["stage_seconds_"],
        "feature_names": None if names is None else list(names),
        "unit": unit,
        "n_neighbors": fitted.n_neighbors,
        "n_candidates": fitted.n_candidates,
        "n_further": fitted.n_further,
        "weights": list(fitted.weights),
        "rule": asdict(fitted.rule),
        "among": None if fitted.trust is None else fitted.trust.among,
        "reach": fitted.reach,
        "learning_rate": fitted.learning_rate,
        "key": fitted.key,
    }
    data = {
        name: np.ascontiguousarray(array, dtype=ARRAYS[name][0])
        for name, array in arrays.items()
    }
    from localmap.files.atomic import atomic_file

    with atomic_file(Path(path)) as aside, aside.open("wb") as file:
        _write(file, header, data)
        file.flush()
        os.fsync(file.fileno())


def read_model(
    path: str | PathLike[str],
    kinds: Mapping[str, Callable[..., Estimator]],
    mmap_mode: str | None = None,
) -> tuple[Estimator, dict[str, Any], FittedMap]:
    """Return an estimator of its kind, what it learned, and the map."""
    if mmap_mode not in (None, "r"):
        msg = f"mmap_mode must be None or 'r'; got {mmap_mode!r}."
        raise ValueError(msg)
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            header, start = _read_header(file, size)
            mapped = () if mmap_mode is None else MAPPED
            arrays = _read_arrays(file, header, start, size, mapped)
        return assembled(header, arrays, kinds)
    except ModelFileError as error:
        msg = f"{os.fspath(path)} cannot be read as a model: {error}"
        raise ModelFileError(msg) from None
    except DAMAGE as error:
        msg = (
            f"{os.fspath(path)} cannot be read as a model: its settings make no sense "
            f"({type(error).__name__}: {error})."
        )
        raise ModelFileError(msg) from None


def _padded(offset: int) -> int:
    return -(-offset // ALIGNED) * ALIGNED


def _write(
    file: BinaryIO, header: dict[str, Any], data: dict[str, NDArray[Any]]
) -> None:
    described: dict[str, dict[str, Any]] = {}
    offset = 0
    for name, array in data.items():
        described[name] = {
            "shape": array.shape,
            "offset": offset,
            "crc": zlib.crc32(array.tobytes()),
        }
        offset = _padded(offset + array.nbytes)
    text = json.dumps(header | {"arrays": described}, default=_plain).encode()
    file.write(MAGIC + struct.pack("<Q", len(text)) + text)
    file.write(struct.pack("<I", zlib.crc32(text)))
    start = _padded(len(MAGIC) + 8 + len(text) + 4)
    for name, array in data.items():
        file.write(b"\0" * (start + described[name]["offset"] - file.tell()))
        file.write(array.data)


def _plain(value: Any) -> Any:
    """NumPy's numbers and tuples as JSON knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    msg = f"{type(value).__name__} cannot be saved: {value!r}"
    raise TypeError(msg)


def _read_header(file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    fixed = file.read(len(MAGIC) + 8)
    if fixed[: len(MAGIC)] != MAGIC:
        msg = "it does not begin like one. Was it written by model.save()?"
        raise ModelFileError(msg)
    if len(fixed) < len(MAGIC) + 8:
        msg = "it is cut off within its first bytes."
        raise ModelFileError(msg)
    (length,) = struct.unpack("<Q", fixed[len(MAGIC) :])
    if length > LONGEST_HEADER or len(fixed) + length + 4 > size:
        msg = "its header is damaged, or the file is cut off."
        raise ModelFileError(msg)
    text, check = file.read(length), file.read(4)
    if struct.pack("<I", zlib.crc32(text)) != check:
        msg = "its header is damaged."
        raise ModelFileError(msg)
    header = json.loads(text)
    if header["version"] not in READABLE:
        msg = (
            f"it has version {header['version']}, this localmap reads versions "
            f"{READABLE[0]} to {VERSION}. Save it again with the localmap that wrote "
            "it, or upgrade."
        )
        raise ModelFileError(msg)
    return header, _padded(len(fixed) + length + 4)


def _read_arrays(
    file: BinaryIO,
    header: dict[str, Any],
    start: int,
    size: int,
    mapped: Collection[str] = (),
) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    described = header["arrays"]
    for name, (kind, axes) in ARRAYS.items():
        if name not in described:
            if name in OPTIONAL:
                continue
            msg = f"it holds no {name}."
            raise ModelFileError(msg)
        one = described[name]
        shape = tuple(int(axis) for axis in one["shape"])
        if len(shape) != axes or min(shape) < 1:
            msg = f"{name} has shape {shape}."
            raise ModelFileError(msg)
        nbytes = math.prod(shape) * np.dtype(kind).itemsize
        offset = start + int(one["offset"])
        if int(one["offset"]) < 0 or offset + nbytes > size:
            msg = f"{name} is cut off."
            raise ModelFileError(msg)
        if name in mapped:
            arrays[name] = np.memmap(file, kind, "r", offset, shape)
            continue
        file.seek(offset)
        array = np.fromfile(file, dtype=kind, count=math.prod(shape))
        if zlib.crc32(array.tobytes()) != one["crc"]:
            msg = f"{name} is damaged."
            raise ModelFileError(msg)
        if not np.isfinite(array).all():
            msg = f"{name} is not finite."
            raise ModelFileError(msg)
        arrays[name] = array.reshape(shape)
    return arrays
