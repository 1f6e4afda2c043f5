"""Pictures of maps, a page to explore them, a film of one forming.

Needs matplotlib: ``pip install "localmap[cli]"``.
"""

from localmap.plotting.canvas import plain, save
from localmap.plotting.colors import MAX_NAMED, group_colors
from localmap.plotting.doubts import doubted, outlines, together
from localmap.plotting.explore import Page, page
from localmap.plotting.exports import to_embedding_atlas
from localmap.plotting.film import Film
from localmap.plotting.pictures import plot, thumbnail
from localmap.plotting.views import align, compare, density, edges

__all__ = [
    "MAX_NAMED",
    "Film",
    "Page",
    "align",
    "compare",
    "density",
    "doubted",
    "edges",
    "group_colors",
    "outlines",
    "page",
    "plain",
    "plot",
    "save",
    "thumbnail",
    "to_embedding_atlas",
    "together",
]
