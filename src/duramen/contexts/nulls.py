"""Null hypotheses of a context: which rows may exchange their contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.subject import Subject
from duramen.data.exchangeability import Exchangeability
from duramen.jobs.replicates import replicate_seed
from duramen.results.context_importances import PERMUTE
from duramen.support import checks
from duramen.support.arrays import IntArray

Codes = NDArray[np.uint32]

_ROWS_PER_BIN = 8


@dataclass(frozen=True, eq=False)
class Null:
    """Rows that may exchange their contexts under the null hypotheses of an analysis."""

    permute: str  # scheme of permutations: {"conditional", "within_target", "all"}
    effects: Exchangeability  # rows that exchange contexts for the p-values of the effects
    # The same for the relevance of the context, whose null hypothesis is about the target: only
    # strata and groups of the user restrict it.
    relevance: Exchangeability
    # (n,): Number of the stratum and class of the target of each row, or bin of a numeric
    # target.
    cells: IntArray

    @property
    def one_scheme(self) -> bool:
        """True where one set of permutations tests the effects and the relevance."""
        return self.permute == "all"

    def identity(self) -> dict[str, Any]:
        """Return what the permutations depend on, for metadata and checkpoints."""
        bins = {"target_groups": int(self.cells.max()) + 1}
        return {
            "permute": self.permute,
            **({} if self.permute == "all" else bins),
            **self.relevance.identity(),
            "clause": self.relevance.clause,
        }


def null_of(subject: Subject, permute: str, function: str) -> Null:
    """Check a scheme of permutations, and apply it to a target."""
    checks.check_choice(function, "permute", permute, PERMUTE)
    n, exchangeability = subject.data.n_rows, subject.data.exchangeability
    cells = target_groups(subject, exchangeability.strata)
    if permute == "all":
        return Null(permute, exchangeability, exchangeability, cells)
    if exchangeability.groups is None:
        return Null(permute, Exchangeability(n, cells), exchangeability, cells)
    whole = _by_group(cells, exchangeability.groups)
    return Null(permute, Exchangeability(n, whole, exchangeability.groups), exchangeability, cells)


def target_groups(subject: Subject, strata: IntArray | None = None) -> IntArray:
    """Number the rows of the same stratum and the same class, or bin, of the target.

    A numeric target is cut into quantile bins of about eight rows in every stratum; equal values
    share a bin. Wider bins leave an association of context and target inside of them, which raises
    the rate of false rejections; narrower ones measured no better.
    """
    n = subject.data.table.n_rows
    if strata is None:
        strata = np.zeros(n, dtype=np.int64)
    own = np.asarray(subject.data.target.values)
    if subject.data.classes is None:
        own = np.zeros(n, dtype=np.int64)
        for stratum in range(int(strata.max()) + 1):
            rows = np.flatnonzero(strata == stratum)
            own[rows] = quantile_bins(
                subject.data.target.values[rows], max(1, len(rows) // _ROWS_PER_BIN)
            )
    pairs = np.stack([strata, own.astype(np.int64)])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def quantile_bins(values: NDArray[Any], n_bins: int) -> IntArray:
    """Number the quantile bin of each value; equal values share one, that of their middle rank."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    bins = np.floor(middle * n_bins / len(values))[code.reshape(-1)]
    return np.unique(bins, return_inverse=True)[1].reshape(-1).astype(np.int64)


def permuted_contexts(
    rows: Exchangeability, codes: Codes, seed: int, first: int, count: int
) -> Codes:
    """Draw permutations number `first` and after of a context, of shape (count, n).

    Each depends on the seed and its number alone.
    """
    drawn = np.empty((count, len(codes)), dtype=np.uint32)
    for r in range(count):
        random = np.random.default_rng(replicate_seed(seed, first + r))
        drawn[r] = codes[rows.permutation(random, codes)]
    return drawn


def _rows_of_groups(groups: IntArray) -> list[IntArray]:
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _by_group(cells: IntArray, groups: IntArray) -> IntArray:
    """Give the rows of a group one label: the cells of its rows, in their order.

    Groups with one cell throughout have the same label whatever their size.
    """
    labels: dict[tuple[int, ...], int] = {}
    group_labels = np.empty(len(cells), dtype=np.int64)
    for rows in _rows_of_groups(groups):
        own = cells[rows].tolist()
        key = tuple(own[:1] if len(set(own)) == 1 else own)
        group_labels[rows] = labels.setdefault(key, len(labels))
    return group_labels
