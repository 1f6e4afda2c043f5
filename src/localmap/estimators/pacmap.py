"""PaCMAP as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from localmap.estimators.base import MapEstimator
from localmap.estimators.documentation import documented


@documented
class PaCMAP(MapEstimator):
    """Map data to a few dimensions with PaCMAP.

    The same loop as `LocalMAP` with ``locality=0``: the graph of pairs stays as it is.
    PaCMAP keeps continuous shapes whole; LocalMAP separates neighbouring groups.

    Parameters
    ----------
    <PAIRS>
    <LAYOUT>

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    <LEARNED>

    References
    ----------
    Wang, Huang, Rudin, Shaposhnik (2021), "Understanding How Dimension Reduction Tools
    Work", JMLR 22(201).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localmap import PaCMAP
    >>> X, y = load_digits(return_X_y=True)
    >>> PaCMAP(random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    _fixed: ClassVar[dict[str, Any]] = {"locality": 0.0}
