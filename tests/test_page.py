"""The page, by what it holds; tests/test_page_in_browser.py is what it does."""

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")

from localmap import plotting
from localmap.plotting.viewer.build import SCRIPTS, page_script
from localmap.plotting.viewer.pack import Blocks, morton_order, quantize

HERE = Path(__file__).parent
RNG = np.random.default_rng(0)
Y = RNG.normal(size=(300, 2))
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{script}}\u2028"
)


def blocks_of(html):
    found = re.findall(
        r'<script type="text/plain" id="block-(\d+)">([^<]*)</script>', html
    )
    return {int(number): base64.b64decode(text) for number, text in found}


def ints(block, how, n):
    planes = np.frombuffer(gzip.decompress(block), dtype=np.uint8).reshape(-1, n)
    folded = sum(p.astype(np.int64) << (8 * k) for k, p in enumerate(planes))
    values = (folded >> 1) ^ -(folded & 1)
    return np.cumsum(values) if how["differences"] else values


def read(html):
    blocks = blocks_of(html)
    meta = json.loads(
        gzip.decompress(blocks[int(re.search(r'data-meta="(\d+)"', html)[1])])
    )
    return meta, blocks


def test_the_page_holds_the_map_exactly_enough():
    meta, blocks = read(plotting.page(Y, title="a map").html)
    rows = ints(blocks[meta["rows"]["block"]], meta["rows"], 300)
    assert sorted(rows) == list(range(300))
    for axis, name in enumerate("xy"):
        steps = ints(blocks[meta[name]["block"]], meta[name], 300)
        back = meta["bounds"][name] + steps * meta["bounds"]["step"]
        np.testing.assert_allclose(back, Y[rows, axis], atol=1e-6)


def test_columns_come_back_bit_by_bit():
    columns = {
        "single": Y[:, 0].astype(np.float32),
        "double": Y[:, 0],
        "whole": np.arange(300) * 1_000_000 - 7,
        "far": np.arange(300) * (2**40 + 1),
    }
    meta, blocks = read(plotting.page(Y, columns=columns).html)
    rows = ints(blocks[meta["rows"]["block"]], meta["rows"], 300)
    for how in meta["columns"]:
        expected = columns[how["name"]][rows]
        if "bytes" in how:
            planes = np.frombuffer(
                gzip.decompress(blocks[how["block"]]), dtype=np.uint8
            )
            kind = f"<f{how['bytes']}"
            values = planes.reshape(-1, 300).T.copy().view(kind)[:, 0]
        else:
            values = ints(blocks[how["block"]], how, 300)
        np.testing.assert_array_equal(values, expected)
    widths = {how["name"]: how.get("bytes") for how in meta["columns"]}
    assert widths == {"single": 4, "double": 8, "whole": None, "far": 8}


def test_neighbours_survive_the_new_order():
    neighbors = np.argsort(((Y[:, None] - Y[None]) ** 2).sum(axis=2), axis=1)[:, 1:4]
    meta, blocks = read(plotting.page(Y, neighbors=neighbors).html)
    rows = ints(blocks[meta["rows"]["block"]], meta["rows"], 300)
    how = meta["neighbors"]
    away = ints(blocks[how["block"]], how, 900).reshape(3, 300)
    back = rows[np.arange(300) + away].T
    np.testing.assert_array_equal(back, neighbors[rows])


def test_only_so_many_neighbours_are_kept_and_the_page_says_so():
    meta, _ = read(plotting.page(Y, neighbors=np.tile(np.arange(20), (300, 1))).html)
    assert meta["neighbors"]["k"] == 15
    assert meta["notes"] == ["15 of 20 near pairs of each point are kept."]


def test_nothing_of_the_data_stands_in_the_page_as_text():
    labels = np.where(Y[:, 0] > 0, HOSTILE, "harmless words")
    page = plotting.page(Y, labels, columns={HOSTILE + "!": labels}, title=HOSTILE)
    assert "alert" not in page.html
    assert "harmless" not in page.html
    meta, blocks = read(page.html)
    assert meta["title"] == HOSTILE
    names = json.loads(gzip.decompress(blocks[meta["columns"][0]["names"]]))
    assert HOSTILE in names


