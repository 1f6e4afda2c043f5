"""One run in a process of its own: ``python -m localmap.bench.worker JOB.json``.

Loads the data, warms up on a few rows, makes the map, and writes the map and one JSON
file: time, memory and, as they come, measures. What a package prints is not read.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap import datasets
from localmap.bench.methods import METHODS, Method
from localmap.bench.plan import mixture_rows
from localmap.files.atomic import atomic_file
from localmap.metrics.scorecard import MEASURES, Scorecard, measured

# Rows on which a method is tried before the clock runs: what it imports and compiles
# costs the same for any number of rows, unless it searches another way in large data.
WARM_ROWS: Final = 500

# Measures that are made unless others are asked for.
USUAL: Final = tuple(
    name for name, measure in MEASURES.items() if measure.labels or measure.data
)


def main(path: str) -> None:
    """Do the job that the file at `path` describes; write the result where it says."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    job = json.loads(Path(path).read_text())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _work(job)
    except Exception as error:  # noqa: BLE001 - told in the row of this run
        lines = [line for line in str(error).splitlines() if line.strip()]
        said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        _write(job, {"failed": said[:300]})


def _work(job: dict[str, Any]) -> None:
    X, y = load(job["dataset"], job.get("labels"))
    method, seed, params = METHODS[job["method"]], job["seed"], job["params"]
    warmed = _warmed_up(method, X, params)
    loaded_mb = peak_mb()
    start = time.perf_counter()
    Y = np.asarray(method.embed(X, seed, params), dtype=np.float32)
    result: dict[str, Any] = {
        "seconds": time.perf_counter() - start,
        **warmed,
        "peak_mb": peak_mb(),
        "loaded_mb": loaded_mb,
        "rows": len(Y),
        "columns": X.shape[1],
    }
    if not np.isfinite(Y).all():
        gone = int((~np.isfinite(Y)).sum())
        msg = f"{gone} coordinates of the map are not finite"
        raise ValueError(msg)
    card = Scorecard(Y, y, X)
    kept: dict[str, NDArray[Any]] = {"Y": Y, "codes": _codes(card)}
    _keep(job, kept)
    result |= {"measures": {}, "unmeasured": {}}
    _write(job, result)
    for name, value, why_not in measured(card, job["measures"]):
        if value is None:
            result["unmeasured"][name] = why_not
        else:
            result["measures"][name] = value
        _write(job, result)
    if "groups" in vars(card):  # looked for: they need not be again
        _keep(job, kept | {"groups": card.groups})


def _warmed_up(method: Method, X: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Make a small map first; tell the seconds of that, import and compilation."""
    start = time.perf_counter()
    n, few = X.shape[0], WARM_ROWS
    if 0 < method.compiles_above < n:
        few = method.compiles_above + WARM_ROWS
    rows = np.linspace(0, n - 1, min(few, n)).astype(np.intp)
    try:
        method.embed(X[rows], 0, params)
    except Exception as error:  # noqa: BLE001 - too few rows for it, maybe
        return {"not_warm": f"{type(error).__name__}: {error}"[:300]}
    return {"startup": time.perf_counter() - start}


def _codes(card: Scorecard) -> NDArray[np.int64]:
    """Return labels as numbers for the picture: -1 is none; empty without labels."""
    if not card.known.any():
        return np.zeros(0, dtype=np.int64)
    codes = np.full(len(card.Y), -1)
    codes[card.known] = card.codes
    return codes


def _keep(job: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    with atomic_file(Path(job["map"])) as path, path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _write(job: dict[str, Any], result: dict[str, Any]) -> None:
    with atomic_file(Path(job["result"])) as path:
        path.write_text(json.dumps(result))


def _end_with_parent(parent: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def load(name: str, labels: str | None = None) -> tuple[Any, Any]:
    """Return X and y; ``mixture10000`` is generated."""
    rows = mixture_rows(name)
    if rows is not None:
        return mixture(rows)
    found = datasets.load(name, labels=labels)
    return found.X, found.y


def mixture(n: int, groups: int = 200, columns: int = 50) -> tuple[Any, Any]:
    """Gaussian groups of different sizes and spreads."""
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((groups, columns), dtype=np.float32)
    spreads = rng.uniform(0.5, 1.5, groups).astype(np.float32)
    y = rng.choice(groups, n, p=rng.dirichlet(np.full(groups, 5.0)))
    X = rng.standard_normal((n, columns), dtype=np.float32)
    X *= spreads[y, None]
    X += centres[y]
    return X, y


def peak_mb() -> float:
    """Return the largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells may be that of the starting process
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1])
