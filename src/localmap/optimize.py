"""Step 6: the one loop, PaCMAP and LocalMAP alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from tqdm.auto import tqdm

from localmap import kernels
from localmap.proximal import measured_reach
from localmap.schedule import Phase, steps

Callback: TypeAlias = Callable[[int, kernels.Floats, float], object]

# The bar shows the loss this often; computing it costs a few per cent of a step.
SHOW_EVERY = 10


def optimize(
    descent: kernels.Descent,
    phases: tuple[Phase, ...],
    *,
    proximal_distance: float | Literal["auto"],
    key: int,
    callback: Callback | None = None,
    verbose: bool = False,
) -> int:
    """Move the points until the schedule ends or the callback returns True.

    Returns the number of iterations done; the map is ``descent.Y``.
    """
    done = 0
    total = sum(phase.n_iters for phase in phases)
    with tqdm(total=total, disable=not verbose, unit="it") as bar:
        for step in steps(phases):
            show = verbose and step.iteration % SHOW_EVERY == 0
            if step.weights.mid_near == 0:
                descent.forget_mid_near()
            loss = descent.step(step.weights, with_loss=show or callback is not None)
            if step.redraw:
                reach = proximal_distance
                if reach == "auto":
                    reach = measured_reach(descent.Y, key)
                descent.redraw(reach, step.phase.locality, key, step.iteration)
            done += 1
            if show:
                bar.set_description(step.phase.name, refresh=False)
                bar.set_postfix(loss=f"{loss:.4g}", refresh=False)
            bar.update()
            if callback is not None and callback(
                step.iteration, descent.Y.copy(), loss
            ):
                break
    kernels.check_finite_map(descent.Y)
    return done
