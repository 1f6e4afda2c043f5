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

from localmap.bench import paper, tuning
from localmap.bench.methods import COMPARED
from localmap.bench.sets import is_generated
from localmap.datasets import ONE_PIECE

SMALL: Final = ("usps", "20ng", "coil20", "kang")
LARGE: Final = ("mnist", "fmnist")
GROUPED: Final = ("digits", "usps", "coil20", "kang", "duo4eq", "20ng", *LARGE)

# Generated mixtures of 200 groups with 50 columns.
SIZES: Final = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
MIXTURES: Final = tuple(f"mixture{n}" for n in SIZES)

# Data that is one piece, and two clouds that are moved together: Gaussians have two
# peaks of density beyond a distance of 2, cubes touch at 0.
PIECES: Final = tuple(f"{name}_{n}" for n in (1000, 8000) for name in ONE_PIECE)
LARGE_PIECES: Final = (*(f"{name}_50000" for name in ONE_PIECE), "mammoth_50k")
GAPS: Final = {
    "gauss": (1, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8),
    "cube": (0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6),
}
CLOUDS: Final = tuple(
    f"{kind}{d}_gap{gap:g}_6000"
    for kind, gaps in GAPS.items()
    for d in (2, 5, 10, 20)
    for gap in gaps
)

# PaCMAP, the paper's distance and ours: what is compared where a rule is judged.
RULES: Final = ("pacmap", "localmap-10", "localmap")

# How the methods that take a start are told to begin anywhere.
STARTS: Final = {
    "localmap": ("init", "random"),
    "localmap-10": ("init", "random"),
    "pacmap": ("init", "random"),
    "authors-localmap": ("init", "random"),
    "authors-pacmap": ("init", "random"),
    "umap": ("init", "random"),
    "largevis": ("init", "normal"),
    "tsne": ("initialization", "random"),
    "trimap": ("init", "random"),
    "hnne": ("preliminary_embedding", "random_linear"),
    "negtsne": ("init", "random"),
    "infonc": ("init", "random"),
}
GROUP_MEASURES: Final = (
    "silhouette", "ARI of visible groups", "visible groups", "preservation",
    "10-NN accuracy", "SVM accuracy", "trustworthiness", "continuity",
    "random triplets", "pieces", "strays",
)  # fmt: skip
SEEN_MEASURES: Final = (
    "silhouette", "SVM accuracy", "ARI of visible groups", "splits", "merges",
)  # fmt: skip


