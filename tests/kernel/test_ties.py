"""Splits of equal exact score win equally often, whatever the rounding of their scores."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import prod

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.importances import mdi
from duramen.theory import FiniteDistribution

TREES = 400
LARGEST_Z = 5.0  # of some hundred


def exact_score(criterion, left, right):
    """The score of a split from the class counts of its children, as a rational number.

    Entropy: 2 to the power of the sum of n log2 n over the cells, less that over the children.
    Variance: the classes are the numbers 0, 1, 2, ...
    """
    if criterion == "entropy":
        cells = prod(k**k for k in (*left, *right) if k)
        return Fraction(cells, sum(left) ** sum(left) * sum(right) ** sum(right))
    if criterion == "gini":
        return sum(Fraction(sum(k * k for k in child), sum(child)) for child in (left, right))
    sums = [sum(k * y for y, k in enumerate(child)) for child in (left, right)]
    return sum(Fraction(s * s, sum(child)) for s, child in zip(sums, (left, right), strict=True))


@cache
def pairs_of_splits(criterion, totals, equal=True):
    """Pairs of splits of a node with these class counts, of equal score or not.

    A split is the class counts of its first child; it and its mirror image are one.
    """
    splits = []
    for left in product(*(range(n + 1) for n in totals)):
        right = tuple(n - k for n, k in zip(totals, left, strict=True))
        if sum(left) and sum(right) and left <= right:
            splits.append((left, exact_score(criterion, left, right)))
    return [(a, b) for (a, s), (b, t) in combinations(splits, 2) if (s == t) == equal]


def nodes(n_rows, n_classes):
    """Class counts of nodes of up to so many rows, ascending."""
    result = product(range(1, n_rows), repeat=n_classes)
    return [totals for totals in result if sum(totals) <= n_rows and list(totals) == sorted(totals)]


def table(totals, *splits):
    """Columns that split the rows of a node as given, and the classes of the rows."""
    columns = []
    for split in splits:
        parts = [np.arange(n) < k for n, k in zip(totals, split, strict=True)]
        columns.append(np.concatenate(parts))
    return np.column_stack(columns).astype(int), np.repeat(np.arange(len(totals)), totals)


def wins(estimator, X, y, weights=None, **settings):
    """Count the trees whose root splits on the first column."""
    grown = estimator(TREES, max_features=None, max_depth=1, **settings)
    forest = grown.fit(X, y, sample_weight=weights).forest_
    return int(np.count_nonzero(forest.feature[forest.offsets[:-1]] == 0))


def z_of(n_first):
    return (n_first - TREES / 2) / np.sqrt(TREES / 4)


def test_pairs_are_counted_right():
    # 4 rows of each class, 2 and 2 against 2 and 2, and 1 and 1 against 3 and 3: no information.
    assert ((1, 1), (2, 2)) in pairs_of_splits("entropy", (4, 4))
    # An equality that no symmetry explains: 3^3 4^4 / 7^7 is 6^6 2^2 / (7^7 3^3).
    assert 3**3 * 4**4 * 3**3 == 6**6 * 2**2
    assert pairs_of_splits("entropy", (3, 7)) == [((0, 3), (1, 6))]
    assert sum(len(pairs_of_splits("entropy", totals)) for totals in nodes(12, 2)) == 30


@pytest.mark.parametrize(
    "estimator, settings",
    [
        (dm.RandomForestClassifier, {"bootstrap": False}),
        (dm.RandomForestClassifier, {"bootstrap": False, "splits": "one-vs-rest"}),
        (dm.ExtraTreesClassifier, {}),
        (dm.ExtraTreesClassifier, {"splits": "multiway"}),
    ],
)
@pytest.mark.parametrize(
    "criterion, weighting",
    [
        *(("entropy", weighting) for weighting in ("none", "whole", "many rows")),
        *(("gini", weighting) for weighting in ("none", "real", "classes")),
    ],
)
def test_equal_splits_of_two_classes(estimator, settings, criterion, weighting):
    results = []
    for totals in nodes(12, 2):
        for pair in pairs_of_splits(criterion, totals):
            X, y = table(totals, *pair)
            options = dict(settings)
            weights = None
            if weighting == "whole":
                weights = np.full(len(y), 3.0)
            elif weighting == "real":
                weights = np.full(len(y), 0.1)
            elif weighting == "classes":
                options["class_weight"] = {0: 0.7, 1: 0.7}
            elif weighting == "many rows":
                X, y = np.repeat(X, 25, axis=0), np.repeat(y, 25)
            results.append(
                wins(
                    estimator,
                    X,
                    y,
                    weights,
                    criterion=criterion,
                    random_state=len(results),
                    **options,
                )
            )
    assert len(results) > 20
    z = z_of(np.array(results))
    assert np.abs(z).max() < LARGEST_Z
    assert (z**2).sum() < len(z) + 5.0 * np.sqrt(2.0 * len(z))


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("splits", ["any", "multiway"])
def test_equal_splits_of_three_classes(criterion, splits):
    family = {"splits": splits, "criterion": criterion}
    results = []
    for totals in nodes(8, 3):
        for pair in pairs_of_splits(criterion, totals)[:3]:
            X, y = table(totals, *pair)
            if splits == "any":
                X = dm.encode(X, kinds="nominal")
            estimator = dm.RandomForestClassifier
            results.append(
                wins(estimator, X, y, bootstrap=False, random_state=len(results), **family)
            )
    assert len(results) > 20
    assert np.abs(z_of(np.array(results))).max() < LARGEST_Z


@one_test
@pytest.mark.parametrize("estimator", [dm.RandomForestRegressor, dm.ExtraTreesRegressor])
@pytest.mark.parametrize("unit, origin", [(1.0, 0.0), (0.1, 0.0), (0.1, 1000.0), (1e-9, 7e-9)])
@pytest.mark.parametrize("weight", [None, 0.3])
def test_equal_splits_of_numbers(estimator, unit, origin, weight):
    settings = {"bootstrap": False} if estimator is dm.RandomForestRegressor else {}
    results = []
    for totals in nodes(8, 3):
        for pair in pairs_of_splits("variance", totals)[:4]:
            X, y = table(totals, *pair)
            weights = None if weight is None else np.full(len(y), weight)
            # Variance is the same for y and y + a; equal scores are those of centred numbers.
            results.append(
                wins(
                    estimator, X, origin + unit * y, weights, random_state=len(results), **settings
                )
            )
    assert len(results) > 20
    assert np.abs(z_of(np.array(results))).max() < LARGEST_Z


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("weight", [None, 0.1])
def test_scores_that_differ_a_little_do_not_tie(criterion, weight):
    # The closest two of all pairs of splits of 30 rows differ by 1.4e-4 bits.
    closest = []
    for n in range(10, 16):
        pairs = pairs_of_splits(criterion, (n, 30 - n), equal=False)
        scores = {
            split: exact_score(criterion, split, (n - split[0], 30 - n - split[1]))
            for split in {split for pair in pairs for split in pair}
        }
        ordered = sorted(scores, key=scores.__getitem__)
        gaps = [(scores[b] / scores[a], a, b) for a, b in pairwise(ordered)]
        _, worse, better = min(gap for gap in gaps if gap[0] > 1)
        closest.append((n, worse, better))
    for n, worse, better in closest:
        for first, second, expected in ((worse, better, 0), (better, worse, TREES)):
            X, y = table((n, 30 - n), first, second)
            weights = None if weight is None else np.full(30, weight)
            estimator = dm.RandomForestClassifier
            assert expected == wins(
                estimator, X, y, weights, criterion=criterion, bootstrap=False, random_state=0
            )


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_missing_rows_go_to_either_of_two_equal_sides(criterion):
    X = np.array([0, 0, np.nan, np.nan, 1, 1])[:, np.newaxis]
    y = np.array([0, 0, 0, 1, 1, 1])
    forest = dm.RandomForestClassifier(
        TREES, criterion=criterion, max_depth=1, bootstrap=False, random_state=0
    ).fit(X, y)
    # The missing rows are with the two of class 0 or with the two of class 1.
    assert abs(forest.predict_proba([[np.nan]])[0, 1] - 0.5) < 0.25 * LARGEST_Z / np.sqrt(TREES)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_bipartitions_that_gain_nothing(criterion):
    # Each category has one row of each class, distinguished by the second column.
    cells = [(x, z, (x == 2) ^ z) for x in range(3) for z in (0, 1)]
    X, y = np.array([cell[:2] for cell in cells]), np.array([cell[2] for cell in cells]).astype(int)
    exact = dm.theory.population_importances(
        FiniteDistribution.from_table(X, y), criterion=criterion, splits="any", cut="best"
    )
    grown = mdi(
        dm.RandomForestClassifier(
            5000, max_features=1, criterion=criterion, splits="any", bootstrap=False, random_state=0
        ).fit(dm.encode(X, kinds="nominal"), y)
    )
    assert np.all(np.abs(grown.values - exact.values) < 4 * grown.standard_error)


@one_test
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("depth", [2, 4])
def test_constant_columns_take_levels_of_the_exact_depth(K, depth):
    digits = dm.datasets.digits7()
    exact = dm.theory.population_importances(
        FiniteDistribution.from_table(digits.X, digits.y), max_features=K, max_depth=depth
    ).values
    off = []
    for count in (True, False):
        forest = dm.ExtraTreesClassifier(
            4000,
            criterion="entropy",
            splits="multiway",
            max_features=K,
            max_depth=depth,
            count_constant_features=count,
            random_state=1,
        ).fit(digits.X, digits.y)
        importances = mdi(forest)
        off.append(np.abs(importances.values - exact).max() / np.max(importances.standard_error))
    assert off[0] < 4
    assert off[1] > 5 or K > 1


@pytest.mark.slow
def test_importances_are_those_of_the_exact_theory():
    from benchmarks.accuracy import ties

    # Seeds beyond those of the table in the guide: one table a combination of settings.
    z = [ties.compared(ties.drawn_case(seed), 2000, seed)[0] for seed in range(10**6, 10**6 + 180)]
    assert np.abs(z).max() < 4.5
    assert np.mean(np.square(z)) < 1.4
