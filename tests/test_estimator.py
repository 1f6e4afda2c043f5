"""The scikit-learn contract, the promises of the parameters, and bad input."""

import inspect
import io
import pickle
import re
import warnings

import numpy as np
import pytest
import sklearn
from conftest import pairs_of
from scipy.spatial import procrustes
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from localmap import LocalMAP, PaCMAP
from localmap.estimators.display import thumbnail
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.space import space_of
from localmap.method.adjust import Rule
from localmap.method.embed import lay_out, prepare
from localmap.method.parameters import Parameters

FAST = {"n_iters": (10, 10, 25), "random_state": 0}


def blobs(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 6 * rng.integers(0, 3, size=(n, 1))


@pytest.mark.filterwarnings("ignore:.*samples cannot give each point:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([LocalMAP(), PaCMAP()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_same_bits_on_any_number_of_threads(digits, n_jobs):
    one = LocalMAP(random_state=0, n_jobs=1).fit_transform(digits[0])
    many = LocalMAP(random_state=0, n_jobs=n_jobs).fit_transform(digits[0])
    np.testing.assert_array_equal(one, many)


def test_a_power_of_two_changes_no_bit_of_the_map(digits):
    X = digits[0][:500]
    plain = LocalMAP(**FAST).fit_transform(X)
    np.testing.assert_array_equal(LocalMAP(**FAST).fit_transform(1024 * X), plain)


def test_units_do_not_matter(digits):
    X = digits[0]
    plain = LocalMAP(random_state=0).fit_transform(X)
    scaled = LocalMAP(random_state=0).fit_transform(1000 * X)
    assert procrustes(plain, scaled)[2] < 0.001
    other = LocalMAP(random_state=1).fit_transform(X)
    assert procrustes(plain, other)[2] > 0.001, "the bound tells maps apart"


def test_pacmap_is_localmap_without_locality(digits):
    X = digits[0][:400]
    pacmap = PaCMAP(**FAST).fit_transform(X)
    np.testing.assert_array_equal(LocalMAP(locality=0, **FAST).fit_transform(X), pacmap)
    assert not np.array_equal(LocalMAP(**FAST).fit_transform(X), pacmap)


def test_locality_moves_smoothly_from_pacmap_to_localmap(digits):
    """Near pairs that span groups lose their pull step by step, without a jump."""
    space = space_of(digits[0], "euclidean", 100)
    graph = nearest_neighbors(space.Z, 60)
    pairs = pairs_of(space, graph)

    def near_length(locality):
        model = LocalMAP(proximal_distance=10.0, locality=locality, random_state=0)
        Y = model.fit_transform(digits[0])
        return np.linalg.norm(Y[:, None] - Y[pairs.near], axis=2).mean()

    lengths = np.array([near_length(x) for x in (0, 0.2, 0.4, 0.6, 0.8, 1)])
    steps = np.diff(lengths)
    assert lengths[-1] > 1.2 * lengths[0], "the two ends differ"
    assert (steps > 0).all()
    assert steps.max() < (lengths[-1] - lengths[0]) / 2


def test_defaults_agree_between_layers():
    defaults = inspect.signature(Parameters).parameters
    for estimator in (LocalMAP, PaCMAP):
        for name, parameter in inspect.signature(estimator).parameters.items():
            if name != "random_state":
                assert parameter.default == defaults[name].default, name
    missing = set(inspect.signature(LocalMAP).parameters) ^ set(defaults)
    assert missing == {"random_state"}


def test_refit_on_other_data_is_a_fresh_fit():
    first, second = blobs(seed=1), blobs(n=90, d=4, seed=2)
    model = LocalMAP(**FAST).fit(first)
    np.testing.assert_array_equal(
        model.fit(second).embedding_, LocalMAP(**FAST).fit(second).embedding_
    )
    assert model.n_features_in_ == 4


def test_other_estimators_do_not_change_a_seeded_one():
    X = blobs()
    model = LocalMAP(**FAST)
    expected = LocalMAP(**FAST).fit_transform(X)
    LocalMAP(random_state=99, n_iters=(1, 1, 1)).fit(X)
    np.random.seed(3)  # noqa: NPY002
    np.testing.assert_array_equal(model.fit_transform(X), expected)


def test_neither_parameters_nor_data_nor_global_state_are_touched():
    X = blobs(n=30)
    init = np.random.default_rng(0).normal(size=(30, 2))
    copies = X.copy(), init.copy()
    model = LocalMAP(init=init, n_neighbors=12, **FAST)
    before = dict(model.get_params())
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    with pytest.warns(UserWarning, match="30 samples cannot give"):
        model.fit(X)
    after = model.get_params()
    assert all(after[name] is value for name, value in before.items())
    assert model.n_neighbors_ < 12
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(init, copies[1])
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    X.flags.writeable = False
    with pytest.warns(UserWarning, match="30 samples"):
        model.fit(X)


def test_clone_pickle_and_pipeline():
    X = blobs()
    model = LocalMAP(n_neighbors=7, **FAST)
    assert clone(model).get_params() == model.get_params()
    model.fit(X)
    restored = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(restored.embedding_, model.embedding_)
    pipeline = make_pipeline(StandardScaler(), LocalMAP(**FAST))
    assert pipeline.fit_transform(X, np.zeros(120)).shape == (120, 2)


def test_pandas_output_and_feature_names():
    pd = pytest.importorskip("pandas", reason="needs the test extra")
    frame = pd.DataFrame(blobs(d=3), columns=["a", "b", "c"], index=range(5, 125))
    model = LocalMAP(**FAST).set_output(transform="pandas")
    Y = model.fit_transform(frame)
    assert list(Y.columns) == ["localmap0", "localmap1"]
    assert list(Y.index) == list(frame.index)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert PaCMAP(**FAST).fit(frame).get_feature_names_out().tolist() == [
        "pacmap0",
        "pacmap1",
    ]


def test_every_kind_of_random_state():
    X = blobs()

    def fit(random_state):
        return LocalMAP(n_iters=(5, 5, 5), random_state=random_state).fit_transform(X)

    np.testing.assert_array_equal(fit(7), fit(np.int64(7)))
    np.testing.assert_array_equal(fit(7), fit(np.uint8(7)))
    for make in (np.random.RandomState, np.random.default_rng):
        np.testing.assert_array_equal(fit(make(7)), fit(make(7)))
        shared = make(7)
        assert not np.array_equal(fit(shared), fit(shared)), "the state moves on"
    assert not np.array_equal(fit(None), fit(None))
    assert not np.array_equal(fit(7), fit(8))


def test_start_array_is_used_at_its_own_scale():
    X = blobs()
    start = 50 * np.random.default_rng(0).normal(size=(120, 2))
    model = LocalMAP(init=start, n_iters=(0, 0, 0)).fit(X)
    np.testing.assert_array_equal(model.embedding_, start.astype(np.float32))


@pytest.mark.parametrize("init", ["pca", "random"])
def test_named_starts_are_small_and_spread(init):
    Y = LocalMAP(init=init, n_iters=(0, 0, 0), random_state=0).fit_transform(blobs())
    assert 0 < Y.std(axis=0).min() <= Y.std(axis=0).max() < 0.02


def test_callback_may_stop_the_run():
    losses = []
    model = LocalMAP(callback=lambda i, Y, loss: losses.append(loss) or i == 3, **FAST)
    model.fit(blobs())
    assert model.n_iter_ == len(losses) == 4


def test_verbose_shows_one_bar_with_phase_and_loss(capsys):
    LocalMAP(verbose=True, **FAST).fit(blobs())
    shown = capsys.readouterr().err
    assert "45/45" in shown
    assert "local" in shown
    assert "loss=" in shown
    assert "neighbors of each (exact)" in shown
    LocalMAP(**FAST).fit(blobs())
    assert capsys.readouterr().err == ""


def test_automatic_neighbors():
    X = blobs()
    assert LocalMAP(n_neighbors="auto", **FAST).fit(X).n_neighbors_ == 10


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_any_number_of_components(n_components):
    X = np.random.default_rng(0).normal(size=(300, 10))
    Y = LocalMAP(n_components, random_state=0).fit_transform(X)
    assert Y.shape == (300, n_components)
    assert (Y.std(axis=0) > 0.3 * Y.std(axis=0).max()).all(), "no axis collapses"


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_row_metrics_give_the_same_map_for_rescaled_rows(metric):
    X = np.abs(blobs())
    factors = 2.0 ** np.random.default_rng(0).integers(-9, 9, size=(120, 1))
    Y = LocalMAP(metric=metric, **FAST).fit_transform(X)
    scaled = LocalMAP(metric=metric, **FAST).fit_transform(X * factors)
    np.testing.assert_array_equal(Y, scaled)


# Odd input: accepted.


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8, 12, 29, 30, 31, 35])
def test_small_n_warns_once_and_works(n):
    with pytest.warns(UserWarning, match="samples cannot give") as caught:
        Y = LocalMAP(random_state=0).fit_transform(blobs(n))
    assert len(caught) == 1
    assert np.isfinite(Y).all()


