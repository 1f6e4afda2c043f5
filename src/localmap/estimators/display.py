"""A fitted estimator in a notebook: a small picture of its map and what the fit did.

The picture is a count of points in a small image, written as PNG here: it must not need
matplotlib, and costs milliseconds and a few kilobytes for any number of points.
"""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SIDE: Final = 240  # pixels
MARGIN: Final = 6

# From the background to where most points are: white to a dark blue.
PALE: Final = np.array([222.0, 233.0, 244.0])
DARK: Final = np.array([12.0, 52.0, 105.0])


def fragment(model: Any) -> str:
    """Return the map and the facts of a fitted estimator as HTML."""
    Y, seconds = model.embedding_, model.stage_seconds_
    facts = {
        "rows": f"{len(Y):,}",
        "columns": f"{model.n_features_in_:,}",
        "near pairs a point": f"{model.n_neighbors_}",
        "neighbours found": f"{model.neighbor_recall_:.1%}",
        "iterations": f"{model.n_iter_}",
        "seconds": ", ".join(f"{name} {time:.2f}" for name, time in seconds.items()),
    }
    if hasattr(model, "proximal_distance_"):
        facts["proximal distance"] = f"{model.proximal_distance_:.1f}"
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(fact)}</td></tr>"
        for name, fact in facts.items()
    )
    picture = base64.b64encode(thumbnail(Y)).decode()
    return (
        "<div style='display:flex;gap:1em;align-items:center;margin-top:.5em'>"
        f"<img alt='map of {len(Y):,} points' width='{SIDE}' height='{SIDE}' "
        f"src='data:image/png;base64,{picture}'><table>{lines}</table></div>"
    )


def thumbnail(Y: NDArray[np.float32]) -> bytes:
    """Return a PNG of how many points lie where, along the first two axes."""
    plane = np.zeros((len(Y), 2))
    plane[:, : min(2, Y.shape[1])] = Y[:, :2]
    low, high = plane.min(axis=0), plane.max(axis=0)
    scale = (SIDE - 2 * MARGIN - 1) / max(float((high - low).max()), 1e-30)
    at = np.rint((plane - (low + high) / 2) * scale + (SIDE - 1) / 2).astype(np.intp)
    counts = np.zeros((SIDE, SIDE))
    for right, up in ((0, 0), (0, 1), (1, 0), (1, 1)):  # a point is two pixels wide
        np.add.at(counts, (SIDE - 1 - at[:, 1] - up, at[:, 0] + right), 1.0)
    shade = np.log1p(counts) / np.log1p(counts.max())
    color = PALE + shade[:, :, None] * (DARK - PALE)
    image = np.where(counts[:, :, None] > 0, color, 255.0).astype(np.uint8)
    return _png(image)


def _png(image: NDArray[np.uint8]) -> bytes:
    """Write red, green and blue of each pixel as PNG (RFC 2083)."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # no filter: 0 before each
    rows[:, 1:] = image.reshape(height, -1)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body
        + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )  # fmt: skip
