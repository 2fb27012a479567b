"""Trees on parts of a store: each reads the rows of its bag and the columns of its subspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data import LearningSet
from duramen.data.encoded import CODE_TYPES, narrowest, slots_of
from duramen.data.schema import KINDS
from duramen.forests.forest import Forest
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import ARRAY_NAMES, joined
from duramen.io import ColumnStore
from duramen.jobs.workers import running
from duramen.support.arrays import FloatArray

NUMERIC = KINDS.index("numeric")
_FEW_CODES = 2**8  # columns with up to this number of values keep their codes


def grow_patches(
    data: LearningSet[ColumnStore],
    settings: GrowthSettings,
    *,
    n_trees: int,
    seed: int,
    first_tree: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of trees, each grown on the part of a store that it sees.

    They are those of :func:`duramen.forests.growth.grow` on the table in memory, bit for bit. In
    memory are the target, the weights and the values of the columns, and for each thread the codes
    of a tree.
    """
    store, schema, offsets = data.table, data.table.schema, data.table.schema.value_offsets
    patches = _kernel.Patches(
        data.target.kernel,
        data.weights,
        settings.for_kernel(),
        seed,
        data.n_columns,
        data.exchangeability.bag_groups,
    )

    def values_of(j: int) -> FloatArray:
        return schema.cut_values[int(offsets[j]) : int(offsets[j + 1])]

    def grown(tree: int) -> dict[str, NDArray[Any]]:
        """Read the rows and columns of a tree, column by column, and grow it."""
        rows, multiplicity = patches.rows(tree)
        columns = patches.columns(tree).astype(np.int64)
        n_values = np.diff(offsets)[columns]
        n_codes = n_values + schema.missing[columns]
        # Of columns with many numbers, codes are ranks among the rows of the tree: there may be a
        # value for each row of the store. Other families of splits record codes, which are to be
        # those of the whole table.
        ranked = (schema.kind_codes[columns] == NUMERIC) & (n_codes > _FEW_CODES)
        ranked &= settings.splits == "ordered"
        # All columns in one width: then the kernel needs no copy of them.
        most = int(np.where(ranked, np.minimum(n_codes, len(rows) + 1), n_codes).max(initial=1))
        width = int(narrowest(most))
        codes = np.empty((len(columns), len(rows)), dtype=CODE_TYPES[width])
        values = []
        for i, (j, m) in enumerate(zip(columns.tolist(), n_values.tolist(), strict=True)):
            read, own = store.codes(j)[rows], values_of(j)
            if ranked[i]:
                seen = np.zeros(m + 1, dtype=np.bool_)
                seen[read] = True
                own = own[np.flatnonzero(seen[:m])]
                seen[m] = True  # missing comes last
                read = (np.cumsum(seen, dtype=np.uint32) - 1)[read]
            codes[i] = read
            values.append(own)
        blocks: list[Any] = [np.empty((0, len(rows)), kind) for kind in CODE_TYPES]
        blocks[width] = codes
        narrow, middle, wide = blocks
        own_schema = _kernel.Schema(
            np.concatenate(values),
            np.cumsum([0, *map(len, values)], dtype=np.int64),
            schema.kind_codes[columns],
            schema.missing[columns],
        )
        places = np.full(len(columns), width, dtype=np.uint8), np.arange(len(columns))
        table = _kernel.Table(own_schema, narrow, middle, wide, *places)
        trees = patches.grow(table, tree, rows, multiplicity)
        arrays = {name: getattr(trees, name) for name in ARRAY_NAMES}
        # Cuts and columns as the store has them: the code of a cut is that of the last value up to
        # the threshold.
        cut, feature = arrays["cut"].copy(), arrays["feature"].copy()
        for i in np.flatnonzero(ranked).tolist():
            nodes = np.flatnonzero(arrays["feature"] == i)
            thresholds = arrays["threshold"][nodes]
            cut[nodes] = np.searchsorted(values_of(columns[i]), thresholds, side="right") - 1
        inner = feature >= 0
        feature[inner] = columns[feature[inner]]
        return {**arrays, "cut": cut, "feature": feature}

    parts = []
    with running(grown, n_threads) as run:
        for arrays in run((tree,) for tree in range(first_tree, first_tree + n_trees)):
            parts.append(arrays)
            if progress is not None:
                progress(len(parts))
    return joined(parts)


