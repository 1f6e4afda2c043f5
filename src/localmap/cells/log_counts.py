"""The paper's recipe for counts, a block of cells at a time.

What `localmap.pp.recipe` does by scanpy's functions where X is in memory, for matrices
that stay in their file and for packages that lack scanpy: the sums of cells, ``log(1 +
x)``, the genes of largest variance and their principal components. Sums go over blocks
along which the matrix is stored: of cells, or of genes where it is compressed by genes
(CSC).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from localmap.cells.counts import why_not_counts
from localmap.geometry.blas import one_thread

# The paper's: genes of largest variance, components of them, and what the counts of
# each cell are brought to.
TOP_GENES: Final = 1000
COMPONENTS: Final = 50
COUNTS_PER_CELL: Final = 1e4

# Numbers that are held at once, with about ten copies of one kind or another.
NUMBERS_AT_ONCE: Final = 1 << 21

# Lines of a sparse matrix that are read first, and how much more may be read next.
LINES_AT_FIRST: Final = 256
GROWTH: Final = 4

# Cells whose chosen genes are filled in at once.
DENSE_AT_ONCE: Final = 1024


class Totals(NamedTuple):
    """Counts of each cell, or why the values are no counts."""

    of_cells: NDArray[np.float64]
    refused: str | None


class Moments(NamedTuple):
    """Mean and variance of the values of each gene."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


class Components(NamedTuple):
    """Principal components: cells and genes by them, and the variance of each."""

    scores: NDArray[np.float32]
    loadings: NDArray[np.float64]
    variance: NDArray[np.float64]
    ratio: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellRows:
    """Some genes of cells, read a block of cells at a time.

    With `factors` the values are counts, and ``log(1 + counts * factor)`` is read.
    """

    values: Any
    genes: NDArray[np.int64]
    factors: NDArray[np.float64] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of cells and genes."""
        return int(self.values.shape[0]), len(self.genes)

    def __getitem__(self, rows: slice) -> Any:
        """Return the genes of a block of cells, sparse if they are stored so."""
        block = _plain(self.values[rows], csr_array)[:, self.genes]
        return block if self.factors is None else logarithms(block, self.factors[rows])


def rows_of(
    values: Any, genes: NDArray[np.int64], factors: NDArray[np.float64] | None = None
) -> CellRows:
    """Return genes that can be read by cells, however they are stored.

    Of a matrix compressed by genes these genes are taken into memory: to look for a
    cell in it is to read all of it.
    """
    if getattr(values, "format", None) != "csc":
        return CellRows(values, genes, factors)
    some, place = np.unique(genes, return_inverse=True)
    return CellRows(csr_array(values[:, some]), place, factors)


def totals_of(values: Any) -> Totals:
    """Return the counts of each cell; stop where a value is no count."""
    totals = np.zeros(values.shape[0])
    for rows, _, block in stored_blocks(values):
        refused = why_not_counts(block)
        if refused is not None:
            return Totals(totals, refused)
        totals[rows] += np.asarray(block.sum(axis=1, dtype=np.float64)).ravel()
    return Totals(totals, None)


def summed_to(totals: NDArray[np.float64], target_sum: float | None) -> float:
    """Return what counts are brought to: what was asked, or the median of cells."""
    if target_sum is not None:
        return float(target_sum)
    counted = totals[totals > 0]
    return float(np.median(counted)) if counted.size else 1.0


def factors_of(totals: NDArray[np.float64], target_sum: float) -> NDArray[np.float64]:
    """Return what brings each cell to the sum; a cell without counts stays as it is."""
    return target_sum / np.where(totals > 0, totals, target_sum)


def logarithms(block: Any, factors: NDArray[np.float64]) -> Any:
    """Return ``log(1 + counts * factor)`` in single precision, as scanpy's are."""
    if not issparse(block):
        return np.log1p((block * factors[:, None]).astype(np.float32))
    of_row = (
        np.repeat(factors, np.diff(block.indptr))
        if block.format == "csr"
        else factors[block.indices]
    )
    data = np.log1p((block.data * of_row).astype(np.float32))
    return type(block)((data, block.indices, block.indptr), shape=block.shape)


def moments_of(values: Any, factors: NDArray[np.float64] | None = None) -> Moments:
    """Return mean and variance of each gene: of log values if there are factors.

    Blocks are joined by the differences of their means (Chan, Golub, LeVeque 1979),
    which loses no digits as a sum of squares would.
    """
    n_genes = values.shape[1]
    seen, mean, squares = np.zeros(n_genes), np.zeros(n_genes), np.zeros(n_genes)
    for rows, genes, counts in stored_blocks(values):
        block = counts if factors is None else logarithms(counts, factors[rows])
        n = block.shape[0]
        own = _block_moments(block)
        apart = own.mean - mean[genes]
        whole = seen[genes] + n
        squares[genes] += own.variance * n + apart**2 * (seen[genes] * n / whole)
        mean[genes] += apart * (n / whole)
        seen[genes] = whole
    return Moments(mean, squares / np.maximum(seen, 1))


