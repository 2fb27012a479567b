"""Out-of-bag predictions of trees projected along groups of columns: the call of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duramen import _kernel
from duramen.data import EncodedTable, LearningSet
from duramen.data.memory import require_memory
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.growth import bag
from duramen.forests.prediction import leaves
from duramen.importances.arguments import matched
from duramen.support.arrays import FloatArray, IntArray

# Relative difference of the weights and means of leaves that rounding makes.
_ROUNDING = 1e-6


class Projection:
    """Sums of out-of-bag predictions of the trees of a forest, which are added in their order.

    A tree projected along a group of columns sends a row to all children of a split on the group.
    It predicts the mean response of those rows of its bag that reach the same nodes, at the deepest
    level of the tree where there are `min_samples_leaf` of them.

    Parameters
    ----------
    function : str
        Public function that asks, for errors.
    forest : Forest or TreeStream
        The forest.
    data : LearningSet
        The rows that it was grown on, with their weights.
    members : sequence of int64 arrays, optional
        Columns of each group; by default every column by itself.
    """

    def __init__(
        self,
        function: str,
        forest: AnyForest,
        data: LearningSet[EncodedTable],
        members: Sequence[IntArray] | None,
    ) -> None:
        target = matched(forest, data.target, function)
        classes = forest.classes is not None
        self.responses: FloatArray = (
            np.eye(forest.n_values)[target] if classes else target.astype(np.float64)[:, np.newaxis]
        )
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self._function, self._table = function, data.table
        self._masses = np.column_stack([weights, self.responses])
        groups = np.arange(forest.n_features)[:, np.newaxis] if members is None else members
        self._offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        self._columns = np.concatenate([*groups, np.empty(0)]).astype(np.uint32)
        # Whole numbers below 2**62 add up to the same in any order of the trees.
        reach = float(np.abs(self.responses).max(initial=0.0)) * forest.n_trees
        self._scale = 1.0 if reach == 0.0 else float(2.0 ** (60 - np.ceil(np.log2(reach))))
        self._how = _kernel.Projections(
            masses=self._masses, scale=self._scale, min_rows=forest.settings.min_samples_leaf
        )
        shape = (len(groups), *self.responses.shape)
        require_memory(
            2 * 8 * int(np.prod(shape)),
            what=f"the predictions on {data.n_rows} rows for {len(groups)} features",
            function=function,
            hint="measure fewer rows, or groups of features",
        )
        self._trees = np.zeros(data.n_rows, dtype=np.int64)
        self._sums = np.zeros(shape[1:], dtype=np.int64)
        self._changes = np.zeros(shape, dtype=np.int64)
        self._checked = False

    def add(self, trees: Forest, n_threads: int = 1) -> None:
        """Add trees, which come after those before."""
        if not self._checked:
            self._check_weights(trees)
        n_trees, sums, changes = _kernel.projected_values(
            trees.kernel,
            self._table.kernel,
            trees.bags,
            self._how,
            self._offsets,
            self._columns,
            n_threads,
        )
        self._trees += n_trees
        self._sums += sums
        self._changes += changes

    def _check_weights(self, trees: Forest) -> None:
        """Raise ValueError unless the leaves of the first tree hold the weights of the rows.

        Weights of classes may be others: the kernel reads them off each tree.
        """
        first = trees.part(0, 1)
        leaf = first.child[leaves(first, self._table)[:, 0]]
        of_rows = self._masses if self.responses.shape[1] == 1 else self._masses[:, 1:]
        weights = bag(first, 0) * self._masses[:, 0]
        n_leaves = len(first.leaf_values)
        own = np.column_stack([np.bincount(leaf, weights * m, n_leaves) for m in of_rows.T])
        ends = np.flatnonzero(first.feature < 0)
        weight = np.empty((n_leaves, 1))
        weight[first.child[ends], 0] = first.weight[ends]
        grown = weight * first.leaf_values
        if self.responses.shape[1] == 1:
            own[:, 0] = np.bincount(leaf, weights, n_leaves)
            grown = np.column_stack([weight, grown]) * (own[:, 0].sum() / weight.sum())
        else:
            total = own.sum(axis=0)
            own *= np.divide(grown.sum(axis=0), total, out=np.ones(len(total)), where=total > 0)
        if not np.allclose(own, grown, rtol=_ROUNDING, atol=_ROUNDING * np.abs(grown).max()):
            raise ValueError(
                f"{self._function}: the weights of the rows must be those that the forest was "
                "grown with, but its leaves hold others. Hint: give "
                "dm.learning_set(X, y, sample_weight=...) with the same sample weights."
            )
        self._checked = True

    @property
    def seen(self) -> IntArray:
        """Rows that are out of bag of some tree."""
        return np.flatnonzero(self._trees)

    def predicted(self) -> FloatArray:
        """Return the prediction of the forest for each row that is seen, of shape (m, C)."""
        return self._mean(self._sums)

    def projected(self, group: int) -> FloatArray:
        """Return the prediction of the forest without a group, of shape (m, C)."""
        return self._mean(self._sums + self._changes[group])

    def _mean(self, sums: IntArray) -> FloatArray:
        rows = self.seen
        mean: FloatArray = sums[rows] / self._scale / self._trees[rows, np.newaxis]
        return mean
