"""Flat arrays of trees, and of the times and events of the rows at their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.schema import KernelOwner

ORDERED, MULTIWAY, ONE_VS_REST, ANY = range(4)
FAMILY_MASK = 3
MISSING_FIRST = 4
FIRST_HEAVIER = 8


@dataclass(frozen=True, eq=False, repr=False)
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

    @property
    def n_trees(self) -> int:
        """Number of trees T."""
        return len(self.offsets) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes N of all trees."""
        return len(self.feature)

    @property
    def n_values(self) -> int:
        """Numbers that a leaf holds: classes, or 1 in regression."""
        return int(self.leaf_values.shape[1])

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Training weight at every node, of shape (N,).

        Row weights times multiplicities in the bag.
        """
        if len(self.node_weight) == self.n_nodes:
            return self.node_weight
        return self.rows.astype(np.float64)

    @cached_property
    def kernel(self) -> _kernel.Forest:
        """The trees as they are lent to the kernel."""
        return _kernel.Forest(**self.arrays())

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays of the trees take."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the flat arrays of the trees, by name."""
        return {name: getattr(self, name) for name in ARRAY_NAMES}

    def part(self, start: int, stop: int) -> Self:
        """Return the trees ``start`` .. ``stop - 1``; their arrays are views."""
        bounds = {name: getattr(self, name)[start : stop + 1] for name in _OFFSETS}
        node, leaf, word = (slice(int(b[0]), int(b[-1])) for b in bounds.values())
        own = {"leaf_values": leaf, "pool": word}
        return replace(
            self,
            **{
                name: bounds[name] - bounds[name][0]
                if name in bounds
                else array[own.get(name, node)]
                for name, array in self.arrays().items()
            },
        )


ARRAY_NAMES = tuple(field.name for field in fields(TreeArrays))
_OFFSETS = ("offsets", "leaf_offsets", "pool_offsets")


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
        """The events as they are lent to the kernel, which checks them."""
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
        """Check that the arrays are the events of so many leaves.

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
