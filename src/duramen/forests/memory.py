"""Memory that a forest takes: estimates, and checks before any work begins."""

from __future__ import annotations

from typing import Any

from duramen.data import EncodedTable, LearningSet
from duramen.data.memory import SELDOM_LACKING, available_bytes, require_memory
from duramen.data.schema import KINDS
from duramen.forests.growth import grow
from duramen.forests.settings import GrowthSettings

NODE_BYTES = 4 + 4 + 4 + 8 + 1 + 4 + 4 + 8 + 8
TREE_BYTES = 3 * 8
PILOT_TREES = 8
NOMINAL = KINDS.index("nominal")


def refuse_large_forest(
    function: str,
    n_trees: int,
    settings: GrowthSettings,
    data: LearningSet[Any],
    n_threads: int = 1,
) -> None:
    """Raise MemoryError if a forest would not fit in memory, judging by its first trees.

    They are grown only where the largest trees that there can be would not fit.
    """
    most = most_tree_bytes(settings, data)
    if most * n_trees < SELDOM_LACKING:
        return
    available = available_bytes()
    if available is None or most * n_trees <= available:
        return
    require_tree(function, settings, data)
    if n_trees > PILOT_TREES:
        pilot = grow(data, settings, n_trees=PILOT_TREES, seed=0, n_threads=n_threads)
        require_memory(
            pilot.nbytes * n_trees // pilot.n_trees,
            what=f"a forest of {n_trees} trees such as its first ones",
            function=function,
            hint="lower n_estimators, or bound the trees by max_depth, max_leaf_nodes or "
            "min_samples_leaf",
        )


def require_tree(function: str, settings: GrowthSettings, data: LearningSet[EncodedTable]) -> None:
    """Raise MemoryError if a single tree may not fit."""
    table, n_values, available = data.table, data.target.n_values, available_bytes()
    most = most_tree_bytes(settings, data)
    if available is not None and most > available:
        raise MemoryError(
            f"{function}: a tree on {table.n_rows} rows, with {n_values} values a leaf and "
            f"columns of up to {int(table.n_codes().max())} values, may take {most / 1e9:.3g} GB, "
            f"and {available / 1e9:.3g} GB are available; bound it by max_depth, max_leaf_nodes "
            "or min_samples_leaf, or leave out columns of row numbers"
        )


def most_tree_bytes(settings: GrowthSettings, data: LearningSet[Any]) -> int:
    """Return the bytes that a tree takes when it is as large as can be."""
    table, rows = data.table, data.n_rows
    if settings.row_samples:
        row_samples = settings.row_samples
        if data.exchangeability.groups is not None:
            row_samples = data.exchangeability.most_rows(row_samples)
        rows = min(row_samples, rows)
    leaves = rows // settings.min_samples_leaf
    if settings.max_leaf_nodes is not None:
        leaves = min(leaves, settings.max_leaf_nodes)
    if settings.max_depth is not None and settings.splits != "multiway" and settings.max_depth < 62:
        leaves = min(leaves, 2**settings.max_depth)
    leaves = max(1, leaves)
    n_codes = table.n_codes()
    if settings.splits == "ordered":
        n_codes = n_codes[table.kind_codes == NOMINAL]
    words = 0
    if settings.splits == "multiway":
        words = 4 * leaves  # two for a node and one for each child
    elif settings.splits != "one-vs-rest" and len(n_codes):
        words = (leaves - 1) * (int(n_codes.max()) + 31) // 32
    nodes = 2 * leaves - 1
    return TREE_BYTES + NODE_BYTES * nodes + 8 * data.target.n_values * leaves + 4 * words
