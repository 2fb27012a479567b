"""Flat arrays of trees, and the structure that they imply: parents, depths, decreases, sums.

Everything here is vectorized over all the nodes of the trees. Nodes are numbered through the whole
forest ("global"), node ``i`` of tree ``t`` being ``offsets[t] + i``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.schema import KernelOwner
from duramen.support.arrays import BoolArray, FloatArray, IntArray, ranges

if TYPE_CHECKING:
    from scipy import sparse

ORDERED, MULTIWAY, ONE_VS_REST, ANY = range(4)
FAMILY_MASK = 3
MISSING_FIRST = 4
FIRST_HEAVIER = 8


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TreeArrays(KernelOwner):
    """Trees as a structure of arrays.

    Nodes are numbered within their tree, from 0 at the root; the children of a node are contiguous
    and come after it. ``T`` is the number of trees, ``N`` of nodes, ``L`` of leaves and ``C`` of
    classes (1 in regression).

    Attributes
    ----------
    offsets : int64 array of shape (T + 1,)
        First node of each tree, and N.
    leaf_offsets, pool_offsets : int64 arrays of shape (T + 1,)
        First leaf and first word of ``pool`` of each tree.
    feature : int32 array of shape (N,)
        Column that a node splits on; -1 at a leaf.
    child : int32 array of shape (N,)
        At an internal node the number within the tree of its first child; at a leaf the number of
        the leaf within the tree.
    cut : uint32 array of shape (N,)
        Ordered: codes <= cut go to child 0, the others to child 1. One-vs-rest: the code that goes
        to child 0. Any and multiway: offset into the tree's pool.
    threshold : float64 array of shape (N,)
        Ordered splits of numeric columns: values <= threshold go to child 0. NaN elsewhere.
    split : uint8 array of shape (N,)
        Bits 0-1: 0 ordered, 1 multiway, 2 one-vs-rest, 3 any. Bit 2: missing values go to child 0.
        Bit 3: child 0 is the heavier one (where categories that were never seen go).
    pool : uint32 array
        Any: ceil(n_codes / 32) words, bit c set where code c goes to child 0. Multiway: number of
        children, the heaviest child, then the code of each child, ascending.
    rows : uint32 array of shape (N,)
        Distinct training rows at the node.
    node_degree : uint32 array of shape (N,) or (0,)
        `degree`; empty where it is the depth.
    node_weight : float64 array of shape (N,) or (0,)
        `weight`; empty where every row of a bag weighs 1. In the unit of the row weights that the
        trees were grown with, which an estimator divides by a power of two where they are huge or
        tiny.
    impurity : float64 array of shape (N,)
        Impurity in the criterion's unit: Gini, bits, or variance of ``y``. In survival the
        log-rank statistic of the node's split, and 0 at a leaf.
    leaf_values : float64 array of shape (L, C)
        Weighted class frequencies, means of ``y`` less the forest's `origin`, or mortalities.
    n_trees, n_nodes : int
        Numbers T of trees and N of nodes.
    n_values : int
        Numbers C that a leaf holds: classes, or 1 in regression.
    """

    offsets: NDArray[np.int64]
    leaf_offsets: NDArray[np.int64]
    pool_offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    child: NDArray[np.int32]
    cut: NDArray[np.uint32]
    threshold: NDArray[np.float64]
    split: NDArray[np.uint8]
    pool: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    node_degree: NDArray[np.uint32]
    node_weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    leaf_values: NDArray[np.float64]
    n_trees: int = field(init=False)
    n_nodes: int = field(init=False)
    n_values: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_trees", len(self.offsets) - 1)
        object.__setattr__(self, "n_nodes", len(self.feature))
        object.__setattr__(self, "n_values", int(self.leaf_values.shape[-1]))

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Training weight at every node, of shape (N,).

        Row weights times multiplicities in the bag.
        """
        stored = len(self.node_weight) == self.n_nodes
        return self.node_weight if stored else self.rows.astype(np.float64)

    @cached_property
    def kernel(self) -> _kernel.Forest:
        """The trees as they are lent to the kernel."""
        return _kernel.Forest(**{name: getattr(self, name) for name in ARRAY_NAMES})

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays of the trees take."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the flat arrays of the trees, by name."""
        return {name: getattr(self, name) for name in ARRAY_NAMES}


