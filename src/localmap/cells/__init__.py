"""What `localmap.tl` and `localmap.pp` share: cells in AnnData, and their files.

`representation` finds the numbers a map is made of, `graph` the neighbours that scanpy
has found, `genes` what a model must know to place other cells, `placing` places them,
`counts` tells counts
from normalised values, `record` writes down how a map was made, and `files` reads and
writes cells. `needed` says what to install.
"""
