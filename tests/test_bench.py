"""The comparison: planned, limited, resumed, and told without flattery."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from localmap.bench import paper, pictures, plan, report, run, seeds, summary, worker
from localmap.bench.methods import COMPARED, METHODS, Method
from localmap.cli import main
from localmap.method.adjust import Rule, rule_of
from localmap.metrics.scorecard import MEASURES, Scorecard, measured

FEW = ["silhouette", "10-NN accuracy"]


@pytest.fixture
def small(tmp_path):
    """A file of three groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    np.savez(tmp_path / "small.npz", X=rng.normal(size=(90, 5)) + 9 * y[:, None], y=y)
    return str(tmp_path / "small.npz")


def go(*args, **options):
    return list(run.run(*args, **options))


def jobs(dataset, methods=("ours_pacmap", "ours"), runs=2):
    return plan.jobs(plan.PRESETS["quick"], [dataset], methods, runs)


def test_presets_plan_what_they_say():
    planned = plan.jobs(plan.PRESETS["paper"])
    assert len(planned) == 9 * len(COMPARED) * 10
    assert len({job.name for job in planned}) == len(planned)
    tuned = plan.jobs(plan.PRESETS["tuned"], ["usps"])
    assert sum(job.method == "umap" for job in tuned) == 15
    assert len({job.name for job in tuned}) == len(tuned)
    assert all(
        job.params == {"init": "random"} for job in plan.jobs(plan.PRESETS["init"])
    )
    assert set(plan.TUNED) <= set(METHODS)


def test_runs_are_kept_and_not_done_twice(small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    found = go(jobs(small), out, FEW, run.Limits(), quiet=True)
    assert len(found) == 4
    for row in found:
        assert row["measures"]["silhouette"] > 0.5
        assert row["seconds"] > 0
        with np.load(out / "maps" / f"{row['name']}.npz") as found_map:
            assert found_map["Y"].shape == (90, 2)
            assert set(found_map["codes"]) == {0, 1, 2}
    monkeypatch.setattr(run, "_result", lambda *_: pytest.fail("done twice"))
    assert go(jobs(small), out, FEW, run.Limits(), quiet=True) == found


def test_a_killed_benchmark_goes_on_and_gives_the_same_tables(small, tmp_path):
    command = [
        sys.executable, "-m", "localmap", "bench", "--datasets", small, "--methods",
        "ours_pacmap", "ours", "--runs", "2", "--metrics", *FEW, "--quiet",
    ]  # fmt: skip
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*command, "--out", whole], check=True, capture_output=True)
    process = subprocess.Popen(
        [*command, "--out", killed], start_new_session=True, stdout=subprocess.DEVNULL
    )
    while not run.results(killed):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with (killed / "results.jsonl").open("a") as file:
        file.write('{"name": "cut o')  # a line that the kill cut off
    assert 1 <= len(run.results(killed)) < 4
    subprocess.run([*command, "--out", killed], check=True, capture_output=True)
    for measure in FEW:
        one, other = (
            summary._table(run.results(folder), measure) for folder in (whole, killed)
        )
        assert one.rows == other.rows


def test_absent_failing_and_slow_methods_are_told_and_stop_nothing(
    small, tmp_path, monkeypatch
):
    monkeypatch.setitem(METHODS, "trimap", Method("Absent", "no-such-package", None))
    found = go(
        jobs(small, ("trimap", "pca"), 1), tmp_path, FEW, run.Limits(), quiet=True
    )
    assert found[0]["failed"] == "no-such-package is not installed"
    assert "failed" not in found[1]
    planned = [plan.Job("nothing", "ours_pacmap", 0), plan.Job(small, "ours_pacmap", 5)]
    found = go(planned, tmp_path, FEW, run.Limits(), quiet=True)
    assert "neither a data set nor a file" in found[0]["failed"]
    assert "failed" not in found[1]
    limited = go(
        [plan.Job(small, "ours_pacmap", 6)],
        tmp_path,
        FEW,
        run.Limits(seconds=0.3),
        quiet=True,
    )
    assert limited[0]["failed"] == "took more than 0.3 s"
    limited = go(
        [plan.Job(small, "ours_pacmap", 7)],
        tmp_path, FEW, run.Limits(gigabytes=0.001), quiet=True,
    )  # fmt: skip
    assert limited[0]["failed"] == "took more than 0.001 GB"
    lines = "\n".join(report._failures(summary.tables([*found, *limited])))
    assert "took more than 0.001 GB" in lines