ARRAY_NAMES = tuple(field.name for field in fields(TreeArrays) if field.init)
ARRAY_TYPES = {
    name: np.dtype(str(TreeArrays.__annotations__[name]).split("np.")[1].rstrip("]"))
    for name in ARRAY_NAMES
}


def joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Concatenate the flat arrays of several runs of trees, in their order."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in ARRAY_NAMES:
        own = [part[name] for part in parts]
        if name.endswith("offsets"):
            sizes = np.concatenate([[0], *map(np.diff, own)])
            arrays[name] = np.cumsum(sizes, dtype=np.int64)
        else:
            arrays[name] = np.concatenate(own)
    return arrays


def trees_of_nodes(trees: TreeArrays) -> IntArray:
    """Return the tree of every node, of shape (N,)."""
    return np.repeat(np.arange(trees.n_trees), np.diff(trees.offsets))


def child_counts(trees: TreeArrays) -> IntArray:
    """Return the number of children of every node, of shape (N,); 0 at a leaf."""
    counts = np.where(trees.feature < 0, 0, 2).astype(np.int64)
    multiway = np.flatnonzero(
        (trees.feature >= 0) & ((trees.split & FAMILY_MASK) == MULTIWAY),
    )
    if len(multiway):
        base = trees.pool_offsets[np.searchsorted(trees.offsets, multiway, side="right") - 1]
        counts[multiway] = trees.pool[base + trees.cut[multiway]]
    return counts


def first_children(trees: TreeArrays) -> IntArray:
    """Return the global number of the first child of every node, of shape (N,); -1 at a leaf."""
    first = trees.child + np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    return np.where(trees.feature < 0, -1, first)


def parents(trees: TreeArrays) -> IntArray:
    """Return the global number of the parent of every node, of shape (N,); -1 at a root."""
    counts, first = child_counts(trees), first_children(trees)
    inner = np.flatnonzero(counts)
    result = np.full(trees.n_nodes, -1, dtype=np.int64)
    result[ranges(first[inner], counts[inner])] = np.repeat(inner, counts[inner])
    return result


def depths(trees: TreeArrays) -> IntArray:
    """Return the depth of every node, of shape (N,); 0 at a root."""
    counts, first = child_counts(trees), first_children(trees)
    result = np.zeros(trees.n_nodes, dtype=np.int64)
    level = trees.offsets[:-1][np.diff(trees.offsets) > 0]
    depth = 0
    while len(level):
        result[level] = depth
        inner = level[counts[level] > 0]
        level = ranges(first[inner], counts[inner])
        depth += 1
    return result


def decreases(trees: TreeArrays) -> FloatArray:
    """Return the decrease of impurity by the split of every node, of shape (N,); 0 at a leaf.

    i(t) - sum_c w(c) / w(t) i(c) over the children c of node t, in the criterion's unit.
    """
    above = parents(trees)
    inside = above >= 0
    mass = np.bincount(
        above[inside],
        weights=trees.weight[inside] * trees.impurity[inside],
        minlength=trees.n_nodes,
    )
    inner = trees.feature >= 0
    result = np.zeros(trees.n_nodes)
    result[inner] = trees.impurity[inner] - mass[inner] / trees.weight[inner]
    return result


