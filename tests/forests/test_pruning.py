"""Cost-complexity pruning against scikit-learn, and against the cheapest of all subtrees."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test
from tests.oracles.pruning import cheapest

import duramen as dm
from duramen.forests import cost_complexity_pruning_path, pruned

ONE = {"n_estimators": 1, "bootstrap": False, "random_state": 0}


def weighted_problem(task, n=120):
    """Table, target and weights without ties between splits that part the rows differently."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 4))
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    noisy = signal + random.normal(size=n)
    y = noisy if task == "regression" else np.digitize(noisy, [-0.8, 0.8])
    # Weights that add up exactly: scikit-learn must see that pure nodes are pure.
    return X, y, random.integers(512, 2048, n) / 1024


@one_test
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("task", "criterion"),
    [("regression", "squared_error"), ("classification", "gini"), ("classification", "entropy")],
)
def test_paths_and_trees_are_those_of_scikit_learn(task, criterion, weighted):
    X, y, weights = weighted_problem(task)
    options = {"sample_weight": weights} if task == "classification" or weighted else {}
    ours = dm.BaggedTreesRegressor if task == "regression" else dm.BaggedTreesClassifier
    theirs = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    limits = {} if weighted else {"min_samples_leaf": 3}
    first = ours(criterion=criterion, **ONE, **limits)
    other = theirs(criterion=criterion, random_state=0, **limits)
    path = cost_complexity_pruning_path(clone(first).fit(X, y, **options).forest_)
    expected = other.cost_complexity_pruning_path(X, y, **options)
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=0, atol=1e-12)
    np.testing.assert_allclose(path.impurities, expected.impurities, rtol=0, atol=1e-12)
    between = (path.ccp_alphas[:-1] + path.ccp_alphas[1:]) / 2
    for step in np.linspace(0, len(between) - 1, 6).astype(int):
        alpha = between[step]
        a = clone(first).set_params(ccp_alpha=alpha).fit(X, y, **options)
        b = clone(other).set_params(ccp_alpha=alpha).fit(X, y, **options)
        assert a.forest_.tree(0).n_leaves == path.n_leaves[step] == b.get_n_leaves()
        if task == "regression":
            np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=0, atol=1e-12)
        else:
            np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=0, atol=1e-12)


def forests():
    """Forests of all families of splits, with and without bootstrap."""
    X, y, _ = weighted_problem("classification", 60)
    levels = np.round(2 * X).astype(int) % 4
    labels = [[f"v{code}" for code in row] for row in levels]
    numbers = weighted_problem("regression", 60)[1]
    everywhere = {"n_estimators": 4, "random_state": 0}
    return {
        "multiway": dm.TotallyRandomizedTreesClassifier(**everywhere).fit(levels, y),
        "any": dm.RandomForestClassifier(splits="any", max_features=2, **everywhere).fit(labels, y),
        "one-vs-rest": dm.ExtraTreesRegressor(splits="one-vs-rest", **everywhere).fit(
            labels, numbers
        ),
        "ordered": dm.RandomForestClassifier(criterion="entropy", **everywhere).fit(X, y),
        "best first": dm.ExtraTreesClassifier(max_leaf_nodes=12, **everywhere).fit(X, y),
        "PERT": dm.PERTClassifier(**everywhere).fit(labels, y),
    }


