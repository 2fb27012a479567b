"""PERT with the feature drawn before the rows, and with other families of splits."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

import duramen as dm

N_TREES = 6000


def roots(fitted, name):
    forest = fitted.forest_
    return getattr(forest, name)[forest.offsets[:-1]]


def test_the_feature_is_uniform_when_it_comes_first():
    """Rows first, a column on which one row in ten differs is rarely drawn; first, as often."""
    X = np.zeros((10, 3))
    X[0, 0] = 1.0
    X[::2, 1] = 1.0
    y = [0, 1] * 5
    late = dm.PERTClassifier(N_TREES, max_depth=1, random_state=0).fit(X, y)
    first = dm.PERTClassifier(N_TREES, max_depth=1, random_state=0, feature_first=True).fit(X, y)
    # All pairs of different classes differ on column 1; those with row 0, one in five, on both.
    assert (roots(late, "feature") == 0).mean() == pytest.approx(0.1, abs=0.018)
    counts = np.bincount(roots(first, "feature"), minlength=3)
    assert counts[2] == 0
    assert stats.binomtest(int(counts[0]), N_TREES).pvalue > 1e-4


def test_the_rows_are_uniform_among_the_pairs_that_differ():
    """The cut between values 0 and 1, 1 and 3: mean over the pairs of the mixture's chance."""
    column = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 3.0, 3.0, 0.0])
    y = np.array([0, 1, 0, 1, 2, 0, 1, 2])
    pairs = [
        sorted((column[i], column[j]))
        for i in range(8)
        for j in range(8)
        if y[i] != y[j] and column[i] != column[j]
    ]
    low = np.mean([max(0.0, min(b, 1.0) - a) / (b - a) if a < 1 else 0.0 for a, b in pairs])
    forest = dm.PERTClassifier(N_TREES, max_depth=1, random_state=0, feature_first=True)
    cuts = roots(forest.fit(column[:, np.newaxis], y), "cut")
    assert (cuts == 0).mean() == pytest.approx(low, abs=4.5 * np.sqrt(0.25 / N_TREES))


@pytest.mark.parametrize("feature_first", [False, True])
@pytest.mark.parametrize("splits", ["ordered", "multiway", "one-vs-rest", "any"])
def test_every_family_of_splits_grows_perfect_trees(splits, feature_first):
    X, y = load_iris(return_X_y=True)
    rounded = np.round(X * 2).astype(int)
    _, first = np.unique(rounded, axis=0, return_index=True)  # rows that features tell apart
    rounded, y = rounded[first], y[first]
    options = {"splits": splits, "feature_first": feature_first, "random_state": 0}
    fitted = dm.PERTClassifier(10, **options).fit(rounded, y)
    assert (fitted.predict(rounded) == y).all()
    family = fitted.forest_.split[fitted.forest_.feature >= 0] & 3
    assert set(family) == {["ordered", "multiway", "one-vs-rest", "any"].index(splits)}
    again = dm.PERTClassifier(10, n_jobs=3, **options).fit(rounded, y).forest_
    assert again.feature.tobytes() == fitted.forest_.feature.tobytes()
    bounded = dm.PERTClassifier(10, min_samples_leaf=5, max_leaf_nodes=6, **options)
    forest = bounded.fit(rounded, y).forest_
    assert (np.diff(forest.leaf_offsets) <= 6).all()
    assert forest.rows.min() >= 5
