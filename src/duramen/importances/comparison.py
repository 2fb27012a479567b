"""Several measures of the same features beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from duramen.results.importances import Importances
from duramen.results.result import ANY, Result
from duramen.results.significance import Significance
from duramen.results.summary import Column, Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray

Measured: TypeAlias = Importances | Significance

_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Ranks that m measures give to the same p features, and how far they agree.

    Parameters
    ----------
    names : tuple of str
        Names of the p features.
    measures : tuple of str
        Names of the m measures, all different.
    scores : ndarray of float64, shape (m, p)
        What each measure gives to each feature, in its own unit.
    ranks : ndarray of float64, shape (m, p)
        1 for the most important feature of a measure; equal features have the mean of the ranks
        that they share.
    metadata : mapping
        The metadata of the measures by their names.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names repeat or a number is not finite.

    Examples
    --------
    >>> import duramen as dm
    >>> mdi = dm.Importances(("a", "b", "c"), [3.0, 2.0, 1.0], "mdi", "gini")
    >>> mda = dm.Importances(("a", "b", "c"), [0.3, 0.0, 0.1], "mda", "accuracy")
    >>> dm.importances.compare([mdi, mda]).spearman.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]
    scores: FloatArray
    ranks: FloatArray
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NAMES: ClassVar = {"names": "p", "measures": "m"}
    _ARRAYS: ClassVar = {"scores": ("mp", ANY), "ranks": ("mp", ANY)}

    # --- agreement -------------------------------------------------------------------------

    @cached_property
    def spearman(self) -> FloatArray:
        """Spearman's rank correlation of every two measures, shape (m, m).

        It is Pearson's correlation of the ranks; NaN beside a measure whose features are all equal.
        """
        centered = self.ranks - self.ranks.mean(axis=1, keepdims=True) if self.names else self.ranks
        products = centered @ centered.T
        squares = np.diagonal(products)
        with np.errstate(invalid="ignore"):
            correlation = np.clip(products / np.sqrt(np.outer(squares, squares)), -1.0, 1.0)
        return _symmetric(correlation)

    @cached_property
    def kendall(self) -> FloatArray:
        """Kendall's tau-b of every two measures, shape (m, m).

        It is (C - D) / sqrt((C + D + A)(C + D + B)) for C pairs of features in the same order by
        both, D in the opposite one, A and B tied by one of them alone; NaN beside a measure whose
        features are all equal.
        """
        from scipy.stats import kendalltau

        tau = np.full((len(self.measures),) * 2, np.nan)
        if len(self.names) > 1:
            for i, j in combinations(range(len(self.measures)), 2):
                pair = kendalltau(self.ranks[i], self.ranks[j])
                tau[i, j] = tau[j, i] = pair.statistic
        return _symmetric(tau)

    def overlap(self, k: int) -> FloatArray:
        """Return the fraction of their `k` best features that two measures have in common, (m, m).

        Features that are tied for the last places count as if lots were drawn for each measure.

        Raises
        ------
        ValueError
            If `k` is not in 1 to p.
        """
        from scipy.stats import rankdata

        checks.check_integer("Comparison.overlap", "k", k, 1, most=len(self))
        first = rankdata(self.ranks, "min", axis=1)
        size = 2 * (self.ranks - first) + 1  # of the tie, whose mean rank it is
        chance = np.clip((k - first + 1) / size, 0.0, 1.0)  # to be among the best, ties by lot
        return _symmetric(chance @ chance.T / k)

    def top(self, k: int, by: str | None = None) -> Comparison:
        """Return the comparison among the `k` best features of one measure, by default the first.

        Features are ranked anew among themselves, the best first; of equal ones the first are
        taken.

        Raises
        ------
        ValueError
            If `k` is less than 1 or `by` is no measure of this comparison.
        """
        from scipy.stats import rankdata

        checks.check_integer("Comparison.top", "k", k, 1)
        first = self.measures[0] if by is None else by
        place = self.measures.index(
            checks.check_choice("Comparison.top", "by", first, self.measures)
        )
        index = np.argsort(self.ranks[place], kind="stable")[:k]
        return Comparison(
            tuple(self.names[j] for j in index),
            self.measures,
            self.scores[:, index],
            rankdata(self.ranks[:, index], axis=1),
            self.metadata,
        )

    # --- in and out ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: ``name``, and ``rank_M`` for each measure M."""
        ranks = zip(self.measures, self.ranks, strict=True)
        return {"name": list(self.names), **{f"rank_{name}": row.copy() for name, row in ranks}}

    def _summary(self, rows: int) -> Summary:
        m = len(self.measures)
        heading = (
            f"Comparison: {m} measures of {len(self)} features; rank correlations, Spearman's "
            "below the diagonal, Kendall's above"
        )
        both = np.where(np.tri(m, dtype=np.bool_), self.spearman, self.kendall)
        columns = [Column("", self.measures, kind="words")]
        for j, name in enumerate(self.measures):
            cells = [f"{r:.2f}" if i != j else "1" for i, r in enumerate(both[:, j])]
            columns.append(Column(name, cells))
        return Summary((heading,), columns)


