"""Data by the names of `localmap.bench.sets`; real sets are in ``$LOCALMAP_DATA``."""

from localmap.bench.sets import load

__all__ = ["load"]
