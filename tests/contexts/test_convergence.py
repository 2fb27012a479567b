"""Many trees against the exact values of the sample: batches give the standard error."""

import itertools

import numpy as np
import pytest
from tests.contexts.trees import random_trees
from tests.grid import one_test

import duramen as dm
from duramen.theory import (
    FiniteDistribution,
    population_context_importances,
    population_importances,
)

EFFECTS = ("importances", "absolute", "signed", "conditional", "overall", "within", "plain")
BATCHES = 30


def sample(seed, n=50):
    """Rows of dependent columns, of which the context decides what they say."""
    random = np.random.default_rng(seed)
    context = random.integers(0, 2 + seed % 2, n)
    first = random.integers(0, 3, n)
    second = np.where(random.random(n) < 0.3, random.integers(0, 3, n), first)
    third = random.integers(0, 2, n)
    y = np.where(context == 0, first, second * third) + (random.random(n) < 0.2)
    return np.column_stack([first, second, third]), y, context


def factorial(seed):
    """Every combination of columns and context twice: no column is constant before it is used."""
    random = np.random.default_rng(seed)
    rows = np.array(list(itertools.product((0, 1), (0, 1, 2), (0, 1), (0, 1, 2), (0, 1))))
    X, context = rows[:, :3], rows[:, 3]
    return X, X[:, 0] * (context == 1) + X[:, 1] * X[:, 2] + random.integers(0, 2, len(X)), context


def batches(X, y, context, n_estimators=60, empty="skip", **trees):
    kind = dm.TotallyRandomizedTreesClassifier
    if trees.get("criterion") == "variance":
        kind = dm.TotallyRandomizedTreesRegressor
    results = [
        dm.contexts.context_importances(
            np.asarray(X).astype(str),
            y,
            context,
            estimator=kind(n_estimators, **trees),
            n_permutations=0,
            empty=empty,
            random_state=seed,
        )
        for seed in range(BATCHES)
    ]
    return {
        what: np.array([getattr(result, what) for result in results])
        for what in (*EFFECTS, "relevance")
    }


def assert_near(drawn, exact, what):
    """Within 4 standard errors over the batches; what is the same in all trees, to rounding."""
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    gap = np.abs(drawn.mean(axis=0) - exact)
    assert (gap <= 4 * error + 1e-9).all(), (what, gap / (error + 1e-12))


def exact_relevance(X, y, context, **options):
    """Importance of the context as one column more."""
    table = FiniteDistribution.from_table(np.column_stack([X, context]), y)
    return population_importances(table, **options).values[-1]


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("empty", ["skip", "zero"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_values_tend_to_those_of_the_sample(seed, empty):
    X, y, context = sample(seed)
    drawn = batches(X, y, context, empty=empty)
    exact = population_context_importances(
        FiniteDistribution.from_table(X, y, context=context), empty=empty
    )
    for what in EFFECTS:
        assert_near(drawn[what], getattr(exact, what), what)
    assert_near(drawn["relevance"], exact_relevance(X, y, context), "relevance")
    assert exact.absolute.min() > 0.005


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_limited_depth(depth, constant):
    """A constant column takes no level of a tree: values are those without it."""
    X, y, context = factorial(0)
    exact = population_context_importances(
        FiniteDistribution.from_table(X, y, context=context), max_depth=depth
    )
    options = np.column_stack([X, np.ones(len(X), dtype=int)]) if constant else X
    drawn = batches(options, y, context, max_depth=depth)
    for what in EFFECTS:
        assert_near(drawn[what][..., :3], getattr(exact, what), what)
        assert np.abs(drawn[what][..., 3:]).max(initial=0) == 0
    relevance = exact_relevance(X, y, context, max_depth=depth)
    assert_near(drawn["relevance"], relevance, "relevance")


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_a_column_of_one_value(criterion):
    """It has no effect, and changes none: not even the importance of the context."""
    X, y, context = sample(5)
    drawn = batches(
        np.column_stack([X, np.zeros(len(X), dtype=int)]), y, context, criterion=criterion
    )
    exact = population_context_importances(
        FiniteDistribution.from_table(X, y, context=context), criterion=criterion
    )
    for what in EFFECTS:
        assert_near(drawn[what][..., :3], getattr(exact, what), what)
        assert (drawn[what][..., 3] == 0).all()
    relevance = exact_relevance(X, y, context, criterion=criterion)
    assert_near(drawn["relevance"], relevance, "relevance")


def test_a_context_that_is_a_copy_of_a_column():
    """In each of its values nothing is left of the column: every difference is its importance."""
    X, y, _ = sample(7)
    settings = {"estimator": random_trees(50), "n_permutations": 0, "random_state": 0}
    result, zero = (
        dm.contexts.context_importances(X.astype(str), y, X[:, 2], empty=empty, **settings)
        for empty in ("skip", "zero")
    )
    assert result.kind[:, 2].tolist() == ["irrelevant", "irrelevant"]
    assert (result.conditional[:, 2] == 0).all()
    np.testing.assert_allclose(zero.signed[:, 2], [zero.importances[2]] * 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(zero.absolute[:, 2], [zero.importances[2]] * 2, rtol=0, atol=1e-12)


def test_relations_between_the_effects():
    """Whatever the trees: |signed| <= absolute, and with "zero" signed is what is lost."""
    X, y, context = sample(8)
    for options in ({}, {"max_features": None}, {"splits": "ordered"}, {"min_samples_leaf": 4}):
        trees = dm.ExtraTreesClassifier(
            20, **{"criterion": "entropy", "splits": "multiway", "max_features": 1, **options}
        )
        settings = {"estimator": trees, "n_permutations": 0, "random_state": 0}
        skip, zero = (
            dm.contexts.context_importances(X.astype(str), y, context, empty=empty, **settings)
            for empty in ("skip", "zero")
        )
        for result in (skip, zero):
            assert (np.abs(result.signed) <= result.absolute + 1e-12).all()
            assert (result.conditional >= -1e-12).all()
        lost = zero.importances - zero.conditional
        np.testing.assert_allclose(zero.signed, lost, rtol=0, atol=1e-12)
        assert (zero.absolute >= skip.absolute - 1e-12).all()
        np.testing.assert_array_equal(zero.overall, skip.overall)
        np.testing.assert_array_equal(zero.conditional, skip.conditional)
        assert zero.relevance == skip.relevance
