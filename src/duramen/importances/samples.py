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
from duramen.support.arrays import FloatArray
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
        if not isinstance(held_out, EncodedTable | ColumnStore):
            for j in [j for j, labels in forest.schema.labels.items() if len(labels)]:
                if (held_out[:, j] == -1).any():
                    raise ValueError(
                        f"{function}: column {quoted(forest.names[j])} has categories that the "
                        "forest never saw; permuting them does not measure the forest. Hint: leave "
                        "these rows out."
                    )
        return Sample(held_out, matched(forest, target, function), out_of_bag=False)
    stays = blocks and isinstance(X, LearningSet) and isinstance(X.table, ColumnStore)
    if stays and X.fingerprint == forest.fingerprint:
        require_bags(forest, function)
        return Sample(X.table, matched(forest, X.target, function), out_of_bag=True)
    data = training_set(forest, X, y, function, out_of_bag=True)
    return Sample(data.table, matched(forest, data.target, function), out_of_bag=True)


def require_bags(forest: AnyForest, function: str) -> None:
    """Raise ValueError unless the trees of a forest leave rows out."""
    if not forest.settings.samples_rows:
        raise ValueError(
            f'{function}: rows="oob" needs trees that leave rows out, but every tree of this '
            "forest saw all of them. Hint: fit with bootstrap=True or max_samples, or give rows "
            "that were held out, with rows=None."
        )


def require_grown_on(
    forest: AnyForest, X: Any, table: EncodedTable, function: str, rows: str | None = None
) -> None:
    """Raise ValueError unless rows, encoded in a table, are those that a forest was grown on."""
    if isinstance(X, LearningSet) and X.fingerprint == forest.fingerprint:
        return
    # Weights are part of a fingerprint but not asked for here: then the leaves tell.
    if table.n_rows == forest.n_rows and same_codes(forest, table.schema):
        parts = forest.parts()
        if all(leads_to_training_counts(run, leaves(run, table)) for run in parts):
            return
    where = "" if rows is None else f'with rows="{rows}", '
    hint = "" if rows is None else " Hint: use rows=None for other rows."
    raise ValueError(
        f"{function}: {where}X must be the table that the forest was grown on, "
        f"{forest.n_rows} rows in the same order; these {table.n_rows} rows lead to other "
        f"leaves.{hint}"
    )


def training_set(
    forest: AnyForest, X: Any, y: Any, function: str, *, out_of_bag: bool = False
) -> LearningSet[EncodedTable]:
    """Return the rows that a forest was grown on as a learning set, encoded as in the forest.

    With `out_of_bag`, it is checked that they are, and that trees leave rows out.
    """
    if out_of_bag:
        require_bags(forest, function)
    data = learning_set_of(X, y, function, forest.task) if isinstance(X, LearningSet) else None
    table = encode_like(forest, X)
    if table.n_columns != forest.n_features:
        raise ValueError(
            f"X has {table.n_columns} features, but {function} is expecting {forest.n_features} "
            "features as input"
        )
    if data is None:
        data = learning_set_of(table, y, function, forest.task, allow_one_class=True)
        if forest.classes is not None:
            codes = matched(forest, data.target, function).astype(np.uint32, copy=False)
            data = data.with_target(ClassTarget(codes, forest.classes))
    elif data.table is not table:
        data = data.with_table(table)
    if out_of_bag:
        require_grown_on(forest, X, table, function, "oob")
    return data


Arrived = tuple[slice, NDArray[np.integer], NDArray[np.integer]]


def arrivals(run: Forest, sample: Sample) -> Iterator[Arrived]:
    """Send the rows of a sample down the trees of a run, block by block; of a table, all at once.

    A block comes with each leaf, as a node of the run, that a row of it comes to, and that row,
    counted from the first of the block.
    """
    if not isinstance(sample.rows, ColumnStore):
        leaf = (out_of_bag_leaves if sample.out_of_bag else leaves)(run, sample.rows)
        used = leaf >= 0
        yield slice(0, sample.n_rows), (leaf + run.offsets[:-1])[used], np.nonzero(used)[0]
        return
    seen = out_of_bag(run) if sample.out_of_bag else None
    for block, table in row_blocks(run, sample.rows):
        leaf = _kernel.apply(run.kernel, table, 1)
        used = np.ones(leaf.shape, dtype=np.bool_) if seen is None else seen[block]
        yield block, (leaf + run.offsets[:-1])[used], np.nonzero(used)[0]


def responses(forest: AnyForest, target: NDArray[Any]) -> FloatArray:
    """Return y less the forest's origin as one column, or an indicator of each of its classes."""
    if forest.classes is None:
        return target[:, np.newaxis].astype(np.float64, copy=False)
    indicators: FloatArray = np.eye(len(forest.classes))[target]
    return indicators


def encode_like(forest: AnyForest, X: Any) -> EncodedTable:
    """Encode a table with the kinds that the forest's columns have."""
    X = table_of(X)
    if isinstance(X, EncodedTable):
        return X
    shape = getattr(X, "shape", None)
    fits = isinstance(shape, tuple) and len(shape) == 2 and shape[1] == forest.n_features
    return encode(X, kinds=list(forest.schema.kinds) if fits else None)
