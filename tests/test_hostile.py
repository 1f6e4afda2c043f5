"""Whatever is given ends in a finite map or in an exception that says why.

``LOCALMAP_CASES=5000 python -m pytest tests/test_hostile.py`` is the whole campaign; a
small, fixed part of it runs with the tests.
"""

import os
import re
import warnings
from datetime import timedelta

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import matrices

from localmap import LocalMAP, PaCMAP
from localmap.geometry.distances import NAMES as METRICS

CASES = int(os.environ.get("LOCALMAP_CASES", "0"))
# All cases are small; in a campaign one that takes this long counts as a hang.
LIMIT = timedelta(seconds=20) if CASES else None

MAGNITUDES = [0.0, 1e-320, 1e-150, 1e-38, 1.0, 2.0**60, 1e38, 1e150, 1e308]
SPARSE = [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array]

# What an error may say: each of these names what was given or the rule.
EXPLAINED = (
    "All rows of X are equal|All given distances are 0|must not be negative|"
    "contains .*(NaN|infinity)|square|near pairs, but row|minimum of 2 is required|"
    "would be filled in|Sparse data was passed|diverged|init must have|"
    "dtype='numeric' is not compatible|asks which numbers are equal|"
    "looks like a neighbour graph|no number may be negative|scale must be 'none'|"
    "quartiles, which sparse|no distance to itself|must be symmetric"
)


@st.composite
def hostile(draw):
    """Data as nobody should send it."""
    X = draw(matrices(max_rows=60, max_columns=8))
    if X.dtype == np.float64:
        with np.errstate(over="ignore"):
            X = X * draw(st.sampled_from(MAGNITUDES))
    if X.dtype.kind == "f":
        X = X.copy()
        if draw(st.integers(0, 9)) == 0:
            rows = draw(st.lists(st.integers(0, len(X) - 1), max_size=3))
            X[rows, 0] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=60))]
    wide = draw(st.sampled_from([0, 0, 0, 0, 120, 3100]))
    if wide:
        X = np.hstack([X, np.zeros((len(X), wide), dtype=X.dtype)])
    if draw(st.integers(0, 7)) == 0:  # distances, more or less
        with np.errstate(all="ignore"):
            column = X[:, 0].astype(np.float32)
            X = np.abs(column[:, None] - column)
    if draw(st.integers(0, 3)) == 0 and X.dtype != np.float16:
        X = draw(st.sampled_from(SPARSE))(X)
    return X


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "n_components": st.integers(1, 5),
        "n_neighbors": st.one_of(st.just("auto"), st.integers(1, 200)),
        "mid_near_ratio": st.floats(0, 20),
        "further_ratio": st.floats(0, 20),
        "metric": st.sampled_from(METRICS),
        "scale": st.sampled_from(["none", "none", "standard", "robust"]),
        "init": st.sampled_from(["pca", "random"]),
        "n_iters": st.tuples(*[st.integers(0, 12)] * 3),
        "learning_rate": st.sampled_from([1e-10, 0.1, 1.0, 10.0, 1e10]),
        "pca_components": st.one_of(st.none(), st.integers(1, 130)),
        "n_jobs": st.sampled_from([1, 2, None, -1]),
    },
)
LOCAL = st.fixed_dictionaries(
    {},
    optional={
        "proximal_distance": st.sampled_from(["auto", 1e-10, 0.5, 10.0, 1e10]),
        "near_strength": st.one_of(st.none(), st.floats(0, 100)),
        "locality": st.floats(0, 1),
    },
)


@given(X=hostile(), params=PARAMETERS, local=st.one_of(st.none(), LOCAL))
@settings(
    max_examples=CASES or 150,
    deadline=LIMIT,
    derandomize=not CASES,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_a_finite_map_or_an_exception_that_says_why(X, params, local):
    params = {"n_iters": (3, 3, 11), **params}
    model = PaCMAP(**params) if local is None else LocalMAP(**params, **local)
    model.set_params(random_state=0)
    before = X.copy()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*samples cannot give each point")
        warnings.filterwarnings("ignore", "X looks like distances")
        try:
            Y = model.fit_transform(X)
        except (ValueError, TypeError) as error:
            assert re.search(EXPLAINED, str(error), re.DOTALL), error  # noqa: PT017
            assert not model.__sklearn_is_fitted__()
            assert _same(X, before), "the data was changed"
            return
    assert Y.shape == (X.shape[0], model.n_components)
    assert np.isfinite(Y).all()
    assert _same(X, before), "the data was changed"
    placed, away = model.transform(X, return_distance=True)
    assert np.isfinite(placed).all()
    assert np.isfinite(away).all()
    if model.metric != "precomputed" and not sp.issparse(X) and X.dtype.kind == "f":
        far = np.full((1, X.shape[1]), np.finfo(X.dtype).max)
        assert np.isfinite(model.transform(far)).all()


def _same(a, b):
    if sp.issparse(a):
        a, b = sp.csr_array(a), sp.csr_array(b)
        return np.array_equal(a.data, b.data, equal_nan=a.dtype.kind == "f")
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
