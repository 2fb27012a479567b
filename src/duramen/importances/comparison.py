"""Several measures of the same features beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from duramen.results.columns import Column
from duramen.results.fields import checked_names
from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.significance import Significance
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, native_frame

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

    def __post_init__(self) -> None:
        super().__post_init__()
        measures = checked_names("Comparison", "measures", self.measures)
        object.__setattr__(self, "measures", measures)
        self._freeze(["scores", "ranks"], (len(measures), len(self.names)))

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
        checks.check_integer("Comparison.overlap", "k", k, 1, most=len(self))
        chance = np.stack([_among_best(row, k) for row in self.ranks])
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

    def correlations_frame(self) -> Any:
        """Return a data frame with one row for every two measures.

        Its columns are ``measure``, ``other``, ``spearman`` and ``kendall``.
        """
        i, j = np.triu_indices(len(self.measures), 1)
        return native_frame(
            {
                "measure": [self.measures[place] for place in i],
                "other": [self.measures[place] for place in j],
                "spearman": self.spearman[i, j],
                "kendall": self.kendall[i, j],
            }
        )

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
        If something else is given.
    ValueError
        If there are less than two measures, two have the same name, or features differ.

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
    if isinstance(measures, Importances | Significance) or not isinstance(measures, Iterable):
        raise TypeError(
            "compare: measures must be several Importances or Significance, got one "
            f"{type(measures).__name__}. Hint: compare([one, another])."
        )
    labeled: Sequence[tuple[str, Any]] = (
        list(measures.items())
        if isinstance(measures, Mapping)
        else [(getattr(one, "measure", getattr(one, "method", "")), one) for one in measures]
    )
    labels, results = [label for label, _ in labeled], [result for _, result in labeled]
    for measure in results:
        if not isinstance(measure, Importances | Significance):
            raise TypeError(
                "compare: measures must be Importances or Significance, got "
                f"{type(measure).__name__}."
            )
    if len(results) < 2:
        raise ValueError(f"compare: measures must be at least two, got {len(results)}.")
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if twice:
        raise ValueError(
            f"compare: two measures are called {twice[0]!r}. Hint: name them, as in "
            'compare({"few trees": one, "many trees": another}).'
        )
    names = results[0].names
    places = [_places(names, label, result) for label, result in zip(labels, results, strict=True)]
    pairs = list(zip(results, places, strict=True))
    return Comparison(
        names=names,
        measures=tuple(labels),
        scores=np.stack([_scores(result)[place] for result, place in pairs]),
        ranks=np.stack([_ranks(result)[place] for result, place in pairs]),
        metadata={label: dict(result.metadata) for label, result in labeled},
    )


def _scores(result: Measured) -> FloatArray:
    return result.values if isinstance(result, Importances) else result.scores


def _ranks(result: Measured) -> FloatArray:
    """Return the ranks in the order of `one.order()`; equal features share theirs."""
    from scipy.stats import rankdata

    order = result.order()
    scores = _scores(result)[order]
    p_values = result.p_values[order] if isinstance(result, Significance) else np.zeros(len(result))
    step = (np.diff(scores) != 0) | (np.diff(p_values) != 0)
    place = np.empty(len(result), dtype=np.int64)
    place[order] = np.cumsum(np.concatenate([np.zeros(min(1, len(result)), dtype=np.int64), step]))
    ranks: FloatArray = rankdata(place)
    return ranks


def _places(names: Sequence[str], label: str, result: Measured) -> list[int]:
    """Return where `one` has each of `names`."""
    if result.names == names:
        return list(range(len(names)))
    place = {name: j for j, name in enumerate(result.names)}
    lacking = [name for name in names if name not in place]
    more = sorted(set(result.names) - set(names))
    if lacking or more:
        differences = [f"lacks {_some(lacking)}"] * bool(lacking) + [f"has {_some(more)}"] * bool(
            more
        )
        raise ValueError(
            "compare: measures must have the same features, but, compared with the first, "
            f"{label!r} {' and '.join(differences)}."
        )
    return [place[name] for name in names]


def _some(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def _among_best(ranks: FloatArray, k: int) -> FloatArray:
    """Return the probability that each feature is among the k best, ties by lot."""
    from scipy.stats import rankdata

    first = rankdata(ranks, "min")
    size = 2 * (ranks - first) + 1  # of the tie, whose mean rank it is
    fraction: FloatArray = np.clip((k - first + 1) / size, 0.0, 1.0)
    return fraction


def _symmetric(matrix: FloatArray) -> FloatArray:
    """Return the matrix, read-only, with 1 on the diagonal."""
    np.fill_diagonal(matrix, 1.0)
    matrix.setflags(write=False)
    return matrix
