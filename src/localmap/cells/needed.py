"""The extra ``[anndata]``, or what to install."""

from __future__ import annotations

from typing import Any


def scanpy_for(purpose: str) -> Any:
    """Return scanpy, or say that it is missing and how to get it."""
    try:
        import scanpy
    except ImportError as error:
        msg = f'{purpose} needs scanpy ({error}): pip install "localmap[anndata]"'
        raise ImportError(msg) from error
    return scanpy
