"""Numbers as short text: differences, byte planes, gzip, base64.

Rows are stored in the order of a curve that fills the plane (Morton), so that points
that follow each other lie beside each other: their differences are small, and gzip
finds the high bytes, kept apart from the low ones, almost constant.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

BITS: Final = 24  # of a position: exact in the float32 of the graphics card
# Differences of two such integers still fit 32 bits once their sign is folded in.
LARGEST_INT: Final = 2**29
LEVEL: Final = 6  # gzip: 9 takes four times as long for one per cent


class Blocks:
    """The data of a page: texts without any letter that means something in HTML."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, data: bytes) -> int:
        """Keep bytes, compressed; return the number of their block."""
        # mtime=0: the same map gives the same page.
        return self.add_as_is(gzip.compress(data, LEVEL, mtime=0))

    def add_as_is(self, data: bytes) -> int:
        """Keep bytes that are compressed already, such as images."""
        self.texts.append(base64.b64encode(data).decode("ascii"))
        return len(self.texts) - 1

    def add_json(self, value: Any) -> int:
        """Keep a value as JSON."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        # A lone surrogate is no text: it is shown as the replacement character.
        return self.add(text.encode("utf-8", errors="replace"))

    def add_ints(self, values: NDArray[Any], *, differences: bool) -> dict[str, Any]:
        """Keep integers below `LARGEST_INT`; return how the page reads them."""
        wide = values.astype(np.int64).ravel()
        if differences:
            wide = np.diff(wide, prepend=0)
        folded = ((wide << 1) ^ (wide >> 63)).astype("<u4")
        n_planes = max(1, (int(folded.max(initial=0)).bit_length() + 7) // 8)
        planes = folded.view(np.uint8).reshape(-1, 4)[:, :n_planes].T
        return {
            "block": self.add(planes.tobytes()),
            "planes": n_planes,
            "differences": differences,
        }

    def add_floats(self, values: NDArray[np.float64]) -> dict[str, Any]:
        """Keep numbers exactly, in four bytes where that is enough."""
        with np.errstate(over="ignore"):
            short = values.astype("<f4")
        exact = np.array_equal(short.astype(np.float64), values, equal_nan=True)
        kept = short if exact else values.astype("<f8")
        width = kept.dtype.itemsize
        planes = kept.view(np.uint8).reshape(-1, width).T
        return {"block": self.add(planes.tobytes()), "bytes": width}


def quantize(
    Y: NDArray[np.float64], bits: int
) -> tuple[NDArray[np.int64], dict[str, float]]:
    """Return whole steps from the lower left corner, and what a step is."""
    corner = Y.min(axis=0)
    extent = float((Y.max(axis=0) - corner).max())
    step = extent / (2**bits - 1) if extent > 0 else 1.0
    steps = np.round((Y - corner) / step).astype(np.int64)
    return steps, {"x": float(corner[0]), "y": float(corner[1]), "step": step}


def morton_order(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows in the order of the curve; steps are below ``2**BITS``."""
    key = np.zeros(len(steps), dtype=np.uint64)
    for axis in (0, 1):
        key |= _spread(steps[:, axis].astype(np.uint64)) << np.uint64(axis)
    return np.argsort(key, kind="stable")


def _spread(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Put a zero between the bits of each number of at most 32 bits."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        values = (values | (values << np.uint64(shift))) & np.uint64(mask)
    return values
