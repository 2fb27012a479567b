"""Forests for the tests of permutation importances, opened up for the oracle."""

import numpy as np
from tests.oracles.route import leaf_of

import duramen as dm
from duramen.forests.growth import bag

ARRAYS = [
    *("offsets", "leaf_offsets", "pool_offsets"),
    *("feature", "child", "cut", "threshold", "split", "pool", "leaf_values"),
]


class Opened:
    """The trees of a forest as functions from a row to the numbers of its leaf."""

    def __init__(self, forest):
        self.forest = forest
        self.arrays = {name: getattr(forest, name) for name in ARRAYS}
        self.arrays["leaf_values"] = forest.leaf_values + forest.origin
        schema = forest.schema
        self.schema = {
            "kinds": schema.kinds,
            "value_offsets": schema.value_offsets,
            "cut_values": schema.cut_values,
            "missing": schema.missing,
        }

    def leaf_values_of(self, tree):
        leaves = {}

        def values(row):
            node = leaf_of(self.arrays, self.schema, tree, row)
            number = int(self.arrays["child"][int(self.arrays["offsets"][tree]) + node])
            leaf = int(self.arrays["leaf_offsets"][tree]) + number
            return [float(v) for v in self.arrays["leaf_values"][leaf]]

        def looked_up(row):
            if tuple(row) not in leaves:
                leaves[tuple(row)] = values(row)
            return leaves[tuple(row)]

        return looked_up

    def out_of_bag(self, tree):
        return np.flatnonzero(bag(self.forest, tree) == 0)

    def nodes(self, tree):
        """(column, threshold) of every split of a tree."""
        start, stop = (int(self.arrays["offsets"][tree + i]) for i in (0, 1))
        inner = [i for i in range(start, stop) if self.arrays["feature"][i] >= 0]
        return [(int(self.arrays["feature"][i]), self.arrays["threshold"][i]) for i in inner]


def small(task="classes", n=13, seed=0):
    """A table of three informative columns (one of few values), a copy and a constant."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.normal(size=n), random.integers(0, 3, n), random.normal(size=n), np.ones(n)]
    ).astype(float)
    X = np.column_stack([X, X[:, 0]])
    number = X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=n)
    if task == "numbers":
        return X, number
    return X, np.digitize(number, np.quantile(number, [0.4, 0.7] if task == "three" else [0.5]))


def small_forest(task="classes", n_trees=6, n=13, seed=0, **options):
    """A forest whose trees have a handful of out-of-bag rows each."""
    X, y = small(task, n, seed)
    kind = dm.RandomForestRegressor if task == "numbers" else dm.RandomForestClassifier
    options.setdefault("min_samples_leaf", 2)
    model = kind(n_trees, max_features=2, random_state=seed, **options).fit(X, y)
    return model, X, y