def decision_path(
    trees: TreeArrays, leaves: NDArray[np.int32]
) -> tuple[sparse.csr_matrix, IntArray]:
    """Return the indicator of the nodes on the way to the given leaves.

    Parameters
    ----------
    trees : TreeArrays
        The trees.
    leaves : int32 array of shape (n, T)
        Leaf of every row in every tree.

    Returns
    -------
    indicator : sparse CSR matrix of shape (n, N)
        1 where a row passes through a node; the nodes of a row ascend.
    offsets : int64 array of shape (T + 1,)
        First column of each tree, and N.
    """
    parent, depth = parents(trees), depths(trees)
    node = (leaves + trees.offsets[:-1]).ravel()
    lengths = depth[node] + 1
    ends = np.cumsum(lengths)
    indices = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    place = ends - 1
    while len(node):
        indices[place] = node
        node = parent[node]
        inside = node >= 0
        node, place = node[inside], place[inside] - 1
    bounds = np.concatenate([[0], ends[trees.n_trees - 1 :: trees.n_trees]])
    from scipy import sparse

    indicator = sparse.csr_matrix(
        (np.ones(len(indices), dtype=np.int64), indices, bounds),
        shape=(len(leaves), trees.n_nodes),
    )
    return indicator, trees.offsets.copy()


class Level(NamedTuple):
    """Inner nodes, the children of all of them, and the place of the first child of each."""

    parents: IntArray
    children: IntArray
    starts: IntArray


class Nodes:
    """Nodes of trees level by level: sums from the leaves up, sums over children.

    Children come after their parents, so that a quantity of every node of every tree comes from
    one pass over the levels, deepest first, instead of a walk over each tree.

    Attributes
    ----------
    tree, n_children : int64 arrays of shape (N,)
        Tree of each node, and the number of its children.
    leaves : int64 array of shape (L,)
        Node of each row of ``leaf_values``.
    levels : list of Level
        Inner nodes at depth 0, 1, 2, ...
    inner : Level
        All inner nodes, level by level.
    depth : int64 array
        Depths of all inner nodes, in the order of `inner`.
    """

    def __init__(self, trees: TreeArrays) -> None:
        self.trees = trees
        self.tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.offsets))
        self.n_children = child_counts(trees)
        first = trees.child + trees.offsets[self.tree]
        ends = np.flatnonzero(trees.feature < 0)
        self.leaves = np.empty(ends.size, dtype=np.int64)
        self.leaves[trees.leaf_offsets[self.tree[ends]] + trees.child[ends]] = ends
        self.levels: list[Level] = []
        nodes = trees.offsets[:-1]
        while (nodes := nodes[self.n_children[nodes] > 0]).size:
            counts = self.n_children[nodes]
            children = ranges(first[nodes], counts)
            self.levels.append(Level(nodes, children, np.cumsum(counts) - counts))
            nodes = children
        none = np.empty(0, dtype=np.int64)
        parents = np.concatenate([none, *(level.parents for level in self.levels)])
        children = np.concatenate([none, *(level.children for level in self.levels)])
        counts = self.n_children[parents]
        self.inner = Level(parents, children, np.cumsum(counts) - counts)
        self.depth = np.repeat(np.arange(len(self.levels)), [len(own[0]) for own in self.levels])

    def over_children(self, values: NDArray[Any], level: Level | None = None) -> NDArray[Any]:
        """Return the sums of `values` (N, ...) over the children of all inner nodes, or a level."""
        _, children, starts = self.inner if level is None else level
        sums: NDArray[Any] = np.add.reduceat(values[children], starts, axis=0)
        return sums

    def summed_up(self, of_leaves: NDArray[Any]) -> NDArray[Any]:
        """Return for every node the sum of `of_leaves` (L, ...) over the leaves below it."""
        sums = np.zeros((self.trees.n_nodes, *of_leaves.shape[1:]), dtype=of_leaves.dtype)
        sums[self.leaves] = of_leaves
        for level in reversed(self.levels):
            sums[level.parents] = np.add.reduceat(sums[level.children], level.starts, axis=0)
        return sums

    def fractions(self) -> FloatArray:
        """Return p(t), the fraction of a tree's training weight at each of its nodes."""
        whole = self.trees.weight[self.trees.offsets[:-1]]
        whole = np.where(whole > 0, whole, 1.0)  # nothing but a leaf without rows
        fraction: FloatArray = self.trees.weight / whole[self.tree]
        return fraction

    def maximal(self) -> BoolArray:
        """Mark the nodes that split on a feature on which no node above them splits; shape (N,).

        They are the roots of the maximal subtrees of Ishwaran et al. (2010): the maximal
        v-subtrees of a tree have the nodes where a row meets v for the first time as their roots,
        and no row passes through two of them.
        """
        feature, above = self.trees.feature, parents(self.trees)
        first = np.zeros(feature.size, dtype=np.bool_)
        node = self.inner.parents
        ancestor = above[node]
        while node.size:
            past_root = ancestor < 0
            first[node[past_root]] = True
            open_ = ~past_root & (feature[ancestor] != feature[node])  # at -1 the first decides
            node, ancestor = node[open_], above[ancestor[open_]]
        return first


