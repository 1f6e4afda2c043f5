"""One run in a process of its own: ``python -m localmap.bench.worker JOB.json``.

Loads the data, makes the map, writes it, and prints one line of JSON: time, memory and
measures, or what went wrong.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
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
from localmap.bench.plan import MIXTURE
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
    """Do the job that the file at `path` describes."""
    job = json.loads(Path(path).read_text())
    X, y = load(job["dataset"])
    before = peak_mb()
    method = METHODS[job["method"]]
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
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
        if "map" in job:
            np.save(job["map"], Y)
        result["measures"] = measured(X, y, Y, job["measures"])
    print(json.dumps(result))


def load(name: str) -> tuple[Any, Any]:
    """Return X and y; ``mixture10000`` is generated."""
    if name.startswith(MIXTURE):
        return mixture(int(name.removeprefix(MIXTURE)))
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
) -> dict[str, float]:
    """Return the measures asked for that the data has what they need for."""
    judge = Judge(X, y, Y)
    return {
        name: float(MEASURES[name](judge))
        for name in wanted
        if y is not None or name not in WITH_LABELS
    }


def peak_mb() -> float:
    """Return the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1])
