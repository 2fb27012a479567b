"""Conditional independences: redundancy between features, and properties of distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb, prod
from typing import Any

import numpy as np

from duramen.results.archive import Saved
from duramen.results.result import Result
from duramen.results.summary import Column, Summary, hidden
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.text import escaped
from duramen.theory.dependence.relevant_features import conditionings_of
from duramen.theory.distributions.finite_distribution import (
    TARGET,
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import Layer, gains, joint_entropies, minimal


@dataclass(frozen=True, eq=False, repr=False)
class Redundancy(Result):
    """Redundancy between the p features of a distribution, by several definitions.

    All matrices are read as "row to column": entry (i, j) speaks of X_i in view of X_j. Their
    diagonals are False, or 0.

    Parameters
    ----------
    names : tuple of str
        Names of the p features.
    relevant : ndarray of bool, shape (p,)
        Which features are relevant to Y at all.
    total : ndarray of bool, shape (p, p)
        X_i is totally redundant to X_j: I(X_i;Y|B,X_j) = 0 for every B without them. One half
        of total redundancy, which asks for it both ways. An irrelevant X_i is totally redundant
        to every feature.
    determined : ndarray of bool, shape (p, p)
        H(X_i|X_j) = 0: X_j determines the value of X_i.
    partial : ndarray of bool, shape (p, p)
        X_i is partially redundant to X_j: some B has I(X_i;Y|B,X_j) > 0, and for every such B,
        I(X_i;Y|B) > I(X_i;Y|B,X_j).
    degree : ndarray of float64, shape (p, p)
        I(X_i;X_j;Y) in bits: degree of redundancy given no other feature; negative where the two
        are complementary.
    lowest, highest : ndarray of float64, shape (p, p)
        Smallest and largest degree of redundancy I(X_i;X_j;Y|B) over all B, in bits.
    shields : mapping of str to tuple of tuple of str
        For each weakly relevant feature X_i the minimal sets M of other features that shield it
        from the target and all the rest. Features that no set shields have none.

    Examples
    --------
    >>> import duramen as dm
    >>> found = dm.theory.redundancy(dm.theory.examples.correlated_xor())
    >>> found.copies, found.shields["X2"]
    ([('X2', 'X4'), ('X3', 'X5')], (('X4',),))
    """

    names: tuple[str, ...]
    relevant: BoolArray
    total: BoolArray
    determined: BoolArray
    partial: BoolArray
    degree: FloatArray
    lowest: FloatArray
    highest: FloatArray
    shields: Mapping[str, tuple[tuple[str, ...], ...]]

    @property
    def totally_redundant(self) -> list[tuple[str, str]]:
        """Pairs of features that are totally redundant to each other."""
        return self._pairs(self.total & self.total.T)

    @property
    def copies(self) -> list[tuple[str, str]]:
        """Pairs of features that determine each other: Louppe's stronger form."""
        return self._pairs(self.determined & self.determined.T)

    def redundant_to(self, feature: str, others: Iterable[str]) -> bool:
        """Return whether a feature is redundant to a set of others in the sense of Yu and Liu.

        That is: it is weakly relevant, and some subset M of the set makes it independent of the
        target and of all other features together.

        Parameters
        ----------
        feature : str
            Name of the feature.
        others : iterable of str
            Names of the set, without the feature itself.

        Raises
        ------
        ValueError
            If a name is unknown, or `feature` is among `others`.
        """
        wanted = {others} if isinstance(others, str) else set(others)
        if unknown := ({feature} | wanted) - set(self.names) | ({feature} & wanted):
            raise ValueError(
                f"redundant_to: feature and others must be different ones of {list(self.names)}, "
                f"got {sorted(map(str, unknown))}."
            )
        return any(wanted.issuperset(shield) for shield in self.shields.get(feature, ()))

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row an ordered pair of different features.

        They are ``feature`` (X_i), ``other`` (X_j), then the entries (i, j) of ``total``,
        ``determined``, ``partial``, ``degree``, ``lowest`` and ``highest``.
        """
        i, j = np.nonzero(~np.eye(len(self.names), dtype=np.bool_))
        columns: dict[str, Any] = {
            "feature": [self.names[a] for a in i],
            "other": [self.names[b] for b in j],
        }
        for what in ("total", "determined", "partial", "degree", "lowest", "highest"):
            columns[what] = getattr(self, what)[i, j]
        return columns

    def _pairs(self, both: BoolArray) -> list[tuple[str, str]]:
        i, j = np.nonzero(np.triu(both, 1))
        return [(self.names[a], self.names[b]) for a, b in zip(i, j, strict=True)]

    _rows_shown = 12

    def _summary(self, rows: int) -> Summary:
        pairs = [
            (i, j) for i, j in np.ndindex(len(self.names), len(self.names)) if self._notion(i, j)
        ]
        heading = f"Redundancy of {int(self.relevant.sum())} relevant features"
        if not pairs:
            return Summary((heading, "no relevant feature is redundant to another"))
        shown = pairs[:rows]
        degrees = np.array([self.degree[pair] for pair in shown])
        columns = [
            Column("feature", [self.names[i] for i, _ in shown], kind="words"),
            Column("is", [self._notion(*pair) for pair in shown], kind="words"),
            Column("to", [self.names[j] for _, j in shown], kind="words"),
            Column("bits shared, given nothing else", [f"{d:.4f}" for d in degrees], bars=degrees),
        ]
        return Summary((heading,), columns, hidden(len(pairs), len(shown)))

    def _notion(self, i: int, j: int) -> str:
        """Return the strongest notion in which X_i is redundant to X_j, or nothing."""
        if i == j or not (self.relevant[i] and self.relevant[j]):
            return ""
        if self.determined[i, j] and self.determined[j, i]:
            return "a copy"
        if self.total[i, j]:
            return "totally redundant"
        return "partially redundant" if self.partial[i, j] else ""


def redundancy(dist: FiniteDistribution) -> Redundancy:
    r"""Decide the redundancy between features with respect to the target, by several definitions.

    * X_i is *totally redundant to* X_j when :math:`I(X_i;Y|B,X_j) = 0` for every set B of other
      features; two features are totally redundant when each is to the other (thesis, definitions
      2.13 and 2.14).
    * Louppe's stronger form asks for :math:`H(X_i|X_j) = H(X_j|X_i) = 0` (thesis, eq. 2.16).
    * X_i is *partially redundant* to X_j when some B has :math:`I(X_i;Y|B,X_j) > 0`, and for every
      such B, :math:`I(X_i;Y|B) > I(X_i;Y|B,X_j)` (thesis, definition 2.15).
    * The *degree of redundancy* at B is :math:`I(X_i;X_j;Y|B) = I(X_i;Y|B) - I(X_i;Y|B,X_j)`
      (thesis, definition 2.16).
    * X_i is redundant *to a set* in the sense of Yu and Liu (2004) when it is weakly relevant and
      some subset M of it has :math:`X_i \perp \{Y\} \cup V \setminus (M \cup \{X_i\}) | M`
      (thesis, definition 2.12).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y. A context is left out: it is no feature.

    Returns
    -------
    Redundancy
        Matrices over the pairs, and the shields of each weakly relevant feature.

    Raises
    ------
    ValueError
        If p is above 19: the entropies of all 2**(p+1) sets of variables are computed.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.redundancy(dm.theory.examples.correlated_xor()).totally_redundant
    [('X2', 'X4'), ('X3', 'X5')]
    """
    check_distribution("redundancy", dist)
    p = dist.n_features
    lattice, entropies = joint_entropies("redundancy", dist)
    # The target is the last variable: subsets of the features come first in every layer, and
    # those with the target follow in the same order.
    features = [
        Layer(layer.members[: comb(p, k)], layer.without[: comb(p, k)])
        for k, layer in enumerate(lattice[:-1])
    ]
    uncertainty = [
        entropies[k + 1][comb(p, k + 1) :] - entropies[k][: comb(p, k)] for k in range(p + 1)
    ]
    informations = gains(features, uncertainty)
    shape, apart = (p, p), ~np.eye(p, dtype=np.bool_)
    most_left, degrees = np.zeros(shape), np.zeros(shape)  # largest I(X_i;Y|B,X_j); with B empty
    reduced = np.ones(shape, dtype=np.bool_)  # X_j takes some of it away wherever > 0
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for layer, below, here in zip(features[1:], informations[:-1], informations[1:], strict=True):
        # A subset of this layer is X_i, X_j and a set B.
        size = layer.members.shape[1]
        for a, b in permutations(range(size), 2):
            place = layer.members[:, a], layer.members[:, b]
            with_j = here[:, a]
            degree = below[layer.without[:, b], a - (b < a)] - with_j
            np.maximum.at(most_left, place, with_j)
            np.logical_and.at(reduced, place, (with_j <= TOLERANCE) | (degree > TOLERANCE))
            np.minimum.at(lowest, place, degree)
            np.maximum.at(highest, place, degree)
            if size == 2:
                degrees[place] = degree
    relevant = np.zeros(p, dtype=np.bool_)
    for layer, information in zip(features, informations, strict=True):
        np.logical_or.at(relevant, layer.members, information > TOLERANCE)
    determined = np.zeros(shape, dtype=np.bool_)
    if p > 1:
        i, j = features[2].members.T
        both, single = entropies[2][: comb(p, 2)], entropies[1]
        determined[i, j] = both - single[j] <= TOLERANCE
        determined[j, i] = both - single[i] <= TOLERANCE
    # H(X_i|V-i,Y): what even all other variables leave open; M shields if it leaves no more.
    weak = relevant & ~(informations[p].reshape(p) > TOLERANCE)
    least = (entropies[p + 1] - entropies[p][::-1])[:p]
    hits = [np.zeros((1, 0), dtype=np.bool_)]
    for k in range(1, p + 1):
        members = features[k].members
        given_rest = entropies[k][: comb(p, k), np.newaxis] - entropies[k - 1][features[k].without]
        hits.append(weak[members] & (given_rest - least[members] <= TOLERANCE))
    shields = conditionings_of(dist.names, features, minimal(features, hits))
    return Redundancy(
        names=dist.names,
        relevant=relevant,
        total=(most_left <= TOLERANCE) & apart,
        determined=determined,
        partial=(most_left > TOLERANCE) & reduced & apart,
        degree=degrees,
        lowest=np.where(apart, lowest, 0.0),
        highest=np.where(apart, highest, 0.0),
        shields={dist.names[m]: shields[m] for m in np.flatnonzero(weak).tolist()},
    )


# --- properties of distributions ------------------------------------------------------------------


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
        """Return each property, its truth value, and a counterexample if it fails."""
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
