"""Local MDI: node by node along paths, its mean, and what it refuses."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import local as oracle
from tests.oracles.route import path_of

import duramen as dm
from duramen.forests.growth import bag
from duramen.importances import local_mdi, mdi

ARRAYS = ("offsets", "pool_offsets", "feature", "child", "cut", "threshold", "split", "pool")


def problem(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=(n, 3)), random.integers(0, 4, (n, 2))])
    X[::9, 1] = np.nan
    number = X[:, 0] + (X[:, 3] > 1) * np.where(X[:, 4] > 1, 1.0, -1.0)
    return X, number, np.digitize(number, [-0.7, 0.7]), random.integers(1, 4, n) / 2


def trees(forest):
    return [forest.tree(t) for t in range(forest.n_trees)]


def node_masses(tree, n_values):
    """Class masses of the nodes of a tree, from its leaves up."""
    masses = np.zeros((tree.n_nodes, n_values))
    leaves = tree.feature < 0
    masses[leaves] = tree.weight[leaves, None] * tree.values[tree.child[leaves]]
    for node in range(tree.n_nodes - 1, 0, -1):
        masses[tree.parent[node]] += masses[node]
    return masses


def by_paths(forest, X, numbers_of, used):
    """Values by the oracle; `used[i]` lists the trees of a row."""
    arrays = {name: getattr(forest, name) for name in ARRAYS}
    schema = {
        key: getattr(forest.schema, key)
        for key in ("kinds", "value_offsets", "cut_values", "missing")
    }
    features = [tree.feature for tree in trees(forest)]
    return np.array(
        [
            oracle.along_paths(
                lambda tree, row: path_of(arrays, schema, tree, row),
                used[i],
                [numbers_of(tree, i) for tree in trees(forest)],
                features,
                forest.n_features,
                X[i],
            )
            for i in range(len(X))
        ]
    )


ESTIMATORS = {
    "gini": dm.RandomForestClassifier(12, random_state=0),
    "entropy, half of the rows": dm.ExtraTreesClassifier(
        12, criterion="entropy", max_samples=0.5, random_state=0
    ),
    "variance": dm.RandomForestRegressor(12, random_state=0),
    "variance, one-vs-rest": dm.ExtraTreesRegressor(
        12, splits="one-vs-rest", categorical_features=[3, 4], bootstrap=True, random_state=0
    ),
    "all rows": dm.TotallyRandomizedTreesClassifier(
        12, splits="ordered", criterion="entropy", random_state=0
    ),
}


def fitted(name, **options):
    X, number, classes, _ = problem()
    estimator = ESTIMATORS[name]
    y = number if "variance" in name else classes
    return estimator.fit(X, y, **options), X, y


@one_test
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_mean_in_the_bag_is_mdi(name, weighted):
    weights = problem()[3] if weighted else None
    forest, X, y = fitted(name, sample_weight=weights)
    table = dm.encode(X, kinds=list(forest.forest_.schema.kinds))
    data = dm.learning_set(table, y, sample_weight=weights)
    local = local_mdi(forest, data, rows="in-bag")
    importances = mdi(forest)
    np.testing.assert_allclose(local.mean().values, importances.values, atol=1e-12, rtol=1e-12)
    assert local.mean().unit == importances.unit
    if weighted:
        with pytest.raises(ValueError, match="with the weights that the forest was grown with"):
            local_mdi(forest, X, rows="in-bag")


def test_bits_in_the_bag_add_up_to_mdi_by_entropy():
    forest, X, y = fitted("entropy, half of the rows")
    local = local_mdi(forest, X, y, of="class", rows="in-bag")
    np.testing.assert_allclose(local.mean().values, mdi(forest).values, atol=1e-12)


@one_test
@pytest.mark.parametrize("name", ESTIMATORS)
def test_nodes_of_paths(name):
    forest, X, _ = fitted(name)
    grown = forest.forest_
    everywhere = [list(range(12))] * len(X)
    wanted = by_paths(grown, X, lambda tree, _: -tree.impurity, everywhere)
    coded = local_mdi(forest, dm.encode(X, kinds=list(grown.schema.kinds)))
    np.testing.assert_allclose(coded.values, wanted, atol=1e-12)
    np.testing.assert_allclose(local_mdi(forest, X, sparse=True).dense(), wanted, atol=1e-12)
    roots = np.mean([tree.impurity[0] for tree in trees(grown)])
    np.testing.assert_allclose(coded.start, -roots)
    out = [[t for t in range(12) if bag(grown, t)[i] == 0] for i in range(len(X))]
    if not all(map(len, out)):
        return
    local = local_mdi(forest, X, rows="oob")
    wanted = by_paths(grown, X, lambda tree, _: -tree.impurity, out)
    np.testing.assert_allclose(local.values, wanted, atol=1e-12)
    np.testing.assert_allclose(local.weights, np.array([*map(len, out)]) / sum(map(len, out)))


@one_test
@pytest.mark.parametrize("name", ["gini", "entropy, half of the rows"])
def test_bits_of_the_class(name):
    forest, X, y = fitted(name)
    grown = forest.forest_
    prior = np.mean([node_masses(t, 3)[0] / t.weight[0] for t in trees(grown)], axis=0)

    def bits(tree, i):
        masses = node_masses(tree, 3)
        smooth = (masses + 2.5 * prior) / (tree.weight[:, None] + 2.5)
        return np.log2(smooth[:, y[i]])

    local = local_mdi(forest, X, y, of="class", prior_weight=2.5)
    wanted = by_paths(grown, X, bits, [list(range(12))] * len(X))
    np.testing.assert_allclose(local.values, wanted, atol=1e-12)
    assert local.unit == "bits"
    with pytest.raises(ValueError, match=r"prior_weight must be above 0 for these rows"):
        local_mdi(forest, X, (y + 1) % 3, of="class")


def test_parts_of_predictions_add_up_to_them():
    forest, X, y = fitted("gini")
    probabilities = forest.predict_proba(X)
    own = local_mdi(forest, X, y, of="prediction")
    np.testing.assert_allclose(own.end, probabilities[np.arange(len(X)), y], atol=1e-12)
    same = local_mdi(forest, X, 2, of="prediction")
    np.testing.assert_allclose(same.end, probabilities[:, 2], atol=1e-12)
    assert own.unit == "probability"
    regression, X, _ = fitted("variance")
    local = local_mdi(regression, X + 0.01, of="prediction")  # rows not seen in training
    np.testing.assert_allclose(local.end, regression.predict(X + 0.01), atol=1e-12)
    assert local.unit == "y"


@one_test
@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"of": "gini"}, "of must be one of 'impurity', 'class', 'prediction'"),
        ({"rows": "bag"}, 'rows must be None, "oob" or "in-bag"'),
        ({"of": "class"}, "y must be the class of each row, or one class for all"),
        ({"of": "prediction"}, "y must be the class of each row, or one class for all"),
        ({"prior_weight": 1}, "prior_weight must be 0 unless"),
        ({"prior_weight": -1}, "prior_weight must be"),
        ({"of": "class", "y": [7] * 60}, "y holds 7, which is not a class of this forest"),
    ],
)
def test_wrong_arguments(arguments, message):
    forest, X, _ = fitted("gini")
    with pytest.raises(ValueError, match=message):
        local_mdi(forest, X, **arguments)


def test_rows_and_forests_that_do_not_fit():
    forest, X, y = fitted("gini")
    for rows in ("oob", "in-bag"):
        with pytest.raises(ValueError, match="X must be the table that the forest was grown on"):
            local_mdi(forest, X[::-1].copy(), rows=rows)
    with pytest.raises(TypeError, match="X is missing"):
        local_mdi(forest, None)
    everything, X, _ = fitted("all rows")
    with pytest.raises(ValueError, match='rows="oob" needs trees that leave rows out'):
        local_mdi(everything, X, rows="oob")
    regression, X, _ = fitted("variance")
    with pytest.raises(ValueError, match='of must be "impurity" or "prediction" in regression'):
        local_mdi(regression, X, y, of="class")