def test_pruned_trees_are_the_cheapest_subtrees():
    for name, fitted in forests().items():
        forest = fitted.forest_
        path = cost_complexity_pruning_path(forest)
        assert (np.diff(path.ccp_alphas) >= 0).all()
        steps = np.flatnonzero(np.diff(path.ccp_alphas) > 1e-9)
        for step in steps[:: max(1, len(steps) // 5)]:
            alpha = float(path.ccp_alphas[step] + path.ccp_alphas[step + 1]) / 2
            smaller = pruned(forest, alpha)
            smaller.check()
            assert len(smaller.leaf_values) == path.n_leaves[step], name
            total = 0.0
            for tree, grown in zip(smaller, forest, strict=True):
                price, leaves = cheapest(grown, alpha)
                ends = tree.feature < 0
                assert tree.n_leaves == len(leaves)
                own = float((tree.weight[ends] * tree.impurity[ends]).sum() / tree.weight[0])
                assert own + alpha * tree.n_leaves == pytest.approx(price, abs=1e-12)
                assert sorted(tree.rows[ends]) == sorted(grown.rows[leaves])
                total += own
            assert path.impurities[step] == pytest.approx(total / 4, abs=1e-12)


def test_leaves_hold_what_their_rows_hold():
    """A pruned tree predicts the mean of the training rows in each of its leaves."""
    X, y = load_iris(return_X_y=True)
    forest = dm.RandomForestClassifier(5, random_state=1, ccp_alpha=0.02).fit(X, y)
    leaves = forest.apply(X)
    for index, tree in enumerate(forest.forest_):
        drawn = forest.forest_.bags.draw(len(X), index)
        for node in np.unique(leaves[:, index]):
            counts = np.bincount(
                y[leaves[:, index] == node], weights=drawn[leaves[:, index] == node], minlength=3
            )
            if counts.sum():
                assert (tree.values[tree.child[node]] == counts / counts.sum()).all()
    stump = dm.RandomForestClassifier(5, random_state=1, ccp_alpha=10.0).fit(X, y).forest_
    assert stump.n_nodes == 5
    assert (stump.feature == -1).all()


def test_pruning_at_growth_is_pruning_afterwards():
    X, y = make_friedman1(150, noise=1.0, random_state=0)
    grown = dm.RandomForestRegressor(8, random_state=0, n_jobs=2).fit(X, y)
    at_once = dm.RandomForestRegressor(8, random_state=0, ccp_alpha=0.3).fit(X, y)
    later = pruned(grown.forest_, 0.3)
    for name, array in at_once.forest_.arrays().items():
        assert array.tobytes() == getattr(later, name).tobytes(), name
    assert later.settings == at_once.forest_.settings
    assert pruned(later, 0.1).n_nodes == later.n_nodes
    part = pruned(grown.forest_.part(2, 5), 0.3)
    assert part.threshold.tobytes() == later.part(2, 5).threshold.tobytes()
    assert pruned(grown.forest_, 0.0).n_nodes == grown.forest_.n_nodes


def test_wrong_values_and_survival_are_refused():
    X, y = load_iris(return_X_y=True)
    for alpha in (-0.1, np.nan, np.inf, "some", None):
        with pytest.raises(ValueError, match="RandomForestClassifier: ccp_alpha must be a number"):
            dm.RandomForestClassifier(2, ccp_alpha=alpha).fit(X, y)
    times = [(i + 1.0, True) for i in range(20)]
    survival = dm.RandomSurvivalForest(2, random_state=0).fit(X[:20], times).forest_
    with pytest.raises(ValueError, match=r"pruned: forest .* survival, whose nodes have no imp"):
        pruned(survival, 0.1)
    with pytest.raises(ValueError, match="cost_complexity_pruning_path: forest must be"):
        cost_complexity_pruning_path(survival)
    boosted = dm.Forest.from_boosting(HistGradientBoostingRegressor(max_iter=2).fit(X, y))
    for refused in (lambda: pruned(boosted, 0.1), lambda: cost_complexity_pruning_path(boosted)):
        with pytest.raises(ValueError, match=r"forest must have nodes with an impurity, got boost"):
            refused()


def least_error(tree, node, paths, y, loss):
    """Least error of a subtree at a node on the rows that reach it, and its nodes that are leaves.

    `paths` is the indicator of the nodes that the rows pass through, `loss` the sum over rows.
    """
    rows = np.flatnonzero(paths[:, node])
    below = [child for child in range(len(tree.feature)) if tree.parent[child] == node]
    ends = [leaf for leaf in range(len(tree.feature)) if tree.feature[leaf] < 0]
    ends = [leaf for leaf in ends if node in ancestors(tree, leaf)]
    weights = tree.weight[ends]
    value = weights @ tree.values[tree.child[ends]] / weights.sum()
    as_leaf = loss(value, y[rows])
    if not below:
        return as_leaf, [node]
    parts = [least_error(tree, child, paths, y, loss) for child in below]
    total = sum(error for error, _ in parts)
    if as_leaf <= total + 1e-9:
        return as_leaf, [node]
    return total, [leaf for _, leaves in parts for leaf in leaves]


def ancestors(tree, node):
    """The node and those above it."""
    return [] if node < 0 else [node, *ancestors(tree, tree.parent[node])]


@one_test
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_pruning_on_held_out_rows_leaves_the_subtree_of_least_error(task):
    X, y, _ = weighted_problem(task, 140)
    kind = dm.RandomForestRegressor if task == "regression" else dm.RandomForestClassifier
    grown = kind(12, random_state=0, oob_score=True).fit(X[:80], y[:80])
    smaller = grown.pruned(X[80:], y[80:])

    def loss(value, truth):
        if task == "regression":
            return float(((truth - value[0]) ** 2).sum())
        return int((truth != np.argmax(value)).sum())

    paths, offsets = grown.decision_path(X[80:])
    assert smaller.forest_.n_nodes < grown.forest_.n_nodes
    smaller.forest_.check()
    for index, (tree, pruned_tree) in enumerate(zip(grown.forest_, smaller.forest_, strict=True)):
        own = paths[:, offsets[index] : offsets[index + 1]].toarray()
        error, leaves = least_error(tree, 0, own, y[80:], loss)
        assert sorted(tree.rows[leaves]) == sorted(pruned_tree.rows[pruned_tree.feature < 0])
        single = smaller.estimators_[index]
        if task == "regression":
            assert ((single.predict(X[80:]) - y[80:]) ** 2).sum() == pytest.approx(error)
        else:
            assert (single.predict(X[80:]) != y[80:]).sum() == error
    assert not hasattr(smaller, "oob_score_")
    assert hasattr(grown, "oob_score_")


def test_pruning_refuses_what_the_forest_does_not_predict():
    X, y, _ = weighted_problem("classification", 60)
    grown = dm.RandomForestClassifier(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pruned: y must be classes of the forest"):
        grown.pruned(X, y + 7)
    words = np.array(["a", "b", "c"], dtype=object)[y]
    named = dm.RandomForestClassifier(2, random_state=0).fit(X, words)
    missing = np.where(np.arange(60) == 7, None, words)
    with pytest.raises(ValueError, match=r"pruned: y must be classes of the forest.* got None"):
        named.pruned(X, missing)
    with pytest.raises(ValueError, match=r"pruned: y must be of shape \(60,\)"):
        grown.pruned(X, y[:5])
