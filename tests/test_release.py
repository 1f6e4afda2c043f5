"""One version in all places; a wheel holds what belongs into it, with its licences."""

import importlib
import re
import tomllib
import zipfile
from importlib.metadata import files as files_of
from pathlib import Path

import pytest

import localmap

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version_everywhere():
    version = PROJECT["version"]
    assert localmap.__version__ == version
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [version]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == version


def test_the_recipe_needs_what_the_package_needs():
    path = ROOT / "recipe" / "recipe.yaml"
    if not path.exists():
        pytest.skip("the recipe is not in this tree")
    recipe = path.read_text()
    assert f'version: "{PROJECT["version"]}"' in recipe
    assert f"license: {PROJECT['license']}\n" in recipe
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    for requirement in needed:
        name, least = requirement.split(">=")
        name = {"matplotlib": "matplotlib-base"}.get(name, name)
        assert f"    - {name} >={least}\n" in recipe


def test_reports_are_asked_for_the_verbose_version():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    if not folder.exists():
        pytest.skip("the templates are not in this tree")
    for name in ("fault.yml", "map.yml"):
        assert "`localmap --version --verbose`" in (folder / name).read_text()


def test_the_licence_of_nanobind_is_the_one_it_has():
    pytest.importorskip("nanobind", reason="needs the test extra")
    (theirs,) = (
        path
        for path in files_of("nanobind") or ()
        if path.name == "LICENSE" and "dist-info" in str(path)
    )
    ours = (ROOT / "licences" / "nanobind.txt").read_text()
    assert ours == Path(theirs.locate()).read_text()


TAG = "cp312-abi3-manylinux_2_28_x86_64"
GOOD = {
    "localmap/__init__.py": "",
    "localmap/kernels/_core.abi3.so": "compiled",
    "localmap/datasets/shipped/cells.npz": "numbers",
    "localmap-1.0.dist-info/METADATA": f"License-Expression: {PROJECT['license']}\n\n",
    "localmap-1.0.dist-info/licenses/LICENSE": "Apache License",
    "localmap-1.0.dist-info/licenses/licences/nanobind.txt": "Wenzel Jakob",
    "localmap-1.0.dist-info/licenses/licences/robin-map.txt": (
        "Thibaut Goetghebuer-Planchon"
    ),
}


class TestWheel:
    @pytest.fixture
    def faults(self, tmp_path, monkeypatch):
        if not (ROOT / "benchmarks").exists():
            pytest.skip("benchmarks are not in this tree")
        monkeypatch.syspath_prepend(str(ROOT))
        wheel = importlib.import_module("benchmarks.wheel")
        path = tmp_path / f"localmap-1.0-{TAG}.whl"

        def found(files):
            with zipfile.ZipFile(path, "w") as archive:
                for name, text in files.items():
                    archive.writestr(name, text)
            return wheel.faults(path)

        return found

    def test_a_good_one_passes(self, faults):
        assert faults(GOOD) == []

    @pytest.mark.parametrize("name", [n for n in GOOD if "licenses" in n])
    def test_a_licence_must_be_there(self, name, faults):
        (fault,) = faults({n: text for n, text in GOOD.items() if n != name})
        assert "is missing" in fault

    @pytest.mark.parametrize(
        "name",
        [
            "localmap/tests/a.py", "localmap/test_a.py", "localmap/conftest.py",
            "localmap/datasets/mnist.npz", "localmap/datasets/shipped/more.npz",
            "tests/a.py", "localmap/__pycache__/a.pyc", "localmap/cells.csv",
        ],
    )  # fmt: skip
    def test_what_does_not_belong_is_named(self, name, faults):
        assert faults(GOOD | {name: ""}) == [f"{name} does not belong into a wheel"]

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            (
                {"localmap/kernels/_core.abi3.so": "x /root/a/b.hpp"},
                "where it was built",
            ),
            ({"localmap/kernels/_more.abi3.so": ""}, "one compiled module"),
            ({"localmap-1.0.dist-info/METADATA": "Name: a\n\n"}, "said to be None"),
            ({"localmap/big.py": "#" * 1_100_000}, "more than 1,000,000"),
        ],
    )
    def test_other_faults(self, change, fault, faults):
        assert any(fault in line for line in faults(GOOD | change))

    def test_a_core_for_one_python_is_no_stable_one(self, faults):
        files = {n.replace("abi3", "cpython-312"): text for n, text in GOOD.items()}
        (fault,) = faults(files)
        assert "not what the tag abi3 says" in fault
