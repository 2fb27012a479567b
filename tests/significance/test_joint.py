"""Joint linear statistics against least squares and their definition."""

import numpy as np
import pytest
from scipy import stats
from tests.estimators.test_survival import outcome
from tests.oracles import joint as oracle
from tests.oracles.joint import cut_of
from tests.oracles.marginal import class_scores, from_normal_score, residuals

import duramen as dm
from duramen.significance import association
from duramen.significance.association import joint_statistics

N = 90
NOTHING = np.empty(0, dtype=int)


def statistics(X, y, kinds=None, orders=None, kept=NOTHING, **rows):
    orders = [np.arange(len(y))] if orders is None else orders
    data = dm.learning_set(X, y, kinds=kinds, **rows)
    return joint_statistics(data, lambda b: orders[b], len(orders))(kept)


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.fixture
def unpenalized(monkeypatch):
    monkeypatch.setattr(association, "_PENALTIES", np.array([1e-7]))


def of_least_squares(scores, freedom):
    """The F statistic of least squares, of one column and one score, from the normal score."""
    ratio = from_normal_score(scores, 1)
    return ratio / (1 - ratio / freedom)


# --- against least squares -----------------------------------------------------------------------


def t_statistics(Z, y):
    """Squared t statistics of a least-squares fit with a constant."""
    design = np.column_stack([np.ones(len(y)), Z])
    b, rss, *_ = np.linalg.lstsq(design, y, rcond=None)
    variance = rss[0] / (len(y) - design.shape[1]) * np.linalg.inv(design.T @ design).diagonal()
    return b[1:] ** 2 / variance[1:]


def test_without_a_penalty_they_are_t_statistics(random, unpenalized):
    X = random.uniform(size=(N, 6)) @ random.normal(size=(6, 6))  # no value is cut
    y = X[:, 0] - X[:, 1] + random.standard_t(2, N)
    freedom = N - 7
    expected = t_statistics(X, oracle.scores_of_numbers(y)[:, 0])
    actual = of_least_squares(statistics(X, y)[0], freedom)
    np.testing.assert_allclose(actual, expected, rtol=1e-4)
    classes = np.where(y > 0.3, "a", "b")
    actual = of_least_squares(statistics(X, classes)[0], freedom)
    np.testing.assert_allclose(actual, t_statistics(X, y > 0.3), rtol=1e-4)


def test_categories_have_the_f_statistic_of_nested_models(random, unpenalized):
    x, level = random.uniform(size=(N, 1)), random.integers(0, 4, N)
    y = x[:, 0] + np.array([0.0, 0.3, -0.4, 0.2])[level] + 0.5 * random.normal(size=N)
    h = oracle.scores_of_numbers(y)[:, 0]
    X = np.column_stack([x, level])
    ratio = from_normal_score(statistics(X, y, ["numeric", "nominal"])[0, 1], 3)
    small = np.column_stack([np.ones(N), x])
    large = np.column_stack([small, *(level == k for k in (1, 2, 3))])
    left = [np.linalg.lstsq(design, h, rcond=None)[1][0] for design in (small, large)]
    # The explained sum of squares over the variance of the smaller model, N - 5 in its degrees.
    assert ratio == pytest.approx((left[0] - left[1]) / (left[0] / (N - 5)), rel=1e-4)


# --- against their definition --------------------------------------------------------------------


def columns(random):
    """One column of each kind, with ties, with missing values, and some that do not vary."""
    numbers = random.standard_t(2, N).round(1)
    levels, bits = random.integers(0, 4, N).astype(float), random.integers(0, 2, N) * 1.0
    holes = random.random(N) < 0.2
    all_but = np.where(holes, np.nan, 1.0)
    X = [numbers, numbers + 0.5 * random.normal(size=N), levels, bits, levels[::-1]]
    X += [np.where(holes[::-1], np.nan, numbers[::-1]), np.where(holes, np.nan, bits[::-1])]
    X += [all_but, np.ones(N)]
    kinds = ["numeric", "numeric", "nominal", "nominal", "ordinal", "numeric", "nominal"]
    return np.stack(X, axis=1), [*kinds, "nominal", "numeric"]


def targets(X, random):
    time, event = random.exponential(np.exp(X[:, 0] / 4)).round(2), random.random(N) < 0.7
    numbers = (np.clip(X[:, 0], -2, 2) + X[:, 3] + random.normal(size=N)).round(1)
    classes = np.where(numbers > 0.4, "b", "a")
    counts = random.poisson(np.exp(X[:, 3])) * np.where(random.random(N) < 0.05, 40.0, 1.0)
    return {
        "numbers": (numbers, oracle.scores_of_numbers(numbers)),
        "counts": (counts, cut_of(counts)[:, None]),
        "classes": (classes, class_scores(classes)),
        "survival": (outcome(time, event), residuals(time, event)),
    }


def by_definition(X, kinds, h, strata=None):
    of_each = [
        oracle.columns_of(x, kind, strata) for x, kind in zip(X.T.tolist(), kinds, strict=True)
    ]
    return oracle.statistics(of_each, oracle.spanning(h, strata), N - 1)


