"""The command, the page and the pictures of trust."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")
pytest.importorskip("jinja2", reason="needs the cli extra")
pytest.importorskip("pandas", reason="needs the cli extra")

import pandas as pd

from localmap import LocalMAP, plotting, trust
from localmap.cli import main
from localmap.datasets import one_piece, two_clouds

HOSTILE = '<script>alert("1")</script> $x_1$'


@pytest.fixture(scope="module")
def clouds():
    return two_clouds("gauss", 5, 9.0, 300)


@pytest.fixture(scope="module")
def table(clouds, tmp_path_factory):
    X, y = clouds
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.insert(0, "cell", [f"<i>{i}</i>" for i in range(300)])
    frame["kind"] = np.where(y == 0, HOSTILE, "other")
    path = tmp_path_factory.mktemp("trust") / "cells.csv"
    frame.to_csv(path, index=False)
    return path


class Texts(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_the_command_tells_and_writes(table, tmp_path, capsys):
    page, rows = tmp_path / "report.html", tmp_path / "rows.csv"
    command = ["trust", table, "--labels", "kind", "--id", "cell", "--runs", "4",
               "-o", page, "--rows", rows]  # fmt: skip
    assert main(list(map(str, command))) == 0
    told = capsys.readouterr().out
    assert told.startswith("2 of 2 groups of 300 rows are supported")
    assert "Group 2 (150 rows): supported." in told
    assert "Mostly other (100%)" in told
    written = pd.read_csv(rows)
    assert set(written["verdict"]) == {"supported"}
    assert written.groupby("kind")["group"].nunique().tolist() == [1, 1]
    assert written["trust"].between(0, 1).all()
    found = Texts(page.read_text(encoding="utf-8"))
    assert "script" not in found.tags
    assert "i" not in found.tags
    assert found.tags.count("img") == 4
    assert any(HOSTILE in text for text in found.texts)
    assert any(text.startswith("<i>") for text in found.texts)
    assert main(list(map(str, command))) == 2  # both files are there
    assert "force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "page.pdf"], "ends in .html"),
        (["--runs", "1"], "at least 2"),
        (["--rows", "rows.docx"], "docx"),
    ],
)
def test_bad_options_are_told_in_one_line(table, words, told, capsys):
    assert main(["trust", str(table), "--labels", "kind", *words]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("localmap: error:")
    assert told in error


def test_given_distances_are_judged_without_points(clouds, tmp_path, capsys):
    X = clouds[0][:120]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    path, page = tmp_path / "D.npy", tmp_path / "D.html"
    np.save(path, D)
    words = ["trust", str(path), "--metric", "precomputed", "--runs", "2", "-o", page]
    assert main(list(map(str, words))) == 0
    assert "supported" in capsys.readouterr().out
    assert Texts(page.read_text()).tags.count("img") == 3


def test_one_piece_is_told_so_on_page_and_terminal(tmp_path, capsys):
    path, page = tmp_path / "noise.npy", tmp_path / "noise.html"
    np.save(path, one_piece("gauss50", 300))
    words = ["trust", path, "--runs", "3", "-o", page]
    assert main(list(map(str, words))) == 0
    assert "No groups" in capsys.readouterr().out
    text = page.read_text()
    assert "No groups" in text
    assert "<h2>Groups</h2>" not in text


def test_a_column_named_group_is_kept(tmp_path, clouds):
    X, _ = clouds
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["group"] = "mine"
    path, rows = tmp_path / "t.csv", tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    words = ["trust", path, "--id", "group", "--runs", "2", "--rows", rows]
    assert main(list(map(str, words))) == 0
    written = pd.read_csv(rows)
    assert set(written["group"]) == {"mine"}
    assert set(written["group_trust"]) == {1, 2}


def test_a_page_without_labels_points_or_names(clouds):
    found = trust.groups(clouds[0], runs=2)
    page = trust.report(found, title=HOSTILE)
    assert "script" not in Texts(page).tags
    assert "mostly" not in page
    assert re.search(r"<td class=\"text supported\">supported</td>", page)


# --- pictures ------------------------------------------------------------------


def test_outlines_are_as_solid_as_groups():
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(size=(80, 2)) + 30 * i for i in range(3)])
    groups = np.repeat([1, 2, 3], 80)
    ax = plotting.outlines(Y, groups, [1.0, 0.5, 0.1], names=["a", HOSTILE, "c"])
    lines = [c for c in ax.collections if type(c).__name__ == "QuadContourSet"]
    assert len(lines) == 3
    widths = [float(np.ravel(line.get_linewidths())[0]) for line in lines]
    assert widths[0] > widths[1] > widths[2]
    styles = [line.get_linestyle()[0][1] for line in lines]
    assert styles[0] is None
    assert styles[1] != styles[2]
    assert [text.get_text() for text in ax.texts][1].count(r"\$") == 2
    for group, line in enumerate(lines):  # each runs around its own points
        box = line.get_paths()[0].get_extents()
        own = Y[80 * group : 80 * (group + 1)]
        assert (own.min(axis=0) > [box.x0 - 1, box.y0 - 1]).all()
        assert (own.max(axis=0) < [box.x1 + 1, box.y1 + 1]).all()


def test_doubted_pairs_are_drawn_and_counted():
    Y = np.random.default_rng(0).normal(size=(30, 2))
    near = (np.arange(30)[:, None] + np.array([1, 2])) % 30
    told = np.ones((30, 2))
    told[:7, 0] = 0.2
    ax = plotting.doubted(Y, near, told)
    lines = next(c for c in ax.collections if c.get_label() == "doubted near pairs")
    assert len(lines.get_segments()) == 7
    np.testing.assert_allclose(lines.get_segments()[0], Y[[0, 1]])
    assert ax.get_xlabel().startswith("7 of 60 near pairs (11.7%)")


def test_together_shows_every_share():
    shares = np.array([[1.0, 0.25], [0.25, 0.9]])
    ax = plotting.together(shares, ["a", "b"], title="t")
    np.testing.assert_array_equal(ax.images[0].get_array(), shares)
    assert [t.get_text() for t in ax.texts] == ["1.00", "0.25", "0.25", "0.90"]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda Y: plotting.outlines(Y, np.ones(3, int), [1.0]), "30 numbers"),
        (lambda Y: plotting.outlines(Y, np.ones(30, int), []), "each of 1 groups"),
        (
            lambda Y: plotting.doubted(Y, np.zeros((30, 2)), np.zeros((3, 2))),
            "30 points",
        ),
        (lambda Y: plotting.together(np.eye(2), ["a"]), "each of 1 groups"),
    ],
)
def test_pictures_refuse_what_does_not_fit(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.random.default_rng(0).normal(size=(30, 2)))


def test_points_colour_a_map():
    X, _ = two_clouds("gauss", 5, 9.0, 200)
    model = LocalMAP(random_state=0).fit(X)
    ax = plotting.plot(model.embedding_, trust.points(model).trust, label="trust")
    assert ax.figure.axes[1].get_ylabel() == "trust"
