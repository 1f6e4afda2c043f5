"""Maps of high-dimensional data whose groups are real: LocalMAP and PaCMAP.

Names are imported when they are asked for: the command answers ``--help`` without
loading scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localmap.estimators import LocalMAP, PaCMAP, load

__all__ = ["LocalMAP", "PaCMAP", "__version__", "load"]

_MODULES = ("datasets", "metrics", "plotting", "pp", "tl", "trust")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("localmap")
    if name in _MODULES:
        return import_module(f"localmap.{name}")
    if name in __all__:
        return getattr(import_module("localmap.estimators"), name)
    msg = f"module 'localmap' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