def test_no_warning_from_36_rows_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LocalMAP(**FAST).fit(blobs(36))


def test_duplicates_by_the_thousand():
    X = np.repeat(blobs(n=4), 700, axis=0)
    Y = LocalMAP(**FAST).fit_transform(X)
    assert np.isfinite(Y).all()


def test_one_column_unfolds_to_a_plane():
    Y = LocalMAP(random_state=0).fit_transform(np.linspace(0, 1, 200)[:, None])
    assert np.isfinite(Y).all()
    assert Y.std(axis=0).min() > 0.5


@pytest.mark.parametrize("factor", [1e300, 1e-300, 1e38, 1e-42])
def test_any_magnitude(factor, digits):
    X = digits[0][:150]
    model = LocalMAP(n_iters=(20, 20, 20), random_state=0)
    plain = model.fit_transform(X)
    assert procrustes(plain, model.fit_transform(X * factor))[2] < 0.01


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.float16, object])
def test_number_types_are_accepted(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(80, 12)).astype(dtype)
    assert np.isfinite(LocalMAP(**FAST).fit_transform(X)).all()


# Odd input: refused.


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", "b"], ["c", "d"]], "arrays of bytes/strings"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((5, 0)), "0 feature"),
        (np.ones((1, 3)), "1 sample"),
        (np.ones(5), "1D array"),
        (np.ones((5, 2, 2)), "dim 3"),
        (np.full((5, 2), 1j), "Complex data"),
        (np.ones((50, 3)), "All rows of X are equal"),
    ],
)
def test_bad_data_is_refused_with_a_clear_error(X, message):
    with pytest.raises(ValueError, match=message):
        LocalMAP().fit(X)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_the_first_bad_number_is_named(value, word):
    X = blobs()
    X[17, 2] = value
    with pytest.raises(ValueError, match=f"1 {word} in 1 row, first at row 17, col"):
        LocalMAP().fit(X)


