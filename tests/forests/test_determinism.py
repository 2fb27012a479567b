"""A forest depends on its data, settings and seed, and on nothing else."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from tests.grid import one_test

from duramen import estimators
from duramen.data import learning_set
from duramen.forests import GrowthSettings, grow
from duramen.forests.growth import bag


def same(first, other):
    for name, array in first.arrays().items():
        again = other.arrays()[name]
        assert array.dtype == again.dtype
        assert array.tobytes() == again.tobytes(), name


@one_test
@pytest.mark.parametrize(
    "kind",
    [
        estimators.RandomForestClassifier,
        estimators.ExtraTreesClassifier,
        estimators.TotallyRandomizedTreesClassifier,
        estimators.RandomSubspaceClassifier,
        estimators.RandomPatchesClassifier,
        estimators.PERTClassifier,
        estimators.RandomForestRegressor,
        estimators.ExtraTreesRegressor,
    ],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_bit(kind, weighted):
    load = load_iris if kind.__name__.endswith("Classifier") else load_diabetes
    X, y = load(return_X_y=True)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    model = kind(23, n_jobs=1, random_state=5).fit(X, y, sample_weight=weights)
    for n_jobs in (2, 4):
        other = kind(23, n_jobs=n_jobs, random_state=5).fit(X, y, sample_weight=weights)
        same(model.forest_, other.forest_)
        np.testing.assert_array_equal(model.feature_importances_, other.feature_importances_)
        np.testing.assert_array_equal(model.predict(X), other.predict(X))


@pytest.mark.filterwarnings("ignore:.*in the bag of every tree:UserWarning")
def test_threads_do_not_change_out_of_bag_estimates():
    X, y = load_diabetes(return_X_y=True)
    first, other = (
        estimators.RandomForestRegressor(17, n_jobs=n_jobs, oob_score=True, random_state=0).fit(
            X, y
        )
        for n_jobs in (1, 4)
    )
    assert first.oob_prediction_.tobytes() == other.oob_prediction_.tobytes()
    assert first.oob_error_curve_.tobytes() == other.oob_error_curve_.tobytes()
    np.testing.assert_array_equal(first.proximity(X[:50]), other.proximity(X[:50]))


@given(cuts=st.lists(st.integers(1, 11), unique=True, max_size=4), threads=st.integers(1, 3))
def test_chunks_do_not_change_a_bit(cuts, threads):
    X, y = load_iris(return_X_y=True)
    data = learning_set(X, y)
    settings = GrowthSettings(max_features=2, bootstrap=True)
    common = {"seed": 2**64 - 3, "n_threads": threads}
    whole = grow(data, settings, n_trees=12, **common)
    bounds = [0, *sorted(cuts), 12]
    parts = [
        grow(data, settings, n_trees=end - start, first_tree=start, **common)
        for start, end in pairwise(bounds)
    ]
    for name in ("feature", "threshold", "rows", "impurity", "leaf_values", "child"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert joined.tobytes() == getattr(whole, name).tobytes()
    for part, start in zip(parts, bounds, strict=False):
        np.testing.assert_array_equal(bag(part, 0), bag(whole, start))


def test_seeds():
    X, y = load_iris(return_X_y=True)

    def grown(random_state):
        forest = estimators.ExtraTreesClassifier(4, random_state=random_state)
        return forest.fit(X, y).forest_

    same(grown(7), grown(7))
    assert grown(7).seed != grown(8).seed
    same(grown(np.random.RandomState(3)), grown(np.random.RandomState(3)))
    same(grown(np.random.default_rng(3)), grown(np.random.default_rng(3)))
    generator = np.random.default_rng(3)
    assert grown(generator).seed != grown(generator).seed
    assert grown(None).seed != grown(None).seed
