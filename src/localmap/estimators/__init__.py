"""What people call: LocalMAP, PaCMAP, and models from files."""

from localmap.estimators.loading import load
from localmap.estimators.localmap import LocalMAP
from localmap.estimators.pacmap import PaCMAP

__all__ = ["LocalMAP", "PaCMAP", "load"]
