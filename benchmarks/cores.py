"""What more cores would bring: who works alone, and how work is dealt to many.

``python -m benchmarks.cores [DATASET ...]`` fits with one thread and with two and books
the time on the clock and that of the CPU to the functions of the package, each without
those it calls. Where two threads are at work the CPU's time runs twice as fast; what is
missing is time in which one worked alone. Then the pieces that the largest loops deal
out, with the times that were measured, are dealt on paper to 4, 16 and 64 threads.
"""

import argparse
import sys
import time
from collections import defaultdict
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from statistics import median

import numpy as np

import localmap
from benchmarks import machine
from benchmarks.data import load
from benchmarks.rate import FURTHER, LAST, generated
from localmap import LocalMAP, kernels
from localmap.bench.timing import seconds
from localmap.geometry.blocks import MOST_BLOCKS, blocks
from localmap.kernels.descent import ROWS_PER_THREAD
from localmap.method.adjust import measured_reach

DATASETS = ("mnist", "mixture300000", "mixture1000000")
THREADS = (2, 4, 16, 64)
ROUNDS = 9
SHOWN = 0.005  # share of a fit from which a part has a line
PACKAGE = str(Path(localmap.__file__).parent)

# As in circles.hpp, step.hpp and cells.hpp: points of a circle, circles of a ring, rows
# that are moved together, rows of a cell that are searched together.
CIRCLE, RING, MOVED, BATCH = max(512, 8 * FURTHER), 8, 512, 512

STEP, DEAL = "kernels/descent: Descent.steps", "kernels/descent: Circles.deal"
SEARCH = "kernels/cells: find_in_cells"
IN_BLOCKS = {
    f"geometry/{name}"
    for name in (
        "preprocessing: _extent",
        "preprocessing: _project",
        "pca: _moments",
        "pca: principal_components",
    )
}


class Clock:
    """Seconds on the clock, of the CPU, and calls, by function of the package."""

    def __init__(self):
        self.booked = defaultdict(lambda: np.zeros(3))
        self._inside, self._last = [], np.zeros(3)

    def __call__(self, frame, event, _):
        file = frame.f_code.co_filename
        if event not in {"call", "return"} or not file.startswith(PACKAGE):
            return
        now = np.array([time.perf_counter(), time.process_time(), 0])
        if self._inside:
            self.booked[self._inside[-1][0]] += now - self._last
        self._last = now
        if event == "return":
            del self._inside[-1:]
            return
        asked, in_a_block = self._inside[-1] if self._inside else ("", False)
        # Blocks are done by other threads, which nobody watches, where there are some.
        in_a_block = in_a_block or file.endswith("blocks.py")
        if not asked or not (in_a_block or file.endswith("workshop.py")):
            name = frame.f_code.co_qualname.split(".<")[0]
            asked = f"{file[len(PACKAGE) + 1 : -3]}: {name}"
            self.booked[asked][2] += 1
        self._inside.append((asked, in_a_block))


def fitted(X, threads):
    """A model, and of its parts: seconds on the clock, of the CPU, and calls."""
    clock = Clock()
    sys.setprofile(clock)
    try:
        model = LocalMAP(random_state=0, n_jobs=threads).fit(X)
    finally:
        sys.setprofile(None)
    return model, {name: tuple(map(float, t)) for name, t in clock.booked.items()}


