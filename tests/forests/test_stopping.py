"""Rules that stop growth: bounds against scikit-learn, the permutation test against all orders."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test
from tests.oracles.splits import best_decrease

import duramen as dm

ONE = {"n_estimators": 1, "bootstrap": False, "random_state": 0}


def problem(task, n=150):
    """Table, target and weights without ties between splits that part the rows differently."""
    random = np.random.default_rng(7)
    X = random.normal(size=(n, 4))
    noisy = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n)
    y = noisy if task == "regression" else np.digitize(noisy, [-0.8, 0.8])
    # Weights that add up exactly: scikit-learn must see that pure nodes are pure.
    return X, y, random.integers(512, 2048, n) / 1024


@one_test
@pytest.mark.parametrize(
    "limits",
    [
        *({"max_leaf_nodes": count} for count in (2, 3, 7, 20, 90)),
        *({"min_impurity_decrease": least} for least in (0.3, 0.02, 0.004)),
        {"max_leaf_nodes": 12, "min_impurity_decrease": 0.004, "min_samples_leaf": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_bounded_trees_are_those_of_scikit_learn(task, limits):
    X, y, weights = problem(task)
    regression = task == "regression"
    ours = dm.BaggedTreesRegressor if regression else dm.BaggedTreesClassifier
    theirs = DecisionTreeRegressor if regression else DecisionTreeClassifier
    model = ours(**ONE, **limits).fit(X, y, weights)
    tree = model.forest_.tree(0)
    other = theirs(random_state=0, **limits).fit(X, y, weights)
    grown = other.tree_
    assert tree.n_leaves == other.get_n_leaves()
    a, b = (
        np.lexsort((tree.impurity, tree.rows)),
        np.lexsort((grown.impurity, grown.n_node_samples)),
    )
    assert (tree.rows[a] == grown.n_node_samples[b]).all()
    np.testing.assert_allclose(tree.impurity[a], grown.impurity[b], rtol=0, atol=1e-12)
    large = np.minimum(limits.get("max_leaf_nodes", 90), 90) < 20
    if regression and large:
        assert sorted(tree.feature[tree.feature >= 0]) == sorted(grown.feature[grown.feature >= 0])
        cuts = np.sort(tree.threshold[tree.feature >= 0])
        np.testing.assert_allclose(cuts, np.sort(grown.threshold[grown.feature >= 0]), atol=1e-12)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=0, atol=1e-12)


def closed(tree, least, node=0):
    """Rows and impurities of the nodes of a tree of which those up to an impurity are leaves."""
    here = [(int(tree.rows[node]), float(tree.impurity[node]))]
    if tree.impurity[node] <= least or tree.n_children[node] == 0:
        return here
    first = int(tree.child[node])
    for child in range(first, first + int(tree.n_children[node])):
        here += closed(tree, least, child)
    return here


@one_test
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("max_leaf_nodes", [None, 100])
def test_nodes_up_to_an_impurity_are_leaves(task, max_leaf_nodes):
    X, y, _ = problem(task)
    kind = dm.BaggedTreesRegressor if task == "regression" else dm.BaggedTreesClassifier
    limits = {"min_samples_leaf": 3, "max_leaf_nodes": max_leaf_nodes}
    full = kind(**ONE, **limits).fit(X, y).forest_.tree(0)
    for least in np.quantile(full.impurity[full.feature >= 0], [0.0, 0.1, 0.5, 1.0]):
        small = kind(min_impurity_split=float(least), **ONE, **limits).fit(X, y).forest_.tree(0)
        assert (small.impurity[small.feature >= 0] > least).all()
        expected = sorted(closed(full, least))
        assert sorted(zip(small.rows.tolist(), small.impurity.tolist(), strict=True)) == expected


def test_the_short_cut_by_bits_keeps_to_the_rule():
    """Extra-Trees on small tables grow by sets of bits, which know no impurities."""
    X, y = load_iris(return_X_y=True)
    for bound in (0.2, 0.5):
        forest = dm.ExtraTreesClassifier(20, min_impurity_split=bound, random_state=0).fit(X, y)
        inner = forest.forest_.feature >= 0
        assert (forest.forest_.impurity[inner] > bound).all()
        assert inner.any()


def exact_p_value(columns, y, criterion, splits):
    """Fraction of the orders of the target whose best split is as good."""

    def best(order):
        options = [splits] * len(columns), [None] * len(columns), order, [1.0] * len(y), criterion
        return best_decrease(columns, *options)

    orders = set(permutations(y)) if criterion != "variance" else permutations(y)
    return float(np.mean([best(order) >= best(y) - 1e-9 for order in orders]))


def p_value(kind, X, y, n, **options):
    """The p-value of the test at the root, found by the levels at which it is split."""

    def splits(count):
        forest = kind(stop_alpha=(count + 0.5) / (n + 1), stop_permutations=n, **options)
        return forest.fit(X, y).forest_.n_nodes > 1

    low, high = 0, n + 1  # the p-value is above low / (n + 1), and at most high / (n + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if splits(middle) else (middle, high)
    return high / (n + 1)


@one_test
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("criterion", "splits"),
    [("gini", "ordered"), ("entropy", "multiway"), ("variance", "ordered"), ("gini", "multiway")],
)
def test_p_values_are_those_of_all_orders(criterion, splits, seed):
    random = np.random.default_rng(seed)
    n, n_permutations = (5 if criterion == "variance" else 7), 3999
    columns = random.integers(0, 3, (2, n)).astype(float)
    y = random.normal(size=n) if criterion == "variance" else [0, 0, 0, 1, 1, 1, 1]
    exact = exact_p_value(columns.tolist(), list(y), criterion, splits)
    regression = criterion == "variance"
    kind = dm.BaggedTreesRegressor if regression else dm.BaggedTreesClassifier
    options = {"splits": splits, "criterion": criterion, "max_depth": 1, **ONE}
    result = p_value(kind, columns.T, y, n_permutations, **options)
    error = np.sqrt(exact * (1 - exact) / n_permutations)
    assert abs(result - exact) <= 4.5 * error + 1 / n_permutations


def split_fraction(kind, task, n_sets, **options):
    """Fraction of roots that are split at level .2 where nothing is related to the target."""
    split = 0
    for seed in range(n_sets):
        random = np.random.default_rng(seed)
        X = random.normal(size=(24, 5))
        X[:, 3:] = random.integers(0, 3, (24, 2))
        y = random.normal(size=24) if task == "regression" else random.integers(0, 2, 24)
        if options.get("splits") == "multiway":
            X = np.digitize(X, [-0.5, 0.5])
        weights = random.uniform(0.5, 2.0, 24) if options.get("max_features") == 4 else None
        forest = kind(1, max_depth=1, stop_alpha=0.2, stop_permutations=19, random_state=seed)
        forest.set_params(**options).fit(X, y, weights)
        split += forest.forest_.n_nodes > 1
    return split / n_sets


LEVELS = [
    (dm.RandomForestRegressor, "regression", {"max_features": 2}),
    (dm.RandomForestRegressor, "regression", {"max_features": 4}),
    (dm.ExtraTreesRegressor, "regression", {"max_features": 3}),
    (dm.BaggedTreesRegressor, "regression", {"n_best_splits": 5, "max_leaf_nodes": 2}),
    (dm.TotallyRandomizedTreesClassifier, "classification", {"splits": "multiway"}),
    (dm.ExtraTreesClassifier, "classification", {"max_features": 1, "splits": "any"}),
]


def keeps_level(kind, task, options, n_sets):
    result = split_fraction(kind, task, n_sets, **options)
    slack = 4.5 * np.sqrt(0.2 * 0.8 / n_sets)
    assert result <= 0.2 + slack, (kind.__name__, options)
    if task == "regression" and "max_leaf_nodes" not in options:  # no ties: exactly the level
        assert result >= 0.2 - slack, (kind.__name__, options)


@one_test
@pytest.mark.parametrize(("kind", "task", "options"), LEVELS)
def test_the_permutation_test_keeps_its_level(kind, task, options):
    keeps_level(kind, task, options, 60)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(("kind", "task", "options"), LEVELS)
def test_the_permutation_test_keeps_its_level_closely(kind, task, options):
    keeps_level(kind, task, options, 600)


def test_too_few_permutations_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"at least 1 / stop_alpha - 1, .* got 18 with stop_alpha"):
        dm.RandomForestClassifier(2, stop_alpha=0.05, stop_permutations=18).fit(X, y)
    assert dm.RandomForestClassifier(2, stop_alpha=0.05, stop_permutations=19).fit(X, y)
    with pytest.raises(ValueError, match="stop_alpha, the level of the test, below 1; got 19"):
        dm.RandomForestClassifier(2, stop_permutations=19).fit(X, y)


def test_leaves_bound_the_mean_depth():
    """Binary trees of L leaves: at least log2 L, at most (L + 1) / 2 - 1 / L, as for a chain."""
    X, y, _ = problem("regression")
    for most in (2, 5, 16, 60):
        forest = dm.RandomForestRegressor(20, max_leaf_nodes=most, random_state=0).fit(X, y).forest_
        leaves = np.diff(forest.leaf_offsets)
        assert (forest.mean_depth >= np.log2(leaves) - 1e-12).all()
        assert (forest.mean_depth <= (leaves + 1) / 2 - 1 / leaves + 1e-12).all()
        expected = [tree.depth[tree.feature < 0].mean() for tree in forest]
        np.testing.assert_allclose(forest.mean_depth, expected, rtol=1e-12)
    chain = np.cumsum(4.0 ** np.arange(8))[:, np.newaxis]  # each best cut parts one row off
    tree = dm.BaggedTreesRegressor(bootstrap=False, n_estimators=1).fit(chain, chain[:, 0]).forest_
    assert tree.mean_depth.tolist() == [(8 + 1) / 2 - 1 / 8]


def test_uniform_cuts_give_the_mean_depth_of_random_search_trees():
    """Equidistant values, each gap as probable: 2 (1 + 1/2 + ... + 1/n - 1) for n leaves.

    400 trees of 64 leaves; the standard deviation of a tree is near .65, the tolerance 4 / 20 of
    it.
    """
    x = np.arange(64.0)[:, np.newaxis]
    trees = dm.TotallyRandomizedTreesRegressor(400, splits="ordered", random_state=0).fit(
        x, x[:, 0]
    )
    expected = 2 * ((1 / np.arange(1, 65)).sum() - 1)
    assert trees.forest_.mean_depth.mean() == pytest.approx(expected, abs=0.13)
