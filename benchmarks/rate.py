"""Pairs a second in the last phase, from seventy thousand points to four million.

``python -m benchmarks.rate [--rounds 15] [ROWS ...]`` times steps of a `Descent` with
ten near pairs a point and twenty further ones, dealt within the reach that is measured.
The map is generated: a hundred groups, rows in the order of their groups, near partners
within 300 places, as rows stand that are in the order of their cells.
"""

import argparse
from functools import partial
from statistics import median

import numpy as np

from benchmarks import machine
from localmap import kernels
from localmap.bench.timing import seconds
from localmap.method.adjust import STRENGTH, measured_reach

ROWS = (70_000, 1_000_000, 4_000_000)
NEAR, MID_NEAR, FURTHER, GROUPS, WITHIN = 10, 5, 20, 100, 300
LAST = kernels.Weights(1.0, 0.0, 1.0, 0.0, STRENGTH)


def generated(n, threads):
    rng = np.random.default_rng(0)
    centres = rng.uniform(-30, 30, (GROUPS, 2))
    Y = centres[np.arange(n) * GROUPS // n] + rng.normal(size=(n, 2))
    steps = rng.integers(1, WITHIN, (n, NEAR), dtype=np.int32)
    near = (np.arange(n, dtype=np.int32)[:, None] + steps) % n
    descent = kernels.Descent(
        Y.astype(np.float32),
        near,
        near[:, :MID_NEAR],
        kernels.Circles(n, FURTHER),
        0.01,  # the map stays as it is, more or less
        threads,
        trusted=rng.integers(0, NEAR + 1, n).astype(np.uint16),
    )
    descent.forget_mid_near()
    redrawn = seconds(lambda: descent.redraw(measured_reach(descent.Y, 0), 1.0, 0, 1))
    return descent, redrawn


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(arguments)
    rows, lines, first = [], [], None
    for n in given.rows:
        descent, redrawn = generated(n, given.threads)
        times = [seconds(partial(descent.step, LAST)) for _ in range(given.rounds)]
        rate = n * (NEAR + FURTHER) / median(times) / 1e6
        first = first or rate
        rows.append({"n": n, "seconds": times, "redraw": redrawn, "rate": rate})
        spread = f"{1e3 * min(times):.1f}-{1e3 * max(times):.1f}"
        step = f"{1e3 * median(times):.1f} ({spread})"
        lines.append(
            [f"{n:,}", step, f"{rate:.0f}", f"{rate / first:.2f}", f"{redrawn:.2f}"]
        )
    head = "points | a step, ms | million pairs a second | of the first | a redraw, s"
    text = (
        f"{machine.table(head, lines)}\n\n{given.threads} threads, "
        f"{given.rounds} steps: median (smallest-largest)."
    )
    title = "Pairs a second, as points grow in number"
    machine.save("rate", title, machine.describe(), text, rows)


if __name__ == "__main__":
    main()