BAD = {
    "n_components": [0, -1, 2.0, "2", True, None],
    "n_neighbors": [0, -1, 2.5, "all", None],
    "mid_near_ratio": [-0.1, np.nan, "1", None],
    "further_ratio": [-1, np.inf, "1", None],
    "metric": ["l3", None, 2],
    "scale": ["minmax", None, True],
    "proximal_distance": [0, -1.0, 1e-50, 1e300, np.inf, "big", None],
    "near_strength": [-1, np.nan, "big"],
    "locality": [-0.1, 1.1, "half", None],
    "init": [
        "spectral",
        3,
        None,
        np.zeros((3, 2)),
        np.full((120, 2), np.nan),
        np.ones((120, 2)),
    ],
    "n_iters": [450, (1, 2), (1, 2, -3), (1, 2, 2.5), "abc", None],
    "learning_rate": [0, -1, 1e300, np.nan, "1", None],
    "pca_components": [0, -5, 2.5, "all"],
    "random_state": ["seed", 1.5, [1], 2**64, -(2**64)],
    "n_jobs": [0, 1.5, "all"],
    "memory_limit": [0, -1, "much", "4 apples", "GB", np.inf, [4], True],
    "scratch": [3, ["folder"], True],
    "callback": [3, "print"],
    "verbose": ["yes", 0.5, None],
}


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in BAD.items() for v in values]
)
def test_bad_parameters_are_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        LocalMAP(**{name: value}).fit(blobs())


def test_every_parameter_is_tested_with_bad_values():
    assert set(BAD) == set(inspect.signature(LocalMAP).parameters)


def test_a_diverging_run_is_an_error_not_a_map_of_nan():
    start = np.random.default_rng(0).choice([-3e38, 3e38], size=(120, 2))
    with pytest.raises(ValueError, match="learning_rate"):
        LocalMAP(init=start, random_state=0).fit(blobs())
    with pytest.raises(ValueError, match="learning_rate"):
        PaCMAP(init=start, random_state=0).fit(blobs())


