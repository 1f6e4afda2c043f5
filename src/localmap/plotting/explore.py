"""The page: what goes into it, and the file that comes out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.files.atomic import atomic_file
from localmap.plotting.colors import GROUP_COLORS, LOOKS, scale_colors
from localmap.plotting.columns import Column, Groups, column_of, map_of
from localmap.plotting.film import Film
from localmap.plotting.graphs import neighbors_of
from localmap.plotting.viewer.build import build
from localmap.plotting.viewer.pack import (
    BITS,
    LARGEST_INT,
    Blocks,
    morton_order,
    quantize,
)
from localmap.plotting.viewer.thumbnails import add_thumbnails

MOST_NEIGHBORS: Final = 15
# 15 neighbours of 200,000 points take 3 to 7 MB; above that five must do.
MANY_POINTS: Final = 200_000
NEIGHBORS_OF_MANY: Final = 5
LARGE_NOTEBOOK: Final = 10_000_000  # bytes from which a notebook is told its size


class Page:
    """A page to explore, not yet written.

    A notebook shows it; `save` writes it.

    Attributes
    ----------
    html : str
        The whole page.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all; return its path."""
        path = Path(path)
        with atomic_file(path) as aside:
            aside.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        if len(self.html) > LARGE_NOTEBOOK:
            msg = (
                f"this page adds {len(self.html) / 1e6:.0f} MB to the notebook; "
                "save it to a file of its own with page(...).save('map.html')."
            )
            warnings.warn(msg, stacklevel=2)
        return (
            '<iframe sandbox="allow-scripts allow-downloads" width="100%" height="640" '
            f'style="border:0" srcdoc="{escape(self.html)}"></iframe>'
        )


def page(
    Y: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    columns: Mapping[str, ArrayLike] | None = None,
    color: str | None = None,
    hover: Iterable[str] | None = None,
    thumbnails: ArrayLike | None = None,
    neighbors: ArrayLike | None = None,
    film: Film | None = None,
    title: str | None = None,
    theme: Literal["auto", "light", "dark"] = "auto",
) -> Page:
    """Make a page to explore a map: one HTML file that needs no network.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map; its first two columns are shown.
    labels : array-like of shape (n_samples,) or None
        Group or number of each point; the first column, named "label".
    columns : mapping of name to array-like of shape (n_samples,), or DataFrame
        What else is known of each point: shown on hover, searched, to colour by, and
        written with a selection.
    color : str or None
        The column that colours the map at first; None is the first column.
    hover : iterable of str or None
        Columns shown on hover, in this order; None shows the first twelve.
    thumbnails : array-like of shape (n_samples, height, width[, colours]) or None
        An image of each row, shown on hover.
    neighbors : array-like of shape (n_samples, k) or sparse graph
        Near pairs, drawn for the point under the cursor; the first 15 are kept, and
        the first 5 above 200,000 points.
    film : Film or None
        The map forming, recorded during the fit.
    title : str or None
        Title of the page.
    theme : {"auto", "light", "dark"}
        Colour of the paper; "auto" follows the reader's system.

    Returns
    -------
    page : Page
        `page.save(path)` writes it; a notebook shows it.

    Examples
    --------
    >>> import numpy as np
    >>> from localmap.plotting import page
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> page(Y, Y[:, 0] > 0, columns={"height": Y[:, 1]}).html[:15]
    '<!doctype html>'
    """
    if theme not in ("auto", "light", "dark"):
        msg = f"theme must be 'auto', 'light' or 'dark'; got {theme!r}."
        raise ValueError(msg)
    if np.ndim(Y) == 2 and np.shape(Y)[1] == 1:
        msg = "a page needs a map of at least two columns; got one."
        raise ValueError(msg)
    Y = map_of(Y)
    n = len(Y)
    known = _columns(labels, columns, n)
    names = list(known)
    shown = names[:12] if hover is None else list(hover)
    for name in [*shown, *([] if color is None else [color])]:
        if name not in known:
            msg = f"there is no column {name!r}; the page has {_listed(names)}."
            raise ValueError(msg)
    blocks = Blocks()
    notes: list[str] = []  # what the page leaves out, said in it
    steps, bounds = quantize(Y, BITS)
    order = morton_order(steps)
    meta: dict[str, Any] = {
        "title": title or "Map",
        "n": n,
        "theme": theme,
        "bounds": bounds,
        "x": blocks.add_ints(steps[order, 0], differences=True),
        "y": blocks.add_ints(steps[order, 1], differences=True),
        "rows": blocks.add_ints(order, differences=False),
        "columns": [_packed(blocks, c, known[c], order) for c in names],
        "color": None if not names else names.index(color or names[0]),
        "hover": [names.index(name) for name in shown],
        "looks": _looks(),
    }
    if neighbors is not None:
        meta["neighbors"] = _pairs(blocks, neighbors, order, notes)
    if thumbnails is not None:
        meta["thumbnails"] = add_thumbnails(blocks, thumbnails, order)
    if film is not None:
        meta["film"] = film.packed(blocks, order, notes)
    meta["notes"] = notes
    return Page(build(blocks, blocks.add_json(meta)))


def _columns(
    labels: ArrayLike | None, columns: Mapping[str, ArrayLike] | None, n: int
) -> dict[str, Column]:
    known: dict[str, Column] = {}
    if labels is not None:
        known["label"] = column_of(labels, n)
    for name, values in ({} if columns is None else columns).items():
        text = str(name)
        if text in known:
            msg = (
                f"columns must have different names; got {text!r} twice"
                f"{' (labels are the column of that name)' if text == 'label' else ''}."
            )
            raise ValueError(msg)
        known[text] = column_of(values, n, f"column {text!r}")
    return known


def _packed(
    blocks: Blocks, name: str, column: Column, order: NDArray[np.int64]
) -> dict[str, Any]:
    """Keep a column; return how the page reads it."""
    if isinstance(column, Groups):
        return {
            "name": name,
            "names": blocks.add_json(list(column.names)),
            **blocks.add_ints(column.codes[order], differences=False),
        }
    values = column.values[order]
    read: dict[str, Any]
    whole = not column.missing.any() and np.array_equal(values, np.round(values))
    if whole and np.abs(values).max() < LARGEST_INT:
        read = blocks.add_ints(values, differences=False)
    else:
        read = blocks.add_floats(values)
    return {"name": name, "low": column.low, "high": column.high,
            "date": column.date, **read}  # fmt: skip


def _pairs(
    blocks: Blocks, neighbors: ArrayLike, order: NDArray[np.int64], notes: list[str]
) -> dict[str, Any]:
    """Keep near pairs as distances along the order of rows; 0 is no neighbour."""
    n = len(order)
    rows = neighbors_of(neighbors, n)
    most = NEIGHBORS_OF_MANY if n > MANY_POINTS else MOST_NEIGHBORS
    if rows.shape[1] > most:
        notes.append(f"{most} of {rows.shape[1]} near pairs of each point are kept.")
        rows = rows[:, :most]
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    moved = rows[order]
    away = np.where(moved >= 0, place[moved] - np.arange(n)[:, None], 0)
    # Column by column: the first neighbours are the nearest, so alike in size.
    return {"k": away.shape[1], **blocks.add_ints(away.T, differences=False)}


def _looks() -> dict[str, Any]:
    """Colours of both themes, as the page mixes them itself."""
    return {
        theme: {
            "paper": look.paper, "ink": look.ink, "faint": look.faint,
            "loud": look.loud, "groups": GROUP_COLORS[theme],
            "scale": [
                "#" + "".join(f"{round(255 * part):02x}" for part in shade)
                for shade in scale_colors(64, theme=theme)
            ],
        }
        for theme, look in LOOKS.items()
    }  # fmt: skip


def _listed(names: list[str]) -> str:
    if not names:
        return "no columns"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(repr(name) for name in names[:8]) + more
