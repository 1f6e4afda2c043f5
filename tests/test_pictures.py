"""Pictures, by the data they show."""

import doctest
import importlib
import pkgutil
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")

from benchmarks.palettes import SIGHTS, rgb_of, seen

from localmap import plotting
from localmap.plotting.colors import GROUP_COLORS, LOOKS
from localmap.plotting.columns import Groups, Scale, column_of

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(400, 2))


def blobs(n, groups):
    codes = np.arange(n) % groups
    centres = 30 * np.random.default_rng(1).normal(size=(groups, 2))
    return centres[codes] + np.random.default_rng(2).normal(size=(n, 2)), codes


# --- colours ---------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("n", "apart"), [(8, 0.07), (12, 0.07), (20, 0.06), (60, 0.034)]
)
def test_colours_stay_apart_for_every_kind_of_sight(theme, n, apart):
    for lab in seen(rgb_of(GROUP_COLORS[theme][:n])).values():
        away = np.linalg.norm(lab[:, None] - lab[None], axis=2)
        assert away[np.triu_indices(n, 1)].min() >= apart - 1e-3
    assert len(SIGHTS) == 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_group_looks_like_a_missing_value_or_the_paper(theme):
    lab = seen(rgb_of(GROUP_COLORS[theme]))["normal"]
    for other in (LOOKS[theme].faint, LOOKS[theme].paper):
        away = np.linalg.norm(lab - seen(rgb_of([other]))["normal"], axis=1)
        assert away.min() > 0.05


def test_more_groups_than_colours_repeat_and_the_legend_says_so():
    points, codes = blobs(1000, 200)
    names = np.array([f"g{i}" for i in range(200)])[codes]
    legend = plotting.plot(points, names).get_legend()
    assert "60 of 200 groups" in legend.get_title().get_text()
    assert len(legend.get_texts()) == 60


def test_a_theme_that_is_not_there():
    with pytest.raises(ValueError, match="'light' or 'dark'; got 'blue'"):
        plotting.plot(Y, theme="blue")


# --- columns ---------------------------------------------------------


def test_what_a_column_is():
    import pandas as pd

    assert isinstance(column_of(["b", "a", None], 3), Groups)
    assert column_of(["b", "a", None], 3).codes.tolist() == [1, 0, -1]
    assert column_of([2.0, np.nan, 10.0], 3).names == ("2", "10")
    assert column_of(["c10", "c2", "c1"], 3).names == ("c1", "c2", "c10")
    ordered = pd.Series(["low", "high"], dtype=pd.CategoricalDtype(["low", "high"]))
    assert column_of(ordered, 2).names == ("low", "high")
    nullable = pd.array([*range(99), None], dtype="Int64")
    scale = column_of(nullable, 100)
    assert isinstance(scale, Scale)
    assert scale.missing.sum() == 1
    masked = np.ma.masked_array(np.arange(100), mask=np.arange(100) < 7)
    assert column_of(masked, 100).missing.sum() == 7
    days = np.arange("2020-01-01", "2020-06-01", dtype="datetime64[D]")
    assert column_of(days, len(days)).date
    ids = 2**60 + 1001 * np.arange(100)
    assert column_of(ids, 100).names[99] == str(2**60 + 1001 * 99)
    assert column_of([True, False], 2).names == ("False", "True")


def test_one_stray_value_leaves_the_scale_to_the_others():
    values = np.append(np.linspace(0, 1, 999), 1e6)
    scale = column_of(values, 1000)
    assert scale.high < 1.1
    assert scale.beyond in ("max", "both")
    even = column_of(np.linspace(0, 1, 1000), 1000)
    assert (even.low, even.high, even.beyond) == (0.0, 1.0, "neither")


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"each of the 400 points.*got shape \(3,\)"):
        plotting.plot(Y, [1, 2, 3])


def test_a_map_that_is_not_finite_is_refused():
    broken = Y.copy()
    broken[7, 1] = np.nan
    with pytest.raises(ValueError, match="1 rows with NaN or infinity, first row 7"):
        plotting.plot(broken)


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"alpha": 2}, {"alpha": 0}, {"names": "everywhere"}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        plotting.plot(Y, **wrong)


