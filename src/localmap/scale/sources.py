"""Data that is read in parts: arrays and tables that stay where they are."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
from scipy.sparse import issparse

from localmap.geometry.blocks import Rows
from localmap.geometry.finite import refuse_columns

# Arrays of these libraries are read by slices of rows.
SLICED: Final = ("zarr", "h5py", "tensorstore")


class Sliced:
    """An array of another library, read a slice of rows at a time."""

    def __init__(self, source: Any) -> None:
        if len(source.shape) != 2:
            msg = f"X must have two axes, rows and columns; got shape {source.shape}."
            raise ValueError(msg)
        self.source = source
        self.shape: tuple[int, ...] = tuple(map(int, source.shape))
        self.dtype = np.dtype(source.dtype)
        if self.dtype.kind not in "biuf":
            msg = f"X must hold numbers; got {self.dtype}."
            raise ValueError(msg)
        # Only those of AnnData are: their formats have names.
        self.sparse = hasattr(source, "format") and hasattr(source, "to_memory")

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows."""
        block = self.source[rows]
        return block if issparse(block) else np.asarray(block)


def data_columns(schema: Any) -> list[str]:
    """Return the columns of a schema but those in which pandas keeps its index."""
    told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in told.get("index_columns", []) if isinstance(name, str)]
    return [name for name in schema.names if name not in index]


class Columns:
    """The columns of an Arrow dataset, such as a folder of Parquet files."""

    def __init__(self, dataset: Any, names: Sequence[str] | None = None) -> None:
        import pyarrow as pa

        names = data_columns(dataset.schema) if names is None else names
        schema = [dataset.schema.field(name) for name in names]
        wrong = [
            f"{field.name!r} ({field.type})"
            for field in schema
            if not (
                pa.types.is_integer(field.type)
                or pa.types.is_floating(field.type)
                or pa.types.is_boolean(field.type)
            )
        ]
        if wrong:
            refuse_columns(wrong, len(schema))
        self.names: list[str] = list(names)
        self._schema = dataset.schema
        types = [field.type.to_pandas_dtype() for field in schema]
        self.dtype = np.result_type(*types) if types else np.dtype(np.float32)
        # Row groups, in the order of the files, and where each begins.
        self._groups, sizes = [], []
        for fragment in dataset.get_fragments():
            in_groups = hasattr(fragment, "split_by_row_group")
            for group in fragment.split_by_row_group() if in_groups else [fragment]:
                self._groups.append(group)
                sizes.append(
                    sum(one.num_rows for one in group.row_groups)
                    if in_groups
                    else group.count_rows()
                )
        self._starts = [0, *accumulate(sizes)]
        self.shape: tuple[int, ...] = (self._starts[-1], len(self.names))
        self._last: tuple[int, Any] | None = None  # parts end within groups

    def __getitem__(self, rows: slice | tuple[slice, slice]) -> Any:
        """Return a block of rows, or of some columns of them."""
        rows, columns = rows if isinstance(rows, tuple) else (rows, slice(None))
        start, stop, _ = rows.indices(self.shape[0])
        width = len(self.names[columns])
        out = np.empty((max(0, stop - start), width), dtype=self.dtype)
        done = start
        while done < stop:
            number = bisect_right(self._starts, done) - 1
            first = self._starts[number]
            until = min(stop, self._starts[number + 1])
            block = self._group(number)[done - first : until - first, columns]
            out[done - start : until - start] = block
            done = until
        return out

    def _group(self, number: int) -> Any:
        kept = self._last
        if kept is None or kept[0] != number:
            group = self._groups[number]
            # With the schema of all: folders may name columns (year=2024).
            table = group.to_table(schema=self._schema, columns=self.names)
            columns = [column.to_numpy() for column in table.columns]
            if len(columns[0]) != self._starts[number + 1] - self._starts[number]:
                msg = "the dataset has changed while it was read."
                raise OSError(msg)
            self._refuse_empty(table, self._starts[number])
            numbers = np.column_stack(columns).astype(self.dtype, copy=False)
            kept = self._last = (number, numbers)
        return kept[1]

    def _refuse_empty(self, table: Any, first: int) -> None:
        """Refuse cells without a value where no NaN can stand for it."""
        if self.dtype.kind == "f":  # found with what else is not finite
            return
        for name, column in zip(self.names, table.columns, strict=True):
            if column.null_count:
                row = first + int(np.argmax(column.is_null().to_numpy()))
                msg = (
                    f"Input X contains cells without a value, first at row {row}, "
                    f"column {name!r}. Drop those rows or columns, or fill them in."
                )
                raise ValueError(msg)


def source_of(X: Any) -> Rows | None:
    """Return data that is read in parts; None for what is in memory, or none of it."""
    if isinstance(X, (Sliced, Columns)):
        return X
    library = type(X).__module__.split(".")[0]
    if library in SLICED and hasattr(X, "shape") and hasattr(X, "dtype"):
        return Sliced(X)
    if library == "anndata" and hasattr(X, "to_memory") and hasattr(X, "dtype"):
        if "csc" in str(getattr(X, "format", "")):
            msg = (
                "X is in its file column by column, and rows are read: fit "
                "X.to_memory(), or write the file with rows first (X.tocsr())."
            )
            raise TypeError(msg)
        return Sliced(X)
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        return Columns(X)
    if is_dask(X):
        from localmap.scale.with_dask import dask_rows

        return dask_rows(X)
    return None


def is_dask(X: Any) -> bool:
    """Tell whether X is a collection of Dask, importing nothing."""
    library = type(X).__module__.split(".")[0]
    return library in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")
