import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.manifold import trustworthiness as sklearn_trustworthiness
from sklearn.metrics import silhouette_score
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from localmap import metrics
from localmap.metrics import silhouette, structure
from localmap.metrics import supervised as labels_module
from localmap.metrics import validation as points_module


def blobs(n=300, groups=3, dim=2, seed=0, gap=8.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, groups, n)
    centres = gap * rng.normal(size=(groups, dim))
    return centres[labels] + rng.normal(size=(n, dim)), labels


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


def test_knn_accuracy_equals_leaving_one_out():
    Y, labels = blobs(n=120, gap=1.5)
    model = KNeighborsClassifier(5)
    expected = cross_val_score(model, Y, labels, cv=LeaveOneOut()).mean()
    assert 0.4 < expected < 0.99
    assert metrics.knn_accuracy(Y, labels, k=5) == pytest.approx(expected)


def test_duplicates_are_not_their_own_neighbours():
    # Pairs of points on top of each other with different labels: who counts itself
    # among its one nearest is always right, who does not is always wrong.
    Y = np.repeat(np.arange(25.0), 2)[:, None]
    labels = np.arange(50) % 2
    assert metrics.knn_accuracy(Y, labels, k=1) == 0.0
    with pytest.raises(ValueError, match="k must be from 1 to 49 for 50 points"):
        metrics.knn_accuracy(Y, labels, k=50)


def test_votes_need_no_column_for_each_label():
    Y = np.arange(30_000.0)[:, None]
    assert metrics.knn_accuracy(Y, np.arange(30_000)) == 0.0


def test_labels_that_are_missing_are_told():
    Y = np.zeros((4, 2))
    for labels in (["a", None, "b", "b"], [0.0, np.nan, 1.0, 1.0]):
        with pytest.raises(ValueError, match="1 of 4 labels are missing, the first in"):
            silhouette(Y, np.array(labels, dtype=object if None in labels else float))


def test_svm_accuracy_tells_separable_from_mixed():
    apart, labels = blobs(gap=20)
    assert metrics.svm_accuracy(apart, labels) > 0.98
    shuffled = np.random.default_rng(0).permutation(labels)
    assert metrics.svm_accuracy(apart, shuffled) < 0.6
    # Curved borders: a straight line cannot tell a disk from the ring around it.
    angle = np.linspace(0, 60, 400)
    radius = np.where(np.arange(400) % 2, 1.0, 5.0)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert metrics.svm_accuracy(rings, np.arange(400) % 2) > 0.99
    with pytest.raises(ValueError, match="two labels of at least 5 points"):
        metrics.svm_accuracy(apart, np.zeros(len(apart)))


def test_the_approximate_svm_agrees_with_the_exact_one(monkeypatch):
    Y, labels = blobs(n=1500, groups=6, gap=3.0)
    exact = metrics.svm_accuracy(Y, labels)
    monkeypatch.setattr(labels_module, "SVM_EXACT", 100)
    assert metrics.svm_accuracy(Y, labels) == pytest.approx(exact, abs=0.01)
    assert exact < 0.995


def test_trustworthiness_and_continuity_equal_scikit_learn():
    X, _ = blobs(n=400, dim=6, gap=2.0)
    Y = X[:, :2] + 0.5 * np.random.default_rng(1).normal(size=(400, 2))
    expected = sklearn_trustworthiness(X, Y, n_neighbors=10)
    assert expected < 0.97
    assert metrics.trustworthiness(X, Y) == pytest.approx(expected, abs=1e-6)
    expected = sklearn_trustworthiness(Y, X, n_neighbors=10)
    assert metrics.continuity(X, Y) == pytest.approx(expected, abs=1e-6)
    assert metrics.trustworthiness(X, X) == 1.0


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_tight_groups_far_apart_are_ranked_as_well(far):
    """Products in single precision gave 0.94 for the data itself."""
    X, y = blobs(n=300, dim=6, gap=2.0)
    X = X + far * (y % 2)[:, None]
    Y = X[:, :2]
    assert metrics.trustworthiness(X, X) == 1.0
    assert metrics.preservation(X, X) == 1.0
    expected = sklearn_trustworthiness(X, Y - Y.mean(axis=0), n_neighbors=10)
    found = metrics.trustworthiness(X, (Y - Y.mean(axis=0)).astype(np.float64))
    assert found == pytest.approx(expected, abs=1e-4)