# --- points ----------------------------------------------------------


def drawn(ax):
    return np.vstack([c.get_offsets() for c in ax.collections])


@pytest.mark.parametrize("n", [1, 400, 30_000])
def test_every_point_is_drawn_once_where_it_is(n):
    points, codes = blobs(n, min(n, 7))
    ax = plotting.plot(points, codes)
    assert len(drawn(ax)) == n
    np.testing.assert_allclose(
        np.sort(drawn(ax), axis=0), np.sort(points, axis=0), atol=1e-12
    )


def test_no_group_lies_on_top_of_all_others():
    points = np.random.default_rng(0).normal(size=(30_000, 2))
    ax = plotting.plot(points, np.arange(30_000) % 3, names="none")
    colors = [tuple(c.get_facecolor()[0]) for c in ax.collections]
    assert len(set(colors)) == 3
    assert len(colors) > 60  # many thin layers, one after the other
    last = {
        color: max(i for i, c in enumerate(colors) if c == color) for color in colors
    }
    assert min(last.values()) >= len(colors) - 3


def test_every_point_lies_inside_the_picture():
    ax = plotting.plot(100 * Y)
    plotting.canvas.settle(ax)
    assert ax.get_xlim()[0] < 100 * Y[:, 0].min()
    assert ax.get_ylim()[1] > 100 * Y[:, 1].max()
    box = ax.get_window_extent()
    per_pixel = [np.ptp(ax.get_xlim()) / box.width, np.ptp(ax.get_ylim()) / box.height]
    np.testing.assert_allclose(per_pixel[0], per_pixel[1], rtol=1e-6)


def test_missing_values_are_grey_and_counted():
    labels = np.where(Y[:, 0] > 0, "right", "left").astype(object)
    labels[:25] = None
    ax = plotting.plot(Y, labels)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["missing (25)"]
    from matplotlib.colors import to_hex

    assert to_hex(ax.collections[0].get_facecolor()[0]) == LOOKS["light"].faint
    np.testing.assert_allclose(np.sort(ax.collections[0].get_offsets(), axis=0),
                               np.sort(Y[:25], axis=0))  # fmt: skip
    numbers = Y[:, 0].copy()
    numbers[:25] = np.nan
    bar = plotting.plot(Y, numbers).figure.axes[1]
    assert "missing" in bar.texts[0].get_text()
    assert "(25)" in bar.texts[0].get_text()


def test_only_missing_values():
    ax = plotting.plot(Y, [None] * 400)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["missing (400)"]


def test_names_do_not_overlap_and_stand_on_their_groups():
    points, codes = blobs(2400, 24)
    ax = plotting.plot(
        points, np.array([f"a longer name {i}" for i in range(24)])[codes]
    )
    assert len(ax.texts) == 24
    figure = ax.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(t, renderer) for t in ax.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    for text in ax.texts:
        code = int(text.get_text().split()[-1])
        assert (np.abs(points[codes == code] - text.xy).max(axis=1) < 1e-9).any()


def test_names_that_do_not_fit_go_into_a_legend():
    points = 0.001 * RNG.normal(size=(300, 2))
    names = np.array([f"one of many long names {i}" for i in range(30)])
    ax = plotting.plot(points, names[np.arange(300) % 30])
    assert len(ax.texts) == 0
    assert len(ax.get_legend().get_texts()) == 30


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    ax = plotting.plot(Y, np.where(Y[:, 0] > 0, "_a", "b"), names="legend")
    assert len(ax.get_legend().get_texts()) == 2


# --- counts ----------------------------------------------------------


