"""Nodes of trees on a distribution, each as the set of its rows, with all their splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.partition import IndexArray
from duramen.theory.population.splits import (
    count_children,
    count_splits,
    gains,
    groupings,
    numbers_at,
    variances,
)

_NUMBERS = 2**21  # numbers in the largest array that several nodes share
_ROUNDING = 1e-13  # a decrease of so little is none


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """All splits of some nodes, and those of their children that are not pure.

    The splits of a feature at a node are neighbors.

    Parameters
    ----------
    node, feature : ndarray of int64, shape (T,)
        The node, by its place among those asked for, and the feature of each split.
    decrease : ndarray of float64, shape (T,)
        Its decrease of impurity given the node, as a multiple of the node's `scale`.
    split : ndarray of int64, shape (M,)
        The split of each child.
    rows : list of int, length M
        The rows that go to each child, whether they are in the node or not.
    share : ndarray of float64, shape (n,)
        Probability P(t) of the rows of each node.
    scale : ndarray of float64, shape (n,)
        1, or the variance at each node where that is the impurity.
    """

    node: IndexArray
    feature: IndexArray
    decrease: FloatArray
    split: IndexArray
    rows: list[int]
    share: FloatArray
    scale: FloatArray


class Nodes:
    """Nodes of trees on a distribution: bit i of a node, an int, stands for row i.

    A *value* is a pair (feature, code); those of all features are numbered one after the other. A
    context is left out.
    """

    def __init__(self, dist: FiniteDistribution, criterion: str, family: str) -> None:
        dist = dist.marginal(range(dist.n_features), keep_context=False)
        self.criterion = criterion
        self.family = family
        self.n_features = dist.n_features
        self.n_classes = dist.n_classes
        self.weights = dist.weights
        self.numbers = dist.numbers_of_classes("tree_importances", criterion)
        sizes = dist.cardinalities
        self.n_values = int(sizes.sum())
        self.feature_of = np.repeat(np.arange(dist.n_features), sizes)
        value = dist.codes.astype(np.int64) + (np.cumsum(sizes) - sizes)
        self.cell = value * dist.n_classes + dist.target[:, np.newaxis].astype(np.int64)
        has_value = np.zeros((self.n_values, dist.n_rows), dtype=bool)
        has_value[value, np.arange(dist.n_rows)[:, np.newaxis]] = True
        self.rows_of = [_as_bits(rows) for rows in has_value]
        self.at_a_time = max(1, _NUMBERS // max(1, numbers_of_a_node(dist, family)))
        """How many nodes are best looked at together."""

    @property
    def root(self) -> int:
        """Node of all rows."""
        return (1 << len(self.weights)) - 1

    def splits(self, nodes: list[int]) -> Splits:
        """Return all splits of some nodes."""
        share, cells = self._count(nodes)
        parent = cells[:, self.feature_of == 0].sum(axis=1)
        scale, numbers = np.ones(len(nodes)), parent
        if self.criterion == "variance":
            numbers = numbers_at(parent, self.numbers)
            scale = np.maximum(variances(parent, numbers), np.finfo(np.float64).tiny)
        empty = np.zeros(0, dtype=np.int64)
        node, feature, split, decrease = [empty], [empty], [empty], [np.zeros(0)]
        rows: list[int] = []
        known: dict[tuple[int, ...], list[int]] = {}
        total = 0
        for at, values in _seen(np.any(cells > 0, axis=2), self.feature_of):
            groups = groupings(self.family, values.shape[1])
            n_splits, n_children, m = groups.shape
            inside = groups.reshape(-1, m) @ cells[at[:, np.newaxis], values]
            gain = gains(self.criterion, inside, parent[at], numbers[at])
            gain = gain.reshape(len(at), n_splits, n_children).sum(axis=2)
            gain /= scale[at, np.newaxis]
            node.append(np.repeat(at, n_splits))
            feature.append(np.repeat(self.feature_of[values[:, 0]], n_splits))
            decrease.append(np.where(gain > _ROUNDING, gain, 0.0).ravel())
            pair, child = np.nonzero(np.count_nonzero(inside, axis=2) > 1)
            split.append(total + pair * n_splits + child // n_children)
            going = [self._rows(known, tuple(seen), groups) for seen in values.tolist()]
            rows += [going[i][c] for i, c in zip(pair.tolist(), child.tolist(), strict=True)]
            total += gain.size
        return Splits(
            np.concatenate(node),
            np.concatenate(feature),
            np.concatenate(decrease),
            np.concatenate(split),
            rows,
            share,
            scale,
        )

    def _count(self, nodes: list[int]) -> tuple[FloatArray, FloatArray]:
        """Return P(t), and the probability of every value and class given t.

        The latter has shape (n, values of all features, classes).
        """
        n_rows, p = self.cell.shape
        n_bytes = (n_rows + 7) // 8
        packed = np.frombuffer(b"".join(t.to_bytes(n_bytes, "little") for t in nodes), np.uint8)
        inside = np.unpackbits(
            packed.reshape(len(nodes), n_bytes), axis=1, count=n_rows, bitorder="little"
        )
        node, row = np.nonzero(inside)
        weight = self.weights[row]
        share = _sums(node, weight, len(nodes))
        size = self.n_values * self.n_classes
        cells = _sums(
            (self.cell[row] + (node * size)[:, np.newaxis]).ravel(),
            np.repeat(weight / share[node], p),
            len(nodes) * size,
        )
        return share, cells.reshape(len(nodes), self.n_values, self.n_classes)

    def _rows(
        self, known: dict[tuple[int, ...], list[int]], seen: tuple[int, ...], groups: FloatArray
    ) -> list[int]:
        """Return the rows that go to each child of each split of the values seen."""
        if seen not in known:
            known[seen] = []
            for group in groups.reshape(-1, len(seen)):
                going = 0
                for place in np.flatnonzero(group).tolist():
                    going |= self.rows_of[seen[place]]
                known[seen].append(going)
        return known[seen]


def _seen(
    is_seen: NDArray[np.bool_], feature_of: IndexArray
) -> list[tuple[IndexArray, IndexArray]]:
    """Return the features that are not constant at a node, by the number m of their values there.

    For every m the nodes, shape (n,), and the values that are seen, shape (n, m).
    """
    node, value = np.nonzero(is_seen)
    owner = node * is_seen.shape[1] + feature_of[value]
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    n_seen = np.diff(start, append=len(owner))
    found = []
    for m in np.unique(n_seen[n_seen > 1]).tolist():
        first = start[n_seen == m]
        found.append((node[first], value[first[:, np.newaxis] + np.arange(m)]))
    return found


def numbers_of_a_node(dist: FiniteDistribution, family: str) -> int:
    """Return a bound on the numbers in the arrays that describe one node."""
    total = dist.n_rows * dist.n_features + int(dist.cardinalities.sum()) * dist.n_classes
    for m in dist.cardinalities.tolist():
        if m > 1:
            n_groups = count_splits(family, m) * count_children(family, m)
            total += n_groups * (m + dist.n_classes + dist.n_features)
    return total


def _sums(place: IndexArray, amount: FloatArray, size: int) -> FloatArray:
    total = np.bincount(place, weights=amount, minlength=size)
    return total.astype(np.float64, copy=False)


def _as_bits(rows: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little")
