"""The page of the paper: from what is there, with nothing empty left unexplained."""

import json

import numpy as np
import pytest

from localmap.bench import beside, reproduce, starts
from localmap.bench.chapters import CHAPTERS, growth, million, silhouettes
from localmap.bench.methods import METHODS
from localmap.bench.plan import PRESETS
from localmap.bench.sections import Picture, Section, Sheet, write
from localmap.cli import main


def row(method, dataset, measures, params=None, seed=0, **more):
    return {
        "name": f"{dataset}-{method}-{seed}-{params}", "dataset": dataset,
        "method": method, "seed": seed, "params": params or {}, "measures": measures,
        "version": METHODS[method].version, "unmeasured": {},
    } | more  # fmt: skip


def known(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    (folder / "results.jsonl").write_text(lines)


TUNED = [
    row("umap", "coil20", {"silhouette": 0.59, "SVM accuracy": 0.8},
        {"n_neighbors": 10, "min_dist": 0}),
    row("tsne", "coil20", {"silhouette": 0.40, "SVM accuracy": 0.9},
        {"perplexity": 5, "learning_rate": 10}),
]  # fmt: skip


def test_ours_stand_beside_the_papers_with_the_difference():
    rows = [
        row("umap", "coil20", {"silhouette": v}, seed=s)
        for s, v in enumerate((0.5, 0.6))
    ]
    sheet = beside.table(rows, "silhouette", 3)
    (line,) = (line for line in sheet.lines if line[0] == "UMAP")
    assert line[1] == "0.550 (paper 0.58; -0.03)"
    assert beside.differences(rows, "silhouette").lines == ()  # the mean is near enough
    (told,) = beside.differences(rows[:1], "silhouette").lines
    assert told[:4] == ("UMAP", "coil20", "0.500", "0.58")


def test_no_empty_cell_is_unexplained():
    rows = [row("ncvis", "coil20", {}, failed="took more than 9 s")]
    said = beside.empty(rows, "silhouette")
    assert "Empty: NCVis: took more than 9 s (coil20)." in said
    assert any(text.startswith("Empty: NCVis: not run (digits") for text in said)
    assert len(said) == 1 + len(beside.SHOWN)
    rows += [
        row("ncvis", "usps", {}, rows=9000, seconds=270.0),
        row("umap", "usps", {}, rows=9000, seconds=9.0),
        row("pca", "mnist", {}, rows=70_000, seconds=1.0),
    ]
    said = beside.empty(rows, "seconds")
    slow = "not run, 2100 s or more by its rate on fewer rows"
    assert f"Empty: NCVis: {slow} (mnist)." in said
    assert any(t.startswith("Empty: UMAP: not run (digits, mnist") for t in said)


def test_a_size_without_a_time_says_why(tmp_path):
    def timed(method, n, **more):
        return row(method, f"mixture{n}", {}, rows=n, **more)

    known(
        tmp_path / "scale",
        [
            timed("pca", 1000, seconds=0.1),
            timed("pca", 10_000, seconds=0.1),
            timed("umap", 1000, seconds=61.0),
            timed("tsne", 1000, seconds=59.0),
            row("phate", "mixture1000", {}, failed="took more than 600 s"),
        ],
    )
    said = growth(tmp_path).here
    rate = "610 s or more by its rate on fewer rows"
    assert f"Empty: UMAP on mixture10000: not run, {rate}." in said
    assert "Empty: t-SNE on mixture10000: not run." in said
    assert "Empty: PHATE on mixture1000: took more than 600 s." in said
    assert not any("PCA" in text for text in said)


@pytest.mark.parametrize(
    ("ours", "told"), [(0.66, "yes"), (0.648, "equal"), (0.6, "no")]
)
def test_better_than_the_best_tuned_rival(ours, told):
    default = [row("localmap", "coil20", {"silhouette": ours})]
    sheet = beside.verdicts(TUNED, "silhouette", default)
    (line,) = (line for line in sheet.lines if line[0] == "coil20")
    assert line[2:4] == ("0.65 (LargeVis)", told)
    assert line[4] == "0.59 (UMAP)"
    digits = next(line for line in sheet.lines if line[0] == "digits")
    assert digits[1:] == ("-", "none", "-", "none", "-")


def test_the_papers_best_parameters_and_the_best_of_a_grid():
    sheet = beside.at_best(TUNED, "SVM accuracy", [])
    cells = dict(zip(sheet.head, sheet.lines[0], strict=True))
    assert cells["coil20"] == "0.90 (paper 0.92; -0.02) at 5, 10"
    (off,) = beside.differences(TUNED, "silhouette", tuned=True).lines
    assert off[:4] == ("UMAP", "coil20", "0.590", "0.63")
    umap = beside.grids(TUNED, "coil20").lines[1]
    assert umap == ("UMAP", "1 of 42", "0.590 (n_neighbors=10, min_dist=0)",
                    "0.800 (n_neighbors=10, min_dist=0)")  # fmt: skip


def test_starts_that_break_and_join_groups_are_counted_and_marked(tmp_path):
    seen = [(0, 0), (1, 0), (0, 2), (0, 0)]
    rows = [
        row("pacmap", "digits", {"silhouette": 0.5, "splits": s, "merges": m}, seed=i)
        for i, (s, m) in enumerate(seen)
    ]
    (line,) = starts.counts(rows).lines
    assert line[2:6] == ("4", "2", "3", "3")
    assert starts.drawn(tmp_path, rows, "digits") is None
    (tmp_path / "maps").mkdir()
    codes = np.repeat([0, 1, 2], 20)
    groups = np.where(codes == 0, np.arange(60) % 2, 2)  # 0 broken, 1 and 2 joined
    Y = np.random.default_rng(0).normal(size=(60, 2))
    path = tmp_path / "maps" / f"{rows[0]['name']}.npz"
    np.savez(path, Y=Y, codes=codes, groups=groups)
    figure = starts.drawn(tmp_path, rows, "digits")
    assert figure.axes[0].get_title() == "seed 0: 1 broken, 1 joined"


def test_a_page_says_what_the_paper_and_what_we_have(tmp_path):
    known(tmp_path / "results" / "tuned", TUNED)
    known(
        tmp_path / "results" / "bench", [row("localmap", "coil20", {"silhouette": 0.7})]
    )
    assert main(["bench", "reproduce", "--report-only", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "paper.md").read_text()
    assert text.count("\n## ") == len(CHAPTERS)
    assert text.count("**The paper:**") == len(CHAPTERS)
    assert "0.700 (paper 0.56; +0.14)" in text
    places = [
        text.index(f"## {name}")
        for name in ("Table 1", "Figure 5", "Figure 8", "Figure 10")
    ]
    assert places == sorted(places)
    assert "0.700 (paper 0.56; +0.14)" in (tmp_path / "paper.html").read_text()


def test_the_recipe_of_the_texts_is_told_where_it_was_measured(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    write(tmp_path, [silhouettes(results)])
    assert "Newsgroups" not in (tmp_path / "paper.md").read_text()
    rows = [
        {"data": data, "method": method, "silhouette": found}
        for data, method, found in (
            ("as it is", "LocalMAP, default", [-0.1, -0.2]),
            ("rows of length 1", "LocalMAP, default", [-0.05, -0.03]),
            ("rows of length 1", "PaCMAP", [0.9, 0.9]),
        )
    ]
    (results / "newsgroups.json").write_text(json.dumps({"rows": rows}))
    write(tmp_path, [silhouettes(results)])
    text = (tmp_path / "paper.md").read_text()
    assert "has -0.150 on the texts as they are and -0.040 by the best recipe" in text


def test_what_is_filled_in_is_text(tmp_path):
    picture = tmp_path / "results" / "a.png"
    picture.parent.mkdir()
    picture.write_bytes(b"png")
    sheet = Sheet(("", "a|b"), (("<b>", "1"),))
    write(tmp_path, [Section("T", "says <i>", "run", sheets=(sheet,),
                             pictures=(Picture(picture, "seen"),))])  # fmt: skip
    text = (tmp_path / "paper.md").read_text()
    assert "a\\|b" in text
    assert "<b>" not in text
    assert "![seen](results/a.png)" in text
    assert "<i>" not in (tmp_path / "paper.html").read_text()


@pytest.mark.parametrize("quick", [True, False])
def test_all_steps_are_run_before_the_page(tmp_path, quick):
    done = []
    reproduce.reproduce(tmp_path, lambda *step: done.append(step), quick=quick)
    assert {name for name, _ in done} <= {*PRESETS, "insights"}
    folders = {options["out"].name for _, options in done}
    assert folders == {
        "insights",
        "bench",
        "ablation",
        "init",
        "tuned",
        "scale",
        "speed",
    }
    assert (tmp_path / "paper.md").exists()
    if quick:
        sets = {name for _, options in done for name in options["datasets"]}
        assert sets <= {"digits", "mixture1000", "mixture10000", "mixture30000",
                        "mixture100000"}  # fmt: skip


def test_the_largest_sets_have_their_times_and_the_maps_that_are_kept(tmp_path):
    folder = tmp_path / "results" / "speed"
    rows = [
        row("localmap", name, {"silhouette": 0.5}, rows=n, seconds=s, peak_mb=9.0)
        for name, n, s in (("usps", 9298, 1.0), ("covtype", 581_012, 27.4))
    ]
    known(folder, rows)
    (folder / "maps").mkdir()
    Y, codes = np.eye(4, 2, dtype=np.float32), np.arange(4) % 2
    np.savez(folder / "maps" / f"{rows[1]['name']}.npz", Y=Y, codes=codes)
    section = million(tmp_path / "results")
    (sheet,) = section.sheets
    assert [line[1:4] for line in sheet.lines] == [("covtype", "581,012", "27")]
    assert [picture.path.name for picture in section.pictures] == [
        "million-covtype.png"
    ]
    known(folder, rows[:1])  # of a quick run: the most there are
    assert [line[1] for line in million(tmp_path / "results").sheets[0].lines] == [
        "usps"
    ]