def test_half_a_million_points_are_counted_and_mixed():
    from localmap.plotting.colors import to_light

    n = 600_000
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(n, 2))
    right = points[:, 0] > 0.5
    labels = np.where(right, "right", "left")
    # The lowest quarter holds both groups, half and half.
    low = points[:, 1] < 0.25
    labels[low] = np.where(rng.uniform(size=low.sum()) < 0.5, "right", "left")
    ax = plotting.plot(points, labels, names="none")
    assert len(ax.collections) == 0
    image = ax.images[0].get_array()
    colors = to_light(np.array(plotting.group_colors(2)))
    left, right_edge, bottom, top = ax.images[0].get_extent()

    def at(x, y):
        row = int((y - bottom) / (top - bottom) * image.shape[0])
        column = int((x - left) / (right_edge - left) * image.shape[1])
        part = image[row - 8 : row + 8, column - 8 : column + 8]
        return to_light(np.asarray(part[part[..., 3] > 0][:, :3])).mean(axis=0)

    np.testing.assert_allclose(at(0.25, 0.7), colors[0], atol=0.02)
    np.testing.assert_allclose(at(0.75, 0.7), colors[1], atol=0.02)
    np.testing.assert_allclose(at(0.5, 0.1), colors.mean(axis=0), atol=0.06)


def test_counts_count_every_point():
    from localmap.plotting.counts import Bins

    bins = Bins(Y, (-5, 5, -5, 5))
    assert bins.total().sum() == 400
    # One point, in the cell that holds it.
    one = Bins(np.array([[1.0, -2.0]]), (-5, 5, -5, 5)).total()
    row, column = np.argwhere(one)[0]
    assert (row, column) == (int(0.3 * 720), int(0.6 * 720))


def test_few_places_are_drawn_with_larger_dots():
    from localmap.plotting.counts import CELLS, visible_bins

    rng = np.random.default_rng(0)
    spread = visible_bins(rng.uniform(size=(10**5, 2)), (0, 1, 0, 1))
    assert spread.columns == CELLS[0]
    packed = visible_bins(
        np.repeat(rng.uniform(size=(50, 2)), 99, axis=0), (0, 1, 0, 1)
    )
    assert packed.columns == CELLS[-1]


def test_counted_numbers_have_the_colour_of_their_mean():
    points = np.repeat([[0.0, 0.0], [1.0, 1.0]], 300_000, axis=0)
    values = np.concatenate(
        [np.tile([0.0, 100.0], 150_000), np.linspace(0, 100, 300_000)]
    )
    image = plotting.plot(points, values).images[0].get_array()
    shown = np.unique(image[image[..., 3] > 0][:, :3], axis=0)
    from localmap.plotting.colors import scale_colors

    middle = scale_colors(64)[31:33]
    assert np.abs(shown[:, None] - middle[None]).sum(axis=2).min(axis=1).max() < 1e-9


# --- other pictures --------------------------------------------------


def test_align_undoes_turns_mirrors_scales_and_moves():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) @ np.diag([1, -1])
    np.testing.assert_allclose(plotting.align(3 * Y @ turn + 7, Y), Y, atol=1e-10)


def test_align_is_the_best_of_all():
    other = Y + 0.3 * np.random.default_rng(3).normal(size=Y.shape)
    best = ((plotting.align(other, Y) - Y) ** 2).sum()
    for angle in (0.02, -0.02):
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        assert ((plotting.align(other, Y) @ turn - Y) ** 2).sum() > best
    for scale in (0.97, 1.03):
        assert ((scale * plotting.align(other, Y) - Y) ** 2).sum() > best


def test_compare_draws_each_map_on_the_first():
    axes = plotting.compare({"one": Y, "turned": Y[:, ::-1]}, Y[:, 0] > 0)
    assert [ax.get_title(loc="left") for ax in axes] == ["one", "turned"]
    np.testing.assert_allclose(
        np.sort(drawn(axes[0]), axis=0), np.sort(drawn(axes[1]), axis=0), atol=1e-9
    )
    with pytest.raises(ValueError, match="400 and 10 rows"):
        plotting.compare([Y, Y[:10]])
    with pytest.raises(ValueError, match="got none"):
        plotting.compare([])


