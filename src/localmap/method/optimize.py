"""Step 6: the one loop, PaCMAP and LocalMAP alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from localmap import kernels
from localmap.method.schedule import Phase, steps

Callback: TypeAlias = Callable[[int, kernels.Floats, float], object]

# The bar shows the loss this often; computing it costs a few per cent of a step.
SHOW_EVERY: Final = 10

# Steps of one call, if nothing comes between them.
TOGETHER: Final = 100


def optimize(
    descent: kernels.Descent,
    phases: Sequence[Phase],
    *,
    key: int,
    callback: Callback | None = None,
    by_row: Callable[[kernels.Floats], kernels.Floats] = np.asarray,
    verbose: bool = False,
) -> int:
    """Move the points until the schedule ends or the callback returns True.

    Returns the number of iterations done; the map is ``descent.Y``. The callback is
    given what `by_row` makes of it.
    """
    done, total = 0, sum(phase.n_iters for phase in phases)
    bar = _bar(total) if verbose else None
    coming: list[kernels.Weights] = []  # of steps that nothing comes between
    try:
        for step in steps(phases):
            coming.append(step.weights)
            show = bar is not None and step.iteration % SHOW_EVERY == 0
            seen = show or callback is not None
            ends = len(coming) == TOGETHER or step.iteration == total - 1
            if not (seen or step.redraw or ends):
                continue
            loss = descent.steps(coming, with_loss=seen)
            if step.last_mid_near:
                descent.forget_mid_near()
            if step.redraw:
                rule = step.phase.rule
                reach = rule.reach_in(descent.Y, key)
                descent.redraw(reach, rule.locality, key, step.iteration)
            done += len(coming)
            if bar is not None:
                if show:
                    bar.set_description(step.phase.name, refresh=False)
                    bar.set_postfix(loss=f"{loss:.4g}", refresh=False)
                bar.update(len(coming))
            coming.clear()
            if callback is not None:
                answer = callback(step.iteration, by_row(descent.Y).copy(), loss)
                if isinstance(answer, (bool, np.bool_)) and answer:
                    break
    finally:
        if bar is not None:
            bar.close()
    kernels.check_finite_map(descent.Y)
    return done


def say(line: str) -> None:
    """Show a line that does not tear what else is shown."""
    from tqdm.auto import tqdm

    tqdm.write(line, file=sys.stderr)


def _bar(total: int) -> Any:
    """Return a progress bar; imported when it is shown."""
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="it")
