"""One look at all numbers, before anything is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from localmap.geometry.blocks import Rows, blocks
from localmap.geometry.finite import Infinite, infinite_in, refuse_infinite
from localmap.geometry.workshop import Part, Workshop
from localmap.scale.scratch import checksum_of


def look_at(X: Rows, workshop: Workshop, names: Sequence[str] | None = None) -> str:
    """Refuse numbers that are not finite; return a digest of the data."""
    digest = sha256(repr((X.shape, np.dtype(X.dtype).str)).encode())
    found = None
    for checksums, infinite in workshop.each("check", workshop.parts(X), _look, X=X):
        for checksum in checksums:
            digest.update(checksum.to_bytes(4, "little"))
        if infinite is not None:
            found = infinite if found is None else found.joined(infinite)
    if found is not None:
        refuse_infinite(found, names)
    return digest.hexdigest()


def _look(part: Part, X: Any, n_threads: int) -> tuple[list[int], Infinite | None]:
    """Return a checksum of each block of a part, and what of it is not finite."""
    del n_threads
    X = csr_array(X) if issparse(X) else X
    checksums = [_checksum(X[rows]) for rows in blocks(X)]
    return checksums, infinite_in(X, part.rows.start)


def _checksum(block: Any) -> int:
    if issparse(block):
        return checksum_of(block.indptr, block.indices, block.data)
    return checksum_of(block)
