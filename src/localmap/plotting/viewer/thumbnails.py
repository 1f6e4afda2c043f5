"""Images of the rows, in sheets of many, for the card of the point under the cursor."""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.plotting.viewer.pack import Blocks

LARGEST: Final = 64  # pixels along the longer side; larger images are thinned out
# A sheet is decoded when the cursor first comes to one of its points, which lie beside
# each other on the map: small enough to be quick, large enough to compress.
PER_SHEET: Final = 1024
ACROSS: Final = 32
QUALITY: Final = (
    60  # WebP: a third of PNG's size, no difference to be seen at this size
)


def add_thumbnails(
    blocks: Blocks, images: ArrayLike, order: NDArray[np.int64]
) -> dict[str, Any]:
    """Keep one image of each row; return how the page finds them."""
    from PIL import Image

    array = _checked(np.asarray(images), len(order))
    step = -(-max(array.shape[1:3]) // LARGEST)
    array = array[:, ::step, ::step]
    low, high = float(array.min()), float(array.max())
    height, width = array.shape[1:3]
    sheets = []
    for start in range(0, len(order), PER_SHEET):
        part = _to_bytes(array[order[start : start + PER_SHEET]], low, high)
        down = -(-len(part) // ACROSS)
        sheet = np.zeros((down * ACROSS, *part.shape[1:]), dtype=np.uint8)
        sheet[: len(part)] = part
        tiles = sheet.reshape(down, ACROSS, height, width, *part.shape[3:])
        pixels = tiles.swapaxes(1, 2).reshape(down * height, ACROSS * width, -1)
        file = io.BytesIO()
        Image.fromarray(pixels.squeeze(-1) if pixels.shape[2] == 1 else pixels).save(
            file, format="WEBP", quality=QUALITY, method=2
        )
        sheets.append(blocks.add_as_is(file.getvalue()))
    return {
        "width": width, "height": height, "across": ACROSS, "perSheet": PER_SHEET,
        "mime": "image/webp", "sheets": sheets,
    }  # fmt: skip


def _checked(array: NDArray[Any], n: int) -> NDArray[Any]:
    colours = array.ndim == 4 and array.shape[3] in (1, 3, 4)
    if (
        array.dtype.kind not in "biuf"
        or len(array) != n
        or not (array.ndim == 3 or colours)
    ):
        msg = (
            f"thumbnails must be images of shape ({n}, height, width), or with 3 or 4 "
            f"colours at the end; got {array.dtype} of shape {array.shape}."
        )
        raise ValueError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = "thumbnails must be finite; got NaN or infinity."
        raise ValueError(msg)
    return array[..., 0] if colours and array.shape[3] == 1 else array


def _to_bytes(part: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Bytes as they are; other numbers from the smallest (black) to the largest."""
    if part.dtype == np.uint8:
        return part
    scale = 255 / (high - low) if high > low else 0.0
    return np.round((part.astype(np.float64) - low) * scale).astype(np.uint8)
