import numpy as np
import pytest
from tests.grid import one_test
from tests.importances.nesting import nested
from tests.oracles import noising as oracle

from duramen import estimators
from duramen.importances import noising


def mixed(n=60, seed=0):
    """Few values, many values, continuous, constant; classes and numbers that depend on them."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.integers(0, 2, n),
            random.integers(0, 5, n),
            np.round(random.normal(size=n), 1),
            np.ones(n),
        ]
    ).astype(float)
    number = X[:, 0] + 0.3 * X[:, 1] + X[:, 2] + 0.5 * random.normal(size=n)
    return X, np.digitize(number, [0.8, 2.0]), number


def problem(task, rows):
    """Table, target, rows to drop through and their target; estimator; prediction and loss."""
    X, labels, numbers = mixed()
    X_new, labels_new, numbers_new = (X, labels, numbers) if rows == "oob" else mixed(30, seed=5)
    if task == "classes":
        return (X, labels), (X_new, labels_new), estimators.RandomForestClassifier, oracle.zero_one
    return (X, numbers), (X_new, numbers_new), estimators.RandomForestRegressor, oracle.squared


def rises(estimator, train, held, loss, rows, rise=oracle.rise):
    """Return `rise` for every tree and feature, of shape (T, p)."""
    (X, y), (X_new, y_new) = train, held
    predict = oracle.vote if loss is oracle.zero_one else oracle.mean
    return np.array(
        [
            [rise(root, j, lambda leaf: predict(leaf, y), loss, y_new) for j in range(X.shape[1])]
            for root in nested(estimator, X, X_new, oob=rows == "oob")
        ]
    )


# --- against row by row --------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("splits", ["ordered", "multiway"])
@pytest.mark.parametrize("rows", ["oob", None])
def test_against_enumeration_of_the_leaves(task, splits, rows):
    train, held, kind, loss = problem(task, rows)
    forest = kind(7, splits=splits, max_features=2, random_state=0).fit(*train)
    expected = rises(forest, train, held, loss, rows)
    result = noising(forest, *held, rows=rows)
    np.testing.assert_allclose(result.values, expected.mean(axis=0), atol=1e-12)
    error = expected.std(axis=0, ddof=1) / np.sqrt(7)
    np.testing.assert_allclose(result.standard_error, error, atol=1e-12)
    assert result.values[0] > 0
    assert result.values[3] == 0.0
    assert result.measure == "noising"
    assert result.unit == ("1" if task == "classes" else "variance")


# --- known answers -------------------------------------------------------------------------------


def sides(n00, n01, n10, n11):
    """One column of two sides, and classes: n_sc rows of class c on side s."""
    side = np.repeat([0, 0, 1, 1], [n00, n01, n10, n11])
    return side[:, np.newaxis].astype(float), np.repeat([0, 1, 0, 1], [n00, n01, n10, n11])


def test_stump_loses_what_it_knows_beyond_a_coin():
    X, y = sides(3, 0, 0, 3)
    forest = estimators.ExtraTreesClassifier(2, random_state=0).fit(X, y)
    # By sides 8 of 10 are right, at random half of them are, whatever the margins.
    assert noising(forest, *sides(6, 1, 1, 2), rows=None).values == pytest.approx([0.3])
    assert noising(forest, *sides(1, 3, 4, 0), rows=None).values == pytest.approx([1 / 8 - 0.5])


def test_noise_reaches_the_whole_subtree_and_no_more():
    # The root splits on x0; on its right side x1 tells classes 1 and 2 apart.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = np.array([0, 0, 1, 2])
    forest = estimators.ExtraTreesClassifier(60, criterion="entropy", random_state=0).fit(X, y)
    roots = [int(tree.feature[0]) for tree in forest.forest_]
    trees = [np.array(by_tree) for by_tree in rises(forest, (X, y), (X, y), oracle.zero_one, None)]
    # x0 at the root: leaves of probability 1/2, 1/4, 1/4; x1 below: the two rows on the right lose
    # half. Random sides from x1 at the root: four leaves (0, 1, 0, 2) of probability 1/4.
    reference = {
        0: [1 - (0.5 + 0.5 + 0.25 + 0.25) / 4, 0.25],
        1: [0.5, 1 - (0.5 + 0.5 + 0.25 * 2) / 4],
    }
    assert set(roots) == {0, 1}
    for root, by_tree in zip(roots, trees, strict=True):
        np.testing.assert_allclose(by_tree, reference[root])
    expected = np.mean([reference[root] for root in roots], axis=0)
    np.testing.assert_allclose(noising(forest, X, y, rows=None).values, expected)


def test_tied_leaf_votes_for_the_first_class():
    X = np.array([[0.0], [0.0], [1.0]])
    forest = estimators.ExtraTreesClassifier(1, random_state=0).fit(X, ["b", "a", "b"])
    # Leaves vote a and b; at random both rows are right half of the time.
    new = np.array([[0.0], [1.0]])
    assert noising(forest, new, ["a", "b"], rows=None).values == pytest.approx([0.5])
    assert noising(forest, new, ["b", "b"], rows=None).values == pytest.approx([0.0])


# --- the null ------------------------------------------------------------------------------------


def test_coins_have_noising_zero_on_average():
    # A left-out coin is right half of the time wherever it goes: the mean is 0 exactly.
    values = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        X = np.column_stack([random.integers(0, 2, 50), random.normal(size=(50, 2))])
        y = random.integers(0, 2, 50)
        forest = estimators.RandomForestClassifier(20, max_features=1, random_state=seed).fit(X, y)
        values.append(noising(forest, X, y).values)
    mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(60)
    assert np.all(np.abs(mean) < 4 * error)
    assert np.all(error < 0.02)


# --- corners -------------------------------------------------------------------------------------


def test_trees_without_out_of_bag_rows_add_nothing_and_count():
    X = np.arange(4.0)[:, np.newaxis]
    y = np.array([0, 0, 1, 1])
    forest = estimators.RandomForestClassifier(60, random_state=0).fit(X, y)
    without = sum(not root["held"] for root in nested(forest, X, X, oob=True))
    assert without > 0
    expected = rises(forest, (X, y), (X, y), oracle.zero_one, "oob")
    result = noising(forest, X, y)
    assert result.values == pytest.approx(expected.sum(axis=0) / 60)
    assert result.metadata["noising"]["n_trees_with_rows"] == 60 - without


def test_no_out_of_bag_rows_at_all():
    # Among the first seeds there is a tree whose bag holds both rows.
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    kinds = [estimators.RandomForestClassifier(1, random_state=seed).fit(X, y) for seed in range(9)]
    full = [kind for kind in kinds if kind.forest_.rows[0] == 2]
    with pytest.raises(ValueError, match="no tree of this forest has out-of-bag rows"):
        noising(full[0], X, y)
