"""A grown forest: flat arrays, and a light view of each tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.settings import GrowthSettings
from duramen.tables.names import KINDS

if TYPE_CHECKING:
    from duramen.tables import Schema

ORDERED, MULTIWAY, ONE_VS_REST, ANY = range(4)
FAMILY_MASK = 3
MISSING_FIRST = 4
FIRST_HEAVIER = 8


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees as a structure of arrays, with what is needed to read and to use them.

    Nodes are numbered within their tree, from 0 at the root; the children of a node are contiguous
    and come after it. ``T`` is the number of trees, ``N`` of nodes, ``L`` of leaves, ``C`` of
    classes (1 in regression) and ``p`` of columns.

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
        Impurity in the criterion's unit: Gini, bits, or variance of ``y``.
    leaf_values : float64 array of shape (L, C)
        Weighted class frequencies, or means of ``y``.
    settings : GrowthSettings
        How the trees were grown.
    schema : Schema
        The training table without its rows: names, kinds, distinct values, labels.
    classes : array of shape (C,) or None
        Class labels in the order of the codes; None in regression.
    n_rows : int
        Rows of the training table.
    total_weight : float
        Sum of the row weights of the training table.
    seed : int
        Seed of the counter-based random numbers, in 0..2**64-1.
    fingerprint : str
        Fingerprint of the training table, the target and the weights.
    first_tree : int
        Number of the first tree in the stream of random numbers; 0 unless the forest is a part.
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
    settings: GrowthSettings
    schema: Schema
    classes: NDArray[Any] | None
    n_rows: int
    total_weight: float
    seed: int
    fingerprint: str
    first_tree: int = 0

    @property
    def n_trees(self) -> int:
        """Number of trees T."""
        return len(self.offsets) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes N of all trees."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """Number of columns p of the training table."""
        return self.schema.n_columns

    @property
    def n_values(self) -> int:
        """Numbers that a leaf holds: classes, or 1 in regression."""
        return int(self.leaf_values.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema.names)

    @property
    def is_classifier(self) -> bool:
        """Whether the target was a class."""
        return self.classes is not None

    @cached_property
    def kind_codes(self) -> NDArray[np.uint8]:
        """Kind of every column: 0 numeric, 1 ordinal, 2 nominal."""
        return np.array([KINDS.index(kind) for kind in self.schema.kinds], dtype=np.uint8)

    @cached_property
    def degree(self) -> NDArray[np.uint32]:
        """Interaction degree of every split, of shape (N,); 0 at a leaf.

        The number of columns conditioned on above the split: its depth, but in multiway trees the
        columns that were drawn and found constant count too, as they do in the theory.
        """
        if len(self.node_degree) == self.n_nodes:
            return self.node_degree
        from duramen.forests.structure import depths

        return np.where(self.feature < 0, 0, depths(self)).astype(np.uint32)

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Training weight at every node, of shape (N,).

        Row weights times multiplicities in the bag.
        """
        if len(self.node_weight) == self.n_nodes:
            return self.node_weight
        return self.rows.astype(np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays of the trees take."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The flat arrays of the trees, by name."""
        return {name: getattr(self, name) for name in ARRAY_NAMES}

    def tree(self, index: int) -> Tree:
        """View tree ``index``, counted from 0 (negative: from the end).

        Raises
        ------
        IndexError
            When there is no such tree.
        """
        if not -self.n_trees <= index < self.n_trees:
            raise IndexError(
                f"Forest.tree: index must be in {-self.n_trees}..{self.n_trees - 1}, got {index}"
            )
        return Tree(self, index % self.n_trees)

    def __len__(self) -> int:
        return self.n_trees

    def __iter__(self) -> Iterator[Tree]:
        return (Tree(self, index) for index in range(self.n_trees))

    def check(self) -> None:
        """Check that the arrays describe trees (see :func:`duramen.forests.structure.check`).

        Raises
        ------
        ValueError
            When they do not, naming the array and the first node at fault.
        """
        from duramen.forests.structure import check

        check(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the forest to one .npz file, without pickle (see :mod:`duramen.forests.storage`)."""
        from duramen.forests.storage import save_forest

        save_forest(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Forest:
        """Load a forest that :meth:`save` wrote, and check it."""
        from duramen.forests.storage import load_forest

        return load_forest(path)

    def __repr__(self) -> str:
        task = "regression" if self.classes is None else f"{len(self.classes)} classes"
        grown = self.settings
        return (
            f"Forest({self.n_trees} trees, {self.n_nodes} nodes, {task}, "
            f"{self.n_rows} rows x {self.n_features} columns, {grown.criterion}, "
            f"{grown.cut} {grown.splits} splits, K={grown.max_features}, seed={self.seed})"
        )


ARRAY_NAMES = tuple(
    field.name for field in fields(Forest) if str(field.type).startswith("NDArray[np.")
)


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """One tree of a forest: slices of its arrays, numbered within the tree.

    ``feature``, ``child``, ``cut``, ``threshold``, ``split``, ``rows``, ``weight`` and
    ``impurity`` are as in :class:`Forest`; ``values`` are those of the tree's leaves, in the order
    of the leaves; ``n_children`` is 0 at a leaf; ``depth`` is 0 at the root; ``parent`` is -1 at
    the root; ``decrease`` is the impurity of a node minus the mean impurity of its children
    weighted by their weights, and 0 at a leaf.
    """

    forest: Forest
    index: int
    _derived: dict[str, NDArray[Any]] = field(default_factory=dict)

    def _slice(self, name: str) -> NDArray[Any]:
        start, stop = self.forest.offsets[self.index : self.index + 2]
        array: NDArray[Any] = getattr(self.forest, name)[start:stop]
        return array

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.values)

    @property
    def feature(self) -> NDArray[np.int32]:
        """Column a node splits on; -1 at a leaf."""
        return self._slice("feature")

    @property
    def child(self) -> NDArray[np.int32]:
        """First child of an internal node; number of a leaf."""
        return self._slice("child")

    @property
    def cut(self) -> NDArray[np.uint32]:
        """Code of the cut, or offset into :attr:`pool`."""
        return self._slice("cut")

    @property
    def threshold(self) -> NDArray[np.float64]:
        """Cut of a numeric column in real values; NaN elsewhere."""
        return self._slice("threshold")

    @property
    def split(self) -> NDArray[np.uint8]:
        """Family and flags of the split."""
        return self._slice("split")

    @property
    def rows(self) -> NDArray[np.uint32]:
        """Distinct training rows."""
        return self._slice("rows")

    @property
    def degree(self) -> NDArray[np.uint32]:
        """Interaction degree of the splits: columns conditioned on above them."""
        return self._slice("degree")

    @property
    def weight(self) -> NDArray[np.float64]:
        """Training weight."""
        return self._slice("weight")

    @property
    def impurity(self) -> NDArray[np.float64]:
        """Impurity in the criterion's unit."""
        return self._slice("impurity")

    @property
    def pool(self) -> NDArray[np.uint32]:
        """Bit sets and multiway code maps of the tree."""
        start, stop = self.forest.pool_offsets[self.index : self.index + 2]
        return self.forest.pool[start:stop]

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the leaves, one row a leaf."""
        start, stop = self.forest.leaf_offsets[self.index : self.index + 2]
        return self.forest.leaf_values[start:stop]

    @property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children; 0 at a leaf."""
        return self._derive("n_children")

    @property
    def parent(self) -> NDArray[np.int64]:
        """Number of the parent; -1 at the root."""
        return self._derive("parent")

    @property
    def depth(self) -> NDArray[np.int64]:
        """Depth, 0 at the root."""
        return self._derive("depth")

    @property
    def decrease(self) -> NDArray[np.float64]:
        """Decrease of impurity by the node's split."""
        return self._derive("decrease")

    def _derive(self, name: str) -> NDArray[Any]:
        if not self._derived:
            from duramen.forests.structure import derive

            self._derived.update(derive(self))
        return self._derived[name]

    def __repr__(self) -> str:
        deepest = int(self.depth.max(initial=0))
        return (
            f"Tree({self.index} of {self.forest.n_trees}: {self.n_nodes} nodes, "
            f"{self.n_leaves} leaves, depth {deepest})"
        )
