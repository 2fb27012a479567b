"""Markov boundaries of the target."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray
from duramen.theory.dependence.relevant_features import strong_informations
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import TOLERANCE, conditional_entropy
from duramen.theory.distributions.variables import IndexArray, Partition
from duramen.theory.population.row_sets import as_integer

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
    boundaries = _Blankets(dist).boundaries()
    in_order = sorted(
        (tuple(sorted(boundary)) for boundary in boundaries),
        key=lambda boundary: (len(boundary), boundary),
    )
    return [tuple(dist.names[j] for j in boundary) for boundary in in_order]


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
    >>> from duramen.theory.dependence import minimal_optimal
    >>> minimal_optimal(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    boundaries = markov_boundaries(dist)
    return [boundary for boundary in boundaries if len(boundary) == len(boundaries[0])]


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
            boundary = next((other for other in found if out.isdisjoint(other)), None)
            if boundary is None:
                boundary = self.boundary(out)
                if boundary is None:
                    continue
                found.append(boundary)
            for j in sorted(boundary - kept):
                waiting.append((out | {j}, kept))
                kept |= {j}
        raise TooManyBoundaries(
            f"markov_boundaries: dist has too many Markov boundaries to list: {len(found)} were "
            f"found in {LIMIT} steps, and there may be more. Hint: leave out copies of features, "
            "which redundancy lists."
        )


MOST_STEPS = 2**16
"""The most steps of one search; a step takes one more feature."""

_TIE = 1e-9  # neighboring probabilities no farther apart are equal
_MOST_CELLS = 2**27  # pairs of rows times features


def smallest_boundary(dist: FiniteDistribution) -> tuple[str, ...]:
    """Return one of the smallest Markov boundaries of the target.

    A set of features is a blanket if and only if it tells apart any two values of all features
    with different conditional distributions of Y: the search is for a smallest set of features
    that has one in common with the differences of each such pair. Sizes are tried one after the
    other, as FOCUS does; at each step one of the features is taken in which a pair differs that
    is not told apart so far.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    tuple of str
        Its features, in the order of the columns.

    Raises
    ------
    ValueError
        If there are too many pairs, or 65536 steps do not find one.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence.boundaries import smallest_boundary
    >>> smallest_boundary(dm.theory.examples.correlated_xor())
    ('X1', 'X2')
    """
    search = _Search(_differences(dist))
    size = 0
    while (found := search.of_size(size)) is None:
        size += 1
    return tuple(dist.names[j] for j in sorted(found))


def _differences(dist: FiniteDistribution) -> BoolArray:
    """Return the features in which each pair differs, of shape (pairs, p), small sets first."""
    values, row = np.unique(dist.codes, axis=0, return_inverse=True)
    joint = np.zeros((len(values), dist.n_classes))
    np.add.at(joint, (row.reshape(-1), dist.target), dist.weights)
    conditional = joint / joint.sum(axis=1, keepdims=True)
    levels = np.column_stack([_levels(column) for column in conditional.T])
    _, kind = np.unique(levels, axis=0, return_inverse=True)
    first, second = np.triu_indices(len(values), 1)
    apart = kind.reshape(-1)[first] != kind.reshape(-1)[second]
    if np.count_nonzero(apart) * dist.n_features > _MOST_CELLS:
        raise ValueError(
            f"smallest_boundary: dist has {len(values):,} different rows of {dist.n_features:,} "
            "features, too many to be compared in pairs. Hint: fewer features."
        )
    differ = values[first[apart]] != values[second[apart]]
    return np.asarray(differ[np.argsort(differ.sum(axis=1), kind="stable")])


def _levels(probabilities: FloatArray) -> IndexArray:
    """Number the distinct probabilities; digits would separate some that rounding takes apart."""
    order = np.argsort(probabilities, kind="stable")
    levels = np.empty(len(order), dtype=np.int64)
    levels[order] = np.cumsum(np.diff(probabilities[order], prepend=0.0) > _TIE)
    return levels


class _Search:
    """Depth-first search for sets of features that every pair has one of."""

    def __init__(self, differ: BoolArray) -> None:
        self._all = (1 << len(differ)) - 1
        # Bit i of entry j: pair i differs in feature j. The lowest bits are the pairs that differ
        # in the fewest features, which leave the fewest choices.
        self._told = [as_integer(one) for one in differ.T]
        self._features = [np.flatnonzero(one) for one in differ]
        self._steps = 0

    def of_size(self, size: int) -> tuple[int, ...] | None:
        """Return a set of so many features, if there is one."""
        return self._within(self._all, size, frozenset())

    def _within(self, left: int, size: int, out: frozenset[int]) -> tuple[int, ...] | None:
        """Return features, of which none is in `out`, that tell apart the pairs that are left."""
        if not left:
            return ()
        gains = [0 if j in out else (one & left).bit_count() for j, one in enumerate(self._told)]
        if sum(sorted(gains)[-size:] if size else ()) < left.bit_count():
            return None
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise ValueError(
                "smallest_boundary: dist has no small Markov boundary: "
                f"{MOST_STEPS:,} steps did not find one. Hint: fewer features, or another "
                "selector: no small set of features determines a target with noise."
            )
        pair = (left & -left).bit_length() - 1
        able = [int(j) for j in self._features[pair] if j not in out]
        for j in sorted(able, key=lambda j: -gains[j]):
            found = self._within(left & ~self._told[j], size - 1, out)
            if found is not None:
                return (j, *found)
            out |= {j}
        return None
