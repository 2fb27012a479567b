"""Trees on parts of a store: each reads the rows of its bag and the columns of its subspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data import LearningSet
from duramen.data.schema import KINDS, KernelOwner
from duramen.data.sparse_columns import CODE_TYPES, narrowest, slots_of
from duramen.forests.arrays import ARRAY_NAMES, TreeArrays
from duramen.forests.forest import joined
from duramen.forests.settings import GrowthSettings
from duramen.io import ColumnStore
from duramen.jobs.workers import Threads
from duramen.support.arrays import FloatArray, IntArray

NUMERIC = KINDS.index("numeric")
_FEW_CODES = 2**8  # columns of so many keep their codes

Numbers = NDArray[np.uint32]


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
    patches = Patches(data, settings, seed)
    parts = []
    with Threads(n_threads).running(partial(_tree, patches)) as run:
        for arrays in run((tree,) for tree in range(first_tree, first_tree + n_trees)):
            parts.append(arrays)
            if progress is not None:
                progress(len(parts))
    return joined(parts)


@dataclass(frozen=True)
class PatchMemory:
    """Memory of random patches on a store, in bytes, besides the trees and the interpreter.

    Attributes
    ----------
    shared : int
        Of the target, the weights, and names and distinct values of the columns.
    per_thread : int
        Of the rows and columns of a tree, and of a column while it is read.
    n_threads : int
    """

    shared: int
    per_thread: int
    n_threads: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.shared + self.per_thread * self.n_threads


_ROW = 16  # bytes of a row: its class, weight, and place in the order of the rows
_NUMBER_ROW = 40  # of a target of numbers, which has a grid beside it
_COLUMN = 300  # bytes of a column: its name, kind and checks
_TREE_ROW = 100  # bytes of a row of a tree besides its codes: its number, weight and place
BY_ROWS = 1 << 28  # bytes of codes up to which the kernel keeps them by rows as well


def patch_memory(table: Any, settings: GrowthSettings, n_jobs: int = 1) -> PatchMemory:
    """Estimate the memory that trees on parts of a store take while they grow.

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
    PatchMemory

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> store = dm.pack(np.arange(4000.0).reshape(400, 10) % 7, "sevens.store")
    >>> forest = dm.RandomPatchesRegressor(max_samples=100, n_subspace_features=5)
    >>> memory = dm.forests.patch_memory(store, forest.growth_settings(*store.shape))
    >>> memory.shared, memory.per_thread
    (19560, 13400)
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
    return PatchMemory(
        shared=(_NUMBER_ROW if settings.criterion == "variance" else _ROW) * n
        + _COLUMN * p
        + 8 * int(n_codes.sum()),
        per_thread=column + ranks + codes + by_rows + _TREE_ROW * m,
        n_threads=n_jobs,
    )


@dataclass(frozen=True, eq=False)
class Patches(KernelOwner):
    """Learning set on disk, and how trees are grown on parts of it."""

    data: LearningSet[ColumnStore]
    settings: GrowthSettings
    seed: int

    @cached_property
    def kernel(self) -> _kernel.Patches:
        """Kernel object that draws the rows and columns of the trees, and grows them."""
        return _kernel.Patches(
            self.data.target.kernel,
            self.data.weights,
            self.settings.for_kernel(),
            self.seed,
            self.data.n_columns,
            self.data.exchangeability.bag_groups,
        )


def _tree(patches: Patches, tree: int) -> dict[str, NDArray[Any]]:
    """Grow a tree on its part of the store."""
    store, kernel = patches.data.table, patches.kernel
    rows, multiplicity = kernel.rows(tree)
    columns = kernel.columns(tree).astype(np.int64)
    # Other families of splits record codes, which are to be those of the whole table.
    codes = _Codes.read(store, rows, columns, recode=patches.settings.splits == "ordered")
    grown = kernel.grow(codes.table(store, columns), tree, rows, multiplicity)
    arrays = {name: getattr(grown, name) for name in ARRAY_NAMES}
    arrays["cut"] = codes.cuts_of_store(store, columns, arrays)
    split = arrays["feature"] >= 0
    features = arrays["feature"].copy()
    features[split] = columns[features[split]]
    arrays["feature"] = features
    return arrays


