"""One smallest Markov boundary, where there are too many boundaries to list all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.partition import IndexArray

LIMIT = 2**16
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
    >>> from duramen.theory.relevance.smallest import smallest_boundary
    >>> smallest_boundary(dm.theory.examples.correlated_xor())
    ('X1', 'X2')
    """
    search = _Search(_differences(dist))
    size = 0
    while (found := search.of_size(size)) is None:
        size += 1
    return tuple(dist.names[j] for j in sorted(found))


def _differences(dist: FiniteDistribution) -> NDArray[np.bool_]:
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

    def __init__(self, differ: NDArray[np.bool_]) -> None:
        self._all = (1 << len(differ)) - 1
        # Bit i of entry j: pair i differs in feature j. The lowest bits are the pairs that differ
        # in the fewest features, which leave the fewest choices.
        self._told = [_bits(one) for one in differ.T]
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
        if self._steps > LIMIT:
            raise ValueError(
                f"smallest_boundary: dist has no small Markov boundary: {LIMIT:,} steps did not "
                "find one. Hint: fewer features, or another selector: no small set of features "
                "determines a target with noise."
            )
        pair = (left & -left).bit_length() - 1
        able = [int(j) for j in self._features[pair] if j not in out]
        for j in sorted(able, key=lambda j: -gains[j]):
            found = self._within(left & ~self._told[j], size - 1, out)
            if found is not None:
                return (j, *found)
            out |= {j}
        return None


def _bits(mask: NDArray[np.bool_]) -> int:
    """Return a mask as an integer, whose lowest bit is the first entry."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