def slug(dataset: str) -> str:
    """Return a name for files: a set's own, or that of a file and what it holds."""
    if re.fullmatch(r"\w+", dataset) or is_generated(dataset):
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
    task: str = "map"  # or "transform": place rows that were held out

    @property
    def name(self) -> str:
        """A name that no other job has, and that a file may have."""
        tail = ""
        if self.params or self.labels:
            given = [self.params, self.labels] if self.labels else self.params
            text = json.dumps(given, sort_keys=True)
            tail = "-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        if self.task != "map":
            tail += f"-{self.task}"
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
    large: tuple[str, ...] = LARGE  # sets that get a third of the runs, at least one
    task: str = "map"
    tuned: bool = False  # with the parameters of `tuning`, in its order
    rising: bool = False  # each set is larger than the one before

    def seeds(self, dataset: str, runs: int | None) -> range:
        """Return the seeds of a data set; `runs` if so many are asked for."""
        if runs is None:
            third = max(1, self.runs // 3)
            runs = third if dataset in self.large else self.runs
        return range(runs)


PRESETS: Final[dict[str, Preset]] = {
    "quick": Preset("minutes: every method once on digits", ("digits",), COMPARED, 1),
    "paper": Preset(
        "silhouette, SVM accuracy and time of all methods, ten seeds",
        paper.SETS,
        COMPARED,
        10,
        large=(),
    ),
    "ablation": Preset(
        "LocalMAP's changes, alone and together",
        ("mnist", "digits", *paper.SETS[1:6]),
        ("pacmap", "weights", "pairs", "localmap-10", "untrusting", "localmap"),
        10,
        measures=("silhouette", "ARI of visible groups", "splits", "merges"),
    ),
    "init": Preset(
        "random starts: in how many runs is each group one and alone?",
        ("digits", "mnist"),
        (*STARTS, "phate"),  # which has no start, only a seed
        10,
        {name: {key: (value,)} for name, (key, value) in STARTS.items()},
        measures=("silhouette", "splits", "merges"),
        large=(),
    ),
    "start": Preset(
        "LocalMAP from starts of other widths",
        ("digits", "coil20", "usps", "kang", "20ng", "duo4eq"),
        ("start",),
        5,
        {"start": {"spread": (1e-4, 1e-2, 1.0, 2.0, 4.0, 10.0, 20.0)}},
        measures=("silhouette",),
    ),
    "tuned": Preset(
        "the paper's grids of the rivals, and one of ours",
        ("digits", *paper.SETS[:6]),
        tuning.METHODS,
        1,
        measures=SEEN_MEASURES,
        tuned=True,
    ),
    "variants": Preset(
        "methods as the paper may have run them",
        (*SMALL, "mnist"),
        ("sklearn-tsne", "hnne-1", "phate", "infonc"),
        4,
        measures=("silhouette",),
        large=(),
    ),
    "authors": Preset(
        "ours beside the authors' package, with their distance",
        (*SMALL, "coil20_unit", *LARGE, "mnist_unit"),
        ("authors-pacmap", "pacmap", "authors-localmap", "localmap-10"),
        10,
        measures=("silhouette", "10-NN accuracy"),
        large=(*LARGE, "mnist_unit"),
    ),
    "scale": Preset(
        "time and memory against the number of rows",
        MIXTURES,
        COMPARED,
        1,
        measures=("silhouette",),
        rising=True,
    ),
    "speed": Preset(
        "time and memory from raw data to the map",
        (*SMALL, *LARGE, "covtype", *MIXTURES[2:]),
        ("localmap", "brisc", "authors-localmap"),
        3,
        measures=("silhouette",),
        large=("covtype", *MIXTURES[2:]),
    ),
    "transform": Preset(
        "new rows in a finished map: time, and accuracy of 10-NN",
        ("mnist",),
        ("localmap", "authors-pacmap", "authors-localmap", "umap"),
        3,
        measures=(),
        large=(),
        task="transform",
    ),
    "groups": Preset(
        "are the groups real? PaCMAP, the paper's distance and the default",
        GROUPED,
        RULES,
        10,
        measures=GROUP_MEASURES,
    ),
    "wholeness": Preset(
        "pieces and strays of data that is one piece",
        (*PIECES, "mammoth", *LARGE_PIECES),
        RULES,
        10,
        measures=("pieces", "strays"),
        large=LARGE_PIECES,
    ),
    "gap": Preset(
        "two clouds moved together: when are they still seen as two?",
        CLOUDS,
        RULES,
        5,
        measures=("ARI of visible groups", "pieces"),
    ),
}


def jobs(
    preset: Preset,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    runs: int | None = None,
    labels: str | None = None,
    *,
    at_best: bool = False,
) -> list[Job]:
    """Return all runs: seeds outermost, so that what is cut short has every method.

    With `at_best` the tuned methods have the paper's best parameters alone.
    """
    if runs is not None and runs < 1:
        msg = f"runs is the number of seeds, at least 1; got {runs}"
        raise ValueError(msg)
    if at_best and not preset.tuned:
        msg = "the paper's best parameters are those of the preset tuned"
        raise ValueError(msg)
    sets, methods = datasets or preset.datasets, methods or preset.methods
    tried = _tried(preset, sets, methods, at_best=at_best)
    most = max(len(preset.seeds(dataset, runs)) for dataset in sets)
    return [
        Job(dataset, method, seed, params, labels, preset.task)
        for seed in range(most)
        for dataset, method, params in tried
        if seed in preset.seeds(dataset, runs)
    ]


def _tried(
    preset: Preset, sets: Sequence[str], methods: Sequence[str], *, at_best: bool
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return data set, method and parameters of what each seed is tried with."""
    pairs = itertools.product(sets, methods)
    if at_best:
        return [(s, m, params) for s, m in pairs for params in tuning.at_best(m, s)]
    if preset.tuned:
        return tuning.in_shares(sets, methods)
    return [
        (dataset, method, dict(zip(axes, values, strict=True)))
        for dataset, method in pairs
        for axes in [preset.grids.get(method, {})]
        for values in itertools.product(*axes.values())
    ]
