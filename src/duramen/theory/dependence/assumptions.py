"""Properties of distributions: positivity, intersection, composition, weak transitivity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

from duramen.results.summary import Framed, Summary
from duramen.support.arrays import BoolArray, FloatArray
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import Layer, joint_entropies
from duramen.theory.distributions.variables import TARGET

_EXPLAINED = {
    "strictly_positive": "strictly positive",
    "positive_features": "strictly positive over the features",
    "intersection": "intersection",
    "composition": "composition",
    "weak_transitivity": "weak transitivity",
}


@dataclass(frozen=True)
class Counterexample:
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
        return f"A = {self.a}, C = {self.c}, D = {self.d}, Z = {given}"


@dataclass(frozen=True, repr=False)
class Properties(Framed):
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

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a property.

        They are ``property``, ``holds`` and ``counterexample`` (a text, empty where it holds or
        none is needed).
        """
        names = (*_EXPLAINED, "P", "PC", "PCWT")
        return {
            "property": [_EXPLAINED.get(name, name) for name in names],
            "holds": [bool(getattr(self, name)) for name in names],
            "counterexample": [str(self.counterexamples.get(name, "")) for name in names],
        }

    def _summary(self, rows: int) -> Summary:
        lines = ["Properties of the distribution"]
        for name, text in _EXPLAINED.items():
            lines.append(f"{text}: {'yes' if getattr(self, name) else 'no'}")
            if name in self.counterexamples:
                lines[-1] += f" ({self.counterexamples[name]})"
        classes = [name for name in ("P", "PC", "PCWT") if getattr(self, name)]
        return Summary((*lines, f"classes: {', '.join(classes) if classes else 'none'}"))


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
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.properties(xor)
    Properties of the distribution
    strictly positive: no
    strictly positive over the features: yes
    intersection: yes
    composition: no (A = X1, C = X2, D = Y, Z = nothing)
    weak transitivity: yes
    classes: none
    """
    check_distribution("properties", dist)
    lattice, entropies = joint_entropies("properties", dist)
    names = (*dist.names, dist.target_name)
    counterexamples: dict[str, Counterexample] = {}
    below = independent_pairs(lattice, entropies, 2)
    for k in range(3, len(lattice)):
        here = independent_pairs(lattice, entropies, k)
        for name, subset, triple in _failures(lattice[k], below, here):
            if name not in counterexamples:
                counterexamples[name] = _named(names, lattice[k], subset, triple)
        below = here
    return Properties(
        strictly_positive=_fills(dist, with_target=True),
        positive_features=_fills(dist, with_target=False),
        intersection="intersection" not in counterexamples,
        composition="composition" not in counterexamples,
        weak_transitivity="weak_transitivity" not in counterexamples,
        counterexamples=counterexamples,
    )


def independent_pairs(
    lattice: Sequence[Layer], entropies: Sequence[FloatArray], k: int
) -> BoolArray:
    """Return, for subsets of k and members i, j, whether these are independent given the rest.

    Shape (C(n, k), k, k).
    """
    if k >= len(lattice):
        return np.zeros((0, k, k), dtype=np.bool_)
    without, twice = lattice[k].without, lattice[k - 1].without
    independent = np.zeros((len(without), k, k), dtype=np.bool_)
    for i in range(k):
        for j in range(i):
            neither = entropies[k - 2][twice[without[:, i], j]]
            one = entropies[k - 1][without[:, i]] + entropies[k - 1][without[:, j]]
            shared = one - entropies[k] - neither
            independent[:, i, j] = independent[:, j, i] = shared <= TOLERANCE
    return independent


def _failures(
    layer: Layer, below: BoolArray, here: BoolArray
) -> Iterator[tuple[str, int, tuple[int, int, int]]]:
    """Yield a failing property, a subset and the places of A, C and D in it, the rest being Z."""

    def without(i: int, j: int, dropped: int) -> BoolArray:
        """Return whether members i and j are independent given the rest less one member."""
        place = layer.without[:, dropped]
        independent: BoolArray = below[place, i - (dropped < i), j - (dropped < j)]
        return independent

    for a, c, d in permutations(range(layer.members.shape[1]), 3):
        ac, ad = without(a, c, d), without(a, d, c)
        ac_d, ad_c = here[:, a, c], here[:, a, d]
        checks = []
        if c < d:  # C and D play the same part here, and A and C below
            checks.append(("intersection", ac_d & ad_c & ~ac))
            checks.append(("composition", ac & ad & ~ac_d))
        if a < c:
            checks.append(("weak_transitivity", ac & ac_d & ~ad & ~without(c, d, a)))
        for name, failing in checks:
            if failing.any():
                yield name, int(np.argmax(failing)), (a, c, d)


def _named(
    names: Sequence[str], layer: Layer, subset: int, triple: tuple[int, int, int]
) -> Counterexample:
    members = [names[v] for v in layer.members[subset]]
    a, c, d = (members[i] for i in triple)
    return Counterexample(a, c, d, tuple(name for i, name in enumerate(members) if i not in triple))


def _fills(dist: FiniteDistribution, *, with_target: bool) -> bool:
    """Return whether the rows fill the product of the values of the variables."""
    features = range(dist.n_features)
    rows = dist.partition([*features, TARGET] if with_target else features)
    possible: int = prod(dist.cardinalities.tolist()) * (dist.n_classes if with_target else 1)
    return rows.n_cells == possible
