"""Runs in a process of their own: ``python -m localmap.bench.worker PARENT``.

The files that describe the runs come line by line. For each the process loads the
data, warms up on a few rows if it did not before, makes the map, and writes it and,
beside the job, ``result.json``: time, memory and, as they come, measures; then
``done``. What a package prints is not read.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.bench import sets
from localmap.bench.machine import peak_mb
from localmap.bench.methods import METHODS, Method
from localmap.files.atomic import atomic_file
from localmap.metrics.scorecard import MEASURES, Scorecard, measured

# Rows on which a method is tried before the clock runs: what it imports and compiles
# costs the same for any number of rows, unless it searches another way in large data.
WARM_ROWS: Final = 500
WARM_PLACED: Final = 100

WARM: Final[set[str]] = set()  # methods that this process has run

# Measures that are made unless others are asked for.
USUAL: Final = tuple(
    name for name, measure in MEASURES.items() if measure.labels or measure.data
)


def main(parent: int) -> None:
    """Do the jobs that come in, as long as the process that sends them is there."""
    watch = threading.Thread(target=_end_with, args=(parent,), daemon=True)
    watch.start()
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        do(path)
        path.with_name("done").touch()


def do(path: Path) -> None:
    """Do the job that the file at `path` describes; write the result beside it."""
    job = json.loads(path.read_text()) | {"result": path.with_name("result.json")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _work(job)
    except Exception as error:  # noqa: BLE001 - told in the row of this run
        lines = [line for line in str(error).splitlines() if line.strip()]
        said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        _write(job, {"failed": said[:300]})


def _work(job: dict[str, Any]) -> None:
    seed, params = job["seed"], job["params"]
    X, y = sets.load(job["dataset"], seed=seed, labels=job["labels"])
    method = METHODS[job["method"]]
    warmed = {} if job["method"] in WARM else warmed_up(method, X, params)
    WARM.add(job["method"])
    loaded_mb = peak_mb()
    make = {"map": _mapped, "transform": _placed}[job["task"]]
    Y, seconds, found = make(method, X, y, seed, params)
    result: dict[str, Any] = {
        "seconds": seconds,
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
    result |= {"measures": found, "unmeasured": {}}
    _write(job, result)
    for name, value, why_not in measured(card, job["measures"]):
        if value is None:
            result["unmeasured"][name] = why_not
        else:
            result["measures"][name] = value
        _write(job, result)
    if "groups" in vars(card):  # looked for: they need not be again
        _keep(job, kept | {"groups": card.groups})


def _mapped(
    method: Method, X: Any, y: Any, seed: int, params: dict[str, Any]
) -> tuple[NDArray[np.float32], float, dict[str, float]]:
    """Return a map, its time, and no measure yet."""
    del y
    start = time.perf_counter()
    Y = method.embed(X, seed, params)
    return np.asarray(Y, dtype=np.float32), time.perf_counter() - start, {}


def _placed(
    method: Method, X: Any, y: Any, seed: int, params: dict[str, Any]
) -> tuple[NDArray[np.float32], float, dict[str, float]]:
    """Map all rows but the last seventh; return the time of placing these."""
    from sklearn.neighbors import KNeighborsClassifier

    if method.fit is None:
        msg = f"{method.title} places no new rows"
        raise ValueError(msg)
    n = X.shape[0] * 6 // 7  # of MNIST its 60,000 training images
    Y, place = method.fit(X[:n], seed, params)
    place(X[n : n + WARM_PLACED])
    start = time.perf_counter()
    new = place(X[n:])
    seconds = time.perf_counter() - start
    found = {}
    if y is not None:
        near = KNeighborsClassifier(10).fit(Y, y[:n])
        found["10-NN accuracy of new rows"] = float(near.score(new, y[n:]))
    return np.vstack([Y, new]).astype(np.float32), seconds, found


def warmed_up(method: Method, X: Any, params: dict[str, Any]) -> dict[str, Any]:
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


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, or is so already."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