@dataclass(frozen=True, eq=False)
class _Codes:
    """Codes of some rows and columns of a store."""

    codes: NDArray[Any]  # (q, m)
    # (q,): sorted values of each numeric column whose codes are ranks among the rows alone; else
    # None. A column of numbers may have a value for each row of the store.
    values: list[FloatArray | None]

    @classmethod
    def read(cls, store: ColumnStore, rows: Numbers, columns: IntArray, *, recode: bool) -> _Codes:
        """Read columns one by one, and keep the codes of the rows."""
        schema = store.schema
        n_values = np.diff(schema.value_offsets)[columns]
        n_codes = n_values + schema.missing[columns]
        ranked = (schema.kind_codes[columns] == NUMERIC) & (n_codes > _FEW_CODES) & recode
        # All columns in one width: then the kernel needs no copy of them.
        most = int(np.where(ranked, np.minimum(n_codes, len(rows) + 1), n_codes).max(initial=1))
        codes = np.empty((len(columns), len(rows)), dtype=CODE_TYPES[narrowest(most)])
        values: list[FloatArray | None] = []
        for own, j, m, rank in zip(
            codes, columns.tolist(), n_values.tolist(), ranked.tolist(), strict=True
        ):
            read = store.codes(j)[rows]
            if not rank:
                own[:] = read
                values.append(None)
                continue
            seen = np.zeros(m + 1, dtype=np.bool_)
            seen[read] = True
            present = np.flatnonzero(seen[:m])
            ranks = np.empty(m + 1, dtype=np.uint32)
            ranks[present] = np.arange(len(present), dtype=np.uint32)
            ranks[m] = len(present)  # missing
            own[:] = ranks[read]
            begin = int(schema.value_offsets[j])
            values.append(schema.cut_values[begin + present])
        return cls(codes, values)

    def table(self, store: ColumnStore, columns: IntArray) -> _kernel.Table:
        """Return the codes as a table of the kernel."""
        schema = store.schema
        own = [
            schema.cut_values[int(schema.value_offsets[j]) : int(schema.value_offsets[j + 1])]
            if ranked is None
            else ranked
            for j, ranked in zip(columns.tolist(), self.values, strict=True)
        ]
        offsets = np.cumsum([0, *map(len, own)], dtype=np.int64)
        kinds, missing = schema.kind_codes[columns], schema.missing[columns]
        number = [np.dtype(kind) for kind in CODE_TYPES].index(self.codes.dtype)
        blocks: list[Any] = [np.empty((0, self.codes.shape[1]), kind) for kind in CODE_TYPES]
        blocks[number] = self.codes
        block_of = np.full(len(columns), number, dtype=np.uint8)
        lent = _kernel.Schema(np.concatenate(own), offsets, kinds, missing)
        narrow, middle, wide = blocks
        return _kernel.Table(lent, narrow, middle, wide, block_of, np.arange(len(columns)))

    def cuts_of_store(
        self, store: ColumnStore, columns: IntArray, arrays: dict[str, NDArray[Any]]
    ) -> Numbers:
        """Return the cuts of the nodes of a tree in the codes of the store.

        The code of a cut is that of the last value up to the threshold.
        """
        schema = store.schema
        cuts = arrays["cut"].copy()
        for i, ranked in enumerate(self.values):
            if ranked is None:
                continue
            nodes = np.flatnonzero(arrays["feature"] == i)
            begin, end = schema.value_offsets[columns[i] : columns[i] + 2].tolist()
            values = schema.cut_values[begin:end]
            cuts[nodes] = np.searchsorted(values, arrays["threshold"][nodes], side="right") - 1
        return cuts


# --- rows of a store that are sent down trees -----------------------------------------------------

_BLOCK = 1 << 22  # bytes of a block of rows: codes, and the leaves in each tree
_LEAF_BYTES = 32  # of the leaf of a row, and of its place


def row_blocks(trees: TreeArrays, store: ColumnStore) -> Iterator[tuple[slice, _kernel.Table]]:
    """Yield the rows of a store in blocks: a slice, and a table of the kernel.

    Of the columns, those that nodes of the trees split on are read.
    """
    schema, p = store.schema, store.n_columns
    used = np.unique(trees.feature[trees.feature >= 0])
    n_codes = np.diff(schema.value_offsets) + schema.missing
    widths = narrowest(n_codes[used])
    slots = slots_of(widths)
    row_bytes = sum(np.dtype(CODE_TYPES[number]).itemsize for number in widths.tolist())
    size = max(1 << 10, _BLOCK // (row_bytes + _LEAF_BYTES * trees.n_trees))
    # Columns that no node asks for lie anywhere.
    spare = int(widths[0]) if len(used) else 0
    block_of, slot = np.full(p, spare, dtype=np.uint8), np.zeros(p, dtype=np.int64)
    block_of[used], slot[used] = widths, slots
    heights = [int(np.count_nonzero(widths == number)) for number in range(len(CODE_TYPES))]
    heights[spare] = max(1, heights[spare])
    for begin in range(0, store.n_rows, size):
        end = min(begin + size, store.n_rows)
        blocks: list[Any] = [
            np.zeros((height, end - begin), dtype=kind)
            for height, kind in zip(heights, CODE_TYPES, strict=True)
        ]
        for j, number, place in zip(used.tolist(), widths.tolist(), slots.tolist(), strict=True):
            blocks[number][place] = store.codes(j, begin, end)
        narrow, middle, wide = blocks
        table = _kernel.Table(schema.kernel_schema, narrow, middle, wide, block_of, slot)
        yield slice(begin, end), table
