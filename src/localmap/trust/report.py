"""What was found, as one HTML page that needs no other file and no network.

All that is filled in is text, never markup: names come from data.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.trust.edges import Edges, edges_of
from localmap.trust.groups import Groups
from localmap.trust.judged import Group
from localmap.trust.points import Points

# Near pairs that are listed.
LISTED: Final = 20

READING: Final = (
    """A group is supported if near pairs across its border are trusted less than those
    beside it, by more than chance explains, and if other maps of the same graph, or of
    half of its rows, show it too. Groups between which the data show no border are told
    as one. A group that is supported need not mean anything: batches, duplicates and
    doublets make groups as well.""",
    """Distances between groups in the map, their sizes and their places are not
    evidence: they change from seed to seed. Rows that are near each other in the data
    are near in the map for the most part; what is torn apart, the red lines show.""",
    """Trust in a pair is told from 0 to 1 by what its rows have in common of their
    nearest rows and by how alike random walks are that start at them. Of pairs told .9
    nine in ten or more were within one class on four of five labelled sets.""",
)


def report(
    found: Groups,
    *,
    title: str = "What in this map can be trusted",
    labels: ArrayLike | None = None,
    points: Points | None = None,
    rows: Sequence[str] | None = None,
) -> str:
    """Return a page that tells in tables, pictures and sentences what was found.

    Needs matplotlib and Jinja2: ``pip install "localmap[cli]"``.

    Parameters
    ----------
    found : Groups
        What `groups` returned.
    title : str
        Title of the page.
    labels : array-like of shape (n_samples,) or None, default=None
        Group of each row as it is known: colours the map and names the groups; no
        verdict depends on it.
    points : Points or None, default=None
        What `points` returned: a picture more.
    rows : sequence of str or None, default=None
        Names of the rows; None is their numbers from 0.

    Returns
    -------
    html : str
        One page, without scripts.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("localmap.trust"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    edges = edges_of(found.pairs, found.maps)
    several = len(found.groups) > 1
    names = None if labels is None else found.named(labels)
    lines = found.summary.splitlines()
    return environment.get_template("report.html").render(
        title=title,
        headline=lines[0],
        how=lines[-1],
        named=names is not None,
        groups=list(_lines(found.groups, names)) if several else [],
        pictures=list(_pictures(found, edges, labels, points)),
        edges=list(_listed(edges, rows)),
        reading=READING,
    )


def _lines(
    groups: Sequence[Group], names: Sequence[tuple[str, float]] | None
) -> Iterator[dict[str, str]]:
    for place, group in enumerate(groups):
        name = "" if names is None else f"{names[place][0]} ({names[place][1]:.0%})"
        yield {
            "number": str(group.number),
            "name": name,
            "size": f"{group.size:,}",
            "verdict": group.verdict,
            "found": f"{group.found} of {group.runs}",
            "overlap": f"{group.overlap:.2f}",
            "leaves": f"{group.leaves:.1%}",
            "chance": f"{group.chance:.0%}",
            "across": "none" if math.isinf(group.depth) else f"{1 / group.depth:.2f}",
            "sentence": group.sentence,
        }


def _listed(edges: Edges, rows: Sequence[str] | None) -> Iterator[dict[str, str]]:
    for edge in edges.worst(LISTED):
        yield {
            "row": str(edge.row if rows is None else rows[edge.row]),
            "other": str(edge.other if rows is None else rows[edge.other]),
            "trust": f"{edge.trust:.2f}",
            "shared": f"{edge.shared:.0%}",
            "length": f"{edge.length:.1f}",
        }


def _pictures(
    found: Groups, edges: Edges, labels: ArrayLike | None, points: Points | None
) -> Iterator[dict[str, str]]:
    from localmap import plotting

    solid = [group.solid for group in found.groups]
    if found.Y.shape[1] >= 2:
        ax = plotting.outlines(found.Y, found.labels, solid, labels)
        caption = "The map; outlines are as solid as the groups are"
        yield {"data": _png(ax), "caption": caption}
        ax = plotting.doubted(found.Y, edges.near, edges.values, labels)
        yield {"data": _png(ax), "caption": "Near pairs that are doubted"}
        if points is not None:
            ax = plotting.plot(found.Y, _scale(points.trust), label="trust")
            caption = "How well the surroundings of each point are those of the data"
            yield {"data": _png(ax), "caption": caption}
    if len(found.groups) > 1:
        names = [str(group.number) for group in found.groups]
        ax = plotting.together(found.together, names)
        yield {"data": _png(ax), "caption": "Groups together in how many runs"}


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that are drawn as such: few different ones would be groups."""
    ripple = 1e-9 * np.arange(len(values)) / len(values)
    return np.asarray(values + ripple)


def _png(ax: Any) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Any = ax.figure
    if figure.canvas.manager is None:
        FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return base64.b64encode(file.getvalue()).decode()
