"""What a new user meets: data at hand, pages, completion, the verbose version."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="needs the cli extra")

from localmap import cli, kernels  # noqa: E402
from localmap.cli import completion, demo  # noqa: E402
from localmap.cli import help as topics  # noqa: E402
from localmap.cli.main import COMMANDS, full_parser  # noqa: E402
from localmap.datasets.demo import DEMOS  # noqa: E402
from localmap.metrics import knn_accuracy  # noqa: E402

ROOT = Path(__file__).parent.parent


def run(*arguments):
    return cli.main([str(argument) for argument in arguments])


def test_options_know_the_data_there_is():
    assert tuple(DEMOS) == demo.NAMES


@pytest.mark.parametrize(
    ("name", "rows", "column", "accuracy"),
    [("cells", 700, "cell_type", 0.75), ("text", 1439, "module", 0.85)],
)
def test_a_demo_maps_real_data_and_says_whose_it_is(
    name, rows, column, accuracy, tmp_path, capsys
):
    assert run("demo", "--data", name, "--out", tmp_path, "--quiet") == 0
    out = capsys.readouterr().out
    made = DEMOS[name]()
    assert made.source in out
    assert made.licence in out
    frame = pd.read_csv(tmp_path / f"{name}.csv")
    assert list(frame.columns) == ["name", column, "localmap_1", "localmap_2"]
    assert len(frame) == rows
    assert frame["name"].is_unique
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    # Shuffled groups are found again for one row in three at most.
    Y = frame[["localmap_1", "localmap_2"]].to_numpy()
    assert knn_accuracy(Y, frame[column]) > accuracy


def test_what_a_demo_says_to_try_next_can_be_typed(tmp_path, capsys, monkeypatch):
    assert run("demo", "--data", "cells", "--out", tmp_path, "--quiet") == 0
    tried = [
        line.strip().partition("  ")[0].split()[1:]
        for line in capsys.readouterr().out.partition("Try next:\n")[2].splitlines()
    ]
    assert len(tried) == 5
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4))).to_csv("yours.csv")
    for words in tried:
        assert run(*words) == 0, words


def test_help_shows_the_pages_of_the_site(capsys):
    assert run("help") == 0
    overview = capsys.readouterr().out
    pages = sorted(set(topics.names()) - set(COMMANDS))
    assert {"reading-a-map", "cells", "scale"} <= set(pages)
    for name in pages:
        (page,) = (*ROOT.glob(f"docs/{name}.md"), *ROOT.glob(f"docs/guide/{name}.md"))
        source = page.read_text()
        assert name in overview
        assert source.lstrip("# ").partition("\n")[0] in overview
        assert run("help", name) == 0
        assert capsys.readouterr().out.strip() == topics.plain(source)
    assert run("help", "embed") == 0
    assert "--n-neighbors" in capsys.readouterr().out
    assert run("help", "embde") == 2
    assert "reading-a-map" in capsys.readouterr().err


def test_markdown_is_made_plain():
    text = (
        "# T\n\n![a picture](x.png)\n\n```python\n[a](b)\n```\nsee [it](y.md), {doc}`z`"
    )
    assert topics.plain(text) == "# T\n\n    [a](b)\nsee it, `z`"


def completed(script, *words):
    """Return what bash offers after the words; the last one is being typed."""
    line = " ".join(f"'{word}'" for word in ("localmap", *words))
    code = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _localmap; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [shutil.which("bash"), "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


class TestCompletion:
    @pytest.fixture
    def script(self, capsys):
        if shutil.which("bash") is None:
            pytest.skip("needs bash")
        assert run("completion", "bash") == 0
        return capsys.readouterr().out

    def test_commands(self, script):
        assert completed(script, "") == {*COMMANDS, "--help", "--version", "--verbose"}
        assert completed(script, "tr") == {"transform", "trust"}

    def test_every_option_of_every_command(self, script):
        for command in COMMANDS:
            parser = full_parser(command)
            flags = {f for a in parser._actions for f in a.option_strings}
            assert flags <= completed(script, command, ""), command

    def test_values(self, script):
        assert completed(script, "demo", "--data", "") == {"digits", "cells", "text"}
        assert completed(script, "demo", "--data", "c") == {"cells"}
        assert "reading-a-map" in completed(script, "help", "")
        assert completed(script, "completion", "z") == {"zsh"}
        assert completed(script, "embed", "x.csv", "--plot", "") == set()  # a file

    @pytest.mark.parametrize("shell", completion.SHELLS)
    def test_scripts_are_read_by_their_shells(self, shell, capsys):
        if shutil.which(shell) is None:
            pytest.skip(f"needs {shell}")
        assert run("completion", shell) == 0
        script = capsys.readouterr().out
        done = subprocess.run(
            [shell, "-n", "/dev/stdin"], input=script, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert "random-state" in script


def told_by(code):
    """Run code in a process of its own; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout


class TestVersion:
    def test_verbose_tells_of_libraries_that_concern_maps(self):
        # SciPy's reader of .mtx tells a function for its version once it is loaded.
        code = (
            "import io, scipy.io, scipy.sparse\n"
            "scipy.io.mmwrite(io.BytesIO(), scipy.sparse.eye_array(2).tocsr())\n"
            "from localmap.cli import main; main(['--version', '--verbose'])"
        )
        told = told_by(code)
        assert "\nblas " in told
        assert "scipy_mmio" not in told

    def test_verbose_tells_what_a_report_needs(self, capsys, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        assert run("--version", "--verbose") == 0
        told = capsys.readouterr().out
        assert f"instruction set {kernels.instruction_set()}" in told
        assert f"threads      {kernels.thread_count(-1)} " in told
        assert f"numpy {np.__version__}" in told
        assert f"pandas {pd.__version__}" in told
        assert "\nblas " in told
        assert "OMP_NUM_THREADS=1" in told

    def test_verbose_tells_of_a_core_that_does_not_load(self):
        code = (
            "import sys; sys.modules['localmap.kernels'] = None\n"
            "from localmap.cli import main; main(['--version', '--verbose'])"
        )
        told = told_by(code)
        assert "core         cannot be loaded" in told
        assert "numpy" in told

    def test_verbose_alone_is_refused(self, capsys):
        with pytest.raises(SystemExit) as ended:
            run("--verbose")
        assert ended.value.code == 2
        assert "--verbose goes with --version" in capsys.readouterr().err
