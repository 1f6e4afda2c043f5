import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from localmap.metrics import silhouette


@pytest.mark.parametrize(("n", "dim"), [(1797, 2), (300, 3), (65, 1), (90, 5)])
def test_equals_scikit_learn(n, dim):
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 7, size=n)
    Y = rng.normal(size=(n, dim)).astype(np.float32) * 20 + labels[:, None]
    assert silhouette(Y, labels) == pytest.approx(
        silhouette_score(Y.astype(np.float64), labels), abs=1e-6
    )


def test_labels_of_any_kind_and_groups_of_one():
    Y = np.array([[0.0, 0], [1, 0], [5, 0], [6, 0], [20, 20]])
    words = ["a", "a", "b", "b", "alone"]
    assert silhouette(Y, words) == pytest.approx(silhouette_score(Y, words), abs=1e-6)
    assert silhouette(Y, words, n_jobs=1) == silhouette(Y, words, n_jobs=4)


def test_points_on_top_of_each_other():
    assert silhouette(np.zeros((4, 2)), [0, 0, 1, 1]) == 0.0


def test_one_group_is_refused():
    with pytest.raises(ValueError, match="at least two groups; got 1"):
        silhouette(np.zeros((4, 2)), [1, 1, 1, 1])
