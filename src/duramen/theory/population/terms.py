"""Decomposition of an importance into one term a conditioning set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from duramen.results.columns import Column, counted, hidden
from duramen.results.summary import Framed, Summary
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer
from duramen.support.text import fixed
from duramen.theory.distributions.finite_distribution import Decrease, FiniteDistribution
from duramen.theory.distributions.variables import Partition
from duramen.theory.population.importances import UNITS

_FUNCTION = "conditioning_terms"
_MOST_TERMS = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class ConditioningTerms(Framed):
    """Contributions of conditioning sets to the importance of a feature.

    Parameters
    ----------
    feature : str
        Name of the feature.
    sets : tuple of tuples of str
        The conditioning sets B: by size, then in the order of the columns.
    weights : ndarray of float64, shape (M,)
        Weight of each, :math:`1 / (C_p^k (p-k))` with k its size; together at most 1.
    values : ndarray of float64, shape (M,)
        Decrease of impurity by the feature given each, :math:`I(X_m;Y|B)` for the entropy.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"`` or ``"variance"``.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> terms = dm.theory.population.conditioning_terms(xor, "X1")
    >>> terms.sets, terms.contributions.tolist()
    (((), ('X2',)), [0.0, 0.5])
    """

    feature: str
    sets: tuple[tuple[str, ...], ...]
    weights: FloatArray
    values: FloatArray
    unit: str

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def contributions(self) -> FloatArray:
        """Weight times value, shape (M,): they sum to the importance."""
        return self.weights * self.values

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Size of each conditioning set, shape (M,)."""
        return np.array([len(one) for one in self.sets], dtype=np.int64)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a conditioning set.

        They are ``conditioning`` (names joined by commas), ``size``, ``weight``, ``value`` and
        ``contribution``.
        """
        return {
            "conditioning": [", ".join(one) for one in self.sets],
            "size": self.sizes,
            "weight": self.weights.copy(),
            "value": self.values.copy(),
            "contribution": self.contributions,
        }

    def _summary(self, rows: int) -> Summary:
        parts = self.contributions
        order = np.argsort(-parts, kind="stable")[:rows]
        heading = (
            f"ConditioningTerms: {counted(len(self), 'set')} for {self.feature}, together "
            f"{parts.sum():.4g} {self.unit}"
        )
        columns = [
            Column("given", ["{" + ", ".join(self.sets[i]) + "}" for i in order], kind="words"),
            Column(self.unit, fixed(self.values[order], 4)),
            Column("contributes", fixed(parts[order], 4), bars=parts[order]),
        ]
        return Summary((heading,), columns, hidden(len(self), len(order)))


def conditioning_terms(
    dist: FiniteDistribution,
    feature: str | int,
    *,
    max_depth: int | None = None,
    criterion: str = "entropy",
) -> ConditioningTerms:
    r"""Split the importance of a feature by conditioning set.

    .. math::

        Imp(X_m) = \sum_{B \subseteq V^{-m}} \frac{1}{C_p^{|B|} (p-|B|)} \, G(Y; X_m | B)

    with G the conditional decrease of impurity, :math:`I(X_m;Y|B)` for the entropy: the importance
    in totally randomized multiway trees (thesis, eq. 5.2 and 5.4; Louppe et al. 2013, eq. 3).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    feature : str or int
        The feature :math:`X_m`, by name or index.
    max_depth : int, optional
        Depth D of the trees: sets of up to D - 1 features. By default p.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.

    Returns
    -------
    ConditioningTerms
        The sum of its `contributions` is the value of `population_importances`.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, or there are more than 131,072 sets.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.conditioning_terms(xor, "X1")
    ConditioningTerms: 2 sets for X1, together 0.5 bits
    given   bits  contributes
    {X2}   1.000       0.5000
    {}     0.000       0.0000
    """
    decrease = Decrease(_FUNCTION, dist, criterion)
    m = dist.index(feature)
    if max_depth is not None:
        check_integer(_FUNCTION, "max_depth", max_depth, 1)
    p = dist.n_features
    largest = p - 1 if max_depth is None else min(int(max_depth), p) - 1
    n_terms = sum(comb(p - 1, k) for k in range(largest + 1))
    if n_terms > _MOST_TERMS:
        raise ValueError(
            f"{_FUNCTION}: there are {n_terms} sets of up to {largest} of {p - 1} features, more "
            f"than {_MOST_TERMS}. Hint: bound their size with max_depth, or leave features out; "
            "population_importances sums over them without listing them."
        )
    decreases: dict[tuple[int, ...], float] = {}
    own = dist.codes[:, m], int(dist.cardinalities[m])
    for members, part in _subsets(dist, m, largest):
        decreases[members] = decrease(part, part.refined(*own))
    ordered = sorted(decreases, key=lambda members: (len(members), members))
    return ConditioningTerms(
        feature=dist.names[m],
        sets=tuple(tuple(dist.names[j] for j in members) for members in ordered),
        weights=np.array([1 / (comb(p, len(B)) * (p - len(B))) for B in ordered]),
        values=np.array([decreases[members] for members in ordered]),
        unit=UNITS[criterion],
    )


def _subsets(
    dist: FiniteDistribution, without: int, largest: int
) -> Iterator[tuple[tuple[int, ...], Partition]]:
    """Yield the sets of up to `largest` features and the rows by them, depth first."""
    others = [j for j in range(dist.n_features) if j != without]
    stack: list[tuple[tuple[int, ...], int, Partition]] = [((), 0, Partition.whole(dist.n_rows))]
    while stack:
        members, start, part = stack.pop()
        yield members, part
        if len(members) == largest:
            continue
        for i in range(start, len(others)):
            j = others[i]
            finer = part.refined(dist.codes[:, j], int(dist.cardinalities[j]))
            stack.append(((*members, j), i + 1, finer))
