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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from numbers import Real
from operator import xor as exclusive_or
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import in_order, labels_of
from duramen.support.arrays import is_missing
from duramen.support.checks import check_choice, check_integer, check_real, is_integer, refuse
from duramen.theory.distributions.finite_distribution import (
    Column,
    FiniteDistribution,
    check_probabilities,
)

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

Outcomes: TypeAlias = Mapping[Any, float]


@dataclass(frozen=True)
class Factor:
    """Distribution of one variable given others, made by `uniform`, `xor`, `table` and others.

    Parameters
    ----------
    parents : tuple of str
        Names of the variables that it depends on.
    outcomes : callable
        ``outcomes(values, domains)`` gives the probability of each value, with the values of the
        parents, and all values that each of them can have.
    values : tuple or None
        The values in their order, where the factor knows them; otherwise they are sorted.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import xor
    >>> xor("X1", "X2").parents
    ('X1', 'X2')
    """

    parents: tuple[str, ...]
    outcomes: Callable[[tuple[Any, ...], tuple[tuple[Any, ...], ...]], Outcomes]
    values: tuple[Any, ...] | None = None


ROUNDING = 1e-15
"""A conditional probability of at most this much is 0."""


def uniform(values: int | Iterable[Any]) -> Factor:
    """Return a variable without parents whose values are equally probable.

    Parameters
    ----------
    values : int or iterable
        The values; an int stands for 0 .. values - 1.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import specify, uniform
    >>> specify({"Y": uniform(["red", "green"])}).classes.tolist()
    ['red', 'green']
    """
    if is_integer(values):
        values = range(check_integer("uniform", "values", values, 1))
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refuse("uniform", "values", "a whole number or a list", values)
    domain = tuple(values)
    if not domain or len(set(domain)) < len(domain):
        raise refuse("uniform", "values", "different, and at least one", list(domain))
    return categorical({value: 1.0 / len(domain) for value in domain})


def bernoulli(probability: float) -> Factor:
    """Return a variable without parents that is 1 with some probability, and otherwise 0.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import bernoulli, specify
    >>> round(specify({"Y": bernoulli(0.11)}).entropy(), 3)
    0.5
    """
    p = check_real("bernoulli", "probability", probability, 0.0, 1.0)
    return categorical({0: 1.0 - p, 1: p})


def categorical(probabilities: Mapping[Any, float]) -> Factor:
    """Return a variable without parents whose values have these probabilities.

    Parameters
    ----------
    probabilities : mapping of values to probabilities
        At least 0, their sum 1; the values keep their order. A value of 1e-15 or less, such as 1 -
        .7 - .2 - .1, is 0.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import categorical, specify
    >>> specify({"Y": categorical({"a": 0.5, "b": 0.25, "c": 0.25})}).entropy()
    1.5
    """
    if not isinstance(probabilities, Mapping):
        raise TypeError(
            "categorical: probabilities must map each value to its probability, got "
            f"{probabilities!r}. Hint: categorical({{'a': 0.2, 'b': 0.8}})."
        )
    outcomes = dict(probabilities)
    _checked(outcomes, "categorical: the probabilities")
    return Factor((), lambda values, domains: outcomes, tuple(outcomes))


def xor(*parents: str) -> Factor:
    """Return the exclusive or of whole numbers or truth values: of bits, their parity.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import specify, uniform, xor
    >>> dist = specify({"X1": uniform(2), "X2": uniform(2), "Y": xor("X1", "X2")})
    >>> dist.mutual_information(["X1", "X2"])
    1.0
    """

    def outcomes(values: tuple[Any, ...], _: Any) -> Outcomes:
        if not all(isinstance(value, int | np.integer | np.bool_) for value in values):
            raise TypeError(
                f"xor: the parents must be whole numbers or truth values, got {values!r}."
            )
        return {reduce(exclusive_or, values): 1.0}

    return Factor(parents, outcomes)


