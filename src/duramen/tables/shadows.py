"""Shadows: a second copy of every column, its rows permuted, all by the same permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.tables.encoded import EncodedTable
from duramen.tables.memory import require_memory


def with_shadows(
    table: EncodedTable, order: ArrayLike, *, function: str = "with_shadows"
) -> EncodedTable:
    """Return a table of 2p columns: the p given ones, then the same with their rows permuted.

    Column p + j holds in row i what column j holds in row ``order[i]``. Shadows have the
    distribution of their columns, and among each other the dependence of them; with the target
    and with the columns themselves they have nothing to do. Codes are copied, not made again:
    those of a column and of its shadow mean the same.

    Parameters
    ----------
    table : EncodedTable
        n rows, p columns.
    order : array-like of int, shape (n,)
        A permutation of 0 .. n - 1.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    EncodedTable
        The shadow of ``a`` is called ``a (shadow)``, with as many primes after it as make the
        names of all columns different.

    Raises
    ------
    ValueError
        If `order` is no permutation of the rows.
    MemoryError
        If the table does not fit twice into memory.
    """
    permutation = _permutation(order, table.n_rows, function)
    require_memory(
        2 * table.nbytes(),
        what=f"a table of {table.n_columns} columns and as many shadows",
        function=function,
        hint="give fewer columns or rows",
    )
    p = table.n_columns
    heights = np.array([len(block) for block in table.blocks])
    offsets = table.value_offsets
    return EncodedTable(
        n_rows=table.n_rows,
        names=table.names + _shadow_names(table.names),
        kinds=table.kinds * 2,
        blocks=(
            _twice(table.blocks[0], permutation),
            _twice(table.blocks[1], permutation),
            _twice(table.blocks[2], permutation),
        ),
        block_of=np.tile(table.block_of, 2),
        slot=np.concatenate([table.slot, table.slot + heights[table.block_of]]),
        cut_values=np.tile(table.cut_values, 2),
        value_offsets=np.concatenate([offsets, offsets[-1] + offsets[1:]]),
        labels={**table.labels, **{p + j: labels for j, labels in table.labels.items()}},
        missing=np.tile(table.missing, 2),
        named=True,
    )


def _permutation(order: ArrayLike, n_rows: int, function: str) -> NDArray[np.integer]:
    given = np.asarray(order)
    if (
        given.shape != (n_rows,)
        or (given.dtype.kind not in "iu" and n_rows)
        or not np.array_equal(np.sort(given), np.arange(n_rows))
    ):
        raise ValueError(
            f"{function}: order must be a permutation of 0 to {n_rows - 1}, one entry a row, got "
            f"an array of shape {given.shape} and type {given.dtype}. Hint: "
            "numpy.random.default_rng(seed).permutation(n) draws one."
        )
    return given


def _twice(block: NDArray[Any], permutation: NDArray[np.integer]) -> NDArray[Any]:
    """The columns of a block (its rows), then the same with their entries permuted."""
    height = len(block)
    both = np.empty((2 * height, block.shape[1]), dtype=block.dtype)
    both[:height] = block
    np.take(block, permutation, axis=1, out=both[height:], mode="clip")
    return both


def _shadow_names(names: Sequence[str]) -> tuple[str, ...]:
    taken = set(names)
    primes = ""
    while not taken.isdisjoint(f"{name} (shadow){primes}" for name in names):
        primes += "'"
    return tuple([f"{name} (shadow){primes}" for name in names])