def test_data_far_from_zero_is_ranked_as_well():
    X, _ = blobs(n=300, dim=6, gap=2.0)
    Y = X[:, :2]
    expected = sklearn_trustworthiness(X, Y, n_neighbors=10)
    assert metrics.trustworthiness(X + 1e5, Y - 1e4) == pytest.approx(
        expected, abs=1e-3
    )
    kept = metrics.preservation(X, Y)
    assert metrics.preservation(X + 1e5, Y) == pytest.approx(kept, abs=1e-3)


def test_a_sample_of_rows_tells_nearly_the_same(monkeypatch):
    X, _ = blobs(n=900, dim=6, gap=2.0)
    Y = X[:, :2]
    whole = metrics.trustworthiness(X, Y)
    monkeypatch.setattr(points_module, "SAMPLE", 300)
    assert metrics.trustworthiness(X, Y) == pytest.approx(whole, abs=0.02)
    assert metrics.trustworthiness(X, Y) != whole


def test_preservation_by_definition():
    X, _ = blobs(n=200, dim=5)
    Y = X[:, :2]
    near = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    shown = NearestNeighbors(n_neighbors=30).fit(Y).kneighbors(return_distance=False)
    expected = np.mean(
        [len(set(a) & set(b)) / 10 for a, b in zip(near, shown, strict=True)]
    )
    assert expected < 0.95
    assert metrics.preservation(X, Y) == pytest.approx(expected)
    assert metrics.kept(near, Y) == pytest.approx(expected)
    with pytest.raises(ValueError, match="below the number of rows"):
        metrics.preservation(X[:20], Y[:20])


def test_triplets_of_few_rows_are_all_of_them():
    X, _ = blobs(n=20, dim=3)
    Y = np.random.default_rng(0).normal(size=(20, 2))
    far = [np.linalg.norm(A[:, None] - A[None], axis=2) for A in (X, Y)]
    agree = [
        (far[0][i, j] < far[0][i, k]) == (far[1][i, j] < far[1][i, k])
        for i in range(20)
        for j in range(20)
        for k in range(j)
        if i not in (j, k)
    ]
    assert metrics.random_triplets(X, Y) == pytest.approx(np.mean(agree))
    many, _ = blobs(n=200, dim=3)
    i, j, k = structure._triplets(200, 0)
    assert not ((i == j) | (i == k) | (j == k)).any()
    assert len(i) == structure.TRIPLETS
    assert metrics.random_triplets(many, 2 * many) == 1.0


def test_triplets():
    X, labels = blobs(n=500, groups=8, dim=6)
    assert metrics.random_triplets(X, X @ np.eye(6)[:, ::-1]) == 1.0
    noise = np.random.default_rng(1).normal(size=(500, 2))
    assert metrics.random_triplets(X, noise) == pytest.approx(0.5, abs=0.02)
    assert metrics.centroid_triplets(X, -3 * X, labels) == 1.0
    centres = np.array([X[labels == g].mean(axis=0) for g in range(8)])
    shown = np.array([noise[labels == g].mean(axis=0) for g in range(8)])
    agree = [
        (np.linalg.norm(a[i] - a[j]) < np.linalg.norm(a[i] - a[k]))
        == (np.linalg.norm(b[i] - b[j]) < np.linalg.norm(b[i] - b[k]))
        for a, b in [(centres, shown)]
        for i in range(8)
        for j in range(8)
        for k in range(j + 1, 8)
        if i not in (j, k)
    ]
    assert metrics.centroid_triplets(X, noise, labels) == pytest.approx(np.mean(agree))
    with pytest.raises(ValueError, match="needs three labels; got 2"):
        metrics.centroid_triplets(X, noise, labels > 3)


def test_groups_that_can_be_seen():
    Y, labels = blobs(n=600, groups=4, gap=30)
    assert metrics.visible_agreement(Y, labels) > 0.99
    assert metrics.visible_groups(Y).max() == 3
    assert metrics.pieces(Y).number == 4
    assert metrics.splits_and_merges(labels, metrics.visible_groups(Y)) == (0, 0)
    assert metrics.visible_groups(np.zeros((5, 2))).max() == -1


