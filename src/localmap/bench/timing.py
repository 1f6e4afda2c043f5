"""Times of things that are measured side by side in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

Work = Callable[[], object]


def seconds(work: Work) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(works: Mapping[str, Work], rounds: int) -> dict[str, list[float]]:
    """Time each piece of work once a round, so that a busy minute hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    return times


def spread(times: Sequence[float]) -> str:
    """Return median (smallest-largest).

    >>> spread([3.0, 1.0, 2.0])
    '2.00 (1.00-3.00)'
    """
    return f"{median(times):.2f} ({min(times):.2f}-{max(times):.2f})"


def beside(times: Mapping[str, Sequence[float]], ours: str) -> list[list[str]]:
    """Return name, spread, and how many times as long as ours each takes.

    >>> beside({"us": [2.0, 2.0], "them": [5.0, 5.0]}, "us")[1]
    ['them', '5.00 (5.00-5.00)', '2.5 x']
    """
    own = median(times[ours])
    return [
        [name, spread(found), f"{median(found) / own:.1f} x"]
        for name, found in times.items()
    ]
