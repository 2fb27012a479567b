"""Columns of an encoded table that are replaced, permuted, or copied as shadows and probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import SPARSE, EncodedTable, blocks_of
from duramen.data.memory import require_memory
from duramen.support.text import quoted


def with_ordinal(
    table: EncodedTable, columns: Mapping[int, tuple[NDArray[Any], NDArray[Any]]]
) -> EncodedTable:
    """Return a table with some of its columns replaced by ordinal ones.

    `columns` has, by index, the code of each row, in 0..m-1, or m where the value is missing, and
    the m labels in their order.
    """
    others = np.setdiff1d(np.arange(table.n_columns), list(columns))
    changed = of_columns(
        [table.names[j] for j in columns],
        ["ordinal"] * len(columns),
        [codes for codes, _ in columns.values()],
        [labels for _, labels in columns.values()],
    )
    both = joined(table.take(others), changed, "with_ordinal")
    return replace(both.take(np.argsort([*others, *columns])), named=table.named)


def without_unused(table: EncodedTable) -> EncodedTable:
    """Return a table whose columns have only the values that are in its rows.

    Rows chosen by `take_rows` keep the codes of the table they came from.
    """
    if not table.n_columns:
        return table
    codes, values = [], []
    for j in range(table.n_columns):
        distinct, of_rows = table.values(j), np.asarray(table.codes(j))
        counts = np.bincount(of_rows, minlength=len(distinct) + 1)
        used = np.flatnonzero(counts[: len(distinct)])
        codes.append(np.searchsorted(used, of_rows))  # the code of missing comes last
        values.append(distinct[used])
    return replace(of_columns(table.names, table.kinds, codes, values), named=table.named)


def of_columns(
    names: Sequence[str],
    kinds: Sequence[str],
    codes: Sequence[NDArray[Any]],
    values: Sequence[NDArray[Any]],
) -> EncodedTable:
    """Return a table from the codes of each row, and the values or labels in code order."""
    labels = {j: values[j] for j, kind in enumerate(kinds) if kind != "numeric"}
    sizes = np.array([len(distinct) for distinct in values], dtype=np.int64)
    missing = np.array([(of_rows == m).any() for of_rows, m in zip(codes, sizes, strict=True)])
    cuts = [np.arange(float(m)) if j in labels else values[j] for j, m in enumerate(sizes)]
    return EncodedTable(
        n_rows=len(codes[0]),
        names=tuple(names),
        named=True,
        kinds=tuple(kinds),
        cut_values=np.concatenate(cuts),
        value_offsets=np.cumsum(np.append(0, sizes)),
        labels=labels,
        missing=missing.astype(np.uint8),
        **blocks_of(codes, sizes + missing, len(codes[0])),
    )


def with_permuted(table: EncodedTable, columns: ArrayLike, order: ArrayLike) -> EncodedTable:
    """Return the table with the rows of some of its columns permuted, all by one permutation.

    Each of these columns, given by index or as a mask, holds in row i what it held in row
    ``order[i]``. They keep their dependence on each other, and lose that on the other columns and
    on the target. Codes keep their meaning, and what does not change is not copied.
    """
    index, rows = np.asarray(columns), np.asarray(order)
    index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.intp)
    blocks: list[Any] = list(table.blocks)
    for number, block in enumerate(blocks):
        slots = table.slot[index[table.block_of[index] == number]]
        if slots.size:
            blocks[number] = block.copy()
            blocks[number][slots] = np.take(block[slots], rows, axis=1)
    sparse, slots = table.sparse, table.slot[index[table.block_of[index] == SPARSE]]
    if sparse is not None and slots.size:
        sparse = sparse.with_rows_of(slots, rows)
    return replace(table, blocks=tuple(blocks), sparse=sparse)


def with_shadows(
    table: EncodedTable, order: ArrayLike, *, function: str = "with_shadows"
) -> EncodedTable:
    """Return a table of 2p columns: the p columns, then their row-permuted shadows.

    Column p + j holds in row i what column j holds in row ``order[i]``. Shadows have the
    distribution of their columns, and among each other the dependence of them; with the target and
    with the columns themselves they have nothing to do. Codes are copied, not made again: those of
    a column and of its shadow mean the same. The shadow of ``a`` is called ``a (shadow)``.
    """
    require_memory(
        3 * table.nbytes(),
        what=f"a table of {table.n_columns} columns and as many shadows",
        function=function,
        hint="give fewer columns or rows",
    )
    names = tuple([f"{name} (shadow)" for name in table.names])
    return joined(table, replace(table.take_rows(order), names=names), function)


def with_probes(
    table: EncodedTable, columns: ArrayLike, orders: ArrayLike, *, function: str = "with_probes"
) -> EncodedTable:
    """Return a table of p + R columns: the p given ones, then R copies with their rows permuted.

    Column p + i holds in row k what column ``columns[i]`` holds in row ``orders[i, k]``: a probe
    has the distribution of the column that it copies, and, with an order of its own each, has
    nothing to do with the target, the columns, or other probes. The i-th probe, from 1, is called
    ``a (probe i)`` after its column ``a``.
    """
    copied = np.asarray(columns, dtype=np.int64).tolist()
    names = [f"{table.names[j]} (probe {i})" for i, j in enumerate(copied, 1)]
    return _beside(table, copied, orders, names, function)


def with_knockoffs(
    table: EncodedTable, columns: ArrayLike, donors: ArrayLike, *, function: str = "with_knockoffs"
) -> EncodedTable:
    """Return a table of p + k columns: the p given ones, then k of them with values of other rows.

    Column p + i holds in row r what column ``columns[i]`` holds in row ``donors[i, r]``. It is
    called ``a (knockoff)`` after its column ``a``.
    """
    copied = np.asarray(columns, dtype=np.int64).tolist()
    names = [f"{table.names[j]} (knockoff)" for j in copied]
    return _beside(table, copied, donors, names, function)


def _beside(
    table: EncodedTable, columns: list[int], donors: ArrayLike, names: list[str], function: str
) -> EncodedTable:
    """Return a table and, after its columns, copies of some with the values of other rows."""
    require_memory(
        table.nbytes() + len(columns) * (table.nbytes() // max(table.n_columns, 1)),
        what=f"a table of {table.n_columns} columns and {len(columns)} copies",
        function=function,
        hint="give fewer columns, rows or copies",
    )
    copies = table.take(np.array(columns, dtype=np.int64))
    places = np.asarray(donors, dtype=np.intp).reshape(len(columns), table.n_rows)
    blocks: list[Any] = [
        np.take_along_axis(block, places[copies.block_of == number], axis=1)
        for number, block in enumerate(list[Any](copies.blocks))
    ]
    sparse = copies.sparse
    if sparse is not None:
        sparse = sparse.take_rows(places[copies.block_of == SPARSE])
    copies = replace(copies, names=tuple(names), blocks=tuple(blocks), sparse=sparse)
    return joined(table, copies, function)


def joined(left: EncodedTable, right: EncodedTable, function: str) -> EncodedTable:
    """Return the columns of two tables of the same rows, left before right.

    Raises
    ------
    ValueError
        If the numbers of rows differ, or both have a column of the same name.
    """
    if left.n_rows != right.n_rows:
        raise ValueError(
            f"{function}: tables must have the same number of rows, got {left.n_rows} and "
            f"{right.n_rows}."
        )
    if both := sorted(set(left.names) & set(right.names)):
        raise ValueError(f"{function}: column {quoted(both[0])} occurs twice.")
    return replace(left.followed_by(right), named=True)
