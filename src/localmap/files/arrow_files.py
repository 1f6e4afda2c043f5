"""Parquet and Feather."""

from __future__ import annotations

import json
from typing import Any

from localmap.files.errors import TableError
from localmap.files.grid import Column, Grid, repeated_names, unique_names
from localmap.files.source import Source
from localmap.files.typed import shown


def read_parquet(source: Source) -> Grid:
    """Read all columns of a Parquet file."""
    from pyarrow import parquet

    return from_arrow(parquet.read_table(source.open()), source.name)


def read_feather(source: Source) -> Grid:
    """Read all columns of a Feather file."""
    from pyarrow import feather

    return from_arrow(feather.read_table(source.open()), source.name)


def from_arrow(table: Any, name: str) -> Grid:
    """Make a grid of an Arrow table; numbers and truths are data."""
    written = [str(called) for called in table.column_names]
    names = unique_names(written)
    if not names or not len(table):
        msg = f"{name} has no {'rows' if names else 'columns'}"
        raise TableError(msg)
    pandas = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    categories = {
        column.get("name")
        for column in pandas.get("columns", [])
        if column.get("pandas_type") == "categorical"
    }
    columns = [
        _column(called, array, is_category=name in categories)
        for name, called, array in zip(written, names, table.columns, strict=True)
    ]
    index = tuple(
        called for called in pandas.get("index_columns", []) if called in names
    )
    grid = Grid(name, columns, len(table), row_names=index)
    grid.repeated = repeated_names(written)
    grid.decisions.append(f"{len(names)} columns")
    return grid


def _column(name: str, array: Any, *, is_category: bool) -> Column:
    import pyarrow as pa

    types, kind = pa.types, array.type
    if types.is_dictionary(kind):
        array, is_category = array.cast(kind.value_type), True
        kind = array.type
    if is_category and (types.is_integer(kind) or types.is_floating(kind)):
        return Column(name, texts=array, fault="holds categories, not numbers")
    if types.is_boolean(kind) or types.is_null(kind):
        to = pa.uint8() if types.is_boolean(kind) else pa.float64()
        return Column(name, array=array.cast(to))
    if types.is_integer(kind) or types.is_floating(kind):
        return Column(name, array=array)
    if types.is_decimal(kind):
        return Column(name, array=array.cast(pa.float64(), safe=False), texts=array)
    if (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
    ):
        array = array.cast(pa.string())
        first = array.drop_null()
        example = f", first {shown(first[0].as_py())}" if len(first) else ""
        return Column(name, texts=array, fault=f"is text{example}")
    return Column(name, texts=array, fault=f"holds {kind}, not numbers")