def copy(
    parent: str, probability: float = 1.0, *, otherwise: Literal["other", "any"] = "other"
) -> Factor:
    """Return a copy of a variable that is right with some probability.

    Parameters
    ----------
    parent : str
        The variable that is copied.
    probability : float, default=1.0
        How probable a copy is.
    otherwise : {"other", "any"}
        What it is else: one of the *other* values of the parent, equally probable (a bit is
        flipped), or *any* value of it, equally probable.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import copy, specify, uniform
    >>> dist = specify({"X1": uniform(2), "Y": copy("X1", 0.9)})
    >>> round(dist.mutual_information("X1"), 3)
    0.531
    """
    p = check_real("copy", "probability", probability, 0.0, 1.0)
    check_choice("copy", "otherwise", otherwise, ("other", "any"))

    def outcomes(values: tuple[Any, ...], domains: tuple[tuple[Any, ...], ...]) -> Outcomes:
        (value,), (domain,) = values, domains
        rest = [v for v in domain if otherwise == "any" or v != value]
        if p < 1.0 and not rest:
            raise ValueError(
                f"copy: {parent!r} has only the value {value!r}, so that a copy cannot be wrong; "
                "probability must be 1."
            )
        probabilities = {v: (1.0 - p) / len(rest) for v in rest}
        probabilities[value] = probabilities.get(value, 0.0) + p
        return probabilities

    return Factor((parent,), outcomes)


def function(rule: Callable[..., Any], *parents: str) -> Factor:
    """Return a function of other variables.

    Parameters
    ----------
    rule : callable
        Called with one value of each parent. It returns a value, or a mapping from values to
        probabilities.
    *parents : str
        Names of the parents, in the order of the arguments.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import function, specify, uniform
    >>> dist = specify({"X1": uniform(6), "Y": function(lambda x: x % 3, "X1")})
    >>> dist.n_classes
    3
    """
    if not callable(rule):
        raise TypeError(f"function: rule must be callable, got {rule!r}. Hint: see `table`.")

    def outcomes(values: tuple[Any, ...], _: Any) -> Outcomes:
        result = rule(*values)
        return result if isinstance(result, Mapping) else {result: 1.0}

    return Factor(parents, outcomes)


def table(rows: Mapping[Any, Any], *parents: str) -> Factor:
    """Return a conditional probability table.

    Parameters
    ----------
    rows : mapping
        For each value of the parent, or tuple of values of several parents: a value, or a mapping
        from values to probabilities. Combinations of probability 0 may be left out.
    *parents : str
        Names of the parents, in the order of the tuples.

    Examples
    --------
    >>> from duramen.theory.distributions.specification import specify, table, uniform
    >>> rain = table({"summer": {"wet": 0.25, "dry": 0.75}, "winter": "wet"}, "season")
    >>> specify({"season": uniform(["summer", "winter"]), "Y": rain}).probabilities("Y").tolist()
    [0.375, 0.625]
    """
    if not isinstance(rows, Mapping):
        raise TypeError(f"table: rows must be a mapping, got {rows!r}.")
    rows_of = dict(rows)

    def outcomes(values: tuple[Any, ...], _: Any) -> Outcomes:
        for key in (values, values[0]) if len(values) == 1 else (values,):
            if key in rows_of:
                row = rows_of[key]
                return row if isinstance(row, Mapping) else {row: 1.0}
        raise ValueError(
            f"table: there is no row for {_setting(parents, values)}, which has a positive "
            "probability."
        )

    return Factor(parents, outcomes)


def _checked(outcomes: Outcomes, what: str) -> Outcomes:
    """Refuse probabilities of values that are invalid; `what` names function and variable.

    What rounding leaves of 0, such as 1 - .7 - .2 - .1, is left out, on either side of it.
    """
    for value, p in outcomes.items():
        if is_missing(value):
            raise ValueError(f"{what} have {value!r} among the values; name it by a value.")
        if not isinstance(p, Real):
            raise TypeError(f"{what} must be numbers, got {p!r} for {value!r}.")
    positive = {value: float(p) for value, p in outcomes.items() if not abs(p) <= ROUNDING}
    function, _, name = what.partition(": ")
    check_probabilities(np.array(list(positive.values()), dtype=np.float64), name, function)
    return positive


