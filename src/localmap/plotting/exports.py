"""Maps as files of other viewers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localmap.files.atomic import atomic_file
from localmap.plotting.columns import column_of, map_of
from localmap.plotting.graphs import neighbors_of


def to_embedding_atlas(
    Y: ArrayLike,
    path: str | Path,
    *,
    columns: Mapping[str, ArrayLike] | None = None,
    neighbors: ArrayLike | None = None,
) -> Path:
    """Write a map as Parquet for Embedding Atlas.

    Open it with ``embedding-atlas FILE --x x --y y --neighbors neighbors``, without the
    last two words where no neighbours were given. Needs pyarrow.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map; its first two columns become the columns x and y.
    path : path
        The file to write.
    columns : mapping of name to array-like of shape (n_samples,), or DataFrame
        Further columns, written as they are.
    neighbors : array-like of shape (n_samples, k) or sparse graph
        Near pairs; each row gets ``{"ids": [...], "distances": [...]}``. The distances
        are those of the graph, or, of row numbers alone, those in the map.

    Returns
    -------
    path : pathlib.Path
        The file written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    Y, path = map_of(Y), Path(path)
    table: dict[str, Any] = {"x": pa.array(Y[:, 0]), "y": pa.array(Y[:, 1])}
    for name, values in ({} if columns is None else columns).items():
        if str(name) in ("x", "y", "neighbors"):
            msg = f"the columns x, y and neighbors are the map's own; got {name!r}."
            raise ValueError(msg)
        column_of(values, len(Y), f"column {str(name)!r}")
        table[str(name)] = pa.array(values, from_pandas=True)
    if neighbors is not None:
        table["neighbors"] = _neighbors(Y, neighbors)
    with atomic_file(path) as aside:
        pq.write_table(pa.table(table), aside)
    return path


def _neighbors(Y: NDArray[np.float64], neighbors: Any) -> Any:
    import pyarrow as pa

    rows = neighbors_of(neighbors, len(Y))
    kept = rows >= 0
    first = np.repeat(np.arange(len(Y)), rows.shape[1])[kept.ravel()]
    second = rows[kept]
    if hasattr(neighbors, "tocsr"):
        distances = np.asarray(neighbors.tocsr()[first, second]).ravel()
    else:
        distances = np.linalg.norm(Y[first] - Y[second], axis=1)
    ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return pa.StructArray.from_arrays(
        [
            pa.ListArray.from_arrays(ends, pa.array(second)),
            pa.ListArray.from_arrays(ends, pa.array(distances.astype(np.float64))),
        ],
        names=["ids", "distances"],
    )