def row(method, seed, value, dataset="usps", **more):
    return {
        "name": f"{dataset}-{method}-{seed}", "dataset": dataset, "method": method,
        "seed": seed, "params": {}, "version": "1", "seconds": 2.0, "peak_mb": 10.0,
        "measures": {"silhouette": value}, "unmeasured": {},
    } | more  # fmt: skip


def test_best_is_bold_and_what_is_not_different_is_underlined():
    values = {
        "ours": [0.60, 0.61, 0.62],
        "pacmap": [0.59, 0.62, 0.60],
        "pca": [0.1] * 3,
    }
    rows = [row(m, s, v) for m, vs in values.items() for s, v in enumerate(vs)]
    text = report._markdown_table(summary._table(rows, "silhouette"))
    assert "| LocalMAP (ours) | **0.610 ± 0.010** (paper 0.60) |" in text
    assert "| PaCMAP | <u>0.603 ± 0.015</u> (paper 0.56) |" in text
    assert "| PCA | 0.100 ± 0.000 (paper 0.10) |" in text
    less = summary._table(
        [row("ours", 0, 0, seconds=1.0), row("pca", 0, 0, seconds=3.0)], "seconds"
    )
    assert less.rows["LocalMAP (ours)"][0].best
    assert not less.rows["PCA"][0].close  # one seed: nothing can be said


def test_what_differs_from_the_paper_is_listed():
    rows = [row("localmap", 0, 0.64), row("pacmap", 0, 0.57), row("umap", 0, 0.2)]
    notes = report._notes(summary.tables(rows)[:2])
    assert notes["Silhouettes more than 0.03 from the paper's"] == [
        "silhouette of LocalMAP (published) on usps: 0.640 here, 0.60 in the paper",
        "silhouette of UMAP on usps: 0.200 here, 0.53 in the paper",
    ]


def test_the_papers_times_stand_beside_ours_and_are_not_called_different():
    rows = [row("localmap", 0, 0.60, dataset="mnist")]
    table = summary._table(rows, "seconds")
    text = report._markdown_table(table)
    assert "| LocalMAP (published) | **2.0** (paper 107.3) |" in text
    assert report._notes([table]) == {}


def test_the_papers_tables_are_whole():
    for printed in paper.TABLES.values():
        assert {*printed} == {*COMPARED} - {"ours"}
        assert {len(values) for values in printed.values()} == {len(paper.SETS)}
    assert paper.printed("silhouette", "ours", "coil20") == 0.56
    assert paper.printed("silhouette", "ours", "digits") is None
    assert paper.printed("10-NN accuracy", "ours", "mnist") is None


def test_slow_and_failing_methods_get_one_seed(small, tmp_path):
    planned = jobs(small, ("ours_pacmap", "ours"), 2)
    once = go(planned, tmp_path, FEW, run.Limits(), once_above=0.0, quiet=True)
    assert [found["seed"] for found in once] == [0, 0]
    both = go(planned, tmp_path, FEW, run.Limits(), once_above=999.0, quiet=True)
    assert [found["seed"] for found in both] == [0, 0, 1, 1]
    told = go(planned[:3], tmp_path, FEW, run.Limits(), known_only=True, quiet=True)
    assert told == both[:3]
    none = go(planned, tmp_path / "new", FEW, run.Limits(), known_only=True, quiet=True)
    assert none == []
    fixed = go(jobs(small, ("pca",), 2), tmp_path, FEW, run.Limits(), quiet=True)
    assert [found["seed"] for found in fixed] == [0]  # it is not random
    failing = [plan.Job("nothing", "ours_pacmap", seed) for seed in range(2)]
    found = go(failing, tmp_path, FEW, run.Limits(), once_above=999.0, quiet=True)
    assert len(found) == 1


def test_what_a_limit_stopped_is_tried_again_only_with_more(
    small, tmp_path, monkeypatch
):
    planned = jobs(small, ("pca",), 1)
    (stopped,) = go(planned, tmp_path, FEW, run.Limits(seconds=0.2), quiet=True)
    assert "failed" in stopped
    tried = []
    monkeypatch.setattr(run, "_result", lambda *given: tried.append(given) or stopped)
    for seconds, times in ((0.2, 0), (0.1, 0), (0.4, 1)):
        limits = run.Limits(seconds=seconds)
        assert go(planned, tmp_path, FEW, limits, quiet=True) == [stopped]
        assert len(tried) == times


