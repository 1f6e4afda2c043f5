"""Maps of high-dimensional data whose groups are real: LocalMAP and PaCMAP."""

from importlib.metadata import version

from localmap.estimators import LocalMAP, PaCMAP, load

__all__ = ["LocalMAP", "PaCMAP", "__version__", "load"]
__version__ = version("localmap")
