"""Mean decrease of accuracy of infinitely many trees."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles.theory.accuracy import accuracy_losses
from tests.theory.tables import factorial_rows, of_rows

import duramen as dm
from duramen.theory import FiniteDistribution, population_mda
from duramen.theory.distributions.specification import copy, uniform, xor
from duramen.theory.population import additive_mda


def random_table(random, weighted):
    """Rows (x, y, w) of a random table: up to 3 features of 2 or 3 values, or 4 of 2."""
    p = int(random.integers(1, 5))
    sizes = random.integers(1, 4, p) if p < 4 else np.full(p, 2)
    n = int(random.integers(2, 9 if p < 4 else 7))
    n_classes = int(random.integers(2, 4))
    X = random.integers(0, sizes, (n, p)).tolist()
    y = random.integers(0, n_classes, n).tolist()
    w = random.integers(1, 4, n).tolist() if weighted else [1] * n
    result = Counter()
    for x, label, weight in zip(X, y, w, strict=True):
        result[tuple(x), label] += weight
    total = sum(result.values())
    return [(x, label, Fraction(times, total)) for (x, label), times in sorted(result.items())]


def random_settings(random, p):
    loss = str(random.choice(["zero-one", "squared"]))
    depth = int(random.integers(0, p + 1))
    conditions = [[j for j in range(p) if j != m and random.random() < 0.4] for m in range(p)]
    return {
        "max_features": int(random.choice([1, 1, 2, 3])),
        "criterion": str(random.choice(["entropy", "gini", "variance"])),
        "loss": loss,
        "votes": str(random.choice(["tree", "ensemble", "predictor"])),
        "depth": depth or None,
        "given": conditions if random.random() < 0.3 else [[]] * p,
    }


def agrees_with_oracle(rows, k, chosen):
    p = len(rows[0][0])
    loss, expected = accuracy_losses(rows, p, k, **chosen)
    dist = of_rows(rows)
    chosen = dict(chosen)
    depth, conditions = chosen.pop("depth"), chosen.pop("given")
    given = {dist.names[m]: some for m, some in enumerate(conditions) if some}
    actual = population_mda(dist, max_features=k, max_depth=depth, given=given, **chosen)
    np.testing.assert_allclose(actual.values, [float(v) for v in expected], rtol=0, atol=1e-12)
    assert abs(actual.metadata["loss"] - float(loss)) < 1e-12


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(100, 250), marks=pytest.mark.slow)], ids=len
)
def test_random_distributions_agree_with_all_trees(seeds):
    for seed in seeds:
        random = np.random.default_rng(seed)
        rows = random_table(random, weighted=bool(seed % 2))
        chosen = random_settings(random, len(rows[0][0]))
        agrees_with_oracle(rows, chosen.pop("max_features"), chosen)


@pytest.mark.slow
def test_factorial_tables_agree_with_all_trees():
    """Every K > 1, where decreases that are 0 but for rounding tie with those of constant features.

    Unlimited trees of the table predict the class without error.
    """
    for seed in range(20):
        random = np.random.default_rng(seed)
        rows = factorial_rows(random)
        p = len(rows[0][0])
        chosen = random_settings(random, p)
        del chosen["max_features"]
        for k in range(2, p + 1):
            agrees_with_oracle(rows, k, chosen)
            assert population_mda(of_rows(rows), max_features=k).metadata["loss"] == 0


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_a_sum_by_a_modulus_needs_every_feature(criterion, K):
    """A value that is drawn anew is right in one of its r cases, and so is the prediction."""
    X = np.array(list(product(range(3), range(2), range(3))))
    dist = FiniteDistribution.from_table(X, X.sum(axis=1) % 3)
    importances = population_mda(dist, max_features=K, criterion=criterion, loss="zero-one")
    np.testing.assert_allclose(importances.values, [2 / 3, 1 / 2, 2 / 3], rtol=0, atol=1e-15)
    assert importances.metadata["loss"] == 0


# --- known answers -------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("votes", ["tree", "ensemble", "predictor"])
def test_xor_and_a_copy(votes):
    assert population_mda(dm.theory.examples.xor(), votes=votes).values.tolist() == [0.5, 0.5]
    dist = dm.theory.specify({"X1": uniform(3), "X2": uniform(2), "Y": copy("X1")})
    importances = population_mda(dist, votes=votes)
    np.testing.assert_allclose(importances.values, [2 / 3, 0], rtol=0, atol=1e-15)
    assert importances.metadata["loss"] == 0
    assert (importances.measure, importances.unit) == ("population mda", "accuracy")


def test_redundant_copies_divide_importance_in_trees_and_tie_in_the_vote():
    """Each tree reads one of c copies; (c - 1)/c of them, and more, still vote for the class."""
    for copies in (2, 3):
        features = {"X1": uniform(2), **{f"X{i}": copy("X1") for i in range(2, copies + 1)}}
        dist = dm.theory.specify({**features, "Y": copy("X1")})
        trees = population_mda(dist)
        np.testing.assert_allclose(trees.values, 0.5 / copies, rtol=0, atol=1e-15)
        whole = population_mda(dist, votes="predictor")
        expected = 0.25 if copies == 2 else 0.0  # a tie of two; a majority of two to one
        np.testing.assert_allclose(whole.values, expected, rtol=0, atol=1e-15)
        # Where each tree draws for itself, half of those that read the feature are right.
        assert population_mda(dist, votes="ensemble").values.max() == 0


def test_permuted_within_a_copy_a_feature_loses_nothing():
    dist = dm.theory.specify(
        {"X1": uniform(2), "X2": copy("X1"), "X3": uniform(2), "Y": xor("X1", "X3")}
    )
    importances = population_mda(dist, given="associated")
    np.testing.assert_allclose(importances.values, [0, 0, 0.5], rtol=0, atol=1e-15)
    named = population_mda(dist, given={"X1": ["X2"]})
    assert named["X1"] == 0
    assert named["X2"] == population_mda(dist)["X2"]
    assert named.metadata["population"]["given"] == {"X1": ["X2"]}


def test_the_squared_loss_of_an_additive_target_is_twice_the_variance():
    """Independent features, a full tree predicts Y: 2 Var f_j (Gregorutti et al. 2015)."""
    terms = np.array([1.0, 2.0, 0.5])
    X = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    dist = FiniteDistribution.from_table(X, X @ terms)
    for K in (1, 2, 3):
        actual = population_mda(dist, loss="squared", criterion="variance", max_features=K)
        expected = additive_mda(terms**2 / 4).values
        np.testing.assert_allclose(actual.values, expected, rtol=0, atol=1e-12)


def test_one_class_and_no_features():
    single = FiniteDistribution.from_table([[0, 1], [1, 1]], [3, 3])
    assert population_mda(single).values.tolist() == [0, 0]
    none = FiniteDistribution.from_table(np.zeros((2, 0)), [0, 1])
    assert population_mda(none).values.shape == (0,)
    assert population_mda(none, max_features=None).metadata["loss"] == 0.5


# --- forests -------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("K, depth", [(1, None), (2, None), (None, None), (1, 2), (3, 3)])
def test_forests_converge(K, depth):
    random = np.random.default_rng(1)
    X, y = random.integers(0, 3, (14, 4)), random.integers(0, 3, 14)
    trees = {"max_features": K, "max_depth": depth}
    forest = dm.ExtraTreesClassifier(
        300,
        criterion="entropy",
        splits="multiway",
        count_constant_features=True,
        random_state=0,
        **trees,
    ).fit(dm.encode(X, kinds="nominal"), y)
    grown = dm.importances.mda(forest, dm.encode(X, kinds="nominal"), y, rows=None, n_repeats="all")
    exact = population_mda(FiniteDistribution.from_table(X, y), **trees)
    error = np.maximum(grown.standard_error, 1e-9)
    assert (np.abs(grown.values - exact.values) / error).max() < 4


def test_regression_forests_converge():
    random = np.random.default_rng(2)
    X, y = random.integers(0, 3, (40, 4)), random.normal(size=40).round(1)
    dist = FiniteDistribution.from_table(X, y)
    grown = dm.ExtraTreesRegressor(500, max_features=2, splits="multiway", random_state=0)
    grown.fit(dm.encode(X, kinds="nominal"), y)
    table = dm.encode(X, kinds="nominal")
    importances = dm.importances.mda(grown, table, y, rows=None, n_repeats="all")
    exact = population_mda(dist, max_features=2, criterion="variance")
    assert exact.unit == importances.unit
    assert np.all(np.abs(importances.values - exact.values) < 4 * importances.standard_error)


def test_the_vote_of_a_large_forest_is_the_ensemble():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 2, (20, 5)), random.integers(0, 2, 20)
    dist = FiniteDistribution.from_table(X, y)
    forest = dm.TotallyRandomizedTreesClassifier(2001, random_state=0)
    table = dm.encode(X, kinds="nominal")
    forest.fit(table, y)
    importances = dm.importances.mda(
        forest, table, y, rows=None, votes="ensemble", n_repeats=10, random_state=0
    )
    exact = population_mda(dist, votes="ensemble")
    np.testing.assert_allclose(importances.values, exact.values, rtol=0, atol=1e-9)


# --- errors --------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "chosen, message",
    [
        ({"given": 3}, "given must be one of 'associated', got 3"),
        ({"given": {"X1": ["X1"]}}, "cannot be permuted given itself"),
        ({"given": {"X9": []}}, "there is no feature 'X9'"),
    ],
)
def test_wrong_input_is_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        population_mda(dm.theory.examples.xor(), **chosen)


def test_what_is_no_distribution_of_numbers():
    words = FiniteDistribution.from_table([[0], [1]], ["a", "b"])
    with pytest.raises(ValueError, match="numeric"):
        population_mda(words, loss="squared")
    with pytest.raises(TypeError, match="FiniteDistribution"):
        population_mda([[0, 1]])