@pytest.mark.parametrize("task", ["numbers", "counts", "classes", "survival"])
def test_all_kinds_under_permutations_are_those_of_the_definition(random, task):
    X, kinds = columns(random)
    y, h = targets(X, random)[task]
    orders = [np.arange(N), *(random.permutation(N) for _ in range(3))]
    actual = statistics(X, y, kinds, orders)
    expected = [by_definition(X, kinds, h[order]) for order in orders]
    np.testing.assert_allclose(actual, expected, atol=1e-4)
    assert not actual[:, -1].any()


def test_weights_go_with_the_target(random):
    X, kinds = columns(random)
    y, h = targets(X, random)["numbers"]
    weights = random.exponential(size=N)
    influence = weights[:, None] * (h - np.average(h, axis=0, weights=weights))
    order = random.permutation(N)
    result = statistics(X, y, kinds, [order], sample_weight=weights)
    np.testing.assert_allclose(result[0], by_definition(X, kinds, influence[order]), atol=1e-4)


def test_strata_compare_rows_within_them(random):
    X, y = random.normal(size=(N, 4)), random.normal(size=N)
    strata = np.arange(N) % 3
    X[:, 2], X[:, 3] = 1.0, strata  # do not vary within them
    result = statistics(X, y + 5 * strata, strata=strata)
    alone = [oracle.columns_of(x, "numeric", strata) for x in X.T[:2].tolist()]
    h = oracle.spanning(oracle.scores_of_numbers(y + 5 * strata), strata)
    expected = oracle.statistics([*alone, None, None], h, N - 3)
    np.testing.assert_allclose(result[0], expected, atol=1e-4)


def test_kept_features_are_permuted_with_the_target(random):
    X = random.normal(size=(N, 5))
    y = 3 * X[:, 0] + X[:, 1] + random.normal(size=N)
    order = random.permutation(N)
    result = statistics(X, y, orders=[order], kept=np.array([0]))
    h = oracle.spanning(oracle.scores_of_numbers(y))
    (own, *others) = (oracle.columns_of(x, "numeric") for x in X.T.tolist())
    rest = (h - own @ (own.T @ h) / N)[order]
    np.testing.assert_allclose(result[0], [0.0, *oracle.statistics(others, rest, N - 1)], atol=1e-4)


# --- edges ---------------------------------------------------------------------------------------


def test_copies_share_the_statistic_of_one(random):
    X = random.normal(size=(N, 4))
    y = X[:, 0] + random.normal(size=N)
    twice = statistics(np.column_stack([X, X[:, 0]]), y)[0]
    assert twice[0] == pytest.approx(twice[4], abs=1e-6)
    assert twice[0] > 2


def test_tables_with_too_few_rows_or_too_many_columns_have_none(random, monkeypatch):
    X, y = random.normal(size=(40, 20)), random.normal(size=40)

    def model(table, target, **rows):
        data = dm.learning_set(table, target, **rows)
        return joint_statistics(data, lambda b: np.arange(data.n_rows), 1)

    assert model(X[:, :19], y) is not None
    assert model(X, y) is None  # 39 rows are left for 20 columns
    assert model(X[:, :19], y, strata=np.arange(40) % 2) is not None
    assert model(X[:, :19], y, strata=np.arange(40) % 3) is None
    assert model(X[:, :10], y, groups=np.arange(40) // 2) is None
    assert model(X[:, :9], y, groups=np.arange(40) // 2) is not None
    assert model(np.ones((40, 3)), y) is None  # nothing varies
    assert model(X[:, :3], np.digitize(y, [-0.5, 0.5]).astype(str)) is None  # three classes
    monkeypatch.setattr(association, "_MOST_COLUMNS", 5)
    assert model(X[:, :6], y) is None


def test_targets_that_do_not_vary_or_are_fixed_have_finite_statistics(random):
    X = random.normal(size=(N, 5))
    assert not statistics(X, np.full(N, 3.5)).any()
    fixed = statistics(X, X[:, 0], kept=np.array([0]))
    assert np.isfinite(fixed).all()
    bit = (X[:, 0] > 0).astype(float)
    orders = [np.arange(N), random.permutation(N)]
    result = statistics(np.column_stack([bit, X[:, 1:]]), np.where(bit > 0, "a", "b"), None, orders)
    assert np.isfinite(result).all()
    assert result[0].argmax() == 0
    assert abs(result[0, 1:]).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("columns_per_row", [0.1, 0.49])
def test_noise_beside_strong_features_is_no_larger_than_under_permuted_targets(columns_per_row):
    """The largest statistic of noise exceeds the 95 % quantile of its permutations in .05."""
    n, exceeds = 100, []
    p = int(columns_per_row * n)
    for seed in range(300):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, p))
        y = X[:, :4].sum(axis=1) + 0.7 * np.exp(0.5 * X[:, 0]) * random.standard_t(4, n)
        orders = [np.arange(n), *(random.permutation(n) for _ in range(39))]
        largest = statistics(X, y, orders=orders)[:, 4:].max(axis=1)
        exceeds.append((largest >= largest[0]).sum() <= 2)
    assert sum(exceeds) <= stats.binom.ppf(0.999, 300, 0.05)