def compare(measures: Iterable[Measured] | Mapping[str, Measured]) -> Comparison:
    """Rank the same features by several measures, and correlate the ranks.

    Parameters
    ----------
    measures : iterable, or mapping from names, of Importances and Significance
        At least two. By default a measure is called as its `measure` or `method`. They must be
        about the same features; the order of these may differ, the first one's is kept.

    Returns
    -------
    Comparison
        Importances are ranked by value; a `Significance` by p-value, and by score where p-values
        are equal. What is still equal shares its ranks.

    Raises
    ------
    TypeError
        If something else is given, or a single measure.
    ValueError
        If two measures have the same name, or features differ.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> measures = [dm.importances.mdi(forest), dm.importances.frequency(forest)]
    >>> result = dm.importances.compare(measures)
    >>> round(float(result.spearman[0, 1]), 2)
    0.37
    """
    labeled: list[tuple[str, Any]] = []
    if isinstance(measures, Mapping):
        labeled = list(measures.items())
    elif isinstance(measures, Iterable) and not isinstance(measures, Importances | Significance):
        labeled = [(getattr(one, "measure", getattr(one, "method", "")), one) for one in measures]
    labels, results = [label for label, _ in labeled], [result for _, result in labeled]
    if len(results) < 2 or not all(isinstance(r, Importances | Significance) for r in results):
        raise TypeError(
            "compare: measures must be two or more Importances or Significance, got "
            f"{type(measures).__name__}. Hint: compare([one, another])."
        )
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if twice:
        raise ValueError(
            f"compare: two measures are called {twice[0]!r}. Hint: name them, as in "
            'compare({"few trees": one, "many trees": another}).'
        )
    names = results[0].names
    scores, ranks = np.empty((2, len(results), len(names)))
    for i, (label, result) in enumerate(zip(labels, results, strict=True)):
        differing = sorted(set(names) ^ set(result.names))
        if differing:
            shown = ", ".join(map(repr, differing[:_SHOWN])) + ", ..." * (len(differing) > _SHOWN)
            raise ValueError(
                f"compare: measures must have the same features, but {shown} of {label!r} or "
                f"{labels[0]!r} are not in both."
            )
        place = {name: j for j, name in enumerate(result.names)}
        own = result.values if isinstance(result, Importances) else result.scores
        at = [place[name] for name in names]
        scores[i], ranks[i] = own[at], _ranks(result, own)[at]
    return Comparison(
        names=names,
        measures=tuple(labels),
        scores=scores,
        ranks=ranks,
        metadata={label: dict(result.metadata) for label, result in labeled},
    )


def _ranks(result: Measured, values: FloatArray) -> FloatArray:
    """Return the ranks in the order of the result; equal features share theirs."""
    from scipy.stats import rankdata

    order = result.order()
    scores = values[order]
    p_values = result.p_values[order] if isinstance(result, Significance) else np.zeros(len(result))
    step = (np.diff(scores) != 0) | (np.diff(p_values) != 0)
    place = np.empty(len(result), dtype=np.int64)
    place[order] = np.cumsum(np.concatenate([np.zeros(min(1, len(result)), dtype=np.int64), step]))
    ranks: FloatArray = rankdata(place)
    return ranks


def _symmetric(matrix: FloatArray) -> FloatArray:
    """Return the matrix, read-only, with 1 on the diagonal."""
    np.fill_diagonal(matrix, 1.0)
    matrix.setflags(write=False)
    return matrix
