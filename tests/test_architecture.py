"""The shape of the package: layers, public names, what an import costs."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import localmap

ROOT = Path(__file__).parent.parent


def run(code, **kwargs):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        **kwargs,
    ).stdout


def test_imports_run_one_way():
    pytest.importorskip("importlinter", reason="needs the test extra")
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "3 kept, 0 broken" in result.stdout


def test_public_names():
    assert set(localmap.__all__) == {"LocalMAP", "PaCMAP", "__version__", "load"}
    assert all(hasattr(localmap, name) for name in localmap.__all__)


def test_only_kernels_opens_the_door_to_compiled_code():
    importers = {
        path.parent.name
        for path in ROOT.glob("src/localmap/**/*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (
            isinstance(node, ast.ImportFrom) and node.module == "localmap.kernels._core"
        )
        or (
            isinstance(node, (ast.Import, ast.ImportFrom))
            and any(alias.name.endswith("_core") for alias in node.names)
        )
    }
    assert importers == {"kernels"}


def test_import_is_light():
    """Nothing heavy comes in, beyond what scikit-learn itself brings."""
    heavy = "{'matplotlib', 'pandas', 'pyarrow', 'dask', 'anndata', 'numba', 'torch'}"
    loaded = run(
        "import sys, sklearn.base; before = set(sys.modules);"
        f"import localmap; print(sorted({heavy} & (set(sys.modules) - before)))"
    )
    assert loaded.strip() == "[]"


def test_the_package_alone_loads_nothing():
    loaded = run(
        "import sys; before = set(sys.modules); import localmap; "
        "names = {n.partition('.')[0] for n in set(sys.modules) - before};"
        "print(sorted(names - sys.stdlib_module_names), 'email' in names)"
    )
    assert loaded.split() == ["['localmap']", "False"]


def test_import_and_fit_start_no_lasting_threads():
    code = (
        "import threading, os, numpy as np, localmap;"
        "count = lambda: len(os.listdir('/proc/self/task'));"
        "X = np.random.default_rng(0).normal(size=(3000, 10));"
        "X.T @ X;"  # NumPy's own threads
        "fit = lambda: localmap.LocalMAP(n_iters=(5, 5, 5), n_jobs=4).fit(X);"
        "fit(); before = count(); fit(); print(count() - before)"
    )
    if not Path("/proc/self/task").exists():
        pytest.skip("counts threads through /proc, which this system does not have")
    assert run(code).strip() == "0"


def signatures(stub):
    """Types of the arguments and of the result of every function, by name."""
    found = {}
    for node in ast.walk(ast.parse(stub)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found |= {f"{node.name}.{m.name}": types(m) for m in node.body}
        if isinstance(node, ast.Module):
            functions = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            found |= {function.name: types(function) for function in functions}
    return found


def types(function):
    arguments = [*function.args.posonlyargs, *function.args.args]
    told = [a.annotation for a in arguments if a.annotation is not None]
    return [plain(annotation) for annotation in [*told, function.returns]]


class Unannotated(ast.NodeTransformer):
    """Types without what nanobind adds to them."""

    def visit_Subscript(self, node):
        node = self.generic_visit(node)
        named = isinstance(node.value, ast.Name) and node.value.id == "Annotated"
        return node.slice.elts[0] if named else node


def plain(annotation):
    annotation = Unannotated().visit(annotation)
    text = ast.unparse(annotation).replace("numpy.", "np.")
    return "tuple" if text.startswith("tuple[_Listed") else text  # asked for attributes


def test_the_stub_says_what_the_core_takes():
    """The stub has names for arguments; nanobind knows their number and types."""
    stubgen = pytest.importorskip("nanobind.stubgen", reason="needs the test extra")
    from localmap.kernels import _core

    package = Path(localmap.__file__).parent
    generated = stubgen.StubGen(_core)
    generated.put(_core)
    written = (package / "kernels" / "_core.pyi").read_text()
    assert signatures(written) == signatures(generated.get())
    assert (package / "py.typed").exists()


def test_every_source_file_is_short():
    sources = [*ROOT.glob("src/localmap/**/*.py"), *ROOT.glob("cpp/*")]
    assert len(sources) > 15
    long = {p.name: n for p in sources if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


@pytest.mark.parametrize(
    "search",
    [
        "kernels.exact_neighbors(Z, 60, 2)",
        "kernels.compare_each_two(Z, np.arange(len(Z), dtype=np.int32), 60, 2)",
        "nearest_neighbors(Z, 60, Workshop(2))",
    ],
)
def test_ctrl_c_stops_a_long_native_call_within_a_second(search):
    """Each search of 60,000 x 64 takes many seconds; the signal comes after 0.5 s."""
    code = f"""
import signal, threading, time, os, numpy as np
from localmap import kernels
from localmap.geometry.neighbors import nearest_neighbors
from localmap.geometry.workshop import Workshop
Z = np.random.default_rng(0).normal(size=(60_000, 64)).astype(np.float32)
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    {search}
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""
    waited = run(code).strip()
    assert waited != "finished"
    assert 0.0 <= float(waited) < 1.0


def test_fits_in_threads_equal_fits_in_turn():
    from concurrent.futures import ThreadPoolExecutor

    rng = np.random.default_rng(0)
    data = [rng.normal(size=(400 + 50 * i, 8)) for i in range(4)]

    def fit(X):
        return localmap.LocalMAP(random_state=1, n_iters=(20, 20, 30)).fit_transform(X)

    with ThreadPoolExecutor(4) as pool:
        for alone, together in zip(map(fit, data), pool.map(fit, data), strict=True):
            np.testing.assert_array_equal(alone, together)
