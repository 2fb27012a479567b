"""Redundancy between features, by several definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import comb
from typing import Any

import numpy as np

from duramen.results.result import Result
from duramen.results.summary import Column, Summary, hidden
from duramen.support.arrays import BoolArray, FloatArray
from duramen.theory.dependence.relevant_features import conditionings_of
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
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
        """Pairs of features each of which is totally redundant to the other."""
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
    return Redundancy(
        names=dist.names,
        relevant=relevant,
        total=(most_left <= TOLERANCE) & apart,
        determined=determined,
        partial=(most_left > TOLERANCE) & reduced & apart,
        degree=degrees,
        lowest=np.where(apart, lowest, 0.0),
        highest=np.where(apart, highest, 0.0),
        shields=_shields(dist.names, relevant, features, informations, entropies),
    )


def _shields(
    names: tuple[str, ...],
    relevant: BoolArray,
    features: Sequence[Layer],
    informations: Sequence[FloatArray],
    entropies: Sequence[FloatArray],
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the minimal shields of every weakly relevant feature."""
    p = len(names)
    weak = relevant & ~(informations[p].reshape(p) > TOLERANCE)
    # H(X_i|V-i,Y): what even all other variables leave open; M shields if it leaves no more.
    least = (entropies[p + 1] - entropies[p][::-1])[:p]
    hits = [np.zeros((1, 0), dtype=np.bool_)]
    for k in range(1, p + 1):
        members = features[k].members
        given_rest = entropies[k][: comb(p, k), np.newaxis] - entropies[k - 1][features[k].without]
        hits.append(weak[members] & (given_rest - least[members] <= TOLERANCE))
    shields = conditionings_of(names, features, minimal(features, hits))
    return {names[m]: shields[m] for m in np.flatnonzero(weak).tolist()}