_ROW = 16  # bytes of a row: its class, weight, and place in the order of the rows
_NUMBER_ROW = 40  # of a target of numbers, which has a grid beside it
_COLUMN = 300  # bytes of a column: its name, kind and checks
_TREE_ROW = 100  # bytes of a row of a tree besides its codes: its number, weight and place
BY_ROWS = 1 << 28  # bytes of codes up to which the kernel keeps them by rows as well


def patch_memory(table: Any, settings: GrowthSettings, n_jobs: int = 1) -> int:
    """Estimate the bytes that trees on parts of a store take while they grow, besides the trees.

    Parameters
    ----------
    table : ColumnStore
        The store; nothing of its codes is read.
    settings : GrowthSettings
        As the estimator's ``growth_settings(*store.shape)`` returns them.
    n_jobs : int
        Threads, each of which grows a tree at a time.

    Returns
    -------
    int
        Bytes of the target, the weights, names and distinct values of the columns; and for each
        thread of the rows and columns of a tree, and of a column while it is read.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> store = dm.pack(np.arange(4000.0).reshape(400, 10) % 7, "sevens.store")
    >>> forest = dm.RandomPatchesRegressor(max_samples=100, n_subspace_features=5)
    >>> dm.forests.patch_memory(store, forest.growth_settings(*store.shape))
    32960
    """
    n, p = table.shape
    n_codes = table.n_codes()
    most = int(n_codes.max(initial=1))
    m = n if not settings.row_samples else min(n, settings.row_samples)
    q = settings.column_samples or p
    width = np.dtype(CODE_TYPES[narrowest(min(most, max(m + 1, _FEW_CODES)))]).itemsize
    codes = m * q * width
    column = n * (4 + 2 * np.dtype(CODE_TYPES[narrowest(most)]).itemsize)
    ranks = 5 * most if most > _FEW_CODES else 0
    by_rows = codes if codes <= BY_ROWS else 0
    row = _NUMBER_ROW if settings.criterion == "variance" else _ROW
    shared = row * n + _COLUMN * p + 8 * int(n_codes.sum())
    return int(shared + n_jobs * (column + ranks + codes + by_rows + _TREE_ROW * m))


# --- rows of a store that are sent down trees -----------------------------------------------------

_BLOCK = 1 << 22  # bytes of a block of rows: codes, and the leaves in each tree
_LEAF_BYTES = 32  # of the leaf of a row, and of its place


def row_blocks(trees: Forest, store: ColumnStore) -> Iterator[tuple[slice, _kernel.Table]]:
    """Yield the rows of a store in blocks: a slice, and a table of the kernel.

    Of the columns, those that nodes of the trees split on are read.
    """
    schema, p = store.schema, store.n_columns
    used = np.unique(trees.feature[trees.feature >= 0])
    widths = narrowest(schema.n_codes()[used])
    slots = slots_of(widths)
    row_bytes = sum(np.dtype(CODE_TYPES[number]).itemsize for number in widths.tolist())
    size = max(1 << 10, _BLOCK // (row_bytes + _LEAF_BYTES * trees.n_trees))
    # Columns that no node asks for lie anywhere.
    spare = int(widths[0]) if len(used) else 0
    block_of, slot = np.full(p, spare, dtype=np.uint8), np.zeros(p, dtype=np.int64)
    block_of[used], slot[used] = widths, slots
    heights = np.bincount(widths, minlength=len(CODE_TYPES))
    heights[spare] = max(1, heights[spare])
    for begin in range(0, store.n_rows, size):
        end = min(begin + size, store.n_rows)
        blocks: list[Any] = [
            np.zeros((height, end - begin), dtype=kind)
            for height, kind in zip(heights.tolist(), CODE_TYPES, strict=True)
        ]
        for j, number, place in zip(used.tolist(), widths.tolist(), slots.tolist(), strict=True):
            blocks[number][place] = store.codes(j, begin, end)
        narrow, middle, wide = blocks
        table = _kernel.Table(schema.kernel_schema, narrow, middle, wide, block_of, slot)
        yield slice(begin, end), table
