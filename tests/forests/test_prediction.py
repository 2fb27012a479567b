"""Leaves, predictions, paths, proximities and out-of-bag estimates, against slow recomputations."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import accuracy_score, r2_score
from tests.forests.problems import mixed_table, two_classes
from tests.importances.trees import Opened, small_forest
from tests.oracles import route as oracle

import duramen as dm
from duramen import estimators
from duramen.data import encode
from duramen.data.encoding import routing_values
from duramen.forests.growth import bag, out_of_bag

NAMES = [
    *(
        f"{task}, {cut}, {splits}"
        for task in ("classes", "numbers")
        for cut in ("best", "random")
        for splits in ("ordered", "multiway", "one-vs-rest", "any")
    ),
    "pert",
    "subspace",
    "patches",
    "shallow",
]


def schema_of(forest):
    schema = forest.schema
    return {
        "kinds": schema.kinds,
        "value_offsets": schema.value_offsets,
        "cut_values": schema.cut_values,
        "missing": schema.missing,
    }


def odd_rows():
    """Rows that training never saw: new numbers and labels, and missing values everywhere."""
    X, _ = mixed_table(n_rows=60, seed=5)
    X["colour"] = X["colour"].astype(object)
    X.loc[::7, "colour"] = "violet"
    X["size"] = X["size"].cat.add_categories("XXL")
    X.loc[::11, "size"] = "XXL"
    X["depth"] = X["depth"] + 0.05
    X.loc[::5, "depth"] = np.nan
    X["count"] = X["count"].astype(float)
    X.loc[::9, "count"] = np.nan
    X.loc[::13, "same"] = 2.0
    X.loc[3, ["depth", "holed", "size", "colour", "count", "same"]] = np.nan
    return X


@pytest.fixture(params=NAMES)
def estimator(request, grown):
    return grown[request.param]


def test_leaves_and_predictions_of_training_rows_and_of_odd_ones(estimator, mixed):
    forest = estimator.forest_
    for X in (mixed[0], odd_rows()):
        values = routing_values(forest.schema, X)
        assert X is mixed[0] or (values == -1).any()
        wanted = oracle.leaves_of(forest.arrays(), schema_of(forest), values)
        np.testing.assert_array_equal(estimator.apply(X), wanted)
        means = np.array(oracle.predictions_of(forest.arrays(), schema_of(forest), values))
        means += forest.origin
        np.testing.assert_allclose(probabilities(estimator, X), means, rtol=0, atol=1e-15)


def probabilities(estimator, X):
    if estimator.forest_.is_classifier:
        return estimator.predict_proba(X)
    return estimator.predict(X)[:, np.newaxis]


def test_codes_and_values_lead_to_the_same_leaves(estimator, mixed):
    X = mixed[0]
    table = encode(X)
    np.testing.assert_array_equal(estimator.apply(X), estimator.apply(table))
    np.testing.assert_array_equal(probabilities(estimator, X), probabilities(estimator, table))
    some = table.take_rows(np.arange(0, 120, 7))
    np.testing.assert_array_equal(estimator.apply(X.iloc[::7]), estimator.apply(some))


def test_another_encoding_is_read_by_its_values(estimator):
    X = odd_rows()
    np.testing.assert_array_equal(estimator.apply(X), estimator.apply(encode(X)))


def test_decision_path(estimator, mixed):
    X = mixed[0]
    indicator, offsets = estimator.decision_path(X)
    forest = estimator.forest_
    assert indicator.format == "csr"
    assert indicator.shape == (len(X), forest.n_nodes)
    assert indicator.has_canonical_format or indicator.has_sorted_indices
    np.testing.assert_array_equal(offsets, forest.offsets)
    leaves = estimator.apply(X)
    for t, tree in enumerate(forest):
        passed = indicator[:, offsets[t] : offsets[t + 1]].toarray()
        assert set(np.unique(passed)) <= {0, 1}
        assert (passed[:, 0] == 1).all()
        np.testing.assert_array_equal(passed.sum(axis=1), tree.depth[leaves[:, t]] + 1)
        for node in range(1, tree.n_nodes):
            assert (passed[:, node] <= passed[:, tree.parent[node]]).all()
        np.testing.assert_array_equal(passed[np.arange(len(X)), leaves[:, t]], 1)


def slow_out_of_bag(estimator, X):
    """Sums and counts over the trees whose bag lacks a row."""
    forest = estimator.forest_
    leaves = estimator.apply(X)
    sums = np.zeros((len(X), forest.n_values))
    counts = np.zeros(len(X), dtype=int)
    history = []
    for t, tree in enumerate(forest):
        for row in np.flatnonzero(bag(forest, t) == 0):
            sums[row] += tree.values[tree.child[leaves[row, t]]]
            counts[row] += 1
        history.append((sums.copy(), counts.copy()))
    return history


@pytest.mark.parametrize("kind", ["RandomForest", "RandomPatches", "BaggedTrees"])
@pytest.mark.parametrize("n_trees", [1, 30])
@pytest.mark.filterwarnings("ignore:.*in the bag of every tree:UserWarning")
def test_out_of_bag_classes(kind, n_trees, mixed):
    X, labels, _ = mixed
    estimator = getattr(estimators, f"{kind}Classifier")(n_trees, oob_score=True, random_state=4)
    if kind != "RandomForest":
        labels = two_classes(labels)
    estimator.fit(X, labels)
    truth = np.searchsorted(estimator.classes_, labels)
    history = slow_out_of_bag(estimator, X)
    for (sums, counts), error in zip(history, estimator.oob_error_curve_, strict=True):
        seen = counts > 0
        assert error == pytest.approx((sums[seen].argmax(axis=1) != truth[seen]).mean())
    sums, counts = history[-1]
    seen = counts > 0
    np.testing.assert_allclose(
        estimator.oob_decision_function_[seen], sums[seen] / counts[seen, np.newaxis]
    )
    assert np.isnan(estimator.oob_decision_function_[~seen]).all()
    assert estimator.oob_score_ == pytest.approx(
        accuracy_score(truth[seen], sums[seen].argmax(axis=1))
    )
    assert estimator.oob_score_ == pytest.approx(1 - estimator.oob_error_curve_[-1])


@pytest.mark.filterwarnings("ignore:.*in the bag of every tree:UserWarning")
def test_out_of_bag_numbers():
    X, y = load_diabetes(return_X_y=True)
    estimator = estimators.RandomForestRegressor(12, oob_score=True, random_state=4).fit(X, y)
    history = slow_out_of_bag(estimator, X)
    for (sums, counts), error in zip(history, estimator.oob_error_curve_, strict=True):
        seen = counts > 0
        assert error == pytest.approx(np.mean((sums[seen, 0] / counts[seen] - y[seen]) ** 2))
    sums, counts = history[-1]
    seen = counts > 0
    np.testing.assert_allclose(estimator.oob_prediction_[seen], sums[seen, 0] / counts[seen])
    assert estimator.oob_score_ == pytest.approx(r2_score(y[seen], estimator.oob_prediction_[seen]))


def test_rows_in_every_bag_are_warned_about():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="of 150 rows are in the bag of every tree"):
        estimators.RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)


def test_proximity():
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    forest = estimators.RandomForestClassifier(15, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    np.testing.assert_allclose(
        forest.proximity(X), (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    )
    out = out_of_bag(forest.forest_)
    both = out[:, None, :] & out[None, :, :]
    shared = ((leaves[:, None, :] == leaves[None, :, :]) & both).sum(axis=2)
    with np.errstate(invalid="ignore"):
        wanted = shared / both.sum(axis=2)
    np.fill_diagonal(wanted, 1.0)
    np.testing.assert_allclose(forest.proximity(X, oob=True), wanted)


def test_out_of_bag_proximity_wants_the_training_rows():
    X, y = load_iris(return_X_y=True)
    forest = estimators.RandomForestClassifier(5, random_state=0).fit(X, y)
    for other in (X[::-1], X[:100]):
        with pytest.raises(ValueError, match="oob=True needs the table that the forest was grown"):
            forest.proximity(other, oob=True)
    with pytest.raises(ValueError, match=": oob must be"):
        forest.proximity(X, oob=2)
    every = estimators.ExtraTreesClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="oob=True needs trees that leave rows out"):
        every.proximity(X, oob=True)


def test_out_of_bag_votes_are_those_of_every_tree():
    model, X, y = small_forest("three", n=40, n_trees=30, min_samples_leaf=6)
    opened, expected = Opened(model.forest_), np.zeros((40, 3), dtype=int)
    for tree in range(30):
        values_of = opened.leaf_values_of(tree)
        for row in opened.out_of_bag(tree):
            expected[row, int(np.argmax(values_of(list(X[row]))))] += 1
    votes = model.oob_votes(X)
    assert votes.tolist() == expected.tolist()
    # Leaves of several classes: the majority is not always the class of the largest average.
    mixed = model.set_params(oob_score=True, min_samples_leaf=10).fit(X, np.roll(y, 7))
    classes = mixed.oob_decision_function_.argmax(axis=1)
    assert (mixed.oob_votes(X).argmax(axis=1) != classes).any()
    pure = dm.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    fractions = pure.oob_votes(X) / pure.oob_votes(X).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fractions, pure.oob_decision_function_, atol=1e-12)
    with pytest.raises(ValueError, match="oob_votes needs the table that the forest was grown on"):
        model.oob_votes(X[::-1])
    with pytest.raises(ValueError, match="oob_votes needs trees that leave rows out"):
        dm.ExtraTreesClassifier(3).fit(X, y).oob_votes(X)
