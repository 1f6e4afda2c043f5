"""One look at all numbers, before anything is done with them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from localmap.geometry.blocks import Rows
from localmap.geometry.finite import Infinite, infinite_in, refuse_infinite
from localmap.geometry.workshop import Part, Workshop, parts_of
from localmap.scale.scratch import bytes_in


def look_at(X: Rows, workshop: Workshop, names: Sequence[str] | None = None) -> str:
    """Refuse numbers that are not finite; return a digest of the data."""
    digest = sha256(repr((X.shape, np.dtype(X.dtype).str)).encode())
    found = None
    for checksum, infinite in workshop.each("check", parts_of(X), _look, X=X):
        digest.update(checksum.to_bytes(4, "little"))
        if infinite is not None:
            found = infinite if found is None else found.joined(infinite)
    if found is not None:
        refuse_infinite(found, names)
    return digest.hexdigest()


def _look(part: Part, X: Any, n_threads: int) -> tuple[int, Infinite | None]:
    """Return a checksum of a part, and what of it is not finite."""
    del n_threads
    if issparse(X):
        X = csr_array(X)
        pieces = [X.indptr, X.indices, X.data]
    else:
        pieces = [np.ascontiguousarray(X)]
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(bytes_in(piece), checksum)
    return checksum, infinite_in(X, part.rows.start)
