"""Real data: bands that a broken stage leaves (each was broken once).

On digits, five seeds give PaCMAP a silhouette of 0.62 to 0.65, LocalMAP 0.66 to 0.71
and 0.58 to 0.59 with the paper's distance of 10; 10-NN accuracy 0.986 to 0.989,
correlation of group distances 0.74 to 0.82. With broken stages, at that distance:

- the farthest candidates as near pairs: silhouette 0.46, accuracy 0.88
- no further pairs: silhouette below 0
- LocalMAP without mid-near pairs 0.45, without its last phase 0.64, without redraws
  0.70, with three times the near strength 0.64 and accuracy 0.974

Unscaled near pairs and random mid-near pairs stay inside: test_pairs.py catches those.
"""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from localmap import LocalMAP, PaCMAP
from localmap.datasets import one_piece, two_clouds
from localmap.metrics import pieces, silhouette, visible_agreement


def leave_one_out_accuracy(Y, y, k=10):
    _, neighbors = KNeighborsClassifier(k).fit(Y, y).kneighbors()
    votes = np.array([np.bincount(y[row], minlength=10).argmax() for row in neighbors])
    return (votes == y).mean()


@pytest.mark.parametrize(
    ("estimator", "low", "high"),
    [
        (PaCMAP(random_state=0), 0.60, 0.67),
        (LocalMAP(proximal_distance=10.0, random_state=0), 0.56, 0.615),
        (LocalMAP(random_state=0), 0.66, 0.72),
    ],
)
def test_digits(digits, estimator, low, high):
    X, y = digits
    Y = estimator.fit_transform(X)
    assert low < silhouette(Y, y) < high
    assert leave_one_out_accuracy(Y, y) > 0.98


def test_ten_digits_are_not_seen_as_thirty(digits):
    """Agreement of visible groups with the labels, five seeds: 0.87 to 0.90.

    0.58 to 0.70 with the paper's distance, whose pieces number 26 to 33.
    """
    X, y = digits
    Y = LocalMAP(random_state=0).fit_transform(X)
    assert visible_agreement(Y, y) > 0.82


@pytest.mark.parametrize(
    "name",
    ["gauss2", "cube3", "cube5", "gauss5", "cube8", "gauss12", "gauss50", "ball5",
     "sphere5", "heavy5", "stretched10", "sheet", "circle"],
)  # fmt: skip
def test_one_piece_stays_one(name):
    """Of 2,000 rows; pairs trusted from a share of one half gave up to five pieces."""
    whole = pieces(LocalMAP(random_state=0).fit_transform(one_piece(name, 2000)))
    assert whole.number == 1
    assert whole.strays < 0.01


def test_two_clouds_come_apart_where_there_is_a_gap_and_not_before():
    """In ten dimensions: peaks 4 apart are two groups, one peak is one."""
    seen = {}
    for gap in (1.0, 4.0):
        X, y = two_clouds("gauss", 10, gap, 3000)
        Y = LocalMAP(random_state=0).fit_transform(X)
        seen[gap] = (visible_agreement(Y, y), pieces(Y).number)
    assert seen[1.0][1] == 1
    assert seen[1.0][0] < 0.1
    assert seen[4.0][1] == 2
    assert seen[4.0][0] > 0.8


def test_a_roll_is_not_torn():
    """A Swiss roll: one or two pieces, as PaCMAP; two to four at the paper's 10."""
    X = one_piece("swiss", 4000, 1)
    torn = pieces(LocalMAP(proximal_distance=10.0, random_state=1).fit_transform(X))
    assert pieces(LocalMAP(random_state=1).fit_transform(X)).number < torn.number


def test_global_order_survives(digits):
    """Groups that are far apart in the data are far apart in the map."""
    X, y = digits
    Y = PaCMAP(random_state=0).fit_transform(X)
    centres = [np.array([A[y == k].mean(axis=0) for k in range(10)]) for A in (X, Y)]
    upper = np.triu_indices(10, 1)
    data, shown = (np.linalg.norm(c[:, None] - c, axis=2)[upper] for c in centres)
    assert np.corrcoef(data, shown)[0, 1] > 0.7


@pytest.mark.parametrize(("n_components", "accuracy"), [(1, 0.9), (3, 0.97), (5, 0.97)])
def test_maps_of_other_dimensions_keep_the_groups_and_use_all_axes(
    digits, n_components, accuracy
):
    """One axis 0.96, three 0.986, five 0.987; a collapsed axis would have no spread."""
    X, y = digits
    Y = LocalMAP(n_components, random_state=0).fit_transform(X)
    spread = np.linalg.svd(Y - Y.mean(axis=0), compute_uv=False)
    assert spread[-1] > 0.3 * spread[0]
    assert leave_one_out_accuracy(Y, y) > accuracy