# --- survival ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafEvents(KernelOwner):
    """Event times of every leaf, with the rows of the tree's bag that were at risk.

    From them follow the Nelson-Aalen estimate of the cumulative hazard of a leaf, the sum of
    ``events / at_risk`` up to a time, and the Kaplan-Meier estimate of its survival function, the
    product of ``1 - events / at_risk``. ``D`` is the number of distinct event times of the training
    rows, ``L`` of leaves and ``E`` of event times of leaves.

    Attributes
    ----------
    event_times : float64 array of shape (D,)
        Distinct event times, ascending.
    event_offsets : int64 array of shape (L + 1,)
        First event time of each leaf, and E; the leaves of all trees in their order.
    event_index : uint32 array of shape (E,)
        Number of the event time among `event_times`, ascending within a leaf.
    events, at_risk : uint32 arrays of shape (E,)
        Rows with the event then, and rows at risk; multiplicities in the bag count.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [0.0], [1.0]], [[2.0, True], [3.0, False], [4.0, True]]
    >>> forest = dm.RandomSurvivalForest(2, bootstrap=False, random_state=0).fit(X, y).forest_
    >>> forest.leaf_events.event_times, forest.leaf_events.at_risk
    (array([2., 4.]), array([3, 1, 3, 1], dtype=uint32))
    """

    event_times: NDArray[np.float64]
    event_offsets: NDArray[np.int64]
    event_index: NDArray[np.uint32]
    events: NDArray[np.uint32]
    at_risk: NDArray[np.uint32]

    @cached_property
    def kernel(self) -> _kernel.LeafEvents:
        """Events as an object of the kernel, which checks them."""
        return _kernel.LeafEvents(
            self.event_offsets, self.event_index, self.events, self.at_risk, len(self.event_times)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in EVENT_ARRAYS}

    def part(self, leaves: slice) -> LeafEvents:
        """Return the events of some consecutive leaves; the arrays of these are views."""
        offsets = self.event_offsets[leaves.start : leaves.stop + 1]
        entries = slice(int(offsets[0]), int(offsets[-1]))
        own = (self.event_index[entries], self.events[entries], self.at_risk[entries])
        return LeafEvents(self.event_times, offsets - offsets[0], *own)

    @classmethod
    def joined(cls, parts: Sequence[LeafEvents]) -> LeafEvents:
        """Return the events of the leaves of several runs of trees, in their order."""
        sizes = np.concatenate([[0], *(np.diff(part.event_offsets) for part in parts)])
        own = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("event_index", "events", "at_risk")
        )
        return cls(parts[0].event_times, np.cumsum(sizes, dtype=np.int64), *own)

    def check(self, n_leaves: int) -> None:
        """Check that the arrays are the events of `n_leaves` leaves.

        Raises
        ------
        ValueError
            When they are not.
        """
        times = self.event_times
        if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise ValueError("Forest.check: event_times must be finite and ascend")
        if len(self.event_offsets) != n_leaves + 1:
            raise ValueError(f"Forest.check: event_offsets must have {n_leaves + 1} entries")
        try:
            _ = self.kernel
        except (TypeError, ValueError) as error:
            raise ValueError(f"Forest.check: events of leaves: {error}") from None


EVENT_ARRAYS = tuple(field.name for field in fields(LeafEvents))
