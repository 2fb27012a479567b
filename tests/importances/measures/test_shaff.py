"""SHAFF against projected trees, Shapley values over all sets, and closed forms."""

from itertools import product
from math import comb

import numpy as np
import pytest

import duramen as dm
from duramen.importances import shaff, sobol_mda


def shapley(worth, p):
    """Shapley values from the definition, of a worth of frozensets."""
    values = np.zeros(p)
    for bits in product((0, 1), repeat=p):
        chosen = frozenset(np.flatnonzero(bits).tolist())
        for j in set(range(p)) - chosen:
            weight = 1 / (p * comb(p - 1, len(chosen)))
            values[j] += weight * (worth(chosen | {j}) - worth(chosen))
    return values


def sample(n=120, p=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * random.normal(size=n)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_all_sets_give_the_shapley_values_of_what_projected_forests_explain(task):
    X, y = sample()
    y = np.digitize(y, [-0.5, 0.5]) if task == "classes" else y
    kind = dm.RandomForestClassifier if task == "classes" else dm.RandomForestRegressor
    forest = kind(20, min_samples_leaf=3, random_state=0).fit(X, y)
    result = shaff(forest, X, y)
    facts = result.metadata["shaff"]
    assert facts["exhaustive"]
    assert facts["n_subsets"] == 14

    def worth(chosen):
        ignored = sorted(set(range(4)) - chosen)
        if not chosen:
            return 0.0
        if not ignored:
            return facts["r_squared"]
        without = sobol_mda(forest, X, y, feature_groups={"rest": ignored})
        return facts["r_squared"] - without.values[0]

    np.testing.assert_allclose(result.values, shapley(worth, 4), atol=1e-9)
    assert np.isclose(result.values.sum(), facts["r_squared"])


def test_drawn_sets_agree_with_all_sets():
    X, y = sample(p=7)
    forest = dm.RandomForestRegressor(30, max_features=2, min_samples_leaf=5, random_state=0)
    forest.fit(X, y)
    exact = shaff(forest, X, y)
    drawn = [shaff(forest, X, y, n_subsets=60, random_state=seed) for seed in range(10)]
    values = np.array([result.values for result in drawn])
    assert not drawn[0].metadata["shaff"]["exhaustive"]
    np.testing.assert_allclose(values.sum(axis=1), exact.values.sum())
    spread = values.std(axis=0, ddof=1)
    assert spread.max() > 0  # sets were drawn
    assert np.all(np.abs(values.mean(axis=0) - exact.values) < 4 * spread / np.sqrt(10) + 0.005)
    # The variance of the draws is told apart from that over the rows.
    of_draws = np.array([result.standard_error**2 for result in drawn]).mean(axis=0)
    of_draws -= exact.standard_error**2
    ratio = np.sqrt(of_draws.clip(0).mean()) / np.sqrt((spread**2).mean())
    assert 0.4 < ratio < 2.5


def test_a_sum_of_pairs_is_exact_from_any_sets():
    # Sets and their complements together have no error where the worth has pairs at most.
    from duramen.importances.measures import shaff as module

    forest = dm.RandomForestRegressor(20, random_state=0).fit(*sample(p=10)).forest_
    pairs = np.triu(np.random.default_rng(1).normal(size=(10, 10)))

    class Worths:
        n_rows = 2
        of_all = np.full(2, pairs.sum())
        r_squared = pairs.sum()

        def at_a_time(self):
            return 50

        def of(self, members):
            return np.repeat([[m @ pairs @ m] for m in members.astype(float)], 2, axis=1)

    sets = module._sets(forest, [np.array([j]) for j in range(10)], 200, 0)
    values, errors = module._effects(sets, Worths())
    half = np.triu(pairs, 1) / 2
    np.testing.assert_allclose(values, np.diag(pairs) + half.sum(axis=0) + half.sum(axis=1))
    np.testing.assert_allclose(errors, 0, atol=1e-9)


def test_groups_columns_in_none_and_columns_in_no_split():
    X, y = sample()
    X = np.column_stack([X, np.ones(len(y))])
    forest = dm.RandomForestRegressor(20, min_samples_leaf=3, random_state=0).fit(X, y)
    result = shaff(forest, X, y, feature_groups={"pair": ["x0", "x1"]})
    assert result.names == ("pair", "x2", "x3", "x4")
    assert result["x4"] == 0.0
    assert np.isclose(result.values.sum(), result.metadata["shaff"]["r_squared"])
    assert shaff(forest, X, y).values[4] == 0.0


def test_threads_change_no_bit_and_two_copies_have_half_each():
    X, y = sample(p=9)
    X = np.column_stack([X[:, 0], X])
    forest = dm.RandomForestRegressor(40, max_features=1, min_samples_leaf=5, random_state=0)
    forest.fit(X, y)
    result = shaff(forest, X, y, n_subsets=100, n_jobs=1)
    assert result.equals(shaff(forest, X, y, n_subsets=100, n_jobs=2))


def test_no_split_leaves_nothing():
    _, y = sample(40)
    forest = dm.RandomForestRegressor(10, random_state=0).fit(np.ones((40, 2)), y)
    assert shaff(forest, np.ones((40, 2)), y).values.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_subsets": 1}, "n_subsets must be"),
        ({"n_subsets": 9}, "n_subsets must be at least 10"),
        (
            {"feature_groups": {"a": [0, 1], "b": [1]}},
            "must not overlap, but 'x1' is in 'a' and 'b'",
        ),
        ({"feature_groups": {"x5": [0, 1]}}, "must not be called like a column"),
    ],
)
def test_what_is_refused(arguments, message):
    X, y = sample(p=10)
    forest = dm.RandomForestRegressor(20, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        shaff(forest, X, y, **arguments)


@pytest.mark.slow
def test_the_gaussian_closed_form():
    covariance = 0.5 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    alpha = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    tau = covariance @ alpha
    variance = alpha @ tau + 0.3

    def worth(chosen):
        J = sorted(chosen)
        return tau[J] @ np.linalg.solve(covariance[np.ix_(J, J)], tau[J]) / variance

    random = np.random.default_rng(0)
    X = random.multivariate_normal(np.zeros(5), covariance, 3000)
    y = X @ alpha + np.sqrt(0.3) * random.normal(size=3000)
    forest = dm.RandomForestRegressor(80, max_features=2, min_samples_leaf=5, random_state=0)
    result = shaff(forest.fit(X, y), X, y)
    # .008; .009 to .015 with three other seeds
    assert np.abs(result.values - shapley(worth, 5)).max() < 0.03


@pytest.mark.slow
def test_forests_converge_to_the_exact_effects_of_a_finite_distribution():
    X = np.array(list(product(range(3), repeat=3)), dtype=float)
    y = X[:, 0] + 2.0 * X[:, 1] * X[:, 2]
    weights = np.exp(-((X[:, 1] - X[:, 2]) ** 2) / 3)
    dist = dm.theory.FiniteDistribution.from_table(X, y, weights=weights)
    exact = dm.theory.shapley_effects(dist, criterion="variance").values
    drawn = dist.sample(3000, 0)
    table = drawn.X.astype(float)
    forest = dm.RandomForestRegressor(100, max_features=1, random_state=0).fit(table, drawn.y)
    result = shaff(forest, table, drawn.y)
    assert np.abs(result.values - exact / dist.impurity(criterion="variance")).max() < 0.02
