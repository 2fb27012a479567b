"""Expected importances for any K, depth and family of splits."""

import functools
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import recursion as oracle
from tests.theory.drawn import table_with_an_outlier
from tests.theory.tables import factorial_rows, of_rows, primary_tumor

import duramen as dm
from duramen.importances import mdi
from duramen.theory import FiniteDistribution
from duramen.theory.dependence.relevant_features import strong_informations
from duramen.theory.distributions import TOLERANCE
from duramen.theory.population.recursion import Trees, best_of_cuts, best_of_features

FAMILIES = ("multiway", "ordered", "one-vs-rest", "any")
BINARY = FAMILIES[1:]
DIGITS = dm.datasets.digits7()


def distribution(X, y, weights=None):
    return FiniteDistribution.from_table(np.asarray(X), np.asarray(y), weights=weights)


def tree_importances(dist, **settings):
    return Trees("trees", dist, **settings).importances()


def digits():
    return distribution(DIGITS.X, DIGITS.y)


def digits_with_four_values():
    """Each digit twice, with both values of X1 split in two: 0 into 0 and 1, 1 into 2 and 3."""
    X, y = np.repeat(DIGITS.X, 2, axis=0), np.repeat(DIGITS.y, 2)
    X[:, 0] = 2 * X[:, 0] + np.tile([0, 1], 10)
    return distribution(X, y)


@st.composite
def tables(draw, most_values=(4, 3, 2), n_classes=3, n_rows=8):
    """Rows (x, y, w) of a small table, their weights being fractions of equal rows."""
    row = st.tuples(*(st.integers(0, m - 1) for m in most_values), st.integers(0, n_classes - 1))
    result = Counter(draw(st.lists(row, min_size=2, max_size=n_rows)))
    n = sum(result.values())
    return [(cells[:-1], cells[-1], Fraction(times, n)) for cells, times in sorted(result.items())]


@st.composite
def settings_of_trees(draw):
    family = draw(st.sampled_from(FAMILIES))
    cuts = {"multiway": ["random"], "ordered": ["random", "best", "uniform"]}
    return {
        "max_features": draw(st.integers(1, 3)),
        "splits": family,
        "criterion": draw(st.sampled_from(["entropy", "gini", "variance"])),
        "cut": draw(st.sampled_from(cuts.get(family, ["random", "best"]))),
    }


# --- known answers -------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "K, expected",
    [
        (1, [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372]),
        (2, [0.363, 0.665, 0.513, 0.525, 0.730, 0.140, 0.386]),
        (4, [0.310, 0.756, 0.489, 0.445, 0.809, 0.124, 0.389]),
        (7, [0.306, 0.798, 0.475, 0.410, 0.835, 0.122, 0.375]),
    ],
)
def test_digits(K, expected):
    actual = tree_importances(digits(), max_features=K)
    assert actual.shape == (7, 7)
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual.sum(axis=1), expected, atol=5e-4 + 1e-6)
    assert actual.sum() == pytest.approx(log2(10), abs=1e-12)


@one_test
@pytest.mark.parametrize(
    "family, expected",
    [
        ("multiway", [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372]),
        ("ordered", [0.347, 0.586, 0.535, 0.548, 0.664, 0.227, 0.415]),
        ("any", [0.318, 0.588, 0.537, 0.550, 0.668, 0.227, 0.434]),
        ("one-vs-rest", [0.309, 0.589, 0.538, 0.551, 0.669, 0.227, 0.440]),
    ],
)
def test_digits_with_a_feature_of_four_values(family, expected):
    """Thesis, section 5.7.3 and Figure 5.5."""
    actual = tree_importances(digits_with_four_values(), max_features=1, splits=family)
    np.testing.assert_allclose(actual.sum(axis=1), expected, atol=5.1e-4)
    assert actual.sum() == pytest.approx(log2(10), abs=1e-12)


