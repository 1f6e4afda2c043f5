"""NumPy's files and single-cell files: matrices that are data as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from localmap.files.errors import TableError
from localmap.files.grid import repeated_names, unique_names
from localmap.files.selection import Selection, find_columns, refuse_ambiguous
from localmap.files.source import Source

# How SciPy, and people by hand, put a sparse matrix into an archive.
SPARSE: Final = frozenset({"data", "indices", "indptr", "shape"})


@dataclass
class Matrix:
    """A matrix, names of its columns if it has them, and columns beside it."""

    X: Any
    names: tuple[str, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)
    labels: str | None = None
    decisions: list[str] = field(default_factory=list)


def read_npy(source: Source, selection: Selection, part: str | None) -> Matrix:
    """Read an array of rows and columns."""
    if part is not None:
        msg = f"{source.name} holds one array; the option part does not apply"
        raise TableError(msg)
    if selection.labels is not None or selection.ids:
        msg = (
            f"{source.name} has no named columns for labels or ids; use CSV, Parquet "
            "or NPZ"
        )
        raise TableError(msg)
    X = np.load(source.open(), allow_pickle=False)
    return _checked(Matrix(X), source.name)


def read_npz(source: Source, selection: Selection, part: str | None) -> Matrix:
    """Read the matrix of an archive, dense or sparse, and the arrays beside it."""
    with np.load(source.open(), allow_pickle=False) as archive:
        names = archive.files
        wanted = [str(given) for given in selection.ids]
        label = None if selection.labels is None else str(selection.labels)
        wanted += [] if label is None else [label]
        for name in wanted:
            if name not in names:
                raise _no_part(source.name, name, names)
        kept = {name: archive[name] for name in wanted}
        if part is None and "X" not in names and set(names) >= SPARSE:
            X, called = _sparse(archive, source.name), "a sparse matrix"
        else:
            called = part or _only_matrix(archive, source.name)
            if called not in names:
                raise _no_part(source.name, called, names)
            X = archive[called]
    found = Matrix(X, kept=kept, labels=label, decisions=[f"the data is {called}"])
    return _checked(found, source.name)


def _sparse(archive: Any, name: str) -> Any:
    from scipy import sparse

    kind = "csr"
    if "format" in archive.files:
        written = archive["format"].item()
        kind = written.decode() if isinstance(written, bytes) else str(written)
    if kind not in ("csr", "csc"):
        msg = f"{name} holds a sparse matrix in format {kind}; save it as csr"
        raise TableError(msg)
    make = sparse.csr_array if kind == "csr" else sparse.csc_array
    parts = archive["data"], archive["indices"], archive["indptr"]
    X = make(parts, shape=tuple(archive["shape"]))
    X.check_format(full_check=True)
    return X.tocsr()


def _only_matrix(archive: Any, name: str) -> str:
    if "X" in archive.files:
        return "X"
    matrices = [part for part in archive.files if archive[part].ndim == 2]
    if len(matrices) == 1:
        return str(matrices[0])
    msg = (
        f"{name} must hold an array named X or exactly one matrix; it holds "
        f"{', '.join(archive.files) or 'nothing'}; the option part settles it"
    )
    raise TableError(msg)


def read_h5ad(source: Source, selection: Selection, part: str | None) -> Matrix:
    """Read X, a layer or an entry of obsm of a single-cell file; columns are of obs."""
    import anndata

    cells = anndata.read_h5ad(source.open())
    names: tuple[str, ...] = ()
    if part in (None, "X"):
        X, names, called = cells.X, tuple(map(str, cells.var_names)), "X"
        if X is None:
            ways = ", ".join([*cells.obsm, *cells.layers]) or "nothing"
            msg = f"{source.name} has no X; it has {ways}: the option part settles it"
            raise TableError(msg)
    elif part in cells.obsm:
        X, called = np.asarray(cells.obsm[part]), f"obsm[{part!r}]"
    elif part in cells.layers:
        X, names = cells.layers[part], tuple(map(str, cells.var_names))
        called = f"layers[{part!r}]"
    else:
        raise _no_part(source.name, str(part), ["X", *cells.obsm, *cells.layers])
    obs = cells.obs
    label = None if selection.labels is None else str(selection.labels)
    kept: dict[str, Any] = {"cell": cells.obs_names.to_numpy()}
    for given in [*map(str, selection.ids), *([] if label is None else [label])]:
        if given not in obs:
            msg = (
                f"{source.name} has no column {given!r} in obs; it has "
                f"{', '.join(map(str, obs.columns[:8])) or 'none'}"
            )
            raise TableError(msg)
        column = obs[given]
        plain = column.astype(object) if column.dtype == "category" else column
        kept[given] = plain.where(column.notna(), None).to_numpy()
    found = Matrix(X, names, kept, label, [f"the data is {called}"])
    return _checked(found, source.name)


def pick(matrix: Matrix, selection: Selection, name: str) -> NDArray[np.int64] | None:
    """Return the columns that were asked for, None for all."""
    names: Sequence[str] = matrix.names
    if not names:
        names = [f"column {i + 1}" for i in range(matrix.X.shape[1])]
    if selection.columns is None and not selection.drop:
        return None
    asked = Selection(columns=selection.columns, drop=selection.drop)
    refuse_ambiguous(asked, unique_names(names), repeated_names(names), name)
    chosen = dict.fromkeys(range(len(names)))
    if selection.columns is not None:
        chosen = {}
        for given in selection.columns:
            chosen.update(dict.fromkeys(find_columns(given, names, name)))
    for given in selection.drop:
        for i in find_columns(given, names, name):
            chosen.pop(i, None)
    if not chosen:
        msg = f"{name}: columns and drop leave nothing to embed"
        raise TableError(msg)
    return np.array(list(chosen))


def _checked(found: Matrix, name: str) -> Matrix:
    X = found.X
    if X.ndim != 2:
        msg = f"{name} must hold a matrix of rows and columns; got shape {X.shape}"
        raise TableError(msg)
    if X.dtype.kind not in "fiub":
        msg = f"{name} must hold numbers; got an array of {X.dtype}"
        raise TableError(msg)
    if 0 in X.shape:
        msg = f"{name} has no {'columns' if X.shape[0] else 'rows'}"
        raise TableError(msg)
    for called, values in found.kept.items():
        if np.shape(values) != (X.shape[0],):
            msg = (
                f"{called} in {name} must have one entry a row; got shape "
                f"{np.shape(values)}"
            )
            raise TableError(msg)
    return found


def _no_part(file: str, name: str, names: Sequence[str]) -> TableError:
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    have = f"{shown}; the option part names one" if shown else "nothing"
    return TableError(f"{file} has no {name!r}; it has {have}")
