"""Markov boundaries of the target."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.impurity import check_distribution
from duramen.theory.distributions.information import TOLERANCE, conditional_entropy
from duramen.theory.distributions.partition import Partition
from duramen.theory.relevance.relevance import strong_informations

LIMIT = 2**14
"""The most steps of one search; a step leaves out one more set of features."""

Subset = frozenset[int]


class TooManyBoundaries(ValueError):
    """More Markov boundaries than can be listed."""


def markov_boundaries(dist: FiniteDistribution) -> list[tuple[str, ...]]:
    r"""Return all Markov boundaries of the target.

    A Markov blanket is a set M of features with :math:`I(Y; V \setminus M | M) = 0`; a boundary
    is a blanket of which no proper part is one. Every boundary contains the strongly relevant
    features and no irrelevant one.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    list of tuple of str
        The boundaries, smaller ones first, each in the order of the columns. There is at least
        one; it is empty where no feature is relevant.

    Raises
    ------
    ValueError
        If there are too many boundaries to list: if 16384 steps do not find them all.

    Notes
    -----
    Blankets are upward closed. Leaving out features one by one, as long as the rest is a blanket,
    ends at a boundary. Any other boundary lacks one of its features, so leaving out each of them
    in turn and starting again finds all. The cost grows with the number of boundaries, not with
    the number of features: a single boundary among hundreds of features is no problem.

    References
    ----------
    Pearl 1988; Statnikov et al. 2013; thesis, definitions 2.10 and 2.11.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.markov_boundaries(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    check_distribution("markov_boundaries", dist)
    found = _Blankets(dist).boundaries()
    in_order = sorted((tuple(sorted(one)) for one in found), key=lambda one: (len(one), one))
    return [tuple(dist.names[j] for j in one) for one in in_order]


def minimal_optimal(dist: FiniteDistribution) -> list[tuple[str, ...]]:
    """Return the solutions of the minimal-optimal problem: all Markov boundaries of least size.

    With one of these sets a learner whose loss asks for calibrated probabilities can do as well
    as with all features, and with no smaller set.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    list of tuple of str
        The smallest boundaries; take the first if any will do.

    Raises
    ------
    ValueError
        As `markov_boundaries`.

    References
    ----------
    Tsamardinos and Aliferis 2003, proposition 3; thesis, definition 2.18.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.relevance import minimal_optimal
    >>> minimal_optimal(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    found = markov_boundaries(dist)
    return [one for one in found if len(one) == len(found[0])]


class _Blankets:
    """Search for Markov blankets of the target."""

    def __init__(self, dist: FiniteDistribution) -> None:
        self.dist = dist
        self.n_codes = dist.cardinalities.tolist()
        strong = strong_informations(dist)
        self.needed = frozenset(np.flatnonzero(strong > TOLERANCE).tolist())
        self.others = [j for j in range(dist.n_features) if j not in self.needed]
        self.core = dist.partition(sorted(self.needed))
        self.least = self.left(dist.partition(range(dist.n_features)))

    def left(self, part: Partition) -> float:
        """Return H(Y|M) for the partition by M."""
        joint = part.refined(self.dist.target, self.dist.n_classes)
        return conditional_entropy(self.dist.weights, joint, part)

    def is_blanket(self, part: Partition) -> bool:
        # I(Y;V\M|M) = H(Y|M) - H(Y|V)
        return self.left(part) - self.least <= TOLERANCE

    def refined(self, part: Partition, features: Iterable[int]) -> Partition:
        for j in features:
            part = part.refined(self.dist.codes[:, j], self.n_codes[j])
        return part

    def boundary(self, left_out: Subset) -> Subset | None:
        """Return a boundary that lacks some features, if there is one."""
        available = (j for j in self.others if j not in left_out)
        part, taken = self.core, []
        while not self.is_blanket(part):
            j = next(available, None)
            if j is None:
                return None
            taken.append((j, part))
            part = self.refined(part, [j])
        kept: list[int] = []
        for j, before in reversed(taken):
            if not self.is_blanket(self.refined(before, kept)):
                kept.append(j)
        return self.needed.union(kept)

    def boundaries(self) -> list[Subset]:
        """Return all boundaries, by leaving out features in every way that matters.

        A step looks for the boundaries that lack all of `out` and have all of `kept`. Once one of
        them is known, each other one lacks a first member of it: no boundary is met twice.
        """
        found: list[Subset] = []
        nothing: Subset = frozenset()
        waiting = [(nothing, self.needed)]
        for _ in range(LIMIT):
            if not waiting:
                return found
            out, kept = waiting.pop()
            known = next((one for one in found if out.isdisjoint(one)), None)
            if known is None:
                known = self.boundary(out)
                if known is None:
                    continue
                found.append(known)
            for j in sorted(known - kept):
                waiting.append((out | {j}, kept))
                kept |= {j}
        raise TooManyBoundaries(
            f"markov_boundaries: dist has too many Markov boundaries to list: {len(found)} were "
            f"found in {LIMIT} steps, and there may be more. Hint: leave out copies of features, "
            "which redundancy lists."
        )
