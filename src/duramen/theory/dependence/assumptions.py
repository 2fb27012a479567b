"""Properties of distributions: positivity, intersection, composition, weak transitivity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from math import prod

import numpy as np

from duramen.results.archive import Saved
from duramen.results.result import Result
from duramen.results.summary import Column
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.text import escaped
from duramen.theory.distributions.finite_distribution import (
    TARGET,
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import joint_entropies

_EXPLAINED = {
    "strictly_positive": "strictly positive",
    "positive_features": "strictly positive over the features",
    "intersection": "intersection",
    "composition": "composition",
    "weak_transitivity": "weak transitivity",
}


@dataclass(frozen=True)
class Counterexample(Saved):
    """Single variables A, C, D and a set Z for which a property fails.

    * intersection: A ⊥ C | Z, D and A ⊥ D | Z, C, but A is not independent of (C, D) given Z;
    * composition: A ⊥ C | Z and A ⊥ D | Z, but A is not independent of (C, D) given Z;
    * weak transitivity: A ⊥ C | Z and A ⊥ C | Z, D, but D depends on both A and C given Z.

    Parameters
    ----------
    a, c, d : str
        Names of three variables; one of them may be the target.
    given : tuple of str
        Names of the variables in Z.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> print(dm.theory.properties(xor).counterexamples["composition"])
    A = X1, C = X2, D = Y, Z = nothing
    """

    a: str
    c: str
    d: str
    given: tuple[str, ...]

    def __str__(self) -> str:
        given = ", ".join(self.given) if self.given else "nothing"
        return escaped(f"A = {self.a}, C = {self.c}, D = {self.d}, Z = {given}")


@dataclass(frozen=True, repr=False)
class Properties(Result):
    """Properties of a joint distribution of the features and the target.

    Parameters
    ----------
    strictly_positive : bool
        Every combination of values of all features and of Y has positive probability.
    positive_features : bool
        Every combination of values of the features has positive probability. Enough for a unique
        Markov boundary of Y; unlike the above it allows Y to be a function of the features.
    intersection, composition, weak_transitivity : bool
        Whether the property holds for all sets of variables, Y among them; see `properties`.
    counterexamples : mapping of str to Counterexample
        For each of these three that fails, a case where it does.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> found = dm.theory.properties(xor)
    >>> found.strictly_positive, found.intersection, found.composition
    (False, True, False)
    """

    strictly_positive: bool
    positive_features: bool
    intersection: bool
    composition: bool
    weak_transitivity: bool
    counterexamples: dict[str, Counterexample]

    @property
    def P(self) -> bool:
        """Strictly positive."""
        return self.strictly_positive

    @property
    def PC(self) -> bool:
        """Strictly positive, with composition."""
        return self.strictly_positive and self.composition

    @property
    def PCWT(self) -> bool:
        """Strictly positive, with composition and weak transitivity."""
        return self.PC and self.weak_transitivity

    _WHAT = "properties"

    def table(self) -> list[Column]:
        """Return each property, whether it holds, and a counterexample where it fails."""
        names = (*_EXPLAINED, "P", "PC", "PCWT")
        holds = np.array([bool(getattr(self, name)) for name in names])
        titles = [_EXPLAINED.get(name, name) for name in names]
        cases = [str(self.counterexamples.get(name, "")) for name in names]
        answers = ["yes" if answer else "no" for answer in holds]
        return [
            Column("property", titles, "name", name="property"),
            Column("holds", answers, "words", name="holds", numbers=holds),
            Column("counterexample", cases, "words", name="counterexample"),
        ]


def properties(dist: FiniteDistribution) -> Properties:
    r"""Decide the properties of Nilsson et al. for a distribution.

    With A, C, D, Z disjoint sets of variables among the features and Y, all but Z not empty, and
    :math:`\perp` independence:

    * intersection: :math:`A \perp C | Z,D` and :math:`A \perp D | Z,C` imply
      :math:`A \perp C,D | Z`;
    * composition: :math:`A \perp C | Z` and :math:`A \perp D | Z` imply
      :math:`A \perp C,D | Z`;
    * weak transitivity: :math:`A \perp C | Z` and :math:`A \perp C | Z,D` imply
      :math:`A \perp D | Z` or :math:`D \perp C | Z`, for D a single variable.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y. A context is left out: it is no feature.

    Returns
    -------
    Properties
        What holds, with a counterexample for what does not.

    Raises
    ------
    ValueError
        If p is above 19: the entropies of all 2**(p+1) sets of variables are computed.

    Notes
    -----
    Only single A, C and D have to be tried, with every Z. Independence of sets is independence of
    all pairs of members given the set and any more members (decomposition, weak union and
    contraction, which every distribution has), so intersection follows by induction from larger
    to smaller conditioning sets, composition from smaller to larger, and weak transitivity by
    contraction.

    The thesis prints "and" in the conclusion of weak transitivity; Pearl and Nilsson et al. have
    "or", and so have we: with "and", no three variables of which one is independent of the two
    others, and these dependent, would have it.

    References
    ----------
    Pearl 1988; Nilsson et al. 2007; Lněnička and Matúš 2007; thesis, section 2.4.2 and
    property 7.1.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.properties(dm.theory.examples.xor()).counterexamples
    {'composition': Counterexample(a='X1', c='X2', d='Y', given=())}
    """
    check_distribution("properties", dist)
    lattice, entropies = joint_entropies("properties", dist)
    names = (*dist.names, dist.target_name)
    counterexamples: dict[str, Counterexample] = {}
    below = np.zeros((0, 0, 0), dtype=np.bool_)
    for k in range(2, len(lattice)):
        layer = lattice[k]
        # Whether members i and j of each subset are independent given the rest of it.
        here = np.zeros((len(layer.members), k, k), dtype=np.bool_)
        for i, j in combinations(range(k), 2):
            neither = entropies[k - 2][lattice[k - 1].without[layer.without[:, j], i]]
            apart = entropies[k - 1][layer.without[:, i]] + entropies[k - 1][layer.without[:, j]]
            here[:, i, j] = here[:, j, i] = apart - entropies[k] - neither <= TOLERANCE

        def without(
            i: int,
            j: int,
            dropped: int,
            place: IntArray = layer.without,
            independent: BoolArray = below,
        ) -> BoolArray:
            """Return whether members i and j are independent given the rest less one member."""
            subset = place[:, dropped]
            return np.asarray(independent[subset, i - (dropped < i), j - (dropped < j)])

        for a, c, d in permutations(range(k), 3):
            ac, ad, ac_d, ad_c = without(a, c, d), without(a, d, c), here[:, a, c], here[:, a, d]
            failing: dict[str, BoolArray] = {}
            if c < d:  # C and D play the same part here, and A and C below
                failing["intersection"] = ac_d & ad_c & ~ac
                failing["composition"] = ac & ad & ~ac_d
            if a < c:
                failing["weak_transitivity"] = ac & ac_d & ~ad & ~without(c, d, a)
            for name, fails in failing.items():
                if fails.any() and name not in counterexamples:
                    members = [names[v] for v in layer.members[int(np.argmax(fails))]]
                    given = tuple(members[i] for i in range(k) if i not in (a, c, d))
                    first, second, third = members[a], members[c], members[d]
                    counterexamples[name] = Counterexample(first, second, third, given)
        below = here
    features = range(dist.n_features)
    possible: int = prod(dist.cardinalities.tolist())
    return Properties(
        strictly_positive=dist.partition([*features, TARGET]).n_cells == possible * dist.n_classes,
        positive_features=dist.partition(features).n_cells == possible,
        intersection="intersection" not in counterexamples,
        composition="composition" not in counterexamples,
        weak_transitivity="weak_transitivity" not in counterexamples,
        counterexamples=counterexamples,
    )
