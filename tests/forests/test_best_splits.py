"""One of the k best splits of a node at random (Dietterich and Kong 1995)."""

from collections import Counter

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles.splits import decrease, partitions

import duramen as dm

N_TREES = 1500
STUMPS = {"max_depth": 1, "bootstrap": False, "random_state": 0, "max_features": None}


def ranked(columns, family, y, criterion):
    """Splits of all columns by ascending decrease of impurity: (decrease, column, sides)."""
    results = []
    for j, codes in enumerate(columns):
        seen = set()
        for groups in partitions(codes, family, None):
            sides = frozenset(map(tuple, groups))
            if sides not in seen:
                seen.add(sides)
                results.append((decrease(groups, y, [1.0] * len(y), criterion), j, sides))
    return sorted(results, key=lambda split: split[0])


def chosen(forest, X):
    """Count the trees of each split at the root, by column and sides."""
    leaves = forest.apply(X)
    taken = Counter()
    for index, tree in enumerate(forest.forest_):
        sides = (tuple(np.flatnonzero(leaves[:, index] == node)) for node in (1, 2))
        taken[int(tree.feature[0]), frozenset(tuple(map(int, side)) for side in sides)] += 1
    return taken


def agree(taken, expected):
    """Frequencies of what was taken against probabilities: within 4.5 standard errors."""
    total = sum(taken.values())
    assert set(taken) <= {key for key, chance in expected.items() if chance > 0}
    for key, chance in expected.items():
        error = np.sqrt(chance * (1 - chance) / total)
        assert abs(taken[key] / total - chance) <= 4.5 * error + 1e-9, (key, taken[key], chance)


def chances(splits, k):
    """Probability of each split when one of the k best is drawn; those that tie have the same."""
    values = np.array([split[0] for split in splits])
    limit = np.sort(values)[::-1][min(k, len(values)) - 1]
    sure, tied = values > limit + 1e-9, np.abs(values - limit) <= 1e-9
    left = min(k, len(values)) - sure.sum()
    each = np.where(sure, 1.0, np.where(tied, left / tied.sum(), 0.0)) / min(k, len(values))
    return {split[1:]: chance for split, chance in zip(splits, each, strict=True)}


CASES = [
    (dm.RandomForestClassifier, "gini", "ordered", 2),
    (dm.RandomForestClassifier, "entropy", "ordered", 3),
    (dm.RandomForestClassifier, "gini", "one-vs-rest", 3),
    (dm.RandomForestClassifier, "gini", "any", 3),
    (dm.RandomForestRegressor, "variance", "ordered", 0),
    (dm.RandomForestRegressor, "variance", "one-vs-rest", 0),
]


@one_test
@pytest.mark.parametrize(("kind", "criterion", "splits", "n_classes"), CASES)
@pytest.mark.parametrize("k", [2, 4, 1000])
def test_each_of_the_best_is_as_likely(kind, criterion, splits, n_classes, k):
    random = np.random.default_rng(5)
    columns = random.integers(0, 4, (3, 14)).tolist()
    y = random.normal(size=14) if n_classes == 0 else random.integers(0, n_classes, 14)
    expected = chances(ranked(columns, splits, y.tolist(), criterion), k)
    X = np.array(columns, dtype=float).T
    forest = kind(N_TREES, criterion=criterion, splits=splits, n_best_splits=k, **STUMPS).fit(X, y)
    assert len(expected) > 5
    agree(chosen(forest, X), expected)


def test_missing_values_go_to_either_side():
    """With values missing, each place of them makes a split of its own."""
    X = np.array([[0.0], [1.0], [2.0], [np.nan], [np.nan]])
    y = [0.0, 1.0, 5.0, 7.0, 9.0]
    forest = dm.RandomForestRegressor(N_TREES, n_best_splits=50, **STUMPS).fit(X, y)
    codes = [0, 1, 2, 3, 3]
    splits = {frozenset(map(tuple, groups)) for groups in partitions(codes, "ordered", 3)}
    agree(chosen(forest, X), {(0, sides): 1 / len(splits) for sides in splits})


def test_random_cuts_compete_by_feature():
    """With a cut drawn for each feature there is one split a feature."""
    X = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1, 1, 1, 1.0]])
    forest = dm.ExtraTreesRegressor(
        N_TREES, n_best_splits=2, max_depth=1, random_state=0, max_features=None
    ).fit(X, [0.0, 0.0, 3.0, 4.0])
    feature = forest.forest_.feature[forest.forest_.offsets[:-1]]
    fractions = np.bincount(feature, minlength=4) / N_TREES
    assert np.abs(fractions - [0.5, 0.5, 0, 0]).max() < 4.5 * np.sqrt(0.25 / N_TREES)