def test_edges_highlight_what_the_map_tore_apart():
    points = np.vstack([RNG.normal(size=(50, 2)), 100 + RNG.normal(size=(50, 2))])
    neighbors = np.array([[(i + 1) % 50 + 50 * (i // 50)] for i in range(100)])
    neighbors[10] = 90
    ax = plotting.edges(points, neighbors)
    lines = {c.get_label(): c.get_segments() for c in ax.collections[1:]}
    assert len(lines["long near pairs"]) == 1
    np.testing.assert_allclose(lines["long near pairs"][0], points[[10, 90]])
    assert len(lines["near pairs"]) == 99
    assert "1 of 100 near pairs (1.0%)" in ax.get_xlabel()


def test_edges_of_a_graph_are_those_of_its_rows():
    from sklearn.neighbors import kneighbors_graph

    from localmap.plotting.graphs import neighbors_of

    graph = kneighbors_graph(Y, 5, mode="distance")
    graph.sort_indices()  # no longer by distance
    rows = neighbors_of(graph, 400)
    away = np.linalg.norm(Y[rows] - Y[:, None], axis=2)
    assert (np.diff(away, axis=1) >= 0).all()
    np.testing.assert_allclose(away, np.sort(graph.data.reshape(400, 5), axis=1))


@pytest.mark.parametrize(
    "wrong", [np.zeros((3, 2), dtype=int), np.full((400, 2), 400), np.zeros((400, 2))]
)
def test_wrong_neighbors_are_refused(wrong):
    with pytest.raises(ValueError, match="neighbors must be"):
        plotting.edges(Y, wrong)


def test_density_holds_every_point():
    ax = plotting.density(Y, bandwidth=0.1)
    image = ax.images[0]
    left, right, bottom, top = image.get_extent()
    values = np.ma.filled(image.get_array(), 0)
    cell = (right - left) * (top - bottom) / values.size
    np.testing.assert_allclose(values.sum() * cell, 400, rtol=0.02)


# --- figures and files -----------------------------------------------


def test_where_pyplot_is_in_use_the_figure_is_its_own():
    """So that plt.show and plt.savefig find it."""
    import matplotlib.pyplot as plt

    plt.close("all")
    ax = plotting.plot(Y)
    assert plt.gcf() is ax.figure


def test_a_notebook_shows_the_figure():
    """IPython's inline backend shows pyplot's figures at the end of a cell."""
    code = """
import sys
from unittest.mock import MagicMock
import numpy as np
from localmap.plotting import plot
assert "matplotlib.pyplot" not in sys.modules
sys.modules["IPython"] = MagicMock(version_info=(9, 0))
import matplotlib
matplotlib.use("agg")
ax = plot(np.eye(2))
assert sys.modules["matplotlib.pyplot"].gcf() is ax.figure
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_program_keeps_no_figure(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    ax = plotting.plot(Y)
    assert ax.figure.canvas.manager is None
    assert "matplotlib.pyplot" not in sys.modules


def test_axes_given_are_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plotting.plot(Y, ax=ax) is ax
    assert plotting.density(Y, ax=ax) is ax


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_the_same_each_time_and_points_are_rasterised(kind, tmp_path):
    import matplotlib as mpl

    points, codes = blobs(20_000, 5)
    files = []
    with mpl.rc_context({"svg.hashsalt": "fixed"}):
        for name in ("a", "b"):
            path = tmp_path / f"{name}.{kind}"
            plotting.save(plotting.plot(points, codes), path, dpi=80)
            files.append(path.read_bytes())
    assert files[0] == files[1]
    assert len(files[0]) < 700_000  # 20,000 points as shapes take megabytes


def test_thumbnail_is_a_small_picture():
    import io

    from PIL import Image

    image = np.asarray(Image.open(io.BytesIO(plotting.thumbnail(Y, Y[:, 0] > 0))))
    assert image.shape[:2] == (320, 360)
    shown = {tuple(c) for c in image[..., :3].reshape(-1, 3)}
    for color in plotting.group_colors(2):
        assert tuple(round(255 * part) for part in color) in shown


# --- other viewers ---------------------------------------------------


def test_embedding_atlas_gets_the_columns_it_asks_for(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(Y, 3, mode="distance")
    path = plotting.to_embedding_atlas(
        Y, tmp_path / "map.parquet", columns={"side": Y[:, 0] > 0}, neighbors=graph
    )
    table = pq.read_table(path).to_pydict()
    assert list(table) == ["x", "y", "side", "neighbors"]
    np.testing.assert_array_equal(table["x"], Y[:, 0])
    near = table["neighbors"][5]
    np.testing.assert_allclose(
        near["distances"], np.linalg.norm(Y[near["ids"]] - Y[5], axis=1)
    )
    with pytest.raises(ValueError, match="map's own"):
        plotting.to_embedding_atlas(Y, path, columns={"x": Y[:, 0]})


# --- the film --------------------------------------------------------


@pytest.fixture(scope="module")
def filmed(digits):
    from localmap import LocalMAP

    film = plotting.Film(n_frames=6, sample=500, n_iters=(10, 10, 20))
    model = LocalMAP(random_state=0, n_iters=(10, 10, 20), callback=film.callback)
    return film, model.fit_transform(digits[0])


def test_a_film_keeps_frames_from_first_to_last(filmed):
    film, final = filmed
    assert [f.iteration for f in film.frames] == [0, 8, 16, 23, 31, 39]
    np.testing.assert_array_equal(film.frames[-1].Y, final[film.rows])
    phases = [film.phase(i) for i in (0, 9, 10, 19, 20, 39)]
    assert phases == [p for p in plotting.film.PHASES for _ in range(2)]


def test_filming_changes_nothing(filmed, digits):
    from localmap import LocalMAP

    alone = LocalMAP(random_state=0, n_iters=(10, 10, 20)).fit_transform(digits[0])
    np.testing.assert_array_equal(alone, filmed[1])


def test_a_film_as_gif(filmed, digits, tmp_path):
    from PIL import Image

    path = filmed[0].save(tmp_path / "map.gif", digits[1], size=200)
    with Image.open(path) as image:
        assert image.n_frames == 6
        assert image.size == (200, 200)
        first = np.asarray(image.convert("RGB"), dtype=int)
        image.seek(5)
        last = np.asarray(image.convert("RGB"), dtype=int)
    assert np.abs(first - last).mean() > 1


def test_a_second_fit_starts_the_film_again():
    film = plotting.Film(n_frames=2, n_iters=(1, 1, 2))
    for _ in range(2):
        for iteration in range(4):
            film.callback(iteration, Y.astype(np.float32), 0.0)
    assert [f.iteration for f in film.frames] == [0, 3]


def test_a_run_that_ends_early_ends_the_film():
    film = plotting.Film(n_frames=2, n_iters=(1, 1, 2))
    film.callback(0, Y.astype(np.float32), 0.0)
    film.callback(1, 2 * Y.astype(np.float32), 0.0)
    assert [f.iteration for f in film.frames] == [0, 1]


def test_what_a_film_refuses(filmed, tmp_path):
    with pytest.raises(ValueError, match="film is empty"):
        _ = plotting.Film().frames
    with pytest.raises(ValueError, match="at least 2 frames"):
        plotting.Film(1)
    with pytest.raises(ValueError, match=r"page\(Y, film=film\)"):
        filmed[0].save(tmp_path / "film.html")
    with pytest.raises(ValueError, match="1,797 points; got a map of 400"):
        plotting.page(Y, film=filmed[0])


def test_a_film_as_mp4(filmed, digits, tmp_path):
    if shutil.which("ffmpeg") is None:
        pytest.skip("an .mp4 film needs ffmpeg, which is not installed")
    path = filmed[0].save(tmp_path / "map.mp4", digits[1], size=201)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_an_mp4_without_ffmpeg_says_so(filmed, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="ffmpeg"):
        filmed[0].save(tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


MODULES = [
    m.name for m in pkgutil.walk_packages(plotting.__path__, f"{plotting.__name__}.")
]


def test_examples_in_the_documentation_run():
    results = [doctest.testmod(importlib.import_module(name)) for name in MODULES]
    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) >= 12


def test_no_warning_is_left_behind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plotting.plot(Y, Y[:, 0])
        plotting.plot(Y, np.arange(400) % 5)
