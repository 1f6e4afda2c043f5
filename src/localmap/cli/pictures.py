"""Pictures, page and film of a map: what was asked for, checked first, drawn last."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from localmap.files import Outputs
    from localmap.plotting import Film

PICTURES: Final = (".png", ".pdf", ".svg")
FILMS: Final = (".gif", ".mp4", ".html")


class Known(NamedTuple):
    """What is known of the rows beside the map."""

    kept: pd.DataFrame
    label: str | None  # the column of it that holds the labels
    groups: Any  # the labels, numbers as numbers


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shown = parser.add_argument_group("pictures")
    shown.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the map")
    shown.add_argument(
        "--html", type=Path, metavar="FILE.html", help="a page to explore the map in"
    )
    shown.add_argument(
        "--film",
        type=Path,
        metavar="FILE.gif",
        help="the map forming; also .mp4, .html",
    )


def paths(arguments: argparse.Namespace) -> list[Path]:
    """Return the files that were asked for; refuse endings that none of them has."""
    kinds = {"plot": PICTURES, "html": (".html", ".htm"), "film": FILMS}
    found = []
    for name, endings in kinds.items():
        path = getattr(arguments, name)
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            msg = f"cannot draw {path}: expected {', '.join(endings)}"
            raise ValueError(msg)
        found.append(path)
    return found


def film_of(arguments: argparse.Namespace) -> Film | None:
    """Return what records the map as it forms, if a film was asked for."""
    if arguments.film is None:
        return None
    from localmap import plotting

    return plotting.Film(n_iters=tuple(arguments.n_iters))


def draw(
    arguments: argparse.Namespace,
    outputs: Outputs,
    Y: Any,
    known: Known,
    film: Film | None = None,
    model: Any = None,
) -> None:
    """Draw all that was asked for."""
    from localmap import plotting

    title = arguments.input.stem
    if arguments.plot is not None:
        ax = plotting.plot(Y, known.groups, title=title)
        plotting.save(ax, outputs.file(arguments.plot))
    neighbors = None
    if arguments.html is not None:
        neighbors = _near(model)
        page(Y, known, title, neighbors=neighbors).save(outputs.file(arguments.html))
    if film is None:
        return
    if arguments.film.suffix.lower() == ".html":
        filmed = page(Y, known, title, film=film, neighbors=neighbors)
        filmed.save(outputs.file(arguments.film))
    else:
        film.save(outputs.file(arguments.film), known.groups, title=title)


def page(Y: Any, known: Known, title: str, **more: Any) -> Any:
    """Return the page: coloured by the labels, every kept column at hand."""
    from localmap import plotting

    columns = {str(name): known.kept[name].to_numpy() for name in known.kept.columns}
    if known.label is not None:
        columns[known.label] = known.groups  # numbers as numbers
    return plotting.page(Y, columns=columns, color=known.label, title=title, **more)


def _near(model: Any) -> Any:
    """Return the nearest rows of each row, to draw under the cursor, if known."""
    if model is None or model.metric == "precomputed":
        return None
    return model.kneighbors(model.n_neighbors_)