@one_test
@pytest.mark.parametrize("K", [1, 7])
@pytest.mark.parametrize("family", ["ordered", "any"])
def test_best_cuts_do_not_see_the_four_values(family, K):
    """The best split of X1 restores its two values (thesis, end of section 5.7)."""
    actual = tree_importances(digits_with_four_values(), max_features=K, splits=family, cut="best")
    expected = tree_importances(digits(), max_features=K)
    np.testing.assert_allclose(actual.sum(axis=1), expected.sum(axis=1), atol=1e-12)


def test_example_5_2():
    """Thesis, Example 5.2; one tree in eight cuts X1 <= 1 first and then uses each feature."""
    dist = distribution([[0, 0], [1, 1], [2, 1]], [0, 1, 1])
    H = log2(3) - 2 / 3
    for K in (1, 2):
        actual = tree_importances(dist, max_features=K)
        np.testing.assert_allclose(actual, [[H / 2, 0], [H / 2, 0]], atol=1e-12)
    actual = tree_importances(dist, max_features=1, splits="ordered")
    cut = H - 2 / 3  # X1 <= 1 | 2 leaves one bit in two thirds of the rows
    expected = [[cut / 4 + H / 4, 1 / 12], [H / 2, 1 / 12]]
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    np.testing.assert_allclose(actual.sum(axis=1), [0.376, 0.542], atol=5.1e-4)


def test_exclusive_or_with_a_noisy_copy():
    X = list(product((0, 1), repeat=3))
    y = [a ^ b for a, b, _ in X]
    weights = [0.95 if c == label else 0.05 for (_, _, c), label in zip(X, y, strict=True)]
    result = tree_importances(distribution(X, y, weights), max_features=1).sum(axis=1)
    np.testing.assert_allclose(result, [0.262, 0.262, 0.476], atol=5.1e-4)


@one_test
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("K", [1, 2])
def test_a_node_where_nothing_gains_is_split_all_the_same(family, K):
    xor = dm.datasets.xor()
    result = tree_importances(distribution(xor.X, xor.y), max_features=K, splits=family)
    np.testing.assert_allclose(result, [[0, 0.5], [0, 0.5]], atol=1e-15)


