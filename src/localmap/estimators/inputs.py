"""What users give: arrays and tables of any library, or what looks like them.

What is no data for this estimator is refused at once, with the way out: a graph taken
for rows would make a map, and a wrong one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array, issparse

from localmap.geometry.distances import METRICS, PRECOMPUTED
from localmap.geometry.finite import listed, refuse_columns
from localmap.geometry.scaling import dominant_columns

# Cells with what is known of them, by package and class: no table, but they hold some.
ANNOTATED: Final = {("anndata", "AnnData"), ("mudata", "MuData")}

# Smaller square matrices may have an empty diagonal, or be symmetric, by chance.
BY_CHANCE: Final = 20


def as_numbers(X: Any, metric: str) -> Any:
    """Return X as scikit-learn reads it; refuse what holds no rows of numbers.

    Tables of pandas and polars are returned as they are; an Arrow table becomes one of
    pandas, which is needed for it. Arrays of other libraries become NumPy's.
    """
    _refuse_containers(X)
    _refuse_masked(X)
    _refuse_damaged(X)
    if metric != PRECOMPUTED:
        _refuse_graphs(X)
    kinds = _column_kinds(X)
    if kinds is None:
        return _from_other_library(X)
    _refuse_repeated(X)
    wrong = {name: kind for name, kind in kinds.items() if kind is not None}
    if wrong:
        named = [f"{name!r} ({kind})" for name, kind in wrong.items()]
        refuse_columns(named, len(kinds))
    return X.to_pandas() if _is_arrow(X) else X


def check_columns(model: Any, source: Any) -> None:
    """Refuse data read in parts whose columns are not those of the training data."""
    D, known = source.shape[1], model.n_features_in_
    if known != D:
        msg = (
            f"X has {D} features, but {type(model).__name__} is expecting {known} "
            "features as input."
        )
        raise ValueError(msg)
    names = getattr(source, "names", None)
    trained = getattr(model, "feature_names_in_", None)
    if names is None or trained is None:
        return
    other = [place for place in range(D) if names[place] != trained[place]]
    if other:
        first = other[0]
        msg = (
            "The columns of X must be those of the training data, in their order: "
            f"column {first} is {names[first]!r}, it was {trained[first]!r}."
        )
        raise ValueError(msg)


def numbers_of(data: Any) -> Any:
    """Turn Python objects into numbers; refuse what holds none."""
    if data.dtype == object:
        try:
            return data.astype(np.float64)
        except (TypeError, ValueError) as error:
            msg = f"X must hold numbers; one of its cells is none ({error})."
            raise ValueError(msg) from None
    msg = f"X must hold numbers; got {data.dtype}. Turn it into numbers first."
    raise ValueError(msg)


def _refuse_repeated(X: Any) -> None:
    """Refuse tables in which one name stands for two columns."""
    names = list(map(str, X.column_names if _is_arrow(X) else X.columns))
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        msg = (
            f"Names of columns must be unique; {listed(list(map(repr, repeated)))} "
            "stand for several. Rename or leave out the others."
        )
        raise ValueError(msg)


def _refuse_containers(X: Any) -> None:
    """Refuse objects that hold data somewhere inside, or that have yet to read it."""
    kind = annotated_kind(X)
    if kind is not None:
        cells = "adata" if kind == "AnnData" else 'mdata["rna"]'
        msg = (
            f"X is of kind {kind}, which holds many tables: call "
            f"localmap.tl.localmap({cells}) or localmap.tl.pacmap({cells}) instead."
        )
        raise TypeError(msg)
    library, name = type(X).__module__.split(".")[0], type(X).__name__
    if library == "polars" and name == "LazyFrame":
        msg = "X is a LazyFrame, a table that was not computed yet: fit X.collect()."
        raise TypeError(msg)


def annotated_kind(X: Any) -> str | None:
    """Return "AnnData" or "MuData" for objects of these kinds, importing neither."""
    for kind in type(X).__mro__:
        package = kind.__module__.partition(".")[0]
        if (package, kind.__name__) in ANNOTATED:
            return kind.__name__
    return None


def _refuse_masked(X: Any) -> None:
    """Refuse masked cells: the numbers behind a mask are not data."""
    masked = int(np.ma.getmaskarray(X).sum()) if isinstance(X, np.ma.MaskedArray) else 0
    if masked:
        msg = (
            f"X is a masked array with {masked} masked cells, which hold no data. Fill "
            "them in, for example with sklearn.impute.SimpleImputer on "
            "X.filled(numpy.nan), or leave out their rows or columns."
        )
        raise ValueError(msg)


def _refuse_damaged(X: Any) -> None:
    """Refuse sparse matrices whose parts do not fit: SciPy would read out of bounds."""
    if not issparse(X) or X.ndim != 2:
        return
    wrong = ""
    if X.format in {"csr", "csc", "bsr"}:
        lines, places = X.shape[::-1] if X.format == "csc" else X.shape
        if X.format == "bsr":
            lines, places = lines // X.blocksize[0], places // X.blocksize[1]
        starts = X.indptr
        if len(starts) != lines + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
            wrong = f"indptr must rise from 0 in {lines} steps"
        elif not starts[-1] <= len(X.indices) == len(X.data):
            wrong = (
                f"indptr ends at {starts[-1]}, for {len(X.indices)} indices and "
                f"{len(X.data)} numbers"
            )
        else:
            wrong = _out_of_bounds("indices", X.indices[: starts[-1]], places)
    elif X.format == "coo":
        row, column = (
            _out_of_bounds(name, getattr(X, name), size)
            for name, size in zip(("row", "col"), X.shape, strict=True)
        )
        wrong = row or column
    if wrong:
        msg = f"X is a damaged sparse matrix ({X.format}): {wrong}. Build it anew."
        raise ValueError(msg)


def _out_of_bounds(name: str, places: Any, size: int) -> str:
    if not len(places) or 0 <= places.min() <= places.max() < size:
        return ""
    return f"{name} must be from 0 to {size - 1}; got {places.min()}..{places.max()}"


def _refuse_graphs(X: Any) -> None:
    """Refuse neighbour graphs that came without ``metric="precomputed"``.

    A square sparse matrix whose rows have nothing on the diagonal, and all as many
    numbers or the same on both sides of it, is no data by accident.
    """
    if not issparse(X) or X.shape[0] != X.shape[1] or X.shape[0] < BY_CHANCE:
        return
    graph = csr_array(X)
    if not graph.nnz or graph.diagonal().any():
        return
    degrees = np.diff(graph.indptr)
    regular = degrees.min() == degrees.max()
    if not regular and (graph != graph.T).nnz:
        return
    msg = (
        f"X looks like a neighbour graph: {X.shape[0]} x {X.shape[0]}, sparse, nothing "
        "on its diagonal, "
        f"{'as many numbers in each row' if regular else 'symmetric'}. Give distances "
        "with metric='precomputed' (of scanpy adata.obsp['distances']; connectivities "
        "are no distances). If its rows are data all the same, reorder the columns: no "
        "distance changes by that."
    )
    raise ValueError(msg)


def doubt_distances(X: Any) -> None:
    """Warn of a matrix that has all properties of distances of rows to rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[0] != X.shape[1]:
        return
    if len(X) < BY_CHANCE or X.dtype.kind not in "iuf" or X.diagonal().any():
        return
    if X.min() >= 0 and np.array_equal(X, X.T):
        warnings.warn(
            f"X looks like distances of {len(X)} rows to each other: symmetric, with "
            "zeros on the diagonal. Its rows are mapped as data; give "
            "metric='precomputed' if they are distances.",
            UserWarning,
            stacklevel=3,
        )


