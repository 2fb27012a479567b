"""Specification of a distribution by one factor a variable.

``specify`` takes one *factor* a variable::

    specify(
        {
            "X1": uniform(2),
            "X2": bernoulli(0.3),
            "Y": xor("X1", "X2"),
            "X3": copy("Y", 0.95),
            "X4": uniform(["red", "green", "blue"]),
        }
    )

The order of the mapping is that of the features; a factor may name parents that come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import Codes, in_order, labels_of
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.factors import (
    ROUNDING,
    Factor,
    Outcomes,
    bernoulli,
    categorical,
    check_outcomes,
    copy,
    function,
    quoted,
    setting,
    table,
    uniform,
    xor,
)
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.partition import IndexArray, Partition

__all__ = [
    "Factor",
    "bernoulli",
    "categorical",
    "copy",
    "function",
    "specify",
    "table",
    "uniform",
    "xor",
]

MOST_ROWS = 1 << 22
"""A specification may lead to at most so many rows, hidden variables included."""


def specify(
    factors: Mapping[str, Factor],
    *,
    target: str = "Y",
    context: str | None = None,
    hidden: Iterable[str] = (),
) -> FiniteDistribution:
    """Build a distribution from one factor a variable.

    Parameters
    ----------
    factors : mapping of str to Factor
        How each variable comes about; see `uniform`, `bernoulli`, `categorical`, `xor`, `copy`,
        `function` and `table`. The features are in the order of the mapping.
    target : str, default="Y"
        Name of the target.
    context : str, optional
        Name of the context, a variable that is not a feature.
    hidden : iterable of str, optional
        Variables that are no features: they are summed over.

    Returns
    -------
    FiniteDistribution
        Its `metadata` hold the specification.

    Raises
    ------
    TypeError
        If something else than a factor is given.
    ValueError
        If a variable is its own ancestor, a parent is unknown, probabilities do not sum to 1, the
        target, the context or a hidden variable has no factor, or there would be more than
        `MOST_ROWS` rows.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import copy, specify, uniform, xor
    >>> noisy = specify(
    ...     {"X1": uniform(2), "X2": uniform(2), "Y": xor("X1", "X2"), "X3": copy("Y", 0.95)}
    ... )
    >>> noisy.names
    ('X1', 'X2', 'X3')
    >>> round(noisy.mutual_information("X3"), 3)
    0.714
    """
    given = _checked_factors(factors)
    unseen = (hidden,) if isinstance(hidden, str) else tuple(hidden)
    _check_roles(given, target, context, unseen)
    joint = _Joint.nothing()
    for name in _in_causal_order(given):
        joint = joint.extended(name, given[name])
    apart = {target, context, *unseen}
    names = tuple(name for name in given if name not in apart)
    return FiniteDistribution.from_codes(
        codes=[joint.codes[name] for name in names],
        target=joint.codes[target],
        weights=joint.weights,
        names=names,
        labels=[joint.values[name] for name in names],
        classes=joint.values[target],
        target_name=target,
        context=None if context is None else joint.codes[context],
        context_values=None if context is None else joint.values[context],
        context_name="Xc" if context is None else context,
        metadata={"specification": {name: factor.text for name, factor in given.items()}},
    )


@dataclass(frozen=True)
class _Joint:
    """Joint distribution of the variables added so far: codes and values by name."""

    codes: dict[str, Codes]
    values: dict[str, NDArray[Any]]
    weights: FloatArray

    @classmethod
    def nothing(cls) -> _Joint:
        """Return the distribution of no variable: one row."""
        return cls({}, {}, np.ones(1))

    def extended(self, name: str, factor: Factor) -> _Joint:
        """Add a variable: every row becomes one row for each value that it can have there."""
        columns = [(self.codes[parent], len(self.values[parent])) for parent in factor.parents]
        settings = Partition.by(columns, len(self.weights))
        outcomes = self._outcomes(name, factor, settings.first_rows())
        labels = labels_of(_values_of(factor, outcomes))
        code = {value: number for number, value in enumerate(labels.tolist())}
        count = np.array([len(one) for one in outcomes])[settings.cell]
        if count.sum() > MOST_ROWS:
            raise ValueError(
                f"specify: with {name!r} there are {count.sum()} rows, more than {MOST_ROWS}. "
                "Hint: use fewer variables or fewer values."
            )
        row = np.repeat(np.arange(len(count)), count)
        outcome = _places(outcomes, settings.cell, count, row)
        own = np.array([code[value] for one in outcomes for value in one], dtype=np.uint32)
        probability = np.array([p for one in outcomes for p in one.values()])
        return _Joint(
            {**{other: codes[row] for other, codes in self.codes.items()}, name: own[outcome]},
            {**self.values, name: labels},
            self.weights[row] * probability[outcome],
        )

    def _outcomes(self, name: str, factor: Factor, rows: IndexArray) -> list[dict[Any, float]]:
        """Return the outcomes of positive probability for each setting of the parents."""
        domains = tuple(tuple(self.values[parent].tolist()) for parent in factor.parents)
        columns = [self.values[p][self.codes[p][rows]].tolist() for p in factor.parents]
        outcomes = []
        for values in zip(*columns, strict=True) if columns else [()]:
            given = dict(factor.outcomes(values, domains))
            where = f" given {setting(factor.parents, values)}" if values else ""
            check_outcomes(given, f"specify: the probabilities of {name!r}{where}")
            outcomes.append({value: float(p) for value, p in given.items() if p > ROUNDING})
        return outcomes


def _places(
    outcomes: Sequence[Outcomes], cell: IndexArray, count: IndexArray, row: IndexArray
) -> IndexArray:
    """Return, for each new row, the place of its outcome in the list of all outcomes."""
    start = np.concatenate([[0], np.cumsum([len(one) for one in outcomes])])[:-1][cell]
    first = np.cumsum(count) - count
    place: IndexArray = start[row] + np.arange(len(row)) - first[row]
    return place


def _values_of(factor: Factor, outcomes: Iterable[Outcomes]) -> list[Any]:
    seen = {value for one in outcomes for value in one}
    if factor.values is None:
        return in_order(seen)
    return [value for value in factor.values if value in seen]


def _in_causal_order(factors: Mapping[str, Factor]) -> list[str]:
    try:
        return list(
            TopologicalSorter(
                {name: factor.parents for name, factor in factors.items()}
            ).static_order()
        )
    except CycleError as error:
        circle = " -> ".join(map(repr, error.args[1]))
        raise ValueError(
            f"specify: a variable cannot be its own ancestor, but there is a cycle {circle}."
        ) from None


def _checked_factors(factors: Mapping[str, Factor]) -> dict[str, Factor]:
    if not isinstance(factors, Mapping):
        raise TypeError(
            f"specify: factors must map names to factors, got {type(factors).__name__}."
        )
    for name, factor in factors.items():
        if not isinstance(name, str):
            raise TypeError(f"specify: names must be strings, got {name!r}.")
        if not isinstance(factor, Factor):
            raise TypeError(
                f"specify: {name!r} must have a factor, got {factor!r}. Hint: such as uniform(2), "
                "xor('X1', 'X2'), copy('Y', 0.95), table({...}, 'X1') or function(rule, 'X1')."
            )
        for parent in factor.parents:
            if parent not in factors:
                raise ValueError(
                    f"specify: {name!r} depends on {parent!r}, which has no factor; there are "
                    f"{quoted(tuple(factors))}."
                )
    return dict(factors)


def _check_roles(
    factors: Mapping[str, Factor], target: str, context: str | None, hidden: Sequence[str]
) -> None:
    roles = {"target": [target], "context": [] if context is None else [context], "hidden": hidden}
    taken: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name not in factors:
                raise ValueError(
                    f"specify: {role} names {name!r}, which has no factor; there are "
                    f"{quoted(tuple(factors))}."
                )
            if taken.get(name, role) != role:
                raise ValueError(f"specify: {name!r} cannot be both {taken[name]} and {role}.")
            taken[name] = role
