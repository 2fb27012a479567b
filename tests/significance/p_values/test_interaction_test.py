"""Test of pairs for interactions: against loops over rows, on planted pairs, and under the null."""

from itertools import combinations

import numpy as np
import pytest
from benchmarks.error_rates.pair_nulls import data_set
from scipy.stats import binom, rankdata
from tests.estimators.test_survival import outcome

import duramen as dm
from duramen.data.additive_model import additive_model, indicators
from duramen.importances import PairInteractions
from duramen.significance import interaction_test


def problem(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, 4] = np.round(X[:, 4])
    X[:, 5] = 1.0  # constant
    number = X[:, 0] + 2.0 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.5 * random.normal(size=n)
    return X, number


def by_rows(data, n_cuts, errors=None):
    """Statistics of all pairs, by loops over cuts, quadrants and classes, and by regressions.

    In quadrant q the sum of residuals is divided by the sum W of weights, which are 1 for numbers
    and p (1 - p) for classes. The product of mid-ranks is regressed on both and their squares. With
    `errors`, they stand in the place of residuals.
    """
    table, p, n = data.table, data.n_columns, data.n_rows
    steps, columns = indicators(table, np.arange(p), n_cuts)
    model = additive_model(table, data.target, np.arange(p), n_cuts, np.arange(n))
    values, weights = np.zeros((p, p)), np.ones((1, n))
    residuals = model.residuals
    variances = residuals**2 / (1.0 - model.leverages())
    if data.target.codes is not None:
        means = model.means
        if len(means) > 1:
            residuals = np.vstack([residuals, -residuals.sum(axis=0)])
            means = np.vstack([means, 1.0 - means.sum(axis=0)])
        weights, variances = 4.0 * means * (1.0 - means), means * (1.0 - means)
    for r, w, v in zip(residuals if errors is None else errors, weights, variances, strict=True):
        for a, b in combinations(range(len(columns)), 2):
            m, j = columns[a], columns[b]
            first, second = steps[:, a], steps[:, b]
            cells = [(first == u) & (second == t) for u in (True, False) for t in (True, False)]
            sizes = [w[cell].sum() for cell in cells]
            if m == j or min(sizes) < 5:
                continue
            sums = [r[cell].sum() / size for cell, size in zip(cells, sizes, strict=True)]
            variance = sum(v[c].sum() / size**2 for c, size in zip(cells, sizes, strict=True))
            z = (sums[0] - sums[1] - sums[2] + sums[3]) / np.sqrt(variance)
            if abs(z) > abs(values[m, j]):
                values[m, j] = values[j, m] = z
        for m, j in combinations(range(p), 2):
            s, t = (rankdata(np.asarray(table.codes(c))) / n - 0.5 for c in (m, j))
            if max(np.bincount(table.codes(m)).max(), np.bincount(table.codes(j)).max()) > n / 2:
                continue
            functions = np.stack([np.ones(n), s, t, s**2, t**2], axis=1)
            root = np.sqrt(w)
            fit = np.linalg.lstsq(functions * root[:, None], s * t * root)[0]
            left = s * t - functions @ fit
            z = r @ left / np.sqrt(v @ left**2)
            if abs(z) > abs(values[m, j]):
                values[m, j] = values[j, m] = z
    return values


def test_statistics_are_those_of_quadrants_and_products():
    X, number = problem()
    for y in (number, np.digitize(number, [0.0]), np.digitize(number, [-0.5, 0.5])):
        data = dm.learning_set(X, y)
        pairs = interaction_test(data, n_cuts=2, n_resamples=0)
        np.testing.assert_allclose(pairs.values.toarray(), by_rows(data, 2), rtol=1e-3, atol=1e-3)
        assert pairs.p_adjusted is None


def test_p_values_compare_with_the_largest_of_all_pairs():
    X, number = problem()
    data = dm.learning_set(X, number)
    pairs = interaction_test(data, n_cuts=1, n_resamples=19, random_state=3)
    model = additive_model(data.table, data.target, np.arange(6), 1, np.arange(200))
    signs = np.random.default_rng(pairs.metadata["seed"]).integers(0, 2, (19, 1, 200)) * 2 - 1
    errors = signs * model.residuals / np.sqrt(1.0 - model.leverages())
    projection = model.terms @ model.inverse @ model.terms.T
    drawn = errors - errors @ projection
    largest = [np.abs(by_rows(data, 1, each)).max() for each in drawn]
    for m, j in zip(*np.triu_indices(5, 1), strict=True):
        expected = (1 + sum(most >= abs(pairs.values[m, j]) for most in largest)) / 20
        assert pairs.p_adjusted[m, j] == pytest.approx(expected)
    assert pairs.p_adjusted[1, 2] == 0.05


def test_planted_pairs_among_many_features():
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 150))
    effects = np.sign(X[:, 3] * X[:, 40]) + 2.0 * (X[:, 7] > 0) * (X[:, 90] > 0)
    effects += 2.0 * (X[:, 11] + X[:, 12])  # the strongest, and no interaction
    classes = np.where(effects > np.median(effects), "a", "b")
    for y in (effects + 0.5 * random.normal(size=400), classes):
        pairs = interaction_test(X, y, n_pairs=10, n_resamples=39, n_cuts=1, random_state=0)
        frame = pairs.to_frame()
        declared = set(zip(*frame[frame["p_adjusted"] <= 0.05].iloc[:, :2].T.values, strict=True))
        assert ("x3", "x40") in declared
        assert ("x11", "x12") not in declared
        assert len(pairs) == 10


SETTINGS = (
    "logit 2a + 2b - 2, n 400",
    "logit 3a + 3b - 3, n 400",
    "a^2 + noise, r .9, n 1500",
    "sin(2a) + |b| + noise, r .9, n 400",
    "class of each of 40 people, 5 rows each, noise",
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SETTINGS)
def test_main_effects_alone_are_no_interaction(kind):
    """At most the quantile of .999 of a binomial count of probability .05."""
    n_sets = 100
    n_declared = 0
    for seed in range(n_sets):
        pairs = interaction_test(data_set(kind, seed), n_resamples=19, random_state=seed, n_jobs=1)
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


def test_tables_without_pairs():
    y = np.arange(20.0)
    for X in (np.ones((20, 3)), np.column_stack([y, np.ones(20)]), y[:, np.newaxis]):
        pairs = interaction_test(X, y, n_resamples=3)
        assert len(pairs) == 0


def test_separated_classes_have_a_note():
    X, _ = problem(400)
    (note,) = interaction_test(X, X[:, 0] > 0, n_resamples=0).notes
    assert "main effects nearly separate the classes" in note
    assert not interaction_test(X, X[:, 0] * X[:, 1] > 0, n_resamples=0).notes
    assert not interaction_test(X, X[:, 0], n_resamples=0).notes


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
    assert grouped.p_adjusted.sum() > as_rows.p_adjusted.sum()


def test_what_it_does_not_take():
    X, number = problem(40)
    event = outcome(np.exp(number), np.arange(40) % 3 > 0)
    for y, options, what in (
        (event, {}, "survival"),
        (number, {"sample_weight": np.arange(1.0, 41.0)}, "weights. Hint: leave"),
        (number, {"strata": np.arange(40) // 20}, "strata. Hint: make them a feature"),
        (number, {"groups": np.arange(40) // 4}, "10 groups, with one random sign"),
    ):
        data = dm.learning_set(X, y, **options)
        with pytest.raises(ValueError, match=f"interaction_test: takes .* got {what}"):
            interaction_test(data)
