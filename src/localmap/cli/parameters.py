"""One option for each parameter of the estimator.

Texts and defaults stand here so that wrong arguments are told without loading anything;
a test holds them against the estimator's own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

DEFAULTS: Final[dict[str, Any]] = {
    "n_components": 2,
    "n_neighbors": 10,
    "mid_near_ratio": 0.5,
    "further_ratio": 2.0,
    "metric": "euclidean",
    "scale": "none",
    "proximal_distance": "auto",
    "near_strength": None,
    "locality": 1.0,
    "init": "pca",
    "n_iters": (100, 100, 250),
    "learning_rate": 1.0,
    "pca_components": 100,
    "random_state": 0,  # a command gives the same map each time it is typed
    "n_jobs": -1,
    "memory_limit": None,
    "scratch": None,
}

METRICS: Final = (
    "euclidean", "cosine", "correlation", "hellinger", "manhattan", "chebyshev",
    "hamming", "jaccard", "precomputed",
)  # fmt: skip
SCALES: Final = ("none", "standard", "robust")


def add_parameters(group: Any) -> None:
    """Add the options to a parser or a group of one."""

    def add(name: str, text: str, **how: Any) -> None:
        default = DEFAULTS[name]
        shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
        group.add_argument(
            f"--{name.replace('_', '-')}",
            *how.pop("also", ()),
            default=default,
            help=f"{text} (default: {how.pop('shown', shown)})",
            **how,
        )

    add("n_components", "dimensions of the map", type=int)
    add("n_neighbors", 'near pairs of a point, or "auto"', type=number_or("auto", int))
    add("mid_near_ratio", "mid-near pairs per near pair", type=float)
    add("further_ratio", "further pairs per near pair", type=float)
    add("metric", ", ".join(METRICS), choices=METRICS, metavar="METRIC")
    add("scale", "bring columns to one scale first", choices=SCALES)
    add(
        "proximal_distance",
        'reach of local further pairs in the map, or "auto"',
        type=number_or("auto", float),
    )
    add(
        "near_strength",
        "strength of the near force",
        type=float,
        shown="1.79, or half of a reach that is given",
    )
    add("locality", "0 is PaCMAP, 1 is LocalMAP", type=float)
    add("init", "pca, random, or a file with the start", type=_start)
    add(
        "n_iters",
        "iterations of the phases",
        type=int,
        nargs=len(DEFAULTS["n_iters"]),
        metavar="N",
    )
    add("learning_rate", "learning rate of Adam", type=float)
    add("pca_components", 'columns kept by PCA, or "none"', type=number_or("none", int))
    add("random_state", "random seed", type=int)
    add("n_jobs", "threads; -1 uses all cores", type=int)
    add(
        "memory_limit",
        "most memory beside the input, 4GB for example; more goes to files",
        shown="most of what is free",
        also=("--memory",),
        metavar="SIZE",
    )
    add(
        "scratch",
        "folder for these files; a run that was cut off goes on from there",
        shown="a temporary one",
        metavar="DIR",
    )


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that were given, as the estimator takes them."""
    settings = {name: getattr(arguments, name) for name in DEFAULTS}
    settings["n_iters"] = tuple(settings["n_iters"])
    if isinstance(settings["init"], Path):
        from localmap import files

        settings["init"] = files.read(settings["init"]).map
    return settings


def number_or(word: str, number: type) -> Any:
    """Return a type of argument: a number, or a word that stands for one."""

    def parse(text: str) -> Any:
        if text.lower() == word:
            return None if word == "none" else word
        return number(text)

    parse.__name__ = f'number or "{word}"'
    return parse


def _start(text: str) -> str | Path:
    return text if text in ("pca", "random") else Path(text)
