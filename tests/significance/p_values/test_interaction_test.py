"""Test of pairs for interactions: against loops over rows, on planted pairs, and under the null."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom
from tests.estimators.test_survival import outcome

import duramen as dm
from duramen.importances import PairInteractions
from duramen.significance import interaction_test
from duramen.significance.p_values.additive_model import Indicators, residuals


def problem(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, 4] = np.round(X[:, 4])
    X[:, 5] = 1.0  # constant
    number = X[:, 0] + 2.0 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.5 * random.normal(size=n)
    return X, number


def by_rows(data, outcomes, n_cuts):
    """Statistics of all pairs, by loops over cuts and quadrants."""
    table, p = data.table, data.n_columns
    indicators = Indicators.of(table, np.arange(p), n_cuts)
    columns = indicators.columns()
    values = np.zeros((p, p))
    for y in outcomes:
        left = residuals(table, y, indicators)
        for a, b in combinations(range(len(columns)), 2):
            m, j = columns[a], columns[b]
            first, second = indicators.values[:, a], indicators.values[:, b]
            cells = [(first == u) & (second == v) for u in (True, False) for v in (True, False)]
            if m == j or min(cell.sum() for cell in cells) < 5:
                continue
            means = [left[cell].mean() for cell in cells]
            variance = sum((left[cell] ** 2).sum() / cell.sum() ** 2 for cell in cells)
            z = (means[0] - means[1] - means[2] + means[3]) / np.sqrt(variance)
            if abs(z) > abs(values[m, j]):
                values[m, j] = values[j, m] = z
    return values


def test_statistics_are_those_of_quadrants():
    X, number = problem()
    for y in (number, np.digitize(number, [0.0]), np.digitize(number, [-0.5, 0.5])):
        data = dm.learning_set(X, y)
        outcomes = [y.astype(float)]
        if y is not number:
            outcomes = [(y == label).astype(float) for label in np.unique(y)]
            outcomes = outcomes[1:] if len(outcomes) == 2 else outcomes
        pairs = interaction_test(data, n_cuts=2, n_resamples=0)
        np.testing.assert_allclose(
            pairs.values.toarray(), by_rows(data, outcomes, 2), rtol=1e-4, atol=1e-4
        )
        assert pairs.p_adjusted is None


def test_p_values_compare_with_the_largest_of_all_pairs():
    X, number = problem()
    data = dm.learning_set(X, number)
    pairs = interaction_test(data, n_cuts=1, n_resamples=19, random_state=3)
    indicators = Indicators.of(data.table, np.arange(6), 1)
    left = residuals(data.table, number, indicators)
    seed = pairs.metadata["seed"]
    signs = np.random.default_rng(seed).integers(0, 2, (19, 200)) * 2 - 1
    largest = []
    for row in signs:
        most = 0.0
        for a, b in combinations(range(5), 2):
            first, second = indicators.values[:, a], indicators.values[:, b]
            cells = [(first == u) & (second == v) for u in (True, False) for v in (True, False)]
            means = [(row * left)[cell].mean() for cell in cells]
            variance = sum((left[cell] ** 2).sum() / cell.sum() ** 2 for cell in cells)
            most = max(most, abs(means[0] - means[1] - means[2] + means[3]) / np.sqrt(variance))
        largest.append(most)
    for m, j in zip(*np.triu_indices(5, 1), strict=True):
        expected = (1 + sum(most >= abs(pairs.values[m, j]) for most in largest)) / 20
        assert pairs.p_adjusted[m, j] == pytest.approx(expected)
    assert pairs.p_adjusted[1, 2] == 0.05


def test_planted_pairs_among_many_features():
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 150))
    effects = np.sign(X[:, 3] * X[:, 40]) + 2.0 * (X[:, 7] > 0) * (X[:, 90] > 0)
    effects += 2.0 * (X[:, 11] + X[:, 12])  # the strongest, and no interaction
    for y in (
        effects + 0.5 * random.normal(size=400),
        np.where(effects > np.median(effects), "a", "b"),
    ):
        pairs = interaction_test(X, y, n_pairs=10, n_resamples=39, n_cuts=1, random_state=0)
        frame = pairs.to_frame()
        declared = set(zip(*frame[frame["p_adjusted"] <= 0.05].iloc[:, :2].T.values, strict=True))
        assert ("x3", "x40") in declared
        assert ("x11", "x12") not in declared
        assert len(pairs) == 10


@pytest.mark.slow
def test_main_effects_alone_are_no_interaction():
    n_sets, n_declared = 80, 0
    for seed in range(n_sets):
        random = np.random.default_rng(seed)
        X = random.normal(size=(120, 6)) + 0.7 * random.normal(size=(120, 1))
        y = 2.0 * X[:, 0] + 2.0 * X[:, 1] + random.normal(size=120)
        pairs = interaction_test(X, y, n_cuts=1, n_resamples=19, random_state=seed)
        n_declared += pairs.to_frame()["p_adjusted"].min() <= 0.05
    assert n_declared <= binom.ppf(0.999, n_sets, 0.05)


def test_threads_blocks_and_checkpoints(tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 180)), random.normal(size=60)
    file = tmp_path / "pairs.ckpt"
    results = [
        interaction_test(X, y, n_resamples=3, random_state=1, n_jobs=n, checkpoint=path)
        for n, path in ((1, None), (3, None), (1, file), (1, file))
    ]
    for other in results[1:]:
        assert other.equals(results[0])
    results[0].save(tmp_path / "pairs.npz")
    assert PairInteractions.load(tmp_path / "pairs.npz").equals(results[0])
    assert "adj. p" in repr(results[0])


def test_the_additive_model_leaves_no_main_effect():
    X, number = problem(400)
    X = np.column_stack([X, np.random.default_rng(1).integers(0, 3, 400)])
    number = number + 3.0 * X[:, 0] + (X[:, 6] == 1)
    data = dm.learning_set(X, number, kinds={"x6": "nominal"})
    indicators = Indicators.of(data.table, np.arange(7), 3)
    for y in (number, (number > 0).astype(float)):
        left = residuals(data.table, y, indicators)
        assert abs(left.mean()) < 1e-3
        limit = np.sqrt(2.0 * np.log(indicators.values.shape[1])) + 1e-3
        for column in indicators.values.T:
            scaled = (column - column.mean()) / column.std()
            assert abs(scaled @ left) / np.sqrt((left**2).sum()) < limit
    assert np.abs(residuals(data.table, np.full(400, 2.0), indicators)).max() == 0.0


def test_tables_without_pairs():
    y = np.arange(20.0)
    for X in (np.ones((20, 3)), np.column_stack([y, np.ones(20)]), y[:, np.newaxis]):
        pairs = interaction_test(X, y, n_resamples=3)
        assert len(pairs) == 0


def test_rows_of_a_group_have_the_same_sign():
    """Groups of one row are rows; with two equal rows in each, p-values are larger than of rows."""
    X, number = problem(40)
    options = {"n_resamples": 19, "random_state": 0}
    alone = interaction_test(X, number, **options)
    single = interaction_test(dm.learning_set(X, number, groups=np.arange(40)), **options)
    assert (single.values != alone.values).nnz == (single.p_adjusted != alone.p_adjusted).nnz == 0
    twice, groups = np.tile(np.arange(40), 2), np.tile(np.arange(40), 2)
    data = dm.learning_set(X[twice], number[twice], groups=groups)
    as_rows = interaction_test(X[twice], number[twice], **options)
    grouped = interaction_test(data, **options)
    assert (grouped.values != as_rows.values).nnz == 0
    assert grouped.p_adjusted.sum() > as_rows.p_adjusted.sum()


def test_what_it_does_not_take():
    X, number = problem(40)
    event = outcome(np.exp(number), np.arange(40) % 3 > 0)
    for y, options, what in (
        (event, {}, "survival"),
        (number, {"sample_weight": np.arange(1.0, 41.0)}, "weights: the additive model"),
        (number, {"strata": np.arange(40) // 20}, "strata: .* Hint: make the strata a feature"),
        (number, {"groups": np.arange(40) // 4}, "10: each has one random sign"),
    ):
        data = dm.learning_set(X, y, **options)
        with pytest.raises(ValueError, match=f"interaction_test: takes .* got {what}"):
            interaction_test(data)
    with pytest.raises(ValueError, match="interaction_test: n_cuts must be"):
        interaction_test(X, number, n_cuts=0)
