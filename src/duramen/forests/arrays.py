"""Flat arrays of trees: the layout that the kernel reads and writes."""

from __future__ import annotations

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
