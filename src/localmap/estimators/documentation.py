"""Parts of the documentation that both estimators share, written once."""

from __future__ import annotations

from inspect import cleandoc
from typing import Final, TypeVar

Documented = TypeVar("Documented", bound=type)

PAIRS: Final = """\
n_components : int, default=2
    Number of dimensions of the map.
n_neighbors : int or "auto", default=10
    Near pairs of each point. "auto" is the authors' rule: 10 up to 10,000 rows,
    then ``10 + 15 * (log10(n_samples) - 4)``.
mid_near_ratio : float, default=0.5
    Mid-near pairs of each point, as a multiple of `n_neighbors`.
further_ratio : float, default=2.0
    Further pairs of each point, as a multiple of `n_neighbors`.
metric : {"euclidean", "cosine", "correlation", "hellinger", "manhattan", \
"chebyshev", "hamming", "jaccard", "precomputed"}, default="euclidean"
    Distance between rows. Cosine, correlation and Hellinger do not depend on the scale
    of a row; "hellinger" compares shares, for counts and topics. From "manhattan" on,
    all rows are compared with all rows and no PCA is done; "jaccard" asks of each
    number only whether it is 0. "precomputed": X holds distances, either of all rows to
    all rows or, as a sparse matrix, of each row to its nearest (scikit-learn's
    ``KNeighborsTransformer`` and its like; ``n_neighbors + 50`` of them are best).
scale : {"none", "standard", "robust"}, default="none"
    Columns are brought to one scale first: by their standard deviations, or by their
    quartiles, which far rows do not move. New rows are scaled alike. "none" takes them
    as they are: right for columns of one unit, as pixels or genes.
"""

LAYOUT: Final = """\
init : {"pca", "random"} or array-like of shape (n_samples, n_components), \
default="pca"
    Where the points start. An array is used at its own scale.
n_iters : tuple of three ints, default=(100, 100, 250)
    Iterations of the three phases.
learning_rate : float, default=1.0
    Learning rate of Adam.
pca_components : int or None, default=100
    Data with more columns is first reduced to this many by PCA; None leaves it.
random_state : int, RandomState, Generator or None, default=None
    An integer makes the map reproducible: the same input and seed give the same
    bits, on any number of threads.
n_jobs : int or None, default=-1
    Number of threads; -1 uses all cores, None one.
memory_limit : str, float or None, default=None
    What a fit may take beside its input, such as "4GB"; None: most of what the machine,
    or its container, has free. Where that is too little, rows and neighbours are kept
    in files. The map is the same.
scratch : str, path-like or None, default=None
    Folder for these files; None: a temporary one. They are removed at the end. In a
    folder that is named here they stay if a run is cut off: the same fit goes on from
    there.
callback : callable or None, default=None
    Called as ``callback(iteration, Y, loss)`` after each iteration, with a copy of
    the map and PaCMAP's loss before the move. Returning True stops the run.
verbose : bool, default=False
    Show a progress bar with the phase and the loss.
"""

LEARNED: Final = """\
n_neighbors_ : int
    Near pairs that each point was given; fewer than asked for on small data.
neighbor_recall_ : float
    Share of the true nearest neighbours that were found, estimated on 500 rows;
    1 where the search was exact (up to 20,000 rows).
far_distance_ : float
    Distance, as `transform` tells it, below which 95 % of the training rows are.
n_iter_ : int
    Iterations run.
stage_seconds_ : dict of str to float
    Time spent in each stage of the fit.
n_features_in_ : int
    Number of columns of the data.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the columns, if all are strings.
"""


def documented(cls: Documented) -> Documented:
    """Fill in the shared parts of a class's documentation."""
    text = cleandoc(cls.__doc__ or "")  # as Python 3.13 does by itself
    for name, part in (("PAIRS", PAIRS), ("LAYOUT", LAYOUT), ("LEARNED", LEARNED)):
        text = text.replace(f"<{name}>\n", part)
    cls.__doc__ = text
    return cls
