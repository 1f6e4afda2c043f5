"""The paper's grids: whole, in an order that may be cut off, and resumed."""

import itertools

import numpy as np
import pytest

from localmap.bench import paper, plan, run, tuning
from localmap.bench.crew import Crew, Limits
from localmap.cli import main

FEW = ["silhouette"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A file of three groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    path = tmp_path_factory.mktemp("sets") / "small.npz"
    np.savez(path, X=rng.normal(size=(90, 5)) + 9 * y[:, None], y=y)
    return str(path)


def test_grids_are_the_papers():
    numbers = {"tsne": 60, "umap": 42, "phate": 30, "largevis": 75}
    for method, combinations in numbers.items():
        axes = paper.GRIDS[method].values()
        whole = set(itertools.product(*axes))
        assert len(whole) == combinations
        named = [tuning.named(method, values) for values in whole]
        assert all(values in tuning.grid(method) for values in named)
        assert all(values in named for values in tuning.grid(method))
        for best in paper.BEST.values():
            assert set(best[method]) <= whole
    assert len(tuning.grid("largevis")) == 25  # neighbours are exact: no propagation


def test_the_papers_best_are_named_as_the_packages_name_them():
    assert tuning.at_best("tsne", "coil20") == [
        {"perplexity": 10, "learning_rate": 500},
        {"perplexity": 5, "learning_rate": 10},
    ]
    assert tuning.at_best("largevis", "usps") == [
        {"perplexity": 10, "repulsion_strength": 7}  # the best of both measures
    ]
    assert tuning.at_best("umap", "digits") == tuning.at_best("umap", "usps")
    assert tuning.at_best("umap", "mine.npz") == []
    assert tuning.at_best("localmap", "usps") == [{}]
    assert paper.tuned("SVM accuracy", "phate", "coil20") == 0.93
    assert paper.tuned("silhouette", "trimap", "coil20") is None


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_run_that_is_cut_off_is_fair(share):
    """Of every method the same share is tried, from all parts of its grid."""
    tried = tuning.in_shares(["mine.npz"], tuning.METHODS)
    cut = tried[: int(share * len(tried))]
    for method in tuning.METHODS:
        whole = tuning.grid(method)
        done = [values for _, other, values in cut if other == method and values]
        assert abs(len(done) / len(whole) - share) < 0.08
        for name in whole[0]:
            axis = {values[name] for values in whole}
            assert len({values[name] for values in done}) >= min(4, len(axis)) - 1


def test_no_run_begins_after_the_hours(small, tmp_path):
    given = ["bench", "tuned", "--datasets", small, "--methods", "localmap", "--quiet"]
    given += ["--metrics", *FEW, "--out", str(tmp_path), "--hours"]
    assert main([*given, "0"]) == 0
    assert run.results(tmp_path) == []


def test_runs_of_one_kind_share_a_process_and_tell_no_times(small, tmp_path):
    """A failure in between costs the others nothing."""
    planned = [plan.Job(small, "localmap", 0, {"n_neighbors": k}) for k in (5, -1, 8)]
    first, failed, last = run.run(
        planned, tmp_path, FEW, Limits(), together=True, quiet=True
    )
    assert "n_neighbors" in failed["failed"]
    assert first["measures"]["silhouette"] > 0.5 < last["measures"]["silhouette"]
    assert not set(run.OF_A_PROCESS) & {*first, *last}
    with Crew(together=True) as crew:
        for job in planned:
            row = run.run_one(job, tmp_path, FEW, Limits(), crew)
            (worker,) = crew.kept.values()
        assert row["measures"] == last["measures"]
        pid = worker.process.pid
        run.run_one(planned[0], tmp_path, FEW, Limits(), crew)
        assert [kept.process.pid for kept in crew.kept.values()] == [pid]
    assert worker.process.returncode is not None


def test_best_parameters_are_those_of_the_tuned_methods(small, tmp_path, capsys):
    assert main(["bench", "quick", "--at-best", "--out", str(tmp_path)]) == 2
    assert "preset tuned" in capsys.readouterr().err
    with pytest.raises(ValueError, match="tuned"):
        plan.jobs(plan.PRESETS["paper"], [small], at_best=True)
