"""The theorem: near pairs against further pairs between two classes, as n grows.

Of classes i and j the paper expects ``n_i n_j p_ij`` near and ``2 n_i n_j n_FP / n``
further pairs, so that their ratio is ``p_ij n / (2 n_FP)``: it grows as n does, if
p_ij stays. Rows can join in two ways, and p_ij stays in one of them:

- *other classes* join: near pairs between i and j stay what they were, further pairs
  become fewer, as the same number is spread over more rows;
- *more rows of all classes* join: each row keeps as many near pairs as before, so that
  p_ij falls as n grows.

Pairs are counted both ways, from i to j and from j to i, as each is a force of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localmap import kernels
from localmap.bench.insights.lengths import RULES, near_rows
from localmap.method.adjust import Rule
from localmap.method.embed import Problem, lay_out, prepare
from localmap.method.parameters import Parameters


class Count(NamedTuple):
    """Pairs between two classes of n rows."""

    n: int
    near: int
    further: dict[str, int]  # by rule, in the last phase
    sizes: tuple[int, int]  # of the two classes
    slots: int  # further pairs of each row

    @property
    def expected(self) -> float:
        """Further pairs that the paper expects of PaCMAP."""
        one, other = self.sizes
        return 2.0 * one * other * self.slots / self.n

    @property
    def p(self) -> float:
        """The probability of a near pair."""
        return self.near / (self.sizes[0] * self.sizes[1])

    def ratio(self, rule: str) -> float:
        """Return near pairs for each further pair."""
        further = self.further[rule]
        return self.near / further if further else float("nan")


def closest_classes(near: kernels.Ints, codes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the two classes with the most near pairs between them."""
    k = int(codes.max()) + 1
    ends = codes[:, None] * k + codes[near]
    table = np.bincount(ends.ravel(), minlength=k * k).reshape(k, k)
    both = np.triu(table + table.T, 1)
    one, other = np.unravel_index(int(both.argmax()), both.shape)
    return int(one), int(other)


def between(partners: kernels.Ints, codes: NDArray[np.int64], i: int, j: int) -> int:
    """Count pairs from class i to class j and back."""
    theirs = codes[partners]
    there = (codes == i)[:, None] & (theirs == j)
    back = (codes == j)[:, None] & (theirs == i)
    return int(there.sum() + back.sum())


def further_rows(
    problem: Problem, params: Parameters, rule: Rule, key: int
) -> kernels.Ints:
    """Return the further pairs at the end of the last phase, in the space's order."""
    near = problem.take_near(keep=True)
    further = kernels.further(near, problem.counts.further, key, params.n_threads)
    if rule.locality > 0:
        layout = lay_out(problem, params, key, rule=rule)
        kernels.local_further(
            layout.placed, near, further, layout.reach, rule.locality, key,
            layout.n_iter, params.n_threads,
        )  # fmt: skip
    return further


def count(
    X: Any,
    codes: NDArray[np.int64],
    classes: tuple[int, int],
    params: Parameters,
    key: int,
) -> Count:
    """Count the pairs between two classes in a map of these rows."""
    problem = prepare(X, params)
    near = near_rows(problem)
    own = codes if problem.order is None else codes[problem.order]
    further = {
        title: between(further_rows(problem, params, rule, key), own, *classes)
        for title, rule in RULES.items()
    }
    return Count(
        len(codes),
        between(near, codes, *classes),
        further,
        (int((codes == classes[0]).sum()), int((codes == classes[1]).sum())),
        problem.counts.further,
    )


def more_rows(n: int, sizes: Sequence[int], key: int) -> Iterator[NDArray[np.int64]]:
    """Yield samples of the rows: each holds the one before."""
    order = np.random.default_rng(key).permutation(n)
    for size in sizes:
        yield np.sort(order[:size])


def more_classes(
    codes: NDArray[np.int64], classes: tuple[int, int], steps: int
) -> Iterator[NDArray[np.int64]]:
    """Yield all rows of the two classes, then of more and more others."""
    others = [c for c in range(int(codes.max()) + 1) if c not in classes]
    numbers = np.linspace(0, len(others), min(steps, len(others) + 1))
    for number in np.unique(numbers.round().astype(int)):
        yield np.flatnonzero(np.isin(codes, [*classes, *others[:number]]))


def counts(
    X: Any,
    codes: NDArray[np.int64],
    classes: tuple[int, int],
    samples: Iterable[NDArray[np.int64]],
    params: Parameters,
    key: int,
) -> list[Count]:
    """Count the pairs between two classes in each of several samples of the rows."""
    return [count(X[rows], codes[rows], classes, params, key) for rows in samples]


def slope(found: Sequence[Count], rule: str) -> float:
    """Return the power of n by which the ratio grows: 1 is the theorem's."""
    n = np.array([c.n for c in found], dtype=np.float64)
    ratio = np.array([c.ratio(rule) for c in found])
    known = np.isfinite(ratio) & (ratio > 0)
    if known.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(n[known]), np.log(ratio[known]), 1)[0])