def _setting(parents: Sequence[str], values: Sequence[Any]) -> str:
    return ", ".join(f"{p} = {v!r}" for p, v in zip(parents, values, strict=True))


MOST_ROWS = 1 << 20
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
    if not isinstance(factors, Mapping):
        raise refuse("specify", "factors", "a mapping of names to factors", factors)
    unseen = (hidden,) if isinstance(hidden, str) else tuple(hidden)
    roles = [("target", target), *(("hidden", name) for name in unseen)]
    roles += [] if context is None else [("context", context)]
    named = list(roles)
    for name, factor in factors.items():
        if not isinstance(name, str) or not isinstance(factor, Factor):
            raise TypeError(
                f"specify: factors must map names to factors, got {name!r}: {factor!r}. Hint: such "
                "as uniform(2), xor('X1', 'X2'), copy('Y', 0.95), table({...}, 'X1') or "
                "function(rule, 'X1')."
            )
        named += [(f"a parent of {name!r}", parent) for parent in factor.parents]
    for role, name in named:
        if name not in factors:
            allowed = f"one of {list(factors)}, which have a factor"
            raise refuse("specify", role, allowed, name)
    role_of = {name: role for role, name in roles}
    for role, name in roles:
        if role_of[name] != role:
            raise ValueError(f"specify: {name!r} cannot be both {role} and {role_of[name]}.")
    try:
        order = list(TopologicalSorter({n: f.parents for n, f in factors.items()}).static_order())
    except CycleError as error:
        circle = " -> ".join(map(repr, error.args[1]))
        raise ValueError(
            f"specify: a variable cannot be its own ancestor, but there is a cycle {circle}."
        ) from None
    values: dict[str, NDArray[Any]] = {}
    rows: list[tuple[tuple[int, ...], float]] = [((), 1.0)]  # codes in this order, probability
    for name in order:
        factor = factors[name]
        places = [order.index(parent) for parent in factor.parents]
        labels = [values[parent].tolist() for parent in factor.parents]
        outcomes: dict[tuple[int, ...], Outcomes] = {}
        for at in dict.fromkeys(tuple(row[i] for i in places) for row, _ in rows):
            parents = tuple(some[code] for some, code in zip(labels, at, strict=True))
            where = f" given {_setting(factor.parents, parents)}" if parents else ""
            outcomes[at] = _checked(
                factor.outcomes(parents, tuple(map(tuple, labels))),
                f"specify: the probabilities of {name!r}{where}",
            )
        seen = {value for some in outcomes.values() for value in some}
        ordered = in_order(seen) if factor.values is None else factor.values
        values[name] = labels_of([value for value in ordered if value in seen])
        code = {value: number for number, value in enumerate(values[name].tolist())}
        drawn = [outcomes[tuple(row[i] for i in places)].items() for row, _ in rows]
        n_rows = sum(map(len, drawn))
        if n_rows > MOST_ROWS:
            raise ValueError(
                f"specify: with {name!r} there are {n_rows} rows, more than {MOST_ROWS}. "
                "Hint: use fewer variables or fewer values."
            )
        rows = [
            ((*row, code[value]), weight * p)
            for (row, weight), some in zip(rows, drawn, strict=True)
            for value, p in some
        ]
    columns = np.array([row for row, _ in rows], dtype=np.uint32).reshape(len(rows), -1).T
    column = {
        name: Column(name, codes, values[name]) for name, codes in zip(order, columns, strict=True)
    }
    return FiniteDistribution.from_columns(
        [column[name] for name in factors if name not in role_of],
        column[target],
        np.array([weight for _, weight in rows]),
        context=None if context is None else column[context],
    )
