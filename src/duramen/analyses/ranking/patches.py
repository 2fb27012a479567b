"""Ranking of a store that exceeds a stated memory, by random patches that fit into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.forest import DESCRIBING_TREES
from duramen.analyses.ranking.measures import trees_within
from duramen.data import EncodedTable, LearningSet
from duramen.data.encoded import blocks_of
from duramen.data.memory import readable_bytes
from duramen.data.schema import KINDS
from duramen.data.sparse_columns import CODE_TYPES, narrowest
from duramen.data.target import proportions, sampled_rows
from duramen.estimators.catalogue import FORESTS
from duramen.forests.memory import counted_in_rows, most_tree_bytes
from duramen.forests.patches import BY_ROWS, patch_memory
from duramen.importances import Inputs, Measure
from duramen.io import ColumnStore
from duramen.support import checks

PATCHES = "random-patches"
"""Kind of forest that reads parts of a store."""
# Fraction of rows and of columns of a tree at most, and the fewest of them.
_LARGEST, _FEWEST_ROWS, _FEWEST_COLUMNS = 0.5, 200, 10
_SAMPLE = 20_000  # rows of the sample for the test and the effects, at most
# Fraction of the memory that arrays are planned for. The rest is for gaps between them, and for the
# objects of Python.
_PLANNED = 0.75
# Bytes that a row of a table in memory takes beside its codes, in the step that takes most of them
# (the effects, with 1,000,000 rows), and what each further thread takes of them.
_ROW, _ROW_OF_THREAD = 500, 100


def _bytes(table: ColumnStore, n_threads: int) -> tuple[int, int]:
    """Return the bytes of the codes of a table in memory, and those that its ranking takes."""
    sizes = np.array([np.dtype(kind).itemsize for kind in CODE_TYPES])
    codes = int(table.shape[0] * sizes[narrowest(table.n_codes())].sum())
    by_rows = codes if codes <= BY_ROWS else 0
    of_row = _ROW + _ROW_OF_THREAD * (n_threads - 1)
    return codes, codes + n_threads * by_rows + of_row * table.n_rows


def settled(
    data: LearningSet[Any], memory: int | None, execution: Execution
) -> tuple[LearningSet[Any], int | None]:
    """Return the data with the table in memory if its ranking fits, and else the stated memory.

    Raises
    ------
    ValueError
        If memory is stated for another table than a store, or all columns are constant.
    """
    stored = isinstance(data.table, ColumnStore)
    if memory is not None and not stored:
        raise ValueError(
            "rank: memory must be left out unless the table is a column store, as a file is read "
            "into memory. Hint: duramen pack FILE --out STORE makes a store"
        )
    threads = checks.check_jobs("rank", execution.n_jobs)
    if memory is not None and _bytes(data.table, threads)[1] > memory:
        return data, memory
    with execution.step("load") if stored else nullcontext():
        data = data.in_memory()
    if data.table.constant().all():
        target = data.provenance.target
        raise ValueError(f"every column is constant: none can be relevant for {target}")
    return data, None


def check_stored(forest: str, asked: Mapping[str, Any]) -> None:
    """Check that nothing that is asked for takes the whole table into memory.

    Raises
    ------
    ValueError
        If a parameter does, or the trees of this kind of forest see the whole table.
    """
    if forest != PATCHES:
        raise ValueError(
            f"rank: memory: the table exceeds it, and every tree of estimator={forest!r} needs all "
            f"of it. Hint: estimator={PATCHES!r}, or state more memory"
        )
    for name, value in asked.items():
        if value is not None and value is not False:
            raise ValueError(
                f"rank: {name} must be left out where the table exceeds memory, since the whole "
                "table is needed. Hint: max_rows=N analyzes a random sample of rows, or state more "
                "memory"
            )


def readable(
    measures: Sequence[Measure], tested: Measure | None, *, asked: bool
) -> tuple[list[Measure], str]:
    """Return the measures that read a table in blocks, or not at all, and why some are left out.

    `tested` is the measure of a test that needs it computed from the forest.

    Raises
    ------
    ValueError
        If another one was asked for or is tested, or none is left.
    """
    able = [one for one in measures if one.over_trees and (not one.rows or one.by_blocks)]
    others = [measure.name for measure in measures if measure not in able]
    why = "the whole table is needed, which exceeds memory"
    if others and (asked or not able):
        raise ValueError(
            f"rank: measure={others[0]!r} must be left out, as {why}. Hint: max_rows=N analyzes a "
            "random sample of rows, and mdi and mdi_oob read the table in blocks"
        )
    if tested is not None and tested not in able:
        raise ValueError(
            f"rank: the test needs measure={tested.name!r} of the whole table, which exceeds "
            "memory; leave it out"
        )
    return able, f"{' and '.join(others)} left out: {why}" if others else ""


def fitted_to(
    estimator: Any, data: LearningSet[Any], memory: int, execution: Execution
) -> tuple[Any, str]:
    """Return random patches that take no more memory, and what is to be said of them.

    The same fraction of rows and of columns is drawn for each tree, half of them at most.

    Raises
    ------
    ValueError
        If the smallest patches take more.
    """
    (n, p), units = data.table.shape, data.exchangeability
    n_groups = None if units.groups is None else units.n_units
    threads = checks.check_jobs("rank", execution.n_jobs)
    estimator = estimator.set_params(max_features=estimator.max_features or "sqrt")
    n_values = data.target.n_values
    # Out-of-bag rows: sums, counts and bags while trees are grown; then copies, and predictions.
    summed, estimated = n * (8 * n_values + 9), n * (16 * n_values + 17)
    fraction, needed = _LARGEST, 0
    while True:
        rows = min(n - 1, max(_FEWEST_ROWS, int(fraction * n)))
        columns = min(p, max(_FEWEST_COLUMNS, int(fraction * p)))
        drawn = max(1, rows * units.n_units // n)  # groups with about as many rows
        estimator.set_params(max_samples=drawn, n_subspace_features=columns, bootstrap=False)
        settings = counted_in_rows(estimator.growth_settings(n, p, n_groups=n_groups), data)
        of_tree = most_tree_bytes(n_values, settings, data.table)
        patches = patch_memory(data.table, settings, threads)
        growing = threads * (patches.per_thread + of_tree) + summed
        needed = patches.shared + max(growing, estimated)
        needed += min(estimator.n_estimators * of_tree, trees_within(memory))
        if needed <= _PLANNED * memory:
            break
        if rows <= _FEWEST_ROWS and columns <= _FEWEST_COLUMNS:
            least = readable_bytes(needed / _PLANNED)
            raise ValueError(
                f"rank: memory must be at least {least} for {n:,} rows and "
                f"{p:,} columns on {threads} threads, got {readable_bytes(memory)}"
            )
        fraction *= 0.9
    note = (
        f"a ranking of the table in memory takes about "
        f"{readable_bytes(_bytes(data.table, threads)[1])}, more than "
        f"memory: {estimator.n_estimators:,} random patches, each a tree on a "
        f"sample of {rows:,} of {n:,} rows ({rows / n:.2g}) and {columns:,} of {p:,} columns "
        f"({columns / p:.2g}), for which {readable_bytes(needed)} are estimated"
    )
    return estimator, note


def sample_of_store(inputs: Inputs, memory: int) -> tuple[Inputs, str]:
    """Return the parameters of a random forest and a random sample of the rows, and a note on both.

    The forest stands for the random patches in the test and the effects, which need a table in
    memory. Its number of trees and its criterion are those of the patches.
    """
    data: Any = inputs.data
    store, seed = data.table, inputs.random_state or 0
    threads = checks.check_jobs("rank", inputs.n_jobs)
    # The codes, and for each thread a permuted copy of them, and those that the kernel has by rows.
    codes = _bytes(store, threads)[0]
    row_bytes = (1 + 2 * threads) * codes // store.n_rows + 64 * threads
    n = min(store.n_rows, _SAMPLE, max(_FEWEST_ROWS, memory // 2 // row_bytes))
    rows = sampled_rows(data.target, n, seed)
    part = data.seen_in(rows_of_store(store, rows), rows, key=("sample", n, seed))
    patches = inputs.estimator
    forest = FORESTS[0].estimator(part.task)(
        n_estimators=patches.n_estimators,
        criterion=patches.criterion,
        random_state=patches.random_state,
        n_jobs=inputs.n_jobs,
    )
    note = (
        f"the significance test and the directions of effects are those of a random forest on a "
        f"random sample of {n:,} of the {store.n_rows:,} rows{proportions(data.target)}"
    )
    return replace(inputs, estimator=forest, data=part), note


def described_sample(sample: Inputs, memory: int) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest that fits into the memory, and its rows, for the effects.

    It has no more trees than effects need, and leaves of as many rows as it takes.
    """
    forest, table = sample.unfitted().estimator, sample.data.table
    forest.set_params(n_estimators=min(DESCRIBING_TREES, forest.n_estimators))
    leaf = forest.min_samples_leaf
    while leaf < table.n_rows // 4:
        settings = forest.set_params(min_samples_leaf=leaf).growth_settings(*table.shape)
        of_tree = most_tree_bytes(sample.data.target.n_values, settings, table)
        if forest.n_estimators * of_tree <= trees_within(memory):
            break
        leaf *= 2
    return forest.fit(sample.data), sample.data


