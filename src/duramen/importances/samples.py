"""The rows that a measure sends down the trees, with what they are to be predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data import ClassTarget, EncodedTable, LearningSet, encode
from duramen.data.learning_sets import learning_set_of, table_of
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.growth import out_of_bag
from duramen.forests.patches import row_blocks
from duramen.forests.prediction import (
    Rows,
    leads_to_training_counts,
    leaves,
    out_of_bag_leaves,
    rows_of,
    same_codes,
)
from duramen.importances.arguments import matched, missing_rows
from duramen.io import ColumnStore
from duramen.support.text import quoted


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their target."""

    rows: Rows  # (n, p): As :func:`duramen.forests.prediction.rows_of` returns them
    # (n,): uint32 class codes of the forest or codes of survival, or float64 numbers less the
    # forest's origin.
    target: NDArray[np.uint32] | NDArray[np.float64]
    # Whether the rows are the training rows, each for the trees whose bag lacks it; else every
    # row goes down every tree.
    out_of_bag: bool
    # (n,): Where rows are copies of others, as in a bootstrap sample: the same number in 0..n-1
    # for all copies of a row. Out of a bag is a row of which no copy is in it, once.
    originals: NDArray[np.uint32] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)


def sample_of(
    forest: AnyForest, X: Any, y: Any, rows: str | None, function: str, *, blocks: bool = False
) -> Sample:
    """Check the rows that a measure is asked to use; `rows` is "oob" or None.

    With `blocks`, the measure takes rows block by block, and those of a store stay on disk.
    """
    if X is None:
        raise missing_rows(function)
    if rows not in (None, "oob"):
        raise ValueError(f'{function}: rows must be "oob" or None, got {rows!r}.')
    if rows is None:
        held_out = rows_of(forest, X if blocks else table_of(X), function, function)
        if isinstance(X, LearningSet):
            target = learning_set_of(X, y, function, forest.task).target
        else:
            target = forest.target_class.encode(
                y, n_rows=len(held_out), allow_one_class=True, function=function
            )
        _refuse_unseen(forest, held_out, function)
        return Sample(held_out, matched(forest, target, function), out_of_bag=False)
    if not forest.settings.samples_rows:
        raise ValueError(
            f'{function}: rows="oob" needs trees that leave rows out, but every tree of this '
            "forest saw all of them. Hint: fit with bootstrap=True or max_samples, or give rows "
            "that were held out, with rows=None."
        )
    stays = blocks and isinstance(X, LearningSet) and isinstance(X.table, ColumnStore)
    if stays and X.fingerprint == forest.fingerprint:
        return Sample(X.table, matched(forest, X.target, function), out_of_bag=True)
    data = training_set(forest, X, y, function)
    table, numbers = data.table, matched(forest, data.target, function)
    if not grown_on(forest, data, table):
        raise ValueError(
            f'{function}: with rows="oob", X must be the table that the forest was grown on, '
            f"{forest.n_rows} rows in the same order; these {table.n_rows} rows lead to other "
            "leaves. Hint: use rows=None for other rows."
        )
    return Sample(table, numbers, out_of_bag=True)


def training_set(forest: AnyForest, X: Any, y: Any, function: str) -> LearningSet[EncodedTable]:
    """Return the rows that a forest was grown on as a learning set, encoded as in the forest."""
    data = learning_set_of(X, y, function, forest.task) if isinstance(X, LearningSet) else None
    table = encode_like(forest, X)
    if table.n_columns != forest.n_features:
        raise ValueError(
            f"X has {table.n_columns} features, but {function} is expecting {forest.n_features} "
            "features as input"
        )
    if data is not None:
        return data if data.table is table else data.with_table(table)
    data = learning_set_of(table, y, function, forest.task, allow_one_class=True)
    if forest.classes is None:
        return data
    codes = matched(forest, data.target, function).astype(np.uint32, copy=False)
    return data.with_target(ClassTarget(codes, forest.classes))


def arrivals(run: Forest, sample: Sample) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Send the rows of a sample in memory down the trees of a run (of :func:`nodes.blocks`).

    Returned are each leaf, as a node of the run, that a row comes to, and that row.
    """
    leaf = (out_of_bag_leaves if sample.out_of_bag else leaves)(run, sample.rows)
    used = leaf >= 0
    return (leaf + run.offsets[:-1])[used], np.nonzero(used)[0]


def arrivals_by_blocks(
    run: Forest, sample: Sample
) -> Iterator[tuple[slice, NDArray[np.integer], NDArray[np.integer]]]:
    """Yield blocks of the rows of a sample, with what `arrivals` returns of each.

    Rows in memory are one block; rows are counted from the first of their block.
    """
    if not isinstance(sample.rows, ColumnStore):
        yield slice(0, sample.n_rows), *arrivals(run, sample)
        return
    seen = out_of_bag(run) if sample.out_of_bag else None
    for block, table in row_blocks(run, sample.rows):
        leaf = _kernel.apply(run.kernel, table, 1)
        used = np.ones(leaf.shape, dtype=np.bool_) if seen is None else seen[block]
        yield block, (leaf + run.offsets[:-1])[used], np.nonzero(used)[0]


def encode_like(forest: AnyForest, X: Any) -> EncodedTable:
    """Encode a table with the kinds that the forest's columns have."""
    X = table_of(X)
    if isinstance(X, EncodedTable):
        return X
    shape = getattr(X, "shape", None)
    fits = isinstance(shape, tuple) and len(shape) == 2 and shape[1] == forest.n_features
    return encode(X, kinds=list(forest.schema.kinds) if fits else None)


def _refuse_unseen(forest: AnyForest, rows: Rows, function: str) -> None:
    if isinstance(rows, EncodedTable | ColumnStore):
        return
    for j, labels in forest.schema.labels.items():
        unseen = int(np.count_nonzero(rows[:, j] == -1)) if len(labels) else 0
        if unseen:
            raise ValueError(
                f"{function}: column {quoted(forest.names[j])} has categories in {unseen} of the "
                f"{len(rows)} rows that the forest never saw; permuting them does not measure the "
                "forest. Hint: leave these rows out."
            )


def grown_on(forest: AnyForest, X: Any, table: EncodedTable) -> bool:
    """Tell whether rows, and their table as encoded, are those that a forest was grown on."""
    if isinstance(X, LearningSet) and X.fingerprint == forest.fingerprint:
        return True
    # Weights are part of a fingerprint but not asked for here: then the leaves tell.
    if table.n_rows != forest.n_rows or not same_codes(forest, table.schema):
        return False
    return all(leads_to_training_counts(run, leaves(run, table)) for run in forest.parts())