def test_a_name_in_the_page_is_text_not_markup():
    rows = [row("pca", 0, 0.5, dataset="<script>a|b</script> 5$_^.npz")]
    rows += [row("ours", 0, 0.5, dataset="x", failed="<img src=x>", measures={})]
    found = summary.tables(rows)
    notes = report._notes(found)
    picture = {"p'><i>.png": b"x"}
    page = report._html("<b>t</b>", ["a & b"], found, notes, picture)
    for raw in ("<script>a", "<img src=x>", "<b>t</b>", "<i>", "a & b"):
        assert raw not in page
    for escaped in (
        "&lt;script&gt;",
        "a &amp; b",
        "&lt;b&gt;t",
        "p&#x27;&gt;&lt;i&gt;",
    ):
        assert escaped in page
    text = report._markdown("<b>t</b>", [], found, notes, {})
    text += report._page(rows[0]["dataset"], found, {})
    for raw in ("<script>", "<img", "<b>", "a|b"):
        assert raw not in text
    assert "a\\|b" in text
    tex = report._latex([], found)
    assert "5\\$\\_\\textasciicircum{}.npz" in tex
    figure = pictures.maps(Path(), rows[0]["dataset"], rows[:1], summary.label)
    assert report._png(figure)[:4] == b"\x89PNG"  # $ begins no formula


def test_equals_are_all_best_and_other_parameters_are_not_the_papers():
    rows = [row("ours", 0, 0.5), row("pca", 0, 0.5), row("umap", 0, 0.4)]
    cells = summary._table(rows, "silhouette").rows
    assert [cell.best for (cell,) in cells.values()] == [True, True, False]
    random = row("pacmap", 0, 0.5, params={"init": "random"})
    (cell,) = summary._table([random], "silhouette").rows["PaCMAP (init=random)"]
    assert cell.paper is None
    (cell,) = summary._table([row("pacmap", 0, 0.5)], "silhouette").rows["PaCMAP"]
    assert cell.paper == 0.56


def test_the_machine_of_the_runs_is_told_and_their_seeds():
    rows = [row("pca", 0, 0.5, machine="7 cores"), row("pca", 2, 0.5, machine="8 c")]
    rows += [row("ours", 0, 0.6, machine="7 cores")]
    about = " ".join(report._about(rows))
    assert "7 cores; 8 c." in about
    assert "Seeds: 0, 2 of PCA; 0 of LocalMAP (ours)." in about