def rows_of_store(store: ColumnStore, rows: Any) -> EncodedTable:
    """Return some rows of a store in memory, read column by column.

    The codes of numeric columns are ranks among these rows: a column has no more values than rows.
    """
    schema = store.schema
    codes, values, missing = [], [], np.zeros(store.n_columns, dtype=np.uint8)
    for j in range(store.n_columns):
        own = store.codes(j)[rows]
        begin, end = schema.value_offsets[j : j + 2].tolist()
        missing[j], present = schema.missing[j], np.arange(end - begin)
        if KINDS[schema.kind_codes[j]] == "numeric":
            present, own = np.unique(own, return_inverse=True)
            missing[j] = len(present) > 0 and present[-1] == end - begin
            present = present[: len(present) - int(missing[j])].astype(np.int64)
            own = own.astype(CODE_TYPES[int(narrowest(len(present) + int(missing[j])))])
        values.append(schema.cut_values[begin + present])
        codes.append(own)
    sizes = np.array([len(own) for own in values], dtype=np.int64)
    return EncodedTable(
        n_rows=len(rows),
        names=schema.names,
        kinds=schema.kinds,
        **blocks_of(codes, sizes + missing, len(rows)),
        cut_values=np.concatenate(values),
        value_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        labels=dict(schema.labels),
        missing=missing,
        named=schema.named,
    )