def test_an_interrupted_refit_leaves_an_unfitted_usable_estimator():
    def interrupt(iteration, Y, loss):
        raise KeyboardInterrupt

    model = LocalMAP(**FAST).fit(blobs())
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=interrupt).fit(blobs())
    assert not model.__sklearn_is_fitted__()
    model.set_params(callback=None).fit(blobs())
    assert model.__sklearn_is_fitted__()


def test_the_two_estimators_are_neither_of_each_other():
    assert not isinstance(LocalMAP(), PaCMAP)
    assert not isinstance(PaCMAP(), LocalMAP)


@pytest.mark.parametrize("estimator", [LocalMAP, PaCMAP])
def test_every_parameter_is_documented_with_its_default(estimator):
    parameters = inspect.signature(estimator).parameters
    shared = inspect.signature(Parameters).parameters
    assert "<" not in estimator.__doc__.split("Attributes")[0].replace("<=", "")
    for name, parameter in parameters.items():
        (line,) = re.findall(
            rf"^{name} : .*?default=(.*)$", joined(estimator), re.MULTILINE
        )
        assert line.strip('"') == str(parameter.default)
        if name in shared:
            assert parameter.default == shared[name].default


def joined(estimator):
    """Documentation with entries that run over two lines in one."""
    text = inspect.cleandoc(estimator.__doc__)  # Python 3.13 cleans it by itself
    return re.sub(r"(\n\w+ : [^\n]*,) ?\n", r"\1 ", text)


def test_several_seeds_and_rules_share_one_graph(digits):
    X = digits[0][:400].astype(np.float32)
    params = Parameters(n_iters=(20, 20, 30))
    problem = prepare(X, params)
    how = {"n_iters": (20, 20, 30)}
    for seed in (0, 1):
        expected = LocalMAP(random_state=seed, **how).fit_transform(X)
        np.testing.assert_array_equal(lay_out(problem, params, seed).Y, expected)
    plain = lay_out(problem, params, 0, rule=Rule()).Y
    pacmap = PaCMAP(random_state=0, **how).fit_transform(X)
    np.testing.assert_allclose(plain, pacmap, atol=1e-3)  # added up in another order
    lay_out(problem, params, 0, keep=False)
    with pytest.raises(ValueError, match="were given away"):
        lay_out(problem, params, 0)


@pytest.mark.parametrize("estimator", [LocalMAP, PaCMAP])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_fitted_estimator_shows_its_map(estimator, n_components):
    model = estimator(n_components, **FAST)
    assert "<img" not in model._repr_mimebundle_()["text/html"]
    model.fit(blobs())
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert shown.count("<img") == 1
        assert "<td style='text-align:left'>120</td>" in shown
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_the_thumbnail_is_a_picture_of_the_points():
    from matplotlib.image import imread

    Y = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 1.0]], dtype=np.float32)
    image = imread(io.BytesIO(thumbnail(Y)))
    ink = np.argwhere(image[:, :, :3].min(axis=2) < 1)
    assert image.shape[:2] == (240, 240)
    assert len(ink) == 12  # three points, two pixels wide
    assert ink[:, 0].min() < ink[:, 0].max() - 40  # the third is a quarter width above
    assert thumbnail(Y[:1]) != thumbnail(Y)


def test_neighbours_of_training_rows():
    X = blobs()
    model = LocalMAP(**FAST).fit(X)
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(apart, np.inf)
    expected = np.argsort(apart, axis=1)[:, :7]
    np.testing.assert_array_equal(model.kneighbors(7), expected)
    with pytest.raises(ValueError, match="n_neighbors must be from 1 to 119"):
        model.kneighbors(120)
    given = LocalMAP(metric="precomputed", **FAST).fit(np.where(apart < 1e9, apart, 0))
    with pytest.raises(ValueError, match="given distances"):
        given.kneighbors()


def test_only_true_stops_a_run():
    model = LocalMAP(**FAST, callback=lambda i, Y, loss: Y)
    assert model.fit(blobs()).n_iter_ == 45
    stopped = LocalMAP(**FAST, callback=lambda i, *_: np.bool_(i == 3)).fit(blobs())
    assert stopped.n_iter_ == 4
