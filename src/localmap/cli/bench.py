"""``localmap bench``: other methods beside ours."""

from localmap.bench.command import add
from localmap.bench.command import bench as run

__all__ = ["add", "run"]