def largest(variance: NDArray[np.float64], n_top_genes: int) -> NDArray[np.bool_]:
    """Mark the genes of largest variance; never one that does not vary."""
    order = np.argsort(-variance, kind="stable")[:n_top_genes]
    used = np.zeros(len(variance), dtype=bool)
    used[order] = variance[order] > 0
    return used


def principal_components(
    values: CellRows | NDArray[Any], mean: NDArray[np.float64], n_comps: int
) -> Components:
    """Return principal components by the products of genes, in two passes.

    The same bits on any number of threads.
    """
    n, d = values.shape
    k = min(n_comps, n - 1, d - 1)
    if k < 1:
        refuse_few(n, d)
    products = np.zeros((d, d))
    with one_thread():
        for _, block in _centred(values, mean):
            products += block.T @ block
        variance, axes = eigh(products / (n - 1), subset_by_index=(d - k, d - 1))
    variance, axes = np.maximum(variance[::-1], 0.0), axes[:, ::-1]
    furthest = axes[np.abs(axes).argmax(axis=0), np.arange(k)]
    axes = axes * np.where(furthest < 0, -1.0, 1.0)
    scores = np.empty((n, k), dtype=np.float32)
    with one_thread():
        for rows, block in _centred(values, mean):
            scores[rows] = block @ axes
    total = np.trace(products) / (n - 1)
    return Components(scores, axes, variance, variance / total)


def refuse_few(n_cells: int, n_genes: int) -> NoReturn:
    """Refuse what has no principal components."""
    msg = (
        f"{n_cells} cells with {n_genes} genes that vary have no principal components: "
        "give at least two of each."
    )
    raise ValueError(msg)


def filled_in(values: CellRows) -> NDArray[np.float32]:
    """Return all cells at once, zeros filled in."""
    dense = np.empty(values.shape, dtype=np.float32)
    for rows, block in _dense_blocks(values):
        dense[rows] = block
    return dense


def counts_to_components(counts: Any) -> NDArray[np.float32]:
    """Return the components of the paper's recipe, batches as they are."""
    totals = totals_of(counts)
    if totals.refused is not None:
        msg = f"these are no raw counts: {totals.refused}."
        raise ValueError(msg)
    factors = factors_of(totals.of_cells, COUNTS_PER_CELL)
    moments = moments_of(counts, factors)
    used = np.flatnonzero(largest(moments.variance, TOP_GENES))
    rows = rows_of(counts, used, factors)
    return principal_components(rows, moments.mean[used], COMPONENTS).scores


def stored_blocks(values: Any) -> Iterator[tuple[slice, slice, Any]]:
    """Yield the cells and genes of each block, and the block, as they are stored.

    How many numbers a line of a sparse matrix holds is known when it is read: blocks
    grow from a few lines to those of `NUMBERS_AT_ONCE`.
    """
    form, every = getattr(values, "format", None), slice(None)
    by_genes = form == "csc"
    n_lines, width = values.shape[::-1] if by_genes else values.shape
    at_once = LINES_AT_FIRST
    if form is None:
        at_once = max(1, NUMBERS_AT_ONCE // max(1, width))
    start = 0
    while start < n_lines:
        lines = slice(start, min(n_lines, start + at_once))
        if by_genes:
            block = _plain(values[:, lines], csc_array)
            yield every, lines, block
        else:
            block = _plain(values[lines], csr_array)
            yield lines, every, block
        if form is not None:
            fits = NUMBERS_AT_ONCE * (lines.stop - start) // max(1, block.nnz)
            at_once = max(1, min(GROWTH * at_once, fits))
        start = lines.stop


def _plain(block: Any, form: Any) -> Any:
    """Return a block in memory: an array, or a sparse one of the form.

    A number that is stored in two parts becomes one: logarithms do not add up.
    """
    if not issparse(block):
        return np.asarray(block)
    plain = form(block)
    if not plain.has_canonical_format:
        plain = plain.copy()
        plain.sum_duplicates()
    return plain


def _block_moments(block: Any) -> Moments:
    if issparse(block):
        wide = block.astype(np.float64)
        mean, variance = mean_variance_axis(wide, axis=0)
        return Moments(mean, variance)
    return Moments(
        block.mean(axis=0, dtype=np.float64), block.var(axis=0, dtype=np.float64)
    )


def _centred(
    values: CellRows | NDArray[Any], mean: NDArray[np.float64]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    for rows, block in _dense_blocks(values):
        yield rows, block - mean


def _dense_blocks(
    values: CellRows | NDArray[Any],
) -> Iterator[tuple[slice, NDArray[Any]]]:
    for start in range(0, values.shape[0], DENSE_AT_ONCE):
        rows = slice(start, min(values.shape[0], start + DENSE_AT_ONCE))
        block: Any = values[rows]
        yield rows, block.toarray() if issparse(block) else block