def begins(threads, start):
    """When each thread begins, where each starts two others that take so long."""
    at = [0.0]
    for one in range(1, threads):
        at.append(at[(one - 1) // 2] + start * (2 - one % 2))
    return at


def dealt(rounds, threads, start):
    """Deal pieces to threads; all wait at the end of each round.

    Returns how long it takes, and the seconds that threads have spent waiting for the
    last of a round.
    """
    free, waited = begins(threads, start), 0.0
    for costs in rounds:
        heapify(free)
        for cost in costs:
            heappush(free, heappop(free) + cost)
        last = max(free)
        waited += sum(last - end for end in free)
        free = [last] * threads
    return free[0], waited


def share_of_rings(n):
    """Share of a step that further pairs take, on a generated map of so many points."""
    whole, _ = generated(n, 1)
    nobody = np.empty((n, 0), dtype=np.int32)
    circles = kernels.Circles(n, FURTHER)
    alone = kernels.Descent(whole.Y.copy(), nobody, nobody, circles, 0.01)
    alone.redraw(measured_reach(whole.Y, 0), 1.0, 0, 1)
    whole_time, alone_time = (
        median(seconds(partial(one.step, LAST)) for _ in range(ROUNDS))
        for one in (whole, alone)
    )
    return min(0.9, alone_time / whole_time)


def start_of_a_thread():
    """Seconds that a second thread adds to next to no work."""
    near = kernels.PairLists(np.zeros((4 * MOVED, 1), dtype=np.int32))
    Y = np.zeros((4 * MOVED, 2), dtype=np.float32)
    forces = partial(kernels.forces, Y, near, near, near, LAST)
    one, two = (
        min(seconds(lambda t=t: forces(n_threads=t)) for _ in range(200))
        for t in (1, 2)
    )
    return max(1e-6, two - one / 2)


def pieces(X, model, parts):
    """What a call of the largest loops deals out: rounds of costs of its pieces."""
    n = X.shape[0]
    rings, runs = max(1, n // (CIRCLE * RING)), -(-n // MOVED)
    share = share_of_rings(n)
    of_a_call = {
        name: wall / calls for name, (wall, _, calls) in parts.items() if calls
    }
    steps = round(model.n_iter_ / parts[STEP][2])  # of a call
    of_a_step = of_a_call[STEP] / steps
    found = {
        STEP: [
            [of_a_step * share / rings] * rings,
            [of_a_step * (1 - share) / runs] * runs,
        ]
        * steps,
        DEAL: [[of_a_call[DEAL] / rings] * rings],
    }
    cells = getattr(model._fitted.space, "cells", None)  # noqa: SLF001 - what it kept
    if cells is not None:
        sizes, a_row = np.diff(cells.starts), parts[SEARCH][0] / n
        found[SEARCH] = [
            [
                a_row * min(BATCH, size - begin)
                for size in sizes[part.cells]
                for begin in range(0, size, BATCH)
            ]
            for part in cells.parts()
        ]
    count = len(list(blocks(X)))
    for name in sorted(IN_BLOCKS & of_a_call.keys()):
        found[name] = [[parts[name][0] / count] * count]
    return found


def at_most(name, n, threads):
    """How many threads a loop is given."""
    if name in IN_BLOCKS:
        return min(threads, MOST_BLOCKS)
    return min(threads, 1 + n // ROWS_PER_THREAD) if name in {STEP, DEAL} else threads


def simulated(n, loops, parts, alone, start):
    """The loops dealt to threads, and the fit that comes of it."""
    for threads in THREADS:
        fit, lines = 0.0, {}
        for name, (wall, _, calls) in parts.items():
            if name not in loops:
                fit += alone[name] + max(0.0, wall - alone[name]) / threads
                continue
            given = min(at_most(name, n, threads), sum(map(len, loops[name])))
            took, waited = dealt(loops[name], given, start)
            fit += took * (calls if name in {STEP, DEAL} else 1)
            lines[name] = {
                "pieces": sum(map(len, loops[name])),
                "idle": 1 - sum(map(sum, loops[name])) / (threads * took),
                "waited": waited / given,
                "took": took,
            }
        yield {"threads": threads, "fit": fit, "loops": lines}


def measured(name, start):
    X, _ = load(name)
    LocalMAP(random_state=0).fit(X[:500])
    model, one = fitted(X, 1)
    _, two = fitted(X, 2)
    # Two threads at work for all of `wall` would have had 2 wall seconds of the CPU.
    alone = {
        part: min(wall, max(0.0, 2 * wall - cpu))
        for part, (wall, cpu, _) in two.items()
    }
    alone = {part: alone.get(part, wall) for part, (wall, _, _) in one.items()}
    both = sorted(one.keys() & two, key=lambda part: -two[part][0])
    loops = pieces(X, model, one)
    return {
        "data": name,
        "n": X.shape[0],
        "seconds": [sum(t[0] for t in fit.values()) for fit in (one, two)],
        "parts": {
            part: {"1": one[part][0], "2": two[part][0]}
            | {"cpu": two[part][1], "alone": alone[part]}
            for part in both
        },
        "simulated": list(simulated(X.shape[0], loops, one, alone, start)),
    }


def told(row):
    """The tables of one set."""
    first, total = row["seconds"]
    parts = [
        f"{part} | {t['1']:.3f} | {t['2']:.3f} | {t['cpu'] / t['2']:.2f} | "
        f"{t['alone']:.3f} | {t['alone'] / total:.1%}"
        for part, t in row["parts"].items()
        if max(t["2"], t["alone"]) > SHOWN * total
    ]
    loops = [
        f"{name} | {row['simulated'][0]['loops'][name]['pieces']} | "
        + " | ".join(
            f"{loop['idle']:.0%}, {1e3 * loop['waited']:.2f} of "
            f"{1e3 * loop['took']:.2f}"
            for loop in (some["loops"][name] for some in row["simulated"])
        )
        for name in row["simulated"][0]["loops"]
    ]
    fits = [("1, measured", first), ("2, measured", total)]
    fits += [(f"{some['threads']}, on paper", some["fit"]) for some in row["simulated"]]
    tables = {
        "part | 1 thread, s | 2 threads, s | CPU / clock | alone, s | share": parts,
        "loop | pieces | " + " | ".join(f"{t} threads" for t in THREADS): loops,
        "threads | a fit, s | times as fast": [
            f"{how} | {fit:.2f} | {first / fit:.1f}" for how, fit in fits
        ],
    }
    made = [
        machine.table(head, [line.split(" | ") for line in lines])
        for head, lines in tables.items()
    ]
    return "\n\n".join([f"## {row['data']}, {row['n']:,} rows", *made])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    start = start_of_a_thread()
    names = parser.parse_args(arguments).datasets
    rows = [measured(name, start) for name in names]
    text = (
        "*Alone* is time on the clock in which one of two threads worked: twice the "
        "clock less the CPU. Parts are functions, without what they call; those below "
        f"{SHOWN:.1%} of the fit are left out.\n\n"
        "The second tables deal out what one thread did: the share of all threads that "
        "is idle, how long a thread waits of the milliseconds that a call takes (the "
        "iterations up to a redraw, a redraw, the whole search). Threads start two "
        f"others each, which takes {1e6 * start:.0f} microseconds. The last tables add "
        "up the parts: loops as dealt, others shared by all, and what is done alone. "
        "That cores share caches and memory is not in it.\n\n"
    )
    text += "\n\n".join(map(told, rows))
    title = "More cores: who works alone, and how work is dealt"
    machine.save("cores", title, machine.describe("numpy"), text, rows)


if __name__ == "__main__":
    main()
