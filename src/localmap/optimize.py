"""Step 6: the one loop, PaCMAP and LocalMAP alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tqdm.auto import tqdm

from localmap import kernels
from localmap.pairs import Pairs
from localmap.schedule import Phase, steps

Callback: TypeAlias = Callable[[int, kernels.Floats, float], object]

# The bar shows the loss this often; computing it costs a few per cent of a step.
SHOW_EVERY = 10


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the loop ended."""

    Y: kernels.Floats
    n_iter: int


def optimize(
    Y: kernels.Floats,
    pairs: Pairs,
    phases: tuple[Phase, ...],
    *,
    proximal_distance: float,
    key: int,
    learning_rate: float = 1.0,
    n_threads: int = 1,
    callback: Callback | None = None,
    verbose: bool = False,
) -> Layout:
    """Move the points of `Y` until the schedule ends or the callback returns True."""
    descent = kernels.Descent(Y, learning_rate, n_threads)
    near = kernels.file_pairs(pairs.near, n_threads)
    mid_near = kernels.file_pairs(pairs.mid_near, n_threads)
    partners = pairs.further
    further = kernels.file_pairs(partners, n_threads)
    done = 0
    total = sum(phase.n_iters for phase in phases)
    with tqdm(total=total, disable=not verbose, unit="it") as bar:
        for step in steps(phases):
            show = verbose and step.iteration % SHOW_EVERY == 0
            loss = descent.step(
                near,
                mid_near,
                further,
                step.weights,
                with_loss=show or callback is not None,
            )
            if step.redraw:
                partners = kernels.local_further(
                    descent.Y,
                    pairs.near,
                    partners,
                    proximal_distance,
                    step.phase.locality,
                    key,
                    step.iteration,
                    n_threads,
                )
                further = kernels.file_pairs(partners, n_threads)
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
    return Layout(descent.Y, done)