def deciding_columns(
    X: Any, metric: str, scale: str, names: Sequence[str] | None
) -> str | None:
    """Tell columns that decide the distances by their unit alone perhaps, if any do."""
    scalable = metric in METRICS and METRICS[metric].scalable
    found = dominant_columns(X) if scale == "none" and scalable else None
    if found is None:
        return None
    share = f"make {found.share:.0%} of the distances"
    if names is None:
        return f"columns {', '.join(map(str, found.columns))} of {X.shape[1]} {share}"
    which = ", ".join(str(names[column]) for column in found.columns)
    return f"{which} of {X.shape[1]} columns {share}"


def _from_other_library(X: Any) -> Any:
    """Return arrays of torch and the like as NumPy's; others as they are."""
    if isinstance(X, np.ndarray) or issparse(X) or not hasattr(X, "__dlpack_device__"):
        return X
    kind = int(X.__dlpack_device__()[0])
    if kind != 1:  # as the DLPack standard numbers the CPU
        msg = (
            f"X is a {type(X).__module__.split('.')[0]} array on a device. localmap "
            "runs on the CPU: move it there first, X.cpu() for example."
        )
        raise TypeError(msg)
    return np.from_dlpack(X.detach() if hasattr(X, "detach") else X)


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "schema")


def _column_kinds(X: Any) -> dict[str, str | None] | None:
    """Return what each column of a table holds, None for numbers; None if no table."""
    if _is_arrow(X):
        kinds = {field.name: str(field.type) for field in X.schema}
        number = ("int", "uint", "float", "double", "halffloat", "bool", "decimal")
        return {k: None if v.startswith(number) else v for k, v in kinds.items()}
    if hasattr(X, "schema") and hasattr(X, "columns"):  # polars
        return {
            name: None if kind.is_numeric() or str(kind) == "Boolean" else str(kind)
            for name, kind in X.schema.items()
        }
    if hasattr(X, "dtypes") and hasattr(X, "columns"):  # pandas
        return {
            str(name): None if _pandas_number(X.iloc[:, place]) else str(kind)
            for place, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True))
        }
    return None


def _pandas_number(column: Any) -> bool:
    if hasattr(column.dtype, "categories"):  # names of groups, also if they are numbers
        return False
    if getattr(column.dtype, "kind", "O") in "biuf":
        return True
    # Columns of Python objects may be numbers all the same.
    return column.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.number)) for value in column
    )
