from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from tests.importances.trees import Opened, small
from tests.oracles import permutation as oracle

import duramen as dm
from duramen.importances import holdout_mda, mda


class Watched:
    """Writes down what its forests are grown on."""

    seen: ClassVar[list] = []

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.seen.append((X.table, X.y, self.forest_))
        return self


class WatchedClassifier(Watched, dm.RandomForestClassifier):
    pass


class WatchedRegressor(Watched, dm.RandomForestRegressor):
    pass


@pytest.fixture
def fits():
    Watched.seen.clear()
    yield Watched.seen
    Watched.seen.clear()


def rows_in(table, X):
    """The rows of X that an encoded table holds, told by their first column, all different."""
    values = table.values(0)[table.codes(0)]
    rows = [int(np.flatnonzero(X[:, 0] == v)[0]) for v in values]
    assert len(set(rows)) == len(rows)
    return np.array(rows)


# --- against the definition ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("cv", [2, 3])
@pytest.mark.parametrize(
    ("task", "score"),
    [
        ("classes", "accuracy"),
        ("three", "neg_log_loss"),
        ("three", "balanced_accuracy"),
        ("numbers", "neg_mean_squared_error"),
    ],
)
def test_every_permutation_of_the_rows_held_out_written_out(task, score, cv, fits):
    X, y = small(task, n=12, seed=3)
    kind = WatchedRegressor if task == "numbers" else WatchedClassifier
    estimator = kind(4, max_features=2, random_state=0)
    result = holdout_mda(estimator, X, y, cv=cv, scoring=score, n_repeats="all", random_state=1)
    assert len(fits) == cv
    expected, errors = np.zeros((cv, X.shape[1])), np.zeros((cv, X.shape[1]))
    held_out = []
    for k, (table, labels, forest) in enumerate(fits):
        grown_on = rows_in(table, X)
        assert labels.tolist() == y[grown_on].tolist()
        left = np.setdiff1d(np.arange(12), grown_on)
        held_out += left.tolist()
        opened = Opened(forest)
        rows = [list(row) for row in X[left]]
        for j in range(X.shape[1]):
            means = []
            for tree in range(4):
                losses = oracle.tree_losses(
                    opened.leaf_values_of(tree), rows, y[left].tolist(), [j], score
                )
                means.append(sum(losses) / len(losses))
            expected[k, j], _, errors[k, j] = oracle.importance(means, 4)
    assert sorted(held_out) == list(range(12))
    np.testing.assert_allclose(result.values, expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        result.standard_error, np.sqrt((errors**2).sum(axis=0)) / cv, atol=1e-7
    )
    assert np.abs(result.values).max() > 0.01


def test_it_is_mda_of_each_forest_on_the_rows_it_did_not_see(fits):
    X, y = small(n=60)
    table = dm.encode(X)
    estimator = WatchedClassifier(30, random_state=0)
    for scoring, n_repeats in (("accuracy", 400), ("roc_auc", 400)):
        fits.clear()
        result = holdout_mda(
            estimator, table, y, scoring=scoring, n_repeats=n_repeats, random_state=2
        )
        again = []
        for part, _, forest in list(fits):
            left = np.setdiff1d(np.arange(60), rows_in(part, X))
            again.append(
                mda(forest, table.take_rows(left), y[left], rows=None, scoring=scoring,
                    n_repeats=n_repeats, random_state=5).values
            )  # fmt: skip
        np.testing.assert_allclose(result.values, np.mean(again, axis=0), atol=0.01)
        assert result["x0"] > 0.05


def test_classes_are_spread_evenly_over_parts_of_equal_size(fits):
    random = np.random.default_rng(0)
    X = random.normal(size=(47, 3))
    y = np.repeat(["a", "b", "c"], [29, 13, 5])
    random.shuffle(y)
    for cv in (2, 3, 5):
        fits.clear()
        holdout_mda(WatchedClassifier(2, random_state=0), X, y, cv=cv, random_state=cv)
        for table, labels, _ in fits:
            assert table.n_rows in (47 - 47 // cv, 47 - 47 // cv - 1)
            for label, count in (("a", 29), ("b", 13), ("c", 5)):
                left = count - (labels == label).sum()
                assert left in (count // cv, count // cv + 1)


def test_parts_of_numbers_have_equal_size(fits):
    X, y = small("numbers", n=23)
    holdout_mda(WatchedRegressor(2, random_state=0), X, y, cv=4, random_state=0)
    assert sorted(23 - table.n_rows for table, _, _ in fits) == [5, 6, 6, 6]


# --- what it is for ------------------------------------------------------------------------------


def test_values_of_null_features_are_symmetric_about_0():
    # One feature of each of 150 tables, so that signs are independent; with seed 0, by a sign test
    # and by the mean. Levels .01 both.
    random = np.random.default_rng(0)
    values = []
    for replicate in range(150):
        X = random.normal(size=(30, 3))
        y = np.repeat([0, 1], 15)
        estimator = dm.RandomForestClassifier(20, random_state=replicate)
        values.append(holdout_mda(estimator, X, y, random_state=replicate).values[0])
    values = np.array(values)
    above, below = (values > 0).sum(), (values < 0).sum()
    assert above + below > 120
    assert stats.binomtest(int(above), int(above + below)).pvalue > 0.01
    assert abs(values.mean()) < 2.6 * values.std(ddof=1) / np.sqrt(150)


@pytest.mark.slow
def test_null_quantiles_mirror_each_other_in_many_replicates():
    # The lower and the upper tail agree.
    random = np.random.default_rng(5)
    values = []
    for replicate in range(500):
        X = random.normal(size=(40, 4))
        y = random.permutation(np.repeat([0, 1], 20))
        estimator = dm.RandomForestClassifier(20, random_state=replicate)
        values.append(holdout_mda(estimator, X, y, random_state=replicate).values[0])
    values = np.array(values)
    assert abs(values.mean()) < 4 * values.std(ddof=1) / np.sqrt(500)
    assert stats.ks_2samp(values, -values).pvalue > 0.01


# --- what is refused -----------------------------------------------------------------------------


def test_a_class_with_fewer_rows_than_parts_is_refused():
    X, y = small(n=30)
    y = np.where(np.arange(30) < 3, 2, y)
    estimator = dm.RandomForestClassifier(3, random_state=0)
    holdout_mda(estimator, X, y, cv=3)
    with pytest.raises(ValueError, match="holdout_mda: class 2 has 3 rows, fewer than the 4 parts"):
        holdout_mda(estimator, X, y, cv=4)
    words = np.where(y == 2, "rare", "common")
    with pytest.raises(ValueError, match="class 'rare' has 3 rows"):
        holdout_mda(estimator, X, words, cv=4)
    for cv in (1, 31):
        with pytest.raises(ValueError, match="holdout_mda: cv"):
            holdout_mda(estimator, X, y, cv=cv)