def test_splits_and_merges_by_hand():
    labels = np.repeat(["a", "b", "c"], [20, 10, 10])
    groups = np.concatenate([[0] * 10, [1] * 9, [2], [3] * 20])
    # a lies in two parts (one point in twenty is no part); b and c share a group.
    assert metrics.splits_and_merges(labels, groups) == (1, 1)
    assert metrics.splits_and_merges(labels, np.full(40, -1)) == (0, 0)
    # One point of twenty in a group is no part: b alone is there.
    alone = np.concatenate([[3], [-1] * 19, [3] * 10, [-1] * 10])
    assert metrics.splits_and_merges(labels, alone) == (0, 0)


def test_pieces_and_strays():
    rng = np.random.default_rng(0)
    square = rng.random((1000, 2))
    assert metrics.pieces(square) == (1, 0.0)
    far = np.concatenate([square, square + 50, [[500.0, 500.0]]])
    assert metrics.pieces(far) == (2, pytest.approx(1 / 2001))


def test_agreement_by_hand():
    one = np.repeat([0, 1, 2], [40, 20, 20])
    renamed = np.repeat([2, 0, 1], [40, 20, 20])
    assert metrics.agreement([one, renamed]) == (1.0, 1.0)
    # The largest group cut in two: the others agree, inside nothing does.
    cut = one.copy()
    cut[:20] = 3
    found = metrics.agreement([one, cut])
    assert found.inside == 0.0
    assert 0.5 < found.groups < 0.9
    # Cut by both, at right angles.
    other = one.copy()
    other[:40:2] = 3
    assert abs(metrics.agreement([cut, other]).inside) < 0.05
    # By labels the largest is another one, which neither cuts.
    labels = np.repeat(["a", "b", "c"], [10, 40, 30])
    kept = metrics.agreement([one[::-1], cut[::-1]], labels)
    assert kept.inside == pytest.approx(1.0)
    # Mean over three maps; nothing is a group.
    assert metrics.agreement([one, one, cut]).inside == pytest.approx(1 / 3)
    # A few points outside, or in a group of their own, are no cut.
    few = one.copy()
    few[:3] = 7
    few[3:6] = -1
    assert metrics.agreement([one, few]).inside == 1.0
    assert metrics.agreement([one, few], one).inside == 1.0
    none = np.full(80, -1)
    assert metrics.agreement([none, none]) == (1.0, 1.0)
    with pytest.raises(ValueError, match="at least two maps; got 1"):
        metrics.agreement([one])


def test_score_of_several_maps():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    Y = rng.normal(size=(180, 2)) + 20 * y[:, None]
    apart = Y + 30 * (np.arange(180) < 30)[:, None] * [1, -1]
    same = metrics.score(Y, others=[Y[:, ::-1]])
    assert same["agreement"] == same["agreement inside"] == 1.0
    found = metrics.score(Y, y, others=[Y, apart])
    assert found["agreement"] < 1.0
    assert found["agreement inside"] == pytest.approx(0.5)
    assert "agreement" not in metrics.score(Y)
    with pytest.raises(ValueError, match="must have 180 points as this one; got 179"):
        metrics.score(Y, others=[Y[1:]])


def test_score_gives_what_can_be_told():
    X, labels = blobs(n=200, groups=3, dim=5)
    Y = X[:, :2]
    alone = metrics.score(Y)
    assert set(alone) == {"visible groups", "pieces", "strays"}
    everything = metrics.score(Y, labels, X, others=[Y])
    assert everything["silhouette"] == silhouette(Y, labels)
    assert everything["trustworthiness"] == metrics.trustworthiness(X, Y)
    assert set(everything) == set(metrics.MEASURES)
    assert all(np.isfinite(list(everything.values())))
    assert metrics.score(Y, labels, csr_array(X))["continuity"] == pytest.approx(
        everything["continuity"], abs=1e-6
    )


def test_score_says_what_cannot_be_told():
    Y = np.random.default_rng(0).normal(size=(12, 2))
    missed = r"not measured: preservation \(.*; centroid triplets \(.*three labels"
    with pytest.warns(UserWarning, match=missed):
        found = metrics.score(Y, np.arange(12) % 2, Y)
    assert "silhouette" in found
    assert metrics.score(Y[:1])["pieces"] == 1
    words = np.array(["a", "b", None], dtype=object)[np.arange(12) % 3]
    with pytest.warns(UserWarning, match="SVM accuracy .*needs two labels"):
        some = metrics.score(Y, words)
    known = np.arange(12) % 3 < 2
    assert some["silhouette"] == silhouette(Y[known], words[known].astype(str))
