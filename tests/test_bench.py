"""The comparison: planned, limited, resumed, and told without flattery."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import psutil
import pytest
from threadpoolctl import threadpool_limits

from localmap import datasets
from localmap.bench import crew, paper, plan, report, run, seeds, sets, summary, worker
from localmap.bench.machine import in_words, peak_mb, resident_mb
from localmap.bench.methods import COMPARED, METHODS, Method
from localmap.cli import main
from localmap.metrics.scorecard import MEASURES, Scorecard, measured

FEW = ["silhouette", "10-NN accuracy"]


def three_groups(path, n=90):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    np.savez(path, X=rng.normal(size=(n, 5)) + 9 * y[:, None], y=y)
    return str(path)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A file of three groups."""
    return three_groups(tmp_path_factory.mktemp("sets") / "small.npz")


@pytest.fixture(scope="session")
def other(small):
    return three_groups(Path(small).with_name("other.npz"), 60)


@pytest.fixture(scope="session")
def finished(small, other, tmp_path_factory):
    """A folder of five runs; processes of their own are the matter of other tests."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "run_one", in_this_process)
        found = go(jobs(small), folder, [*FEW, "ARI of visible groups"])
        return folder, found + go(jobs(other, ("pca",), 1), folder)


def in_this_process(job, folder, measures, *_):
    """What a worker tells of a job."""
    task = asdict(job) | {
        "measures": list(measures),
        "map": str(folder / "maps" / f"{job.name}.npz"),
    }
    (folder / "job.json").write_text(json.dumps(task))
    worker.WARM.clear()
    worker.do(folder / "job.json")
    version = METHODS[job.method].version
    row = {"name": job.name, **asdict(job), "version": version, "machine": in_words()}
    return row | json.loads((folder / "result.json").read_text())


@pytest.fixture
def kept(finished, tmp_path):
    """A copy of that folder, to be changed, and its four runs of two seeds."""
    folder, found = finished
    shutil.copytree(folder, tmp_path / "out")
    return tmp_path / "out", found[:4]


@pytest.fixture
def done(monkeypatch):
    """Runs that were started; none is."""
    started = []

    def run_one(job, *_):
        started.append(job)
        return row(job.method, job.seed, 0.5, job.dataset, name=job.name)

    monkeypatch.setattr(run, "run_one", run_one)
    return started


def go(planned, folder, measures=FEW, limits=None, **options):
    return list(run.run(planned, folder, measures, limits or crew.Limits(), quiet=True,
                        **options))  # fmt: skip


def jobs(dataset, methods=("pacmap", "localmap"), runs=2):
    return plan.jobs(plan.PRESETS["quick"], [dataset], methods, runs)


def row(method, seed, value, dataset="usps", **more):
    return {
        "name": f"{dataset}-{method}-{seed}", "dataset": dataset, "method": method,
        "seed": seed, "params": {}, "version": METHODS[method].version, "seconds": 2.0,
        "peak_mb": 10.0, "measures": {"silhouette": value}, "unmeasured": {},
    } | more  # fmt: skip


def known(folder, *rows):
    folder.mkdir(exist_ok=True)
    lines = (json.dumps(row) + "\n" for row in rows)
    (folder / "results.jsonl").write_text("".join(lines))


def written(folder, rows, name="report.md"):
    folder.mkdir(exist_ok=True)
    report.write(folder, rows)
    return (folder / name).read_text()


def test_presets_plan_what_they_say():
    planned = plan.jobs(plan.PRESETS["paper"])
    assert len(planned) == 9 * len(COMPARED) * 10
    assert len({job.name for job in planned}) == len(planned)
    tuned = plan.jobs(plan.PRESETS["tuned"], ["usps"])
    assert sum(job.method == "umap" for job in tuned) == 42
    assert len({job.name for job in tuned}) == len(tuned)
    assert all(
        list(job.params.values()) in (["random"], ["normal"], ["random_linear"])
        or job.method == "phate"  # has no start
        for job in plan.jobs(plan.PRESETS["init"])
    )
    whole = plan.jobs(plan.PRESETS["wholeness"])
    seeds_of = {job.dataset: job.seed + 1 for job in whole}  # the last
    assert seeds_of["cube5_1000"] == seeds_of["mammoth"] == 10
    assert seeds_of["cube5_50000"] == seeds_of["mammoth_50k"] == 3


@pytest.mark.parametrize("preset", plan.PRESETS)
def test_sets_and_measures_of_presets_are_there(preset):
    known = plan.PRESETS[preset]
    for name in known.datasets:
        assert sets.is_generated(name) or (
            name.removesuffix(sets.UNIT) in datasets.names()
        )
    assert {*known.methods, *known.grids} <= {*METHODS}
    assert {*(known.measures or ())} <= {*MEASURES}


# Parameters that make a slow method quick.
QUICK = {"sklearn-tsne": {"max_iter": 250}}


def tasks():
    """What presets ask of each method that the test extra installs, once."""
    asked = {}
    for preset in plan.PRESETS.values():
        for job in plan.jobs(preset, ["small"], None, 1):
            package = METHODS[job.method].package
            if package in ("localmap", "scikit-learn"):
                asked.setdefault((job.method, *job.params, job.task), job)
            elif package == "pacmap":  # slow; before it places rows it makes a map
                asked[job.method, "transform"] = job
    return [
        pytest.param(
            job.method, job.task, job.params | QUICK.get(job.method, {}),
            id="-".join(key),
        )
        for key, job in asked.items()
    ]  # fmt: skip


@pytest.mark.parametrize(("method", "task", "params"), tasks())
def test_what_presets_ask_is_done(method, task, params, small, tmp_path):
    """Every preset works: its methods, parameters and task on a small set."""
    (tmp_path / "maps").mkdir()
    job = plan.Job(small, method, 0, params, task=task)
    with threadpool_limits(1):  # idle threads of OpenMP would spin
        done = in_this_process(job, tmp_path, FEW[:1])
    assert "failed" not in done
    assert done["measures"]["silhouette"] > 0.3
    if task == "transform":
        assert done["measures"]["10-NN accuracy of new rows"] > 0.9
    with np.load(tmp_path / "maps" / f"{job.name}.npz") as kept:
        assert kept["Y"].shape == (90, 2)
        assert np.isfinite(kept["Y"]).all()


def test_sets_are_generated_by_name(small):
    X, y = sets.load("mixture300x20")
    assert X.shape == (300, 20)
    assert len(y) == 300
    one, same, moved = (sets.load("cube5_200", seed=s)[0] for s in (0, 0, 1))
    assert one.shape == (200, 5)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, moved)
    X, y = sets.load("cube2_gap0.5_200")
    assert X[y == 1, 0].min() - X[y == 0, 0].max() > 0.4
    assert sets.gap("cube2_gap0.5_200") == ("cube", 2, 0.5)
    np.testing.assert_allclose(
        sets.load("digits_unit")[0] * 255, sets.load("digits")[0], rtol=1e-6
    )
    assert sets.mixture_rows("mixture1000") == 1000
    assert sets.mixture_rows("mixture1000x20") is None  # of another width
    assert sets.mixture_rows("mixture.csv") is None
    assert not sets.fetch("cube5_200")
    assert not sets.fetch(small)
    with pytest.raises(datasets.DatasetError, match="Data sets: digits"):
        sets.fetch("mnits")


def test_runs_are_kept_and_not_done_twice(finished, small, done):
    folder, found = finished
    assert len(found) == 5
    for each in found[:4]:
        assert each["measures"]["silhouette"] > 0.5
        assert each["seconds"] > 0
        assert each["peak_mb"] >= each["loaded_mb"] > 20
        with np.load(folder / "maps" / f"{each['name']}.npz") as found_map:
            assert found_map["Y"].shape == (90, 2)
            assert set(found_map["codes"]) == {0, 1, 2}
    assert go(jobs(small), folder) == found[:4]
    assert done == []


def test_a_killed_benchmark_goes_on_and_gives_the_same_tables(
    finished, small, tmp_path
):
    command = [
        "bench", "--datasets", small, "--methods", "pacmap", "localmap", "--runs", "1",
        "--metrics", *FEW, "--quiet", "--out", str(tmp_path),
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "localmap", *command],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    while not run.results(tmp_path):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"name": "cut o')  # a line that the kill cut off
    assert len(run.results(tmp_path)) == 1
    assert main(command) == 0
    for measure in FEW:
        one, other = (
            summary.table(rows, measure)
            for rows in (finished[1][:2], run.results(tmp_path))
        )
        assert one.rows == other.rows


def test_absent_failing_and_slow_methods_are_told_and_stop_nothing(
    small, tmp_path, monkeypatch
):
    monkeypatch.setitem(METHODS, "trimap", Method("Absent", "no-such-package", None))
    planned = [plan.Job(small, "trimap", 0), plan.Job("nothing", "pca", 0)]
    absent, failed, fine = go([*planned, *jobs(small, ("pca",), 1)], tmp_path)
    assert absent["failed"] == "no-such-package is not installed"
    assert "neither a data set nor a file" in failed["failed"]
    assert "failed" not in fine
    (slow,) = go(
        [plan.Job(small, "pacmap", 6)], tmp_path, limits=crew.Limits(seconds=0.3)
    )
    assert slow["failed"] == "took more than 0.3 s"
    (large,) = go(
        [plan.Job(small, "pacmap", 7)], tmp_path, limits=crew.Limits(gigabytes=0.001)
    )
    assert large["failed"] == "took more than 0.001 GB"
    told = written(tmp_path / "told", [absent, fine, large])
    assert "took more than 0.001 GB" in told
    only_failed = written(tmp_path / "failed", [large])
    assert "took more than 0.001 GB" in only_failed


def test_best_is_bold_and_what_is_not_different_is_underlined(tmp_path):
    values = {
        "localmap": [0.60, 0.61, 0.62],
        "authors-pacmap": [0.59, 0.62, 0.60],
        "pca": [0.1] * 3,
    }
    rows = [row(m, s, v) for m, vs in values.items() for s, v in enumerate(vs)]
    text = written(tmp_path, rows)
    assert "| LocalMAP (ours) | **0.610 ± 0.010** (paper 0.60) |" in text
    assert "| PaCMAP (authors) | <u>0.603 ± 0.015</u> (paper 0.56) |" in text
    assert "| PCA | 0.100 ± 0.000 (paper 0.10) |" in text
    tex, page = ((tmp_path / f"report.{end}").read_text() for end in ("tex", "html"))
    assert "\\textbf{0.610 $\\pm$ 0.010} (paper 0.60)" in tex
    assert "\\underline{0.603 $\\pm$ 0.015}" in tex
    assert "<b>0.610 ± 0.010</b>" in page
    assert "<u>0.603 ± 0.015</u>" in page
    less = summary.table(
        [row("localmap", 0, 0, seconds=1.0), row("pca", 0, 0, seconds=3.0)], "seconds"
    )
    assert less.rows["LocalMAP (ours)"][0].best
    more = [row(m, 0, 0, measures={"pieces": n}) for n, m in enumerate(("pca", "umap"))]
    shown = summary.table(more, "pieces").rows.values()
    assert not any(cell.best or cell.close for (cell,) in shown)  # depends on the data
    assert not less.rows["PCA"][0].close  # one seed: nothing can be said


def test_many_sets_stand_below_each_other(tmp_path):
    names = [f"cube5_{n}" for n in range(100, 120)]
    rows = [row(m, 0, 0.5, name) for m in ("pacmap", "localmap") for name in names]
    text = written(tmp_path, rows)
    assert "| | PaCMAP (ours) | LocalMAP (ours) |\n|---|---|---|\n" in text
    assert "| cube5_100 | **0.500** | **0.500** |" in text
    assert not (tmp_path / "sets").exists()  # of what is generated


def test_what_differs_from_the_paper_is_listed(tmp_path):
    rows = [row("authors-localmap", 0, 0.64), row("pacmap", 0, 0.57)]
    text = written(tmp_path, [*rows, row("umap", 0, 0.2)])
    told = text.split("## silhouette: more than 0.03 from the paper's")[1]
    assert told.split("##")[0].strip().splitlines() == [
        "- silhouette of LocalMAP (authors) on usps: 0.640 here, 0.60 in the paper",
        "- silhouette of UMAP on usps: 0.200 here, 0.53 in the paper",
    ]


def test_the_papers_times_stand_beside_ours_and_are_not_called_different(tmp_path):
    text = written(tmp_path, [row("authors-localmap", 0, 0.60, dataset="mnist")])
    assert "| LocalMAP (authors) | **2.00** (paper 107.35) |" in text
    assert "from the paper's" not in text
    placed = row("authors-localmap", 0, 0.60, dataset="mnist", task="transform")
    assert "(paper" not in written(tmp_path, [placed])


def test_a_map_that_tears_more_than_pacmap_is_told(tmp_path):
    rows = [
        row(method, seed, 0.5, "cube5_1000", measures={"pieces": n, "strays": 0.0})
        for method, pieces in (("pacmap", (1, 1)), ("localmap", (1, 2)))
        for seed, n in enumerate(pieces)
    ]
    text = written(tmp_path, rows)
    assert "- pieces of LocalMAP (ours) on cube5_1000: 1.5 ± 0.7, of PaCMAP" in text
    assert "strays of" not in text


def test_the_papers_tables_are_whole():
    for printed in paper.TABLES.values():
        assert {*printed} == {*COMPARED} - {"localmap"}
        assert {len(values) for values in printed.values()} == {len(paper.SETS)}
    assert {*paper.SAME} <= {*METHODS}
    assert paper.printed("silhouette", "localmap", "coil20") == 0.56
    assert paper.printed("silhouette", "localmap", "digits") is None
    assert paper.printed("10-NN accuracy", "localmap", "mnist") is None


def test_slow_and_failing_methods_get_one_seed(finished, small, tmp_path, done):
    folder, found = finished
    once = go(jobs(small), folder, once_above=0.0)
    assert [each["seed"] for each in once] == [0, 0]
    both = go(jobs(small), folder, once_above=999.0)
    assert [each["seed"] for each in both] == [0, 0, 1, 1]
    assert go(jobs(small)[:3], folder, known_only=True) == found[:3]
    assert go(jobs(small), tmp_path, known_only=True) == []
    assert done == []
    known(tmp_path, row("pca", 0, 0.5), row("pacmap", 0, 0.5, failed="it did"))
    fixed = go(jobs("usps", ("pca",), 2), tmp_path, FEW[:1])
    assert [each["seed"] for each in fixed] == [0]  # it is not random
    failing = jobs("nothing", ("pacmap",), 2)
    once = row("pacmap", 0, 0, "nothing", failed="it did", allowed={"seconds": 9e9})
    del once["seconds"]
    known(tmp_path, once)
    assert go(failing, tmp_path, once_above=999.0) == [once]
    assert done == []


def test_what_is_stopped_is_not_tried_on_larger_sets(tmp_path, monkeypatch):
    limits = crew.Limits(5.0, 16.0)
    tried = []

    def run_one(job, *_):
        tried.append((job.dataset, job.method))
        if (job.dataset, job.method) == ("mixture3000", "pca"):
            stopped = {"failed": "took more than 5 s", "allowed": asdict(limits)}
            return run.told_of(job) | stopped
        return row(job.method, 0, 0.5, job.dataset, name=job.name)

    monkeypatch.setattr(run, "run_one", run_one)
    sizes = [f"mixture{n}" for n in (1000, 3000, 10000, 30000)]
    scale = plan.PRESETS["scale"]
    assert scale.rising
    planned = plan.jobs(scale, sizes, ("pca", "pacmap"))
    found = go(planned, tmp_path, FEW[:1], limits, rising=True)
    assert [r["dataset"] for r in found if r["method"] == "pca"] == sizes
    said = [r.get("failed") for r in found if r["method"] == "pca"]
    assert said == [
        None,
        "took more than 5 s",
        *["as on mixture3000: took more than 5 s"] * 2,
    ]
    assert [name for name, method in tried if method == "pacmap"] == sizes
    assert [name for name, method in tried if method == "pca"] == sizes[:2]
    tried.clear()  # it is known now; with more time it is tried again
    assert go(planned, tmp_path, FEW[:1], limits, rising=True) == found
    assert not tried
    go(planned, tmp_path, FEW[:1], crew.Limits(9.0, 16.0), rising=True)
    assert [name for name, method in tried if method == "pca"] == sizes[1:2]


def test_failed_changed_and_partly_measured_runs_are_done_again(tmp_path, done):
    (job,) = jobs("usps", ("pca",), 1)
    stopped = {"failed": "took more than 2 s", "allowed": {"seconds": 2.0}}
    for kept, seconds, again in (
        (row("pca", 0, 0.5), 9.0, False),
        (row("pca", 0, 0.5, measures={}), 9.0, True),
        (row("pca", 0, 0.5, version="0.0"), 9.0, True),
        (row("pca", 0, 0.5, failed="it did"), 9.0, True),
        (row("pca", 0, 0.5, **stopped), 2.0, False),
        (row("pca", 0, 0.5, **stopped), 1.0, False),
        (row("pca", 0, 0.5, **stopped), 4.0, True),
    ):
        known(tmp_path, kept)
        done.clear()
        (found,) = go([job], tmp_path, FEW[:1], crew.Limits(seconds, 16.0))
        assert (found == kept) is not again
        assert done == [job] * again


def test_a_name_in_the_page_is_text_not_markup(tmp_path):
    name = "<script>a|b</script> 5$_^.npz"
    rows = [row("pca", 0, 0.5, dataset=name, name="odd")]
    (tmp_path / "maps").mkdir()
    np.savez(tmp_path / "maps" / "odd.npz", Y=np.eye(2), codes=np.arange(2))
    rows += [row("localmap", 0, 0.5, "x", failed="<img src=x>\n'\"", measures={})]
    del rows[1]["seconds"], rows[1]["peak_mb"]
    paths = report.write(tmp_path, rows, "<b>t</b> & {{ 7 * 7 }}")
    page = (tmp_path / "report.html").read_text()
    for raw in ("<script>a", "<img src=x>", "<b>t</b>", "t & ", "&amp; 49"):
        assert raw not in page
    for escaped in ("&lt;script&gt;", "&amp; {{", "&lt;b&gt;t", "x&gt;\n&#39;&#34;"):
        assert escaped in page
    text = "".join(p.read_text() for p in paths if p.suffix == ".md")
    for raw in ("<script>", "<img", "<b>", "a|b"):
        assert raw not in text
    assert "a\\|b" in text
    tex = (tmp_path / "report.tex").read_text()
    assert "5\\$\\_\\textasciicircum{}.npz" in tex
    (picture, *_) = (p for p in paths if p.suffix == ".png")
    assert picture.read_bytes()[:4] == b"\x89PNG"  # $ begins no formula


def test_equals_are_all_best_and_other_parameters_are_not_the_papers():
    rows = [row("localmap", 0, 0.5), row("pca", 0, 0.5), row("umap", 0, 0.4)]
    cells = summary.table(rows, "silhouette").rows
    assert [cell.best for (cell,) in cells.values()] == [True, True, False]
    random = row("pacmap", 0, 0.5, params={"init": "random"})
    (cell,) = summary.table([random], "silhouette").rows["PaCMAP (ours) (init=random)"]
    assert cell.paper is None
    (cell,) = summary.table([row("pacmap", 0, 0.5)], "silhouette").rows["PaCMAP (ours)"]
    assert cell.paper == 0.56


def test_the_machine_of_the_runs_is_told_their_dates_and_seeds(tmp_path):
    rows = [row("pca", 0, 0.5, machine="7 cores", date="2026-01-02")]
    rows += [row("pca", 2, 0.5, machine="8 c", date="2026-01-05")]
    rows += [row("localmap", 0, 0.6, machine="7 cores", date="2026-01-03")]
    text = written(tmp_path, rows)
    assert "2026-01-02 to 2026-01-05; 7 cores; 8 c." in text
    assert "Seeds: 0, 2 of PCA; 0 of LocalMAP (ours)." in text


def test_memory_is_that_of_a_process_and_what_it_started():
    held = resident_mb()
    assert 20 < held < 2 * peak_mb()
    child = subprocess.Popen(
        [sys.executable, "-c", "x = b'x' * (200 << 20); print(); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    child.stdout.read(1)
    assert resident_mb(child.pid) > 200
    assert resident_mb() > held + 150
    child.communicate(b"\n")
    assert resident_mb(child.pid) == 0.0


def test_an_interrupted_benchmark_leaves_a_report(small, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        yield row("pca", 0, 0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)
    assert main(["bench", "--datasets", small, "--out", str(tmp_path)]) == 130
    assert "0.500" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--runs", "0"], "at least 1; got 0"),
        (["--datasets", "mnits"], "Data sets: digits, mnist"),
        (["--metrics", "beauty"], "no such measure: 'beauty'"),
    ],
)
def test_what_cannot_be_run_is_refused_first(given, said, tmp_path, capsys):
    assert main(["bench", *given, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_what_the_report_needs_is_asked_for_first(tmp_path, capsys, monkeypatch, done):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["bench", "--out", str(tmp_path)]) == 2
    assert 'jinja2: pip install jinja2, or "localmap[bench]"' in capsys.readouterr().err
    assert done == []


def test_methods_are_warmed_up(small):
    X, _ = sets.load(small)
    assert "startup" in worker.warmed_up(METHODS["pca"], X, {})
    seen = []
    large = Method("", "", lambda X, *_: seen.append(len(X)), compiles_above=2000)
    for n in (300, 2000, 9000):
        worker.warmed_up(large, np.zeros((n, 2)), {})
    assert seen == [300, 500, 2500]
    failing = worker.warmed_up(METHODS["pca"], X, {"whiten": 5})
    assert "whiten" in failing["not_warm"]


def test_the_command_writes_a_report_with_every_cell_filled_or_explained(
    finished, small, other, tmp_path, capsys
):
    shutil.copytree(finished[0], tmp_path / "out")
    out = tmp_path / "out"
    status = main(
        ["bench", "--datasets", small, other, "--methods", "pca", "localmap",
         "--report-only", "--metrics", *FEW, "--out", str(out), "--quiet"]
    )  # fmt: skip
    assert status == 0
    assert "2 runs, 0 of them failed" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3  # two sets, and all as a grid
    assert "http" not in page
    text = (out / "report.md").read_text()
    assert "cores of" in text
    assert "scikit-learn" in text
    assert f"- PCA on {small}: not run" in text
    assert (out / "sets" / f"{plan.slug(other)}.md").read_text().startswith("# /")
    assert "\\begin{tabular}{lrr}" in (out / "report.tex").read_text()


def test_curves_of_what_is_generated_are_drawn(tmp_path):
    rows = [row("localmap", 0, 0.5, f"mixture{n}", seconds=n / 1e3) for n in (10, 99)]
    ari = {"measures": {"ARI of visible groups": 0.5}}
    rows += [row("pacmap", 0, 0, f"gauss{d}_gap2_60", **ari) for d in (2, 5)]
    report.write(tmp_path, rows)
    for name in ("time.png", "gap.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / "grid.png").exists()


def test_the_parts_are_what_they_say(small):
    """Without local pairs and near weights LocalMAP's loop is PaCMAP's."""
    from localmap import LocalMAP, PaCMAP

    X, _ = sets.load(small)
    for method, same in (
        ("pacmap", PaCMAP(random_state=0)),
        ("localmap", LocalMAP(random_state=0)),
        ("localmap-10", LocalMAP(proximal_distance=10, random_state=0)),
    ):
        Y = METHODS[method].embed(X, 0, {})
        np.testing.assert_array_equal(Y, same.fit_transform(X))
    started = METHODS["start"].embed(X, 0, {"spread": 0.01})
    np.testing.assert_array_equal(started, METHODS["localmap"].embed(X, 0, {}))
    both = METHODS["localmap-10"].embed(X, 0, {})
    for part in ("weights", "pairs"):
        Y = METHODS[part].embed(X, 0, {})
        assert not np.array_equal(Y, both)
        assert not np.array_equal(Y, METHODS["pacmap"].embed(X, 0, {}))


def taken(X, y, wanted):
    told = list(measured(Scorecard(X[:, :2], y, X, others=[X[:, :2]]), wanted))
    return {
        "measures": {name: value for name, value, _ in told if value is not None},
        "unmeasured": {name: why for name, value, why in told if value is None},
    }


def test_every_measure_is_made(small):
    X, y = sets.load(small)
    found = taken(X, y, MEASURES)
    assert set(found["measures"]) == set(MEASURES)
    without = taken(X, None, MEASURES)
    needing = {name for name, measure in MEASURES.items() if measure.labels}
    assert set(without["unmeasured"]) == needing
    assert set(without["measures"]) == set(MEASURES) - needing


def test_a_measure_that_cannot_be_made_costs_no_other(small, tmp_path):
    X, y = sets.load(small)
    two = taken(X, y > 0, ["silhouette", "centroid triplets"])
    assert two["measures"]["silhouette"] > 0.3
    assert "three" in two["unmeasured"]["centroid triplets"]
    fine = row("localmap", 0, 0.1, measures={"centroid triplets": 0.5})
    text = written(tmp_path, [row("pca", 0, 0.1, **two), fine])
    (why,) = (line for line in text.splitlines() if line.startswith("- PCA on usps"))
    assert "three" in why


def test_a_map_that_is_made_is_kept_when_measuring_takes_too_long(
    small, tmp_path, monkeypatch
):
    """Here a worker tells of a map and one measure, and then no more."""
    told = {"seconds": 3.0, "measures": {"silhouette": 0.5}, "unmeasured": {}}
    code = (
        "import pathlib, sys, time\n"
        "result = pathlib.Path(input()).with_name('result.json')\n"
        f"result.write_text({json.dumps(told)!r})\n"
        "time.sleep(60)"
    )
    real = subprocess.Popen
    monkeypatch.setattr(
        crew.subprocess,
        "Popen",
        lambda command, **how: real([sys.executable, "-c", code, command[-1]], **how),
    )
    (found,) = go(jobs(small, ("pca",), 1), tmp_path, limits=crew.Limits(2.0))
    assert found["seconds"] == 3.0
    assert found["measures"] == {"silhouette": 0.5}
    assert found["unmeasured"] == {"10-NN accuracy": "took more than 2 s"}
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
    (tmp_path / "maps").mkdir()
    job = plan.Job(str(tmp_path / "cells.csv"), "pca", 0)
    found = in_this_process(job, tmp_path, FEW)
    assert set(found["measures"]) == set(FEW)
    with np.load(tmp_path / "maps" / f"{job.name}.npz") as kept:
        assert set(kept["codes"]) == {-1, 0, 1}


def test_a_worker_ends_with_the_process_that_started_it(tmp_path):
    """Also if that is gone before the worker has come to itself."""
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"seed": 0, "params": {}, "dataset": "", "labels": None}))
    code = (
        "import sys, time; from localmap.bench import sets, worker\n"
        "sets.load = lambda *_, **__: time.sleep(60)\n"
        f"sys.stdin = [{str(job)!r}]; worker.main(int(sys.argv[1]))"
    )
    starter = (
        "import os, subprocess as s, sys\n"
        f"command = [sys.executable, '-c', {code!r}, str(os.getpid())]\n"
        "print(s.Popen(command, stdout=s.DEVNULL).pid)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", starter],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    pid, waited = int(done.stdout), 0.0
    while psutil.pid_exists(pid) and waited < 30:
        time.sleep(0.1)
        waited += 0.1
    assert waited < 30


def test_names_of_files_do_not_clash(tmp_path):
    assert plan.slug("usps") == "usps"
    assert plan.slug("gauss5_gap3.5_6000") == "gauss5_gap3.5_6000"
    assert plan.slug("a/cells.npz") != plan.slug("b/cells.npz")
    path = three_groups(tmp_path / "cells.npz")
    before = plan.slug(path)
    three_groups(path, 50)
    assert plan.slug(path) != before  # it holds other numbers


def test_seeds_that_agree_and_seeds_that_do_not(kept):
    out, found = kept
    found = found[1::2]  # LocalMAP's two
    with np.load(out / "maps" / f"{found[0]['name']}.npz") as archive:
        assert archive["groups"].shape == (90,)
    agreed = seeds.with_agreement(out, found)
    assert [row["measures"][seeds.AGREEMENT] for row in agreed] == [1.0, 1.0]
    assert seeds.AGREEMENT not in found[0]["measures"]
    # Another cut of the largest group in the second map.
    path = out / "maps" / f"{found[1]['name']}.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    largest = arrays["codes"] == np.bincount(arrays["codes"]).argmax()
    arrays["groups"] = np.where(largest & (np.arange(90) % 2 == 0), 9, arrays["groups"])
    np.savez(path, **arrays)
    moved = seeds.with_agreement(out, found)
    assert moved[0]["measures"][seeds.INSIDE] == 0.0
    said = written(out, moved)
    assert "## agreement of seeds" in said
    assert "seeds agree with 0.00 inside the largest group" in said
    # Rows without a label take no part.
    unlabelled = np.where(arrays["groups"] == 9, -1, arrays["codes"])
    for row in found:
        np.savez(out / "maps" / f"{row['name']}.npz", **arrays | {"codes": unlabelled})
    without = seeds.with_agreement(out, found)
    assert without[0]["measures"][seeds.INSIDE] == 1.0
    path.write_bytes(b"damaged")
    damaged = seeds.with_agreement(out, found)
    assert "cannot be compared" in damaged[0]["unmeasured"][seeds.AGREEMENT]
    path.unlink()
    alone = seeds.with_agreement(out, found)
    assert all(seeds.AGREEMENT not in row["measures"] for row in alone)


def test_a_picture_whose_maps_are_gone_stays(kept):
    out, found = kept
    (picture,) = (p for p in report.write(out, found) if p.suffix == ".png")
    before = picture.read_bytes()
    assert "earlier run" not in (out / "report.md").read_text()
    (out / "maps" / f"{found[3]['name']}.npz").unlink()  # not the one that is drawn
    assert "earlier run" not in written(out, found)
    (out / "maps" / f"{found[0]['name']}.npz").unlink()
    said = written(out, found)
    assert picture.read_bytes() == before
    assert "Pictures of an earlier run" in said
    assert f"- {picture.name}" in said
    picture.unlink()
    report.write(out, found)
    assert picture.read_bytes() != before


def test_pages_share_one_head():
    from localmap.bench import report

    pages = (Path(report.__file__).parent / "templates").glob("*.html")
    assert [page.name for page in pages if "<head>" in page.read_text()] == [
        "base.html"
    ]
