"""Which runs there are: data sets x methods x seeds x parameters."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from localmap.bench import paper
from localmap.bench.methods import COMPARED

# Grids for the methods that the paper tunes. It names the parameters; the values here
# are the usual ranges, as its own lists are not published with its code.
TUNED: Final[dict[str, dict[str, Sequence[Any]]]] = {
    "tsne": {"perplexity": (10, 20, 30, 50, 100)},
    "umap": {"n_neighbors": (5, 10, 15, 30, 60), "min_dist": (0.01, 0.1, 0.5)},
    "phate": {"knn": (5, 10, 20), "decay": (20, 40)},
    "largevis": {"perplexity": (15, 30, 50)},
}

# Generated mixtures of 200 groups with 50 columns.
SIZES: Final = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
MIXTURE: Final = "mixture"


def mixture_rows(dataset: str) -> int | None:
    """Return the size of a generated mixture, or None if it is another set."""
    found = re.fullmatch(rf"{MIXTURE}(\d+)", dataset)
    return None if found is None else int(found[1])


def slug(dataset: str) -> str:
    """Return a name for files: a set's own, or that of a file and what it holds."""
    if re.fullmatch(r"\w+", dataset):
        return dataset
    path = Path(dataset)
    known = str(path.resolve())
    if path.exists():
        known += f" {path.stat().st_mtime_ns} {path.stat().st_size}"
    stem = "".join(c if c.isalnum() else "_" for c in path.stem)
    return f"{stem}-{hashlib.sha256(known.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Job:
    """One run of one method."""

    dataset: str
    method: str
    seed: int
    params: dict[str, Any] = field(default_factory=dict)
    labels: str | None = None  # the column with the groups, in a file

    @property
    def name(self) -> str:
        """A name that no other job has, and that a file may have."""
        tail = ""
        if self.params or self.labels:
            given = [self.params, self.labels] if self.labels else self.params
            text = json.dumps(given, sort_keys=True)
            tail = "-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{slug(self.dataset)}-{self.method}-{self.seed}{tail}"


@dataclass(frozen=True)
class Preset:
    """What a preset runs, unless other sets, methods or numbers are asked for."""

    help: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    runs: int
    grids: dict[str, dict[str, Sequence[Any]]] = field(default_factory=dict)
    measures: tuple[str, ...] | None = None


PRESETS: Final[dict[str, Preset]] = {
    "quick": Preset("minutes: every method once on digits", ("digits",), COMPARED, 1),
    "paper": Preset(
        "silhouette, SVM accuracy and time of all methods, ten seeds",
        paper.SETS,
        COMPARED,
        10,
    ),
    "ablation": Preset(
        "LocalMAP's two changes, alone and together",
        paper.SETS[:6],
        ("ours_pacmap", "weights", "pairs", "ours_paper", "ours"),
        10,
    ),
    "init": Preset(
        "random starts",
        paper.SETS[:6],
        ("pacmap", "localmap", "umap", "ours_paper", "ours"),
        10,
        {
            name: {"init": ("random",)}
            for name in ("pacmap", "localmap", "umap", "ours_paper", "ours")
        },
    ),
    "tuned": Preset(
        "the rivals with other parameters",
        paper.SETS[:6],
        (*TUNED, "ours"),
        1,
        TUNED,
    ),
    "scale": Preset(
        "time and memory against the number of rows",
        tuple(f"{MIXTURE}{n}" for n in SIZES),
        ("umap", "tsne", "pacmap", "localmap", "ours"),
        1,
        measures=("silhouette", "10-NN accuracy"),
    ),
}


def jobs(
    preset: Preset,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    runs: int | None = None,
    labels: str | None = None,
) -> list[Job]:
    """Return all runs: seeds outermost, so that what is cut short has every method."""
    if runs is not None and runs < 1:
        msg = f"runs is the number of seeds, at least 1; got {runs}"
        raise ValueError(msg)
    planned = []
    for seed in range(preset.runs if runs is None else runs):
        for dataset in datasets or preset.datasets:
            for method in methods or preset.methods:
                grid = preset.grids.get(method, {})
                for values in itertools.product(*grid.values()):
                    params = dict(zip(grid, values, strict=True))
                    planned.append(Job(dataset, method, seed, params, labels))
    return planned
