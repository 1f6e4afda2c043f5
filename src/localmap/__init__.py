"""Maps of high-dimensional data whose groups are real: LocalMAP and PaCMAP."""

from importlib.metadata import version

from localmap.estimator import LocalMAP, load
from localmap.pacmap import PaCMAP

__all__ = ["LocalMAP", "PaCMAP", "__version__", "load"]
__version__ = version("localmap")
