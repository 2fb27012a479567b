"""The learning set: checked once, derived without another look, the same answers as X and y."""

import numpy as np
import pytest
from sklearn.base import clone

import duramen as dm

WORDS = np.array(["no", "yes"])


def rows(n=60, p=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, (X[:, 0] + 0.5 * random.normal(size=n) > 0).astype(int)


def test_what_it_holds():
    X, y = rows()
    weights = np.arange(60.0)
    data = dm.learning_set(
        X, WORDS[y], sample_weight=weights, names=list("abcde"), strata=y, kinds={"e": "ordinal"}
    )
    assert data.task == "classification"
    assert (data.n_rows, data.n_columns, len(data)) == (60, 5, 60)
    assert data.names == tuple("abcde")
    assert data.table.kinds[4] == "ordinal"
    assert data.classes.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(data.y, WORDS[y])
    np.testing.assert_array_equal(data.weights, weights)
    np.testing.assert_array_equal(data.exchangeability.strata, np.where(y == y[0], 0, 1))


def test_the_task_can_be_named():
    X, y = rows()
    assert dm.learning_set(X, y, task="regression").task == "regression"
    assert dm.learning_set(X, y.astype(float), task="classification").task == "classification"
    with pytest.raises(ValueError, match="learning_set: task must be 'auto', "):
        dm.learning_set(X, y, task="ranking")


def test_of_rows_keeps_the_classes_that_occur():
    X, _ = rows()
    y = np.repeat(["a", "b", "c"], 20)
    data = dm.learning_set(X, y, sample_weight=np.arange(60.0), groups=np.arange(60) // 2)
    some = data.of_rows(np.r_[0:5, 45:60])
    assert some.classes.tolist() == ["a", "c"]
    np.testing.assert_array_equal(some.y, np.r_[y[:5], y[45:]])
    np.testing.assert_array_equal(some.target.values, np.repeat([0, 1], [5, 15]))
    np.testing.assert_array_equal(some.weights, np.r_[0.0:5, 45.0:60])
    assert some.exchangeability.groups.max() == 10
    encoded = dm.learning_set(data.table.take_rows(np.r_[0:5, 45:60]), some.y)
    np.testing.assert_array_equal(encoded.target.values, some.target.values)


def test_fingerprints():
    X, y = rows()
    data, same = (dm.learning_set(X, y) for _ in range(2))
    assert data.fingerprint == same.fingerprint
    order = np.random.default_rng(0).permutation(60)
    others = [
        dm.learning_set(X, WORDS[y]),
        dm.learning_set(X, y, sample_weight=np.arange(60.0)),
        dm.learning_set(X[:, ::-1], y),
        data.permuted(order),
        data.permuted(order, key=1),
        data.permuted(order, key=2),
        data.with_table(data.table.take_columns([0, 1]), key=1).permuted(order, key=1),
    ]
    assert len({data.fingerprint, *(other.fingerprint for other in others)}) == 1 + len(others)
    assert data.permuted(order, key=1).fingerprint == same.permuted(order, key=1).fingerprint


@pytest.mark.slow
def test_the_same_answers_as_from_a_table_and_its_target():
    X, y = rows()
    labels = WORDS[y]
    data = dm.learning_set(X, labels)
    model = dm.RandomForestClassifier(40, random_state=0)
    first, other = clone(model).fit(X, labels), clone(model).fit(data)
    assert first.forest_.fingerprint == other.forest_.fingerprint
    np.testing.assert_array_equal(first.forest_.threshold, other.forest_.threshold)
    for measure in (dm.importances.mda, dm.importances.conditional_mda, dm.importances.vote_change):
        assert measure(first, X, labels).equals(measure(other, data))
    few = {"n_permutations": 5, "random_state": 2}
    for test in (dm.significance.altmann, dm.significance.max_t):
        assert test(model, X, labels, **few).equals(test(model, data, **few))
    search = dm.SequentialRandomSubspace(n_estimators=30, n_subspace_features=3, random_state=0)
    assert search.fit(X, labels).importances_.equals(clone(search).fit(data).importances_)
    context = {"context": np.arange(60) % 2, "n_permutations": 9, "random_state": 0}
    by_context = dm.contexts.context_importances
    assert by_context(X, labels, **context).equals(by_context(data, **context))


def test_weights_go_with_the_rows():
    X, y = rows()
    weights = np.random.default_rng(0).integers(0, 3, 60)
    data = dm.learning_set(X, y, sample_weight=weights)
    model = dm.ExtraTreesClassifier(5, random_state=0).fit(X, y, weights).forest_
    other = dm.ExtraTreesClassifier(5, random_state=0).fit(data).forest_
    np.testing.assert_array_equal(model.threshold, other.threshold)
    assert model.fingerprint == other.fingerprint
    for refused in (
        lambda: dm.SequentialRandomSubspace(n_estimators=3).fit(data),
        lambda: dm.contexts.context_importances(data, context=y),
        lambda: dm.importances.mcfs(data),
    ):
        with pytest.raises(ValueError, match="the rows of this learning set have weights"):
            refused()


def test_a_classifier_takes_classes_and_nothing_beside_a_learning_set():
    X, y = rows()
    data = dm.learning_set(X, X[:, 0])
    forest = dm.RandomForestClassifier(3)
    with pytest.raises(ValueError, match=r"fit: the target of this learning set is numbers, but c"):
        forest.fit(data)
    with pytest.raises(ValueError, match=r"X is a learning set, which already holds y"):
        forest.fit(dm.learning_set(X, y), y)
    with pytest.raises(
        ValueError, match=r"altmann: X is a learning set, which already holds strata"
    ):
        dm.significance.altmann(forest, dm.learning_set(X, y), strata=y)
    with pytest.raises(ValueError, match=r"one_probe: the rows of this learning set have strata"):
        dm.significance.one_probe(forest, dm.learning_set(X, y, strata=np.arange(60) % 2))
    with pytest.raises(ValueError, match=r"y to be passed, but the target y is None"):
        forest.fit(X)