def test_an_interrupted_benchmark_leaves_a_report(small, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        yield row("pca", 0, 0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    assert main(["bench", "--datasets", small, "--out", str(tmp_path)]) == 130
    assert "0.500" in (tmp_path / "report.md").read_text()


def test_what_cannot_be_run_is_refused_first(tmp_path, capsys):
    assert main(["bench", "--runs", "0", "--out", str(tmp_path)]) == 2
    assert "at least 1; got 0" in capsys.readouterr().err
    assert main(["bench", "--datasets", "mnits", "--out", str(tmp_path)]) == 2
    assert "Data sets: digits, mnist" in capsys.readouterr().err


def test_rivals_are_called_as_their_packages_want(small):
    """The ones in the test extra; `localmap bench quick` runs all."""
    X, _ = worker.load(small)
    for method in ("pca", "pacmap", "localmap"):
        Y = METHODS[method].embed(X, 0, {})
        assert np.shape(Y) == (90, 2)
    assert "startup" in worker._warmed_up(METHODS["pca"], X, {})
    seen = []
    large = Method("", "", lambda X, *_: seen.append(len(X)), compiles_above=2000)
    for n in (300, 2000, 9000):
        worker._warmed_up(large, np.zeros((n, 2)), {})
    assert seen == [300, 500, 2500]
    failing = worker._warmed_up(METHODS["pca"], X, {"whiten": 5})
    assert "whiten" in failing["not_warm"]


def test_the_command_writes_a_report_with_every_cell_filled_or_explained(
    small, tmp_path, capsys
):
    out = tmp_path / "out"
    status = main(
        ["bench", "--datasets", small, "digits", "--methods", "pca", "ours", "--runs",
         "1", "--metrics", *FEW, "--out", str(out), "--quiet"]
    )  # fmt: skip
    assert status == 0
    assert "4 runs, 0 of them failed" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3  # two sets, and all as a grid
    assert "http" not in page
    text = (out / "report.md").read_text()
    assert "cores of" in text
    assert "scikit-learn" in text
    assert (out / "sets" / "digits.md").read_text().startswith("# digits")
    assert "\\begin{tabular}{lrr}" in (out / "report.tex").read_text()
    results = [json.loads(x) for x in (out / "results.jsonl").read_text().splitlines()]
    assert len(results) == 4


def test_time_against_rows_is_drawn(tmp_path):
    rows = [
        row("ours", 0, 0.5, dataset=f"mixture{n}", seconds=n / 1e3) for n in (10, 99)
    ]
    report.write(tmp_path, rows)
    assert (tmp_path / "time.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("method", ["weights", "pairs", "ours_paper", "ours_pacmap"])
def test_parts_of_localmap_make_maps(method, small):
    X, _ = worker.load(small)
    Y = METHODS[method].embed(X, 0, {})
    assert Y.shape == (90, 2)
    assert np.isfinite(Y).all()


def test_the_parts_are_what_they_say(small):
    """Without local pairs and near weights LocalMAP's loop is PaCMAP's."""
    from localmap.bench.methods import _part

    X, _ = worker.load(small)
    neither = _part(Rule())(X, 0, {})
    both = _part(rule_of(10.0, None, 1.0))(X, 0, {})
    np.testing.assert_array_equal(neither, METHODS["ours_pacmap"].embed(X, 0, {}))
    np.testing.assert_array_equal(both, METHODS["ours_paper"].embed(X, 0, {}))


def taken(X, y, wanted):
    told = list(measured(Scorecard(X[:, :2], y, X, others=[X[:, :2]]), wanted))
    return {
        "measures": {name: value for name, value, _ in told if value is not None},
        "unmeasured": {name: why for name, value, why in told if value is None},
    }


def test_every_measure_is_made(small):
    X, y = worker.load(small)
    found = taken(X, y, MEASURES)
    assert set(found["measures"]) == set(MEASURES)
    without = taken(X, None, MEASURES)
    needing = {name for name, measure in MEASURES.items() if measure.labels}
    assert set(without["unmeasured"]) == needing
    assert set(without["measures"]) == set(MEASURES) - needing


def test_a_measure_that_cannot_be_made_costs_no_other(small):
    X, y = worker.load(small)
    two = taken(X, y > 0, ["silhouette", "centroid triplets"])
    assert two["measures"]["silhouette"] > 0.3
    assert "three" in two["unmeasured"]["centroid triplets"]
    rows = [row("pca", 0, 0.1, **two)]
    lines = list(report._failures([summary._table(rows, "centroid triplets")]))
    assert "three" in lines[0]


def test_a_map_that_is_made_is_kept_when_measuring_takes_too_long(tmp_path):
    job, result = tmp_path / "job.json", tmp_path / "result.json"
    job.write_text(json.dumps({"measures": [*FEW, "splits"]}))
    done = {"seconds": 3.0, "measures": {"silhouette": 0.5}, "unmeasured": {}}
    result.write_text(json.dumps(done))
    found = run._stopped(job, result, "9 s", run.Limits(9))
    assert found["seconds"] == 3.0
    assert found["measures"] == {"silhouette": 0.5}
    assert found["unmeasured"] == dict.fromkeys(
        ["10-NN accuracy", "splits"], "took more than 9 s"
    )
    assert "failed" not in found


def test_labels_that_are_missing_cost_no_method(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    words = np.array(["a", "b", None], dtype=object)[np.arange(90) % 3]
    rows = [
        ",".join(f"{v:.3f}" for v in x) + f",{w or ''}"
        for x, w in zip(X, words, strict=True)
    ]
    (tmp_path / "cells.csv").write_text("a,b,c,d,label\n" + "\n".join(rows))
    planned = jobs(str(tmp_path / "cells.csv"), ("pca",), 1)
    (found,) = go(planned, tmp_path / "out", FEW, run.Limits(), quiet=True)
    assert set(found["measures"]) == set(FEW)
    with np.load(tmp_path / "out" / "maps" / f"{found['name']}.npz") as kept:
        assert set(kept["codes"]) == {-1, 0, 1}


def test_failed_changed_and_partly_measured_runs_are_done_again(small, tmp_path):
    planned = jobs(small, ("pca",), 1)
    (failed,) = go(planned, tmp_path, FEW, run.Limits(seconds=0.1), quiet=True)
    assert "failed" in failed
    (done,) = go(planned, tmp_path, FEW[:1], run.Limits(), quiet=True)
    assert set(done["measures"]) == {"silhouette"}
    (more,) = go(planned, tmp_path, FEW, run.Limits(), quiet=True)
    assert set(more["measures"]) == set(FEW)
    before = planned[0].name
    X, y = worker.load(small)
    np.savez(small, X=X[:50], y=y[:50])
    assert jobs(small, ("pca",), 1)[0].name != before


def test_a_worker_ends_with_the_process_that_started_it(small, tmp_path):
    job = {
        "dataset": small, "method": "pca", "seed": 0, "params": {}, "measures": [],
        "map": str(tmp_path / "m.npz"), "result": str(tmp_path / "r.json"),
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job))
    code = (
        "import os, time\nfrom localmap.bench import worker\n"
        "worker.load = lambda name: time.sleep(60)\n"
        f"worker.main({str(tmp_path / 'job.json')!r})"
    )
    starter = (
        "import subprocess, sys\n"
        f"print(subprocess.Popen([sys.executable, '-c', {code!r}]).pid)"
    )
    done = subprocess.run(
        [sys.executable, "-c", starter], capture_output=True, text=True, check=True
    )
    pid, waited = int(done.stdout), 0.0
    while os.path.exists(f"/proc/{pid}") and waited < 20:  # noqa: PTH110
        time.sleep(0.2)
        waited += 0.2
    assert waited < 20


def test_a_measure_that_is_not_there_is_refused_before_any_run(tmp_path, capsys):
    status = main(["bench", "--metrics", "beauty", "--out", str(tmp_path)])
    assert status == 2
    assert "no such measure: 'beauty'" in capsys.readouterr().err


def test_names_of_files_do_not_clash(tmp_path):
    assert plan.slug("usps") == "usps"
    assert plan.slug("a/cells.npz") != plan.slug("b/cells.npz")
    assert plan.mixture_rows("mixture1000") == 1000
    assert plan.mixture_rows("mixture.csv") is None


def test_seeds_that_agree_and_seeds_that_do_not(small, tmp_path):
    measures = [*FEW, "ARI of visible groups"]
    out = tmp_path / "out"
    found = go(jobs(small, ("ours",)), out, measures, run.Limits(), quiet=True)
    with np.load(out / "maps" / f"{found[0]['name']}.npz") as kept:
        assert kept["groups"].shape == (90,)
    agreed = seeds.with_agreement(out, found)
    assert [row["measures"][seeds.AGREEMENT] for row in agreed] == [1.0, 1.0]
    assert seeds.AGREEMENT not in found[0]["measures"]
    # Another cut of the largest group in the second map.
    path = out / "maps" / f"{found[1]['name']}.npz"
    with np.load(path) as kept:
        arrays = dict(kept)
    largest = arrays["codes"] == np.bincount(arrays["codes"]).argmax()
    arrays["groups"] = np.where(largest & (np.arange(90) % 2 == 0), 9, arrays["groups"])
    np.savez(path, **arrays)
    moved = seeds.with_agreement(out, found)
    assert moved[0]["measures"][seeds.INSIDE] == 0.0
    report.write(out, moved)
    said = (out / "report.md").read_text()
    assert "## agreement of seeds" in said
    assert "seeds agree with 0.00 inside the largest group" in said
    # Rows without a label take no part.
    unlabelled = np.where(arrays["groups"] == 9, -1, arrays["codes"])
    for row in found:
        np.savez(out / "maps" / f"{row['name']}.npz", **arrays | {"codes": unlabelled})
    kept = seeds.with_agreement(out, found)
    assert kept[0]["measures"][seeds.INSIDE] == 1.0
    path.write_bytes(b"damaged")
    damaged = seeds.with_agreement(out, found)
    assert "cannot be compared" in damaged[0]["unmeasured"][seeds.AGREEMENT]
    path.unlink()
    alone = seeds.with_agreement(out, found)
    assert all(seeds.AGREEMENT not in row["measures"] for row in alone)


def test_a_picture_whose_maps_are_gone_stays(small, tmp_path):
    out = tmp_path / "out"
    found = go(jobs(small), out, FEW, run.Limits(), quiet=True)
    (picture,) = (p for p in report.write(out, found) if p.suffix == ".png")
    before = picture.read_bytes()
    assert "earlier run" not in (out / "report.md").read_text()
    (out / "maps" / f"{found[3]['name']}.npz").unlink()  # not the one that is drawn
    report.write(out, found)
    assert "earlier run" not in (out / "report.md").read_text()
    (out / "maps" / f"{found[0]['name']}.npz").unlink()
    report.write(out, found)
    assert picture.read_bytes() == before
    said = (out / "report.md").read_text()
    assert "Pictures of an earlier run" in said
    assert f"- {picture.name}" in said
    picture.unlink()
    report.write(out, found)
    assert picture.read_bytes() != before
