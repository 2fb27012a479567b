"""Minimal conditionings of relevant features: named and random scenarios of a simulation."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray
from duramen.support.checks import check_integer, refuse

# For each relevant feature its minimal conditionings, each a set of indices of relevant features.
Conditionings = Sequence[Sequence[Collection[int]]]
RandomState = int | np.random.Generator | None


def named_conditionings(scenario: str, n_relevant: int) -> Conditionings:
    """Return the conditionings of a chain, a clique or marginally relevant features.

    Parameters
    ----------
    scenario : {"chain", "clique", "marginal"}
        As for `expected_trees`.
    n_relevant : int
        Number r of relevant features.

    Returns
    -------
    tuple
        One entry a feature: a tuple of its one conditioning, a frozen set of indices.

    Raises
    ------
    ValueError
        If `scenario` is none of these.

    Examples
    --------
    >>> from duramen.theory.subspaces import named_conditionings
    >>> [[sorted(given) for given in one] for one in named_conditionings("chain", 3)]
    [[[]], [[0]], [[0, 1]]]
    """
    return conditionings_of("named_conditionings", scenario, n_relevant)


def conditionings_of(function: str, scenario: str, n_relevant: int) -> Conditionings:
    """Return the conditionings of a named scenario, in the name of a function."""
    r = check_integer(function, "n_relevant", n_relevant, 1)
    everyone: frozenset[int] = frozenset(range(r))
    if scenario == "chain":
        return tuple((frozenset(range(m)),) for m in range(r))
    if scenario == "clique":
        return tuple((everyone - {m},) for m in range(r))
    if scenario == "marginal":
        return tuple((frozenset(),) for _ in range(r))
    raise refuse(function, "scenario", "one of 'chain', 'clique', 'marginal'", scenario)


def random_conditionings(
    n_relevant: int, *, max_degree: int = 5, random_state: RandomState = None
) -> Conditionings:
    """Draw degrees and minimal conditionings of relevant features: the mixed setting.

    Each degree is uniform on 0..`max_degree`. A feature of degree k has one minimal conditioning, k
    features drawn from the others whose degree is at most k, as it must be (thesis, Proposition
    5.2). Degrees for which there are not enough such others are drawn again, all of them.

    Parameters
    ----------
    n_relevant : int
        Number r of relevant features.
    max_degree : int, default=5
        Largest degree, below r.
    random_state : int, Generator or None, default=None
        Seed, for the same draw again.

    Returns
    -------
    tuple
        One entry a feature: a tuple of its one conditioning, a frozen set of indices.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Geurts 2016, slide on the mixed setting: r = 20, largest degree 5; they do not state how degrees
    and conditionings are drawn.

    Examples
    --------
    >>> from duramen.theory.subspaces import random_conditionings
    >>> mixed = random_conditionings(4, max_degree=2, random_state=0)
    >>> [len(given) for (given,) in mixed]
    [2, 1, 1, 0]
    """
    function = "random_conditionings"
    r = check_integer(function, "n_relevant", n_relevant, 1)
    top = check_integer(
        function, "max_degree", max_degree, 0, most=r - 1, hint="a degree counts other features"
    )
    rng = np.random.default_rng(random_state)
    while True:
        degrees = rng.integers(0, top + 1, r)
        no_higher = np.searchsorted(np.sort(degrees), degrees, side="right")
        if np.all(no_higher - 1 >= degrees):
            break
    chosen = []
    for m, degree in enumerate(degrees):
        others = np.flatnonzero((degrees <= degree) & (np.arange(r) != m))
        chosen.append((frozenset(rng.choice(others, degree, replace=False).tolist()),))
    return tuple(chosen)


class ConditioningTable:
    """Conditionings as arrays: the features that each one holds, and the feature it belongs to."""

    def __init__(self, conditionings: Conditionings) -> None:
        sets = [
            _checked_sets(m, given, len(conditionings)) for m, given in enumerate(conditionings)
        ]
        counts = [len(given) for given in sets]
        self.r = len(sets)
        self.starts = np.cumsum([0, *counts[:-1]])
        self.holds = np.zeros((self.r, sum(counts)), dtype=bool)
        for column, members in enumerate(itertools.chain.from_iterable(sets)):
            self.holds[list(members), column] = True
        self.sizes = self.holds.sum(axis=0).astype(np.int16)
        self.degrees = np.array([min(map(len, given)) for given in sets])

    def satisfied(self, missing: NDArray[np.int16]) -> BoolArray:
        """Return which features have a conditioning of which nothing is missing."""
        return np.logical_or.reduceat(missing == 0, self.starts, axis=1)


def _checked_sets(m: int, given: Any, r: int) -> list[frozenset[int]]:
    """Return the conditionings of one feature, checked."""
    name = f"conditionings[{m}]"
    allowed = "a list of sets of indices of relevant features, such as [{0, 1}], or [()] for none"
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise refuse("simulate", name, allowed, given)
    sets = []
    for members in given:
        if isinstance(members, str) or not isinstance(members, Collection):
            raise refuse("simulate", name, allowed, given)
        for other in members:
            if not isinstance(other, Integral) or not 0 <= int(other) < r or int(other) == m:
                raise ValueError(
                    f"simulate: {name} holds {other!r}; expected indices in 0..{r - 1} of features "
                    f"other than {m} itself."
                )
        sets.append(frozenset(map(int, members)))
    if any(one < other for one in sets for other in sets):
        raise ValueError(
            f"simulate: {name} holds a set that contains another one, {given!r}; only minimal "
            "conditionings count. Hint: leave the larger one out."
        )
    return sets
