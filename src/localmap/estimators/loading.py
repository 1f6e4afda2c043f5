"""Models from files."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from localmap.estimators.base import MapEstimator
from localmap.estimators.localmap import LocalMAP
from localmap.estimators.model_file import read_model
from localmap.estimators.pacmap import PaCMAP


def load(
    path: str | PathLike[str], *, mmap_mode: Literal["r"] | None = None
) -> MapEstimator:
    """Read a model that `LocalMAP.save` or `PaCMAP.save` has written.

    Nothing in the file is executed, and all that is read is checked before use.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {"r"} or None, default=None
        "r" leaves the training rows in the file and reads them as they are needed:
        their place, type and shape are checked, their numbers are not. Processes share
        them until they place rows: more than 20,000 training rows are then copied into
        an index. The file must stay as it is (a new `save` to the same name does no
        harm).

    Returns
    -------
    model : LocalMAP or PaCMAP
        The fitted estimator.
    """
    kinds: dict[str, type[MapEstimator]] = {"LocalMAP": LocalMAP, "PaCMAP": PaCMAP}
    model, learned, fitted = read_model(path, kinds, mmap_mode)
    for name, value in learned.items():
        setattr(model, name, value)
    model._fitted = fitted  # noqa: SLF001
    model._fitted_with = model.get_params(deep=False)  # noqa: SLF001
    model.embedding_ = fitted.by_row.copy()
    return model
