"""The paper's two insights and its theorem, drawn and measured on one set of data.

`lengths`: near pairs between classes, by their length in the map (insight 1).
`joined`: classes that PaCMAP draws as one piece, and these alone (insight 2).
`balance`: near and further pairs between two classes against n (the theorem).
`drawings` draws them, `page` writes all of it.
"""

from localmap.bench.insights.page import write

__all__ = ["write"]