def test_single_copy_of_two_is_the_best_at_random():
    """Three equal features and one of noise, K = 2: the pair of noise and one copy still wins."""
    X = [[a, a, a, b] for a in (0, 1) for b in (0, 1)]
    result = tree_importances(distribution(X, [0, 0, 1, 1]), max_features=2)
    np.testing.assert_allclose(result[:, 0], [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-15)
    assert not result[:, 1:].any()


def test_constant_feature_ties_with_those_that_gain_nothing():
    """X1 is constant, Y = X2 xor X3: a third of the trees use X1 up first, and gain one later."""
    X = [[0, a, b] for a in (0, 1) for b in (0, 1)]
    actual = tree_importances(distribution(X, [0, 1, 1, 0]), max_features=3)
    expected = [[0, 0, 0], [0, 1 / 3, 1 / 6], [0, 1 / 3, 1 / 6]]
    np.testing.assert_allclose(actual, expected, atol=1e-15)


@one_test
@pytest.mark.parametrize("family", FAMILIES)
def test_small_decreases_count_and_rounding_does_not(family):
    """A gain of 1e-9 bits wins over none; noise gets exactly nothing."""
    X = list(product((0, 1), (0, 1, 2), (0, 1)))
    shift = 3e-5
    weights = [
        (1 + shift * (2 * a - 1) * (2 * y - 1)) * noise * (0.3 + 0.4 * y)
        for a, noise_code, y in X
        for noise in [(0.5, 0.3, 0.2)[noise_code]]
    ]
    dist = distribution([x[:2] for x in X], [x[2] for x in X], weights)
    expected = dist.mutual_information(0)
    assert 1e-10 < expected < 2e-9
    actual = tree_importances(dist, max_features=2, splits=family)
    assert actual[0, 0] == pytest.approx(expected, rel=1e-6)
    assert actual[0, 0] == actual.sum()


# --- against the oracle --------------------------------------------------------------------------


@given(tables(), settings_of_trees(), st.sampled_from([None, None, 1, 2]))
@settings(max_examples=40)
def test_agrees_with_growing_every_tree(rows, trees, max_depth):
    assert_agrees_with_every_tree(rows, trees, max_depth)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize(
    "family, cut", [("multiway", "random"), *product(BINARY, ["random", "best"])]
)
def test_agrees_with_growing_every_tree_on_larger_tables(family, cut, K, seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, [4, 3, 3], size=(9 if family == "multiway" else 7, 3))
    y = random.integers(0, 3, len(X))
    times = random.integers(1, 3, len(X))  # ties as well as weights that break them
    rows = [
        (tuple(x), label, Fraction(w, int(times.sum())))
        for x, label, w in zip(X.tolist(), y.tolist(), times.tolist(), strict=True)
    ]
    trees = {
        "max_features": K,
        "splits": family,
        "cut": cut,
        "criterion": ("entropy", "gini")[seed],
    }
    assert_agrees_with_every_tree(rows, trees, None)


@pytest.mark.slow
def test_agrees_with_growing_every_tree_on_deterministic_tables():
    for seed in range(12):
        rows = factorial_rows(np.random.default_rng(seed))
        criterion = ("entropy", "gini", "variance")[seed // 6 % 3]
        for family, cut in [("multiway", "random"), *product(BINARY, ["random", "best"])]:
            for K in range(2, len(rows[0][0]) + 1):
                trees = {"max_features": K, "splits": family, "cut": cut, "criterion": criterion}
                assert_agrees_with_every_tree(rows, trees, None)


def assert_agrees_with_every_tree(rows, trees, max_depth):
    p = len(rows[0][0])
    expected = oracle.importances(
        rows,
        p,
        trees["max_features"],
        family=trees["splits"],
        criterion=trees["criterion"],
        cut=trees["cut"],
        max_depth=max_depth,
    )
    actual = tree_importances(of_rows(rows), max_depth=max_depth, **trees)
    depths = max([actual.shape[1], *(depth + 1 for _, depth in expected)])
    table = np.zeros((p, depths))
    for (m, depth), value in expected.items():
        table[m, depth] = value
    np.testing.assert_allclose(
        np.pad(actual, [(0, 0), (0, depths - actual.shape[1])]), table, atol=1e-12
    )
    if trees["splits"] == "multiway":
        assert actual.shape[1] == min(p, max_depth or p)


# --- against forests -----------------------------------------------------------------------------


def table_for_forests():
    random = np.random.default_rng(4)
    X = random.integers(0, [4, 3, 2, 2], size=(50, 4))
    y = (X[:, 0] + 2 * (X[:, 1] == 1) + X[:, 2] * X[:, 3] + random.integers(0, 2, 50)) % 3
    return X, y


def assert_forest_agrees(forest, X, y, **trees):
    forest.fit(dm.encode(X, kinds="ordinal"), y)
    grown = mdi(forest)
    exact = tree_importances(distribution(X, y), **trees).sum(axis=1)
    assert np.all(np.abs(grown.values - exact) < 4 * grown.standard_error + 1e-9)
    assert np.all(grown.standard_error < 0.02 * exact.sum())  # the comparison says something


RANDOM = dm.ExtraTreesClassifier
BEST = functools.partial(dm.RandomForestClassifier, bootstrap=False)


@one_test
@pytest.mark.parametrize(
    "kind, trees",
    [
        *((RANDOM, {"criterion": c}) for c in ("entropy", "gini")),
        *((BEST, {"splits": family, "cut": "best"}) for family in BINARY),
        *(
            (dm.ExtraTreesRegressor, {"splits": family, "criterion": "variance"})
            for family in ("multiway", "ordered")
        ),
    ],
)
@pytest.mark.parametrize("K", [1, 2, 3])
def test_forests_converge_to_it(kind, trees, K):
    trees = {"splits": "multiway", "criterion": "entropy", "max_features": K, **trees}
    X, y = table_for_forests()
    options = {key: value for key, value in trees.items() if key != "cut" and value != "variance"}
    y = y * 1.5 if trees["criterion"] == "variance" else y
    assert_forest_agrees(kind(2000, random_state=3, **options), X, y, **trees)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("family", BINARY)
def test_extra_trees_converge_to_it(family, K):
    X, y = table_for_forests()
    forest = dm.ExtraTreesClassifier(
        2000, max_features=K, criterion="entropy", splits=family, random_state=2
    )
    assert_forest_agrees(forest, X, y, max_features=K, splits=family)


def sample_of_numbers():
    random = np.random.default_rng(0)
    X = np.column_stack(
        [random.exponential(size=14), random.normal(size=14), random.integers(0, 3, 14)]
    )
    return X, X[:, 0] + X[:, 1] + 0.3 * random.normal(size=14)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_extra_trees_of_numbers_converge_to_uniform_cuts(K, depth, criterion):
    X, y = sample_of_numbers()
    kind, options = dm.ExtraTreesRegressor, {}
    if criterion == "entropy":
        kind, options, y = dm.ExtraTreesClassifier, {"criterion": criterion}, (y > 1).astype(int)
    forest = kind(10_000, max_features=K, max_depth=depth, random_state=1, **options).fit(X, y)
    grown = mdi(forest)
    trees = {"max_features": K, "max_depth": depth, "criterion": criterion, "splits": "ordered"}
    exact = tree_importances(distribution(X, y), cut="uniform", **trees).sum(axis=1)
    assert np.all(np.abs(grown.values - exact) < 3.5 * grown.standard_error)
    alike = tree_importances(distribution(X, y), **trees).sum(axis=1)
    assert (np.abs(grown.values - alike) / grown.standard_error).max() > 6


def test_uniform_cuts_of_two_features_by_hand():
    # One cut of x0, at 0.5 or between 1 and 4, and one of x1; each is pure below.
    dist = distribution([[0.0, 0.0], [1.0, 0.0], [4.0, 1.0]], [0, 1, 1])
    result = tree_importances(
        dist, max_features=1, splits="ordered", cut="uniform", criterion="gini", max_depth=1
    )
    first, second = 4 / 9, 4 / 9 - 2 / 3 * 0.5  # decreases of a pure cut, and of the other one
    by_hand = [(0.25 * first + 0.75 * second) / 2, second / 2]
    np.testing.assert_allclose(result[:, 0], by_hand)


def test_uniform_cuts_do_not_depend_on_the_unit():
    X, y = sample_of_numbers()
    options = {"max_features": 2, "splits": "ordered", "cut": "uniform", "max_depth": 3}
    result = tree_importances(distribution(X, y > 1), **options)
    moved = tree_importances(distribution(X * [1e-3, 7, 1] + 5, y > 1), **options)
    np.testing.assert_allclose(moved, result, rtol=1e-9)


# --- sums, limits, names -------------------------------------------------------------------------


@given(tables(), settings_of_trees())
@settings(max_examples=60)
def test_everything_adds_up_to_what_the_features_tell(rows, trees):
    dist = of_rows(rows)
    actual = tree_importances(dist, **trees)
    expected = dist.impurity_decrease([0, 1, 2], criterion=trees["criterion"])
    assert actual.sum() == pytest.approx(expected, abs=1e-12)
    assert actual.min() >= 0
    every, more = (tree_importances(dist, **{**trees, "max_features": K}) for K in (3, 10**9))
    assert np.array_equal(every, more)


@given(tables(), settings_of_trees(), st.integers(1, 3))
@settings(max_examples=40)
def test_a_bounded_tree_is_the_top_of_a_full_one(rows, trees, max_depth):
    full = tree_importances(of_rows(rows), **trees)
    result = tree_importances(of_rows(rows), max_depth=max_depth, **trees)
    width = result.shape[1]
    np.testing.assert_allclose(result, full[:, :width], atol=1e-15)
    assert not full[:, width:max_depth].any()


@given(tables(), settings_of_trees(), st.permutations(range(3)), st.permutations(range(4)))
@settings(max_examples=40)
def test_names_do_not_matter(rows, trees, order, values):
    """Features in another order; values renamed, for ordered splits turned round."""
    if trees["splits"] == "ordered":
        values = [3, 2, 1, 0]
    turned = [(tuple(values[x[m]] for m in order), 2 - y, w) for x, y, w in sorted(rows, key=repr)]
    actual = tree_importances(of_rows(turned), **trees)
    expected = tree_importances(of_rows(rows), **trees)
    np.testing.assert_allclose(actual, expected[list(order)], atol=1e-12)


@pytest.mark.slow
@given(tables(most_values=(2, 2, 2), n_rows=10), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_families_are_one_for_features_of_two_values(rows, family):
    actual = tree_importances(of_rows(rows), max_features=1, splits=family)
    expected = tree_importances(of_rows(rows), max_features=1)
    np.testing.assert_allclose(actual.sum(axis=1), expected.sum(axis=1), atol=1e-12)


@given(tables(n_classes=2), settings_of_trees(), st.integers(-3, 3), st.floats(0.1, 1e3))
@settings(max_examples=30)
def test_variance_follows_the_unit_and_is_half_of_gini_for_two_classes(rows, trees, shift, unit):
    gini = tree_importances(of_rows(rows), **{**trees, "criterion": "gini"})
    other = [(x, (shift + y) * unit, w) for x, y, w in rows]
    variance = tree_importances(of_rows(other), **{**trees, "criterion": "variance"})
    np.testing.assert_allclose(variance, gini / 2 * unit**2, rtol=1e-9, atol=1e-12 * unit**2)


@one_test
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_to_split(family):
    for X, y in (([[0, 0], [1, 0]], [1, 1]), ([[3], [3]], [0, 1])):
        actual = tree_importances(distribution(X, y), max_features=1, splits=family)
        expected = np.zeros_like(X[:1]).T if family != "multiway" else np.zeros((len(X[0]),) * 2)
        assert np.array_equal(actual, expected)
    none = distribution([[0], [1]], [0, 1]).marginal([])
    assert tree_importances(none, max_features=1, splits=family).shape == (0, 1)


@one_test
@pytest.mark.parametrize("family", FAMILIES)
def test_batches_do_not_show(monkeypatch, family):
    X, y = table_for_forests()
    whole = tree_importances(distribution(X, y), max_features=3, splits=family, max_depth=4)
    monkeypatch.setattr("duramen.theory.population.recursion._NUMBERS", 3000)
    parts = tree_importances(distribution(X, y), max_features=3, splits=family, max_depth=4)
    np.testing.assert_allclose(parts, whole, atol=1e-13)


@pytest.mark.slow
def test_primary_tumor_for_any_K():
    dist = primary_tumor()
    for K in (1, 4, 16):
        result = tree_importances(dist, max_features=K)
        assert result.sum() == pytest.approx(3.2915, abs=5e-5)
    for family in BINARY:
        result = tree_importances(dist, max_features=4, max_depth=3, splits=family)
        assert result.shape == (16, 3)


@one_test
@pytest.mark.parametrize("family", FAMILIES)
def test_ties_of_variances_hold_far_below_the_largest_number(family):
    """A decrease is as exact as the numbers of its node, whatever those of others are."""
    rows = table_with_an_outlier()
    expected = oracle.importances(rows, 4, 4, family=family, criterion="variance")
    actual = tree_importances(
        of_rows(rows), max_features=4, splits=family, criterion="variance", max_depth=4
    )
    values = [actual[m, depth] for m, depth in expected if depth > 0]
    assert len(values) > 4
    np.testing.assert_allclose(
        values, [value for (_, depth), value in expected.items() if depth > 0], rtol=1e-12
    )


# --- who wins ------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=30)
def test_who_wins_among_features_of_one_split(data):
    """Both ways to reckon it, and the count of all draws, agree."""
    p = data.draw(st.integers(1, 6))
    K = data.draw(st.integers(1, 7))
    gains = np.array(data.draw(st.lists(st.integers(0, 3), min_size=p, max_size=p)), dtype=float)
    k = min(K, p)
    expected = np.zeros(p)
    for draw in combinations(range(p), k):
        best = [m for m in draw if gains[m] == gains[list(draw)].max()]
        expected[best] += 1 / (comb(p, k) * len(best))
    divides = np.ones((1, p), dtype=bool)
    by_group, constant = best_of_features(gains[np.newaxis], divides, p, K)
    by_integral = best_of_cuts(np.zeros(p, np.int64), np.arange(p), gains, (1, p), K)
    np.testing.assert_allclose(by_group[0], expected, atol=1e-14)
    np.testing.assert_allclose(by_integral, expected, atol=1e-14)
    assert constant == [0]


@one_test
@pytest.mark.parametrize("p, K", [(100, 50), (500, 3), (60, 60)])
def test_who_wins_among_many(p, K):
    """The i-th worst of p different ones wins with probability C(i - 1, k - 1) / C(p, k)."""
    expected = [comb(i, K - 1) / comb(p, K) for i in range(p)]
    gains, divides = np.arange(p) / 10, np.ones((1, p), dtype=bool)
    by_group, _ = best_of_features(gains[np.newaxis], divides, p, K)
    by_integral = best_of_cuts(np.zeros(p, np.int64), np.arange(p), gains, (1, p), K)
    np.testing.assert_allclose(by_group[0], expected, rtol=1e-11)
    np.testing.assert_allclose(by_integral, expected, rtol=1e-11)


# --- relevance -----------------------------------------------------------------------------------


@given(tables(most_values=(3, 2, 2)), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_proposition_5_19(rows, family):
    """A feature is relevant just if one of its splits is, when its other splits may be given.

    Here X1 is replaced by an indicator of each of its splits, and relevance is read off the
    importances of totally randomised trees.
    """
    replaced, n_splits = oracle.indicators(rows, 0, family)
    assume(n_splits)
    before = tree_importances(of_rows(rows), max_features=1).sum(axis=1)
    after = tree_importances(of_rows(replaced), max_features=1).sum(axis=1)
    assert (before[0] > 1e-10) == oracle.is_relevant(rows, 3, 0)
    assert (before[0] > 1e-10) == bool(after[-n_splits:].max() > 1e-10)


@given(tables(most_values=(3, 2, 2)), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_proposition_5_20(rows, family):
    """Given a feature or given all of its splits, the others tell the same about the target."""
    replaced, n_splits = oracle.indicators(rows, 0, family)
    assume(n_splits)
    all_splits = list(range(2, 2 + n_splits))
    for i in (1, 2):
        for others in ([], [3 - i]):
            by_feature = oracle.information(rows, [i], ["y"], [0, *others])
            by_splits = oracle.information(
                replaced, [i - 1], ["y"], [*all_splits, *(np.array(others, int) - 1)]
            )
            assert by_feature == pytest.approx(by_splits, abs=1e-12)
            ours = of_rows(rows).mutual_information(i, [0, *others])
            given_splits = [*all_splits, *(other - 1 for other in others)]
            split_ours = of_rows(replaced).mutual_information(i - 1, given_splits)
            assert ours == pytest.approx(by_feature, abs=1e-12)
            assert split_ours == pytest.approx(by_splits, abs=1e-12)


def chain_through_three_values():
    """X2 tells of Y by way of X1 alone, and what it tells cancels until X1 is split halfway.

    Y depends on X1 in {0, 1, 2} only, by P(Y=1|X1) = 1/4, 0, 1. X1 given X2 is such that Y is
    independent of X2: (.6, .1, .3) and (.2, .4, .4). Within X1 > 0 it is not.
    """
    rows = []
    for x2, counts in ((0, (6, 1, 3)), (1, (2, 4, 4))):
        for x1, (fraction, q) in enumerate(zip(counts, (1, 0, 4), strict=True)):
            rows += [
                ((x1, x2), 1, Fraction(fraction * q, 80)),
                ((x1, x2), 0, Fraction(fraction * (4 - q), 80)),
            ]
    return [row for row in rows if row[2]]


@one_test
@pytest.mark.parametrize("family", BINARY)
def test_theorem_5_21_does_not_hold_for_irrelevant_features(family):
    """An irrelevant feature can have a positive importance in binary trees.

    The thesis has it that the importances of totally randomised binary trees are 0 just for the
    irrelevant features. Some of the splits of a feature do not stand for all of it, though: given
    X1 > 0 the irrelevant X2 tells of the value of X1, and so of Y. Multiway trees condition on
    whole features and give 0.
    """
    rows = chain_through_three_values()
    assert not oracle.is_relevant(rows, 2, 1)
    assert tree_importances(of_rows(rows), max_features=1)[1].sum() == pytest.approx(0, abs=1e-12)
    result = tree_importances(of_rows(rows), max_features=1, splits=family)
    assert result[1].sum() > 1e-3
    replaced, _ = oracle.indicators(rows, 0, family)
    assert any(
        oracle.depends(replaced, [0], ["y"], [split]) for split in range(1, len(replaced[0][0]))
    )


@given(tables(most_values=(3, 3, 2)), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_theorem_5_21_relevant_features(rows, family):
    """Relevant features have a positive importance in totally randomised binary trees."""
    result = tree_importances(of_rows(rows), max_features=1, splits=family).sum(axis=1)
    for m in range(3):
        assert result[m] > 1e-10 or not oracle.is_relevant(rows, 3, m)


@st.composite
def tables_with_an_irrelevant_feature(draw):
    """Tables of two features of two values, the first of which is irrelevant.

    As the second has two values, the first is irrelevant only where it is independent of the second
    and Y together, or where Y is independent of both.
    """
    proportions = st.integers(1, 5).map(lambda part: (Fraction(part, 6), Fraction(6 - part, 6)))
    if draw(st.booleans()):
        rest, first = draw(tables(most_values=(2,), n_rows=5)), draw(proportions)
        return [((x1, *x), y, w * s) for x, y, w in rest for x1, s in enumerate(first)]
    features, classes = draw(tables(most_values=(2, 2), n_classes=1, n_rows=6)), draw(proportions)
    return [(x, y, w * s) for x, _, w in features for y, s in enumerate(classes)]


@given(tables_with_an_irrelevant_feature(), st.sampled_from(BINARY))
@settings(max_examples=20)
def test_theorem_5_21_irrelevant_features_with_nothing_to_split_halfway(rows, family):
    """Where all other features have two values, irrelevant ones have importance 0.

    The feature of three values follows the first one, and Y does not depend on it otherwise.
    """
    proportions = {0: (1, 2, 3), 1: (3, 2, 1)}
    mixed = [
        ((*x, x3), y, w * Fraction(fraction, 6))
        for x, y, w in rows
        for x3, fraction in enumerate(proportions[x[0]])
    ]
    irrelevant = [m for m in range(3) if not oracle.is_relevant(mixed, 3, m)]
    assert {0, 2} <= set(irrelevant)
    result = tree_importances(of_rows(mixed), max_features=1, splits=family).sum(axis=1)
    np.testing.assert_allclose(result[irrelevant], 0.0, atol=1e-12)


@given(tables(most_values=(2, 3), n_rows=8), st.sampled_from(FAMILIES), st.integers(1, 3))
@settings(max_examples=30)
def test_independent_noise_has_no_importance(rows, family, K):
    """Noise of three values, independent of everything, has importance 0 for any K and family."""
    noisy = [
        ((*x, noise), y, w * fraction)
        for x, y, w in rows
        for noise, fraction in enumerate((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))
    ]
    result = tree_importances(of_rows(noisy), max_features=K, splits=family)
    assert not result[2].any()


@given(tables(most_values=(3, 2, 2)), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_corollary_5_22(rows, family):
    """No split of a weakly relevant feature is strongly relevant beside its other splits."""
    assume(not oracle.is_strong(rows, 3, 0))
    replaced, n_splits = oracle.indicators(rows, 0, family)
    assert not any(oracle.is_strong(replaced, 2 + n_splits, 2 + i) for i in range(n_splits))
    assert not (strong_informations(of_rows(replaced))[2:] > TOLERANCE).any()


@given(tables(most_values=(3, 2, 2)), st.sampled_from(BINARY))
@settings(max_examples=30)
def test_proposition_5_23(rows, family):
    """Given all other features and some of its splits, a split of a strong feature still tells."""
    assume(oracle.is_strong(rows, 3, 0))
    replaced, n_splits = oracle.indicators(rows, 0, family)
    own = range(2, 2 + n_splits)
    pairs = [(i, some) for i in own for some in oracle.subsets([j for j in own if j != i])]
    dist = of_rows(replaced)
    tells = [dist.mutual_information(i, [0, 1, *some]) > TOLERANCE for i, some in pairs]
    assert tells == [oracle.depends(replaced, [i], ["y"], [0, 1, *some]) for i, some in pairs]
    assert any(tells)


@given(tables(), st.sampled_from(FAMILIES), st.integers(1, 3), st.sampled_from(["random", "best"]))
@settings(max_examples=60)
def test_propositions_5_12_and_5_24(rows, family, K, cut):
    """Strongly relevant features have a positive importance for any K, in binary trees too."""
    if family == "multiway":
        cut = "random"
    result = tree_importances(of_rows(rows), max_features=K, splits=family, cut=cut).sum(axis=1)
    for m in range(3):
        assert result[m] > 1e-10 or not oracle.is_strong(rows, 3, m)


@given(tables(most_values=(2, 2, 2)))
@settings(max_examples=40)
def test_theorem_5_26(rows):
    """With K = p every single tree finds the strong features, where nothing hides in a cell.

    What must not be is a cell of some features in which the others together tell something about
    Y and none of them alone does. The thesis asks less, the composition property; see below.
    """
    assume(oracle.has_composition_within(rows, 3))
    result = tree_importances(of_rows(rows), max_features=3).sum(axis=1)
    for m in range(3):
        least = oracle.least_importance(rows, 3, m, 3, "multiway")
        assert least <= result[m] + 1e-12
        assert least > 1e-10 or not oracle.is_strong(rows, 3, m)


def test_theorem_5_26_needs_more_than_composition():
    """A distribution with the composition property where a tree with K = p misses X2.

    X1 is the first split. For X1 = 0, Y is the exclusive or of X2 and X3; for X1 = 1, which Y
    tells as well, Y follows X3 and X2 is correlated with it. Overall no independence comes by
    parts alone, so composition holds; but for X1 = 0 the tree may split on X2 first, in vain, and
    for X1 = 1 it has no use for X2.
    """
    rows = [((0, b, c), b ^ c, Fraction(1, 8)) for b in (0, 1) for c in (0, 1)]
    for b, c, w in ((0, 0, 10), (0, 1, 2), (1, 0, 2), (1, 1, 6)):
        rows.append(((1, b, c), 2 + c, Fraction(w, 40)))
    assert oracle.has_composition(rows, 3)
    assert not oracle.has_composition_within(rows, 3)
    assert oracle.is_strong(rows, 3, 1)
    assert oracle.least_importance(rows, 3, 1, 3, "multiway") == 0
    result = tree_importances(of_rows(rows), max_features=3).sum(axis=1)
    assert result[1] == pytest.approx(0.25)  # half the trees take X2 last where X1 = 0


# --- errors --------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_features": 0}, "trees: max_features must be an int >= 1, got 0"),
        ({"cut": "uniform"}, "cut must be 'random' for multiway splits, got 'uniform'"),
        (
            {"splits": "any", "cut": "uniform"},
            "cut must be 'random' or 'best' unless splits are ordered",
        ),
        ({"cut": "best"}, "cut must be 'random' for multiway splits, got 'best'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        tree_importances(digits(), **{"max_features": 1, **options})


def test_errors_for_features_of_too_many_values():
    wide = distribution(np.arange(3000)[:, np.newaxis], np.arange(3000) % 2)
    with pytest.raises(ValueError, match=r"'x0' has 3000 values\. Hint: discretize"):
        tree_importances(wide, max_features=1, splits="any")
    wider = distribution(np.arange(9000)[:, np.newaxis], np.arange(9000) % 2)
    with pytest.raises(ValueError, match=r"'x0' has 9000 values\. Hint: discretize"):
        tree_importances(wider, max_features=1, splits="ordered")


@one_test
@pytest.mark.parametrize("family", FAMILIES)
def test_progress(family):
    fractions = []
    trees = Trees("trees", digits(), max_features=2, splits=family, max_depth=3)
    trees.importances(fractions.append)
    assert (fractions[0], fractions[-1]) == (0, 1)
    assert fractions == sorted(fractions)
