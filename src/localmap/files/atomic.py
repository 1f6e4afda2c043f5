"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Write aside, then rename; what fails leaves what was there."""
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
    )
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        aside.chmod(0o666 & ~_umask())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
