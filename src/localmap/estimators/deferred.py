"""scikit-learn without SciPy's statistics, until someone asks for them.

To load scikit-learn's base class is to load `scipy.stats`, half of all the time that it
takes, for one function that maps have no use for. While scikit-learn is loaded here a
stand-in takes its place. It is gone afterwards: scikit-learn reaches the real module
through `scipy`, which loads it when it is first asked for, and so does everyone else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final

STATISTICS: Final = "scipy.stats"


class StandIn(ModuleType):
    """A module that is loaded when something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what imports ask of every module
            raise AttributeError(name)
        _give_way(self)
        return getattr(import_module(self.__name__), name)


def _give_way(module: StandIn) -> None:
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


@contextmanager
def deferred(name: str) -> Iterator[None]:
    """Keep a module from being loaded, unless it is there or needed at once."""
    stand_in = StandIn(name)
    sys.modules.setdefault(name, stand_in)
    try:
        yield
    finally:
        _give_way(stand_in)


with deferred(STATISTICS):
    import sklearn.base
    import sklearn.utils.validation  # noqa: F401
