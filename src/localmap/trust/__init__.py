"""What in a map can be trusted: its edges, its points, its groups.

`groups` tells which visible groups are groups of the data and come back in other maps,
`edges` how far each near pair is to be trusted, `points` how well the surroundings of
each point are those of the data, `typical` which of several seeds gives the map most
like the others. None of them needs labels. `report` writes it all as one page.
"""

from localmap.trust.edges import Edge, Edges, edges
from localmap.trust.groups import Groups, groups
from localmap.trust.judged import Group
from localmap.trust.points import Points, points
from localmap.trust.report import report
from localmap.trust.typical import Typical, typical

__all__ = [
    "Edge",
    "Edges",
    "Group",
    "Groups",
    "Points",
    "Typical",
    "edges",
    "groups",
    "points",
    "report",
    "typical",
]
