"""Trees of a forest as lists of nodes, with the rows that an oracle sends down them."""

import numpy as np
from tests.importances.trees import ARRAYS
from tests.oracles.route import leaf_of

import duramen as dm
from duramen.contexts.inputs import Context


def random_trees(n_trees, task="classification"):
    """The default estimator of the trees of an analysis, with another number of them."""
    if task == "regression":
        return dm.TotallyRandomizedTreesRegressor(n_trees, splits="auto")
    return dm.TotallyRandomizedTreesClassifier(n_trees, splits="auto")


def as_context(codes, count=None):
    """A context of codes, some of which may have no row."""
    codes = np.asarray(codes, dtype=np.uint32)
    count = int(codes.max()) + 1 if count is None else count
    return Context("Xc", tuple(map(str, range(count))), codes)


def opened(forest, rows, levels):
    """Nodes (rows, feature, children, level) of every tree.

    `rows` holds numbers, codes of categories, and NaN where missing; `levels` a weight for every
    node of the forest.
    """
    arrays = {name: getattr(forest, name) for name in ARRAYS}
    schema = {
        name: getattr(forest.schema, name)
        for name in ("kinds", "value_offsets", "cut_values", "missing")
    }
    trees = []
    for t, tree in enumerate(forest):
        start = int(forest.offsets[t])
        held = [[] for _ in range(tree.n_nodes)]
        for number, row in enumerate(rows):
            node = leaf_of(arrays, schema, t, row)
            while node >= 0:
                held[node].append(number)
                node = int(tree.parent[node])
        nodes = []
        for i, inside in enumerate(held):
            first = int(tree.child[i])
            feature = int(tree.feature[i]) if tree.feature[i] >= 0 else None
            children = [] if feature is None else held[first : first + int(tree.n_children[i])]
            nodes.append((inside, feature, children, float(levels[start + i])))
        trees.append(nodes)
    return trees


def rows_of(table):
    """Rows of an encoded table as the oracle of routing reads them."""
    columns = []
    for j, kind in enumerate(table.kinds):
        values = (
            np.asarray(table.values(j)) if kind == "numeric" else np.arange(len(table.values(j)))
        )
        columns.append(np.append(values.astype(float), np.nan)[table.codes(j)])
    return np.stack(columns, axis=1).tolist()
