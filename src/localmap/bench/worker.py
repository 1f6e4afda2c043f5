"""One run in a process of its own: ``python -m localmap.bench.worker JOB.json``.

Loads the data, makes the map, and writes the map and one JSON file: time, memory and
measures. What a package prints is not read.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from localmap import datasets, kernels, metrics
from localmap.bench.methods import METHODS
from localmap.bench.plan import mixture_rows
from localmap.neighbors import nearest_neighbors
from localmap.preprocess import preprocess


class Judge:
    """A map, its labels and its data; what several measures need is made once."""

    def __init__(self, X: NDArray[Any], y: Any, Y: Any) -> None:
        self.Z, self.y, self.Y = preprocess(X)[0], y, Y

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Groups that can be seen."""
        return metrics.visible_groups(self.Y)

    @cached_property
    def torn(self) -> metrics.SplitsAndMerges:
        """How the visible groups divide and join the labels."""
        return metrics.splits_and_merges(self.y, self.groups)

    @cached_property
    def near(self) -> NDArray[np.int32]:
        """Nearest rows in the data."""
        return nearest_neighbors(self.Z, 10, kernels.thread_count(-1)).indices


MEASURES: Final[dict[str, Callable[[Judge], float]]] = {
    "silhouette": lambda m: metrics.silhouette(m.Y, m.y, sample=SILHOUETTE_SAMPLE),
    "SVM accuracy": lambda m: metrics.svm_accuracy(m.Y, m.y),
    "10-NN accuracy": lambda m: metrics.knn_accuracy(m.Y, m.y),
    "ARI of visible groups": lambda m: adjusted_rand_score(m.y, m.groups),
    "splits": lambda m: m.torn.splits,
    "merges": lambda m: m.torn.merges,
    "preservation": lambda m: metrics.preservation(m.near, m.Y),
    "trustworthiness": lambda m: metrics.trustworthiness(m.Z, m.Y),
    "continuity": lambda m: metrics.continuity(m.Z, m.Y),
    "random triplets": lambda m: metrics.random_triplets(m.Z, m.Y),
    "centroid triplets": lambda m: metrics.centroid_triplets(m.Z, m.Y, m.y),
}
WITH_LABELS: Final = (
    "silhouette", "SVM accuracy", "10-NN accuracy", "ARI of visible groups", "splits",
    "merges", "centroid triplets",
)  # fmt: skip

# Above this many points the silhouette is that of a sample (standard error 0.003).
SILHOUETTE_SAMPLE: Final = 100_000


def main(path: str) -> None:
    """Do the job that the file at `path` describes; write the result beside it."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    job = json.loads(Path(path).read_text())
    X, y = load(job["dataset"])
    before = peak_mb()
    method = METHODS[job["method"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        Y = np.asarray(method.embed(X, job["seed"], job["params"]), dtype=np.float32)
        seconds = time.perf_counter() - start
        result: dict[str, Any] = {
            "seconds": seconds,
            "peak_mb": peak_mb(),
            "data_mb": before,
            "rows": len(Y),
        }
        if not np.isfinite(Y).all():
            msg = (
                f"{int((~np.isfinite(Y)).sum())} coordinates of the map are not finite"
            )
            raise ValueError(msg)
        codes = np.zeros(0) if y is None else np.unique(y, return_inverse=True)[1]
        np.savez_compressed(job["map"], Y=Y, codes=codes)
        result |= measured(X, y, Y, job["measures"])
    Path(job["result"]).write_text(json.dumps(result))


def _end_with_parent(parent: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def load(name: str) -> tuple[Any, Any]:
    """Return X and y; ``mixture10000`` is generated."""
    rows = mixture_rows(name)
    if rows is not None:
        return mixture(rows)
    found = datasets.load(name)
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


def measured(
    X: NDArray[Any], y: NDArray[Any] | None, Y: Any, wanted: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the measures asked for, and why some could not be made."""
    judge = Judge(X, y, Y)
    found: dict[str, float] = {}
    missed: dict[str, str] = {}
    for name in wanted:
        if y is None and name in WITH_LABELS:
            missed[name] = "the data has no labels"
            continue
        try:
            found[name] = float(MEASURES[name](judge))
        except ValueError as error:  # too few rows or labels for this one
            missed[name] = str(error).splitlines()[0]
    return {"measures": found, "unmeasured": missed}


def peak_mb() -> float:
    """Return the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1])