def test_the_policy_allows_this_script_and_style_alone():
    html = plotting.page(Y).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    for kind in ("script", "style"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'", rules[f"{kind}-src"])
    assert "http://" not in html.replace("http-equiv", "")
    assert "https://" not in html
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "Function(",
                 "document.write", 'setAttribute("style"'):  # fmt: skip
        assert word not in page_script()


def test_every_module_is_part_of_the_page():
    folder = Path(plotting.__file__).parent / "viewer" / "script"
    assert {p.stem for p in folder.glob("*.mjs")} == set(SCRIPTS)
    assert not re.search(r"^(import|export) ", page_script(), flags=re.MULTILINE)


def test_scripts_are_short():
    folder = Path(plotting.__file__).parent / "viewer" / "script"
    lengths = {p.name: len(p.read_text().splitlines()) for p in folder.iterdir()}
    assert max(lengths.values()) <= 400, lengths


def test_the_same_map_gives_the_same_page(monkeypatch):
    now = plotting.page(Y, Y[:, 0]).html
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert plotting.page(Y, Y[:, 0]).html == now


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"color": "size"}, "there is no column 'size'; the page has 'label'"),
        ({"hover": ["label", "age"]}, "there is no column 'age'"),
        (
            {"columns": {"age": [1, 2]}},
            r"column 'age' must hold one value .* shape \(2,\)",
        ),
        ({"columns": {"label": Y[:, 0]}}, "'label' twice"),
        ({"theme": "blue"}, "theme must be"),
        ({"thumbnails": np.zeros((300, 8))}, "thumbnails must be images"),
        ({"thumbnails": np.full((300, 2, 2), np.nan)}, "must be finite"),
        ({"neighbors": np.zeros((2, 2), int)}, "neighbors must be"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(wrong, message):
    with pytest.raises(ValueError, match=message) as error:
        plotting.page(Y, Y[:, 0] > 0, **wrong)
    assert "\n" not in str(error.value)


def test_a_map_of_one_column_is_refused():
    with pytest.raises(ValueError, match="at least two columns; got one"):
        plotting.page(Y[:, :1])


def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "map.html"
    path.write_text("before")

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    page = plotting.page(Y)
    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        page.save(path)
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(monkeypatch):
    page = plotting.page(Y, [HOSTILE] * 300)
    shown = page._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert shown.count("<iframe") == 1
    assert "<script" not in shown
    monkeypatch.setattr(plotting.explore, "LARGE_NOTEBOOK", 10)
    with pytest.warns(UserWarning, match="MB to the notebook; save it"):
        page._repr_html_()


def test_neighbours_on_the_curve_are_neighbours_on_the_map():
    steps, _ = quantize(np.random.default_rng(0).uniform(size=(20_000, 2)), 24)
    order = morton_order(steps)
    hop = np.abs(np.diff(steps[order], axis=0)).max(axis=1) / 2**24
    assert np.median(hop) < 0.02
    assert sorted(order) == list(range(20_000))


def test_a_map_of_one_place():
    steps, bounds = quantize(np.ones((5, 2)), 24)
    assert steps.max() == 0
    assert bounds == {"x": 1.0, "y": 1.0, "step": 1.0}


def test_a_lone_surrogate_is_no_error():
    assert plotting.page(Y, ["a\ud800b"] * 300).html


def test_small_data_stay_small():
    assert len(Blocks().texts) == 0
    assert len(plotting.page(Y, Y[:, 0] > 0).html) < 100_000


def test_the_script_by_itself():
    node = shutil.which("node")
    if node is None:
        pytest.skip("the unit tests of the page's script need node")
    tests = sorted((HERE / "script").glob("*.test.mjs"))
    assert len(tests) >= 3
    result = subprocess.run(
        [node, "--test", *tests], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-3000:]
