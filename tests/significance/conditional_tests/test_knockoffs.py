"""Knockoffs: their distribution, the statistics, thresholds and e-values, and the error rate."""

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.significance import knockoffs
from duramen.significance.conditional_tests.cross_fitted import Design
from duramen.significance.conditional_tests.knockoffs import (
    EstimatedKnockoffs,
    SecondOrder,
    adjusted,
    checked_rows,
    e_values,
    importances_beside,
    ledoit_wolf,
    threshold,
)
from duramen.significance.conditional_tests.nodewise import Scores

FOREST = dm.RandomForestRegressor(30, max_features=1 / 3)


def doubled(n=300, k=12, seed=0):
    """The first k features are direct, the next k only stand in for them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2 * k))
    X[:, k:] += X[:, :k]
    return X, X[:, :k] @ random.choice([-1.0, 1.0], k) + random.normal(size=n)


def test_direct_features_are_selected_and_those_that_stand_in_are_not():
    result = knockoffs(FOREST, *doubled(), n_draws=4, random_state=0)
    assert set(result.selected(0.1)) == {f"x{j}" for j in range(12)}
    assert (result.scores[:12] > 0.1).all()
    assert result.details["selected"][:12].min() > 0.7
    assert "covariances" in result.notes[0]
    assert result.adjustment == "e-BH"


@pytest.mark.slow
def test_classes_by_a_forest_of_the_rest():
    X, y = doubled(500)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1.5, 1.5])]
    result = knockoffs(dm.RandomForestClassifier(30), X, labels, n_draws=2, random_state=0)
    assert result.scores[:12].min() > result.scores[12:].max()


def test_fewer_features_than_one_over_alpha_are_warned_of():
    X, y = doubled(60, 4)
    with pytest.warns(UserWarning, match="fewer than 1 / alpha = 10"):
        result = knockoffs(FOREST, X, y, n_draws=1, random_state=0)
    assert result.selected(0.1) == ()


def test_features_that_are_swapped_with_their_knockoffs_change_the_sign():
    """With ordered columns, so that forests and lasso see the same columns both times."""

    class InOrder:
        """Random numbers of a seed; permutations of columns exchange what is swapped."""

        def __init__(self, swapped):
            self.generator, self.swapped = np.random.default_rng(3), swapped

        def permutation(self, n):
            order = self.generator.permutation(n)
            if n != 2 * p:
                return order
            other = np.arange(n)
            other[self.swapped], other[self.swapped + p] = self.swapped + p, self.swapped
            return other[order]

        def integers(self, *arguments):
            return self.generator.integers(*arguments)

        def __getattr__(self, name):
            return getattr(self.generator, name)

    X, y = doubled(80, 3)
    n, p = X.shape
    donors = np.array([np.random.default_rng(j).permutation(n) for j in range(p)], dtype=np.uint32)
    copies = np.take_along_axis(X, donors.T.astype(int), axis=0)
    swapped = np.array([0, 4])
    other, back = X.copy(), donors.copy()
    for j in swapped:
        other[:, j] = copies[:, j]
        back[j] = np.argsort(copies[:, j])[np.argsort(np.argsort(X[:, j]))]  # the column itself
    W = []
    for table, rows, columns in ((X, donors, []), (other, back, swapped)):
        data, template = checked_rows(FOREST, table, y)
        design = Design.of(data.table, Scores.of(data.table))
        random = InOrder(np.array(columns, dtype=int))
        values = importances_beside(data, template, design, rows, random)
        W.append(values[:p] - values[p:])
    signs = np.where(np.isin(np.arange(p), swapped), -1.0, 1.0)
    np.testing.assert_allclose(W[1], signs * W[0], rtol=1e-6, atol=1e-9)
    assert (W[0] != 0).any()


def swap_distance(both):
    """Return the largest difference of the covariances of columns when one is swapped."""
    p = both.shape[1] // 2
    covariance = np.cov(both, rowvar=False)
    distances = []
    for j in range(p):
        order = np.arange(2 * p)
        order[[j, j + p]] = j + p, j
        distances.append(np.abs(covariance - covariance[np.ix_(order, order)]).max())
    return max(distances)


def test_second_order_knockoffs_have_covariances_that_can_be_swapped():
    random = np.random.default_rng(0)
    values = random.normal(size=(20_000, 5))
    values[:, 1:] += 0.9 * values[:, :-1]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    fitted = SecondOrder.of(values)
    noise = fitted.noise(random)
    assert swap_distance(np.hstack([values, fitted.mean + noise])) < 0.03
    np.testing.assert_allclose(noise.std(axis=0), fitted.noise_deviation, rtol=0.03)


def test_many_columns_have_the_same_knockoffs_without_matrices_of_all_pairs(monkeypatch):
    """Of equal conditional variances both ways agree."""
    random = np.random.default_rng(0)
    values = random.normal(size=(30, 40))
    values -= values.mean(axis=0)
    values /= values.std(axis=0)
    monkeypatch.setattr("duramen.significance.conditional_tests.knockoffs.MOST_DENSE", 10)
    low = SecondOrder.of(values)
    shrinkage = ledoit_wolf(values)
    covariance = (1 - shrinkage) * values.T @ values / 30 + shrinkage * np.eye(40)
    precision, s = np.linalg.inv(covariance), low.strength
    np.testing.assert_allclose(low.mean, values - s * values @ precision, atol=1e-9)
    variance = 2 * s - s**2 * precision.diagonal()
    np.testing.assert_allclose(low.noise_deviation, np.sqrt(variance), rtol=1e-9)
    trials = np.linspace(0.05, 1.95, 200) * np.linalg.eigvalsh(covariance)[0]
    costs = [40 / t + np.trace(np.linalg.inv(2 * covariance - t * np.eye(40))) for t in trials]
    assert s == pytest.approx(trials[np.argmin(costs)], rel=0.03)


def test_shrinkage_is_that_of_scikit_learn():
    from sklearn.covariance import ledoit_wolf_shrinkage

    for shape in ((40, 12), (20, 50)):
        values = np.random.default_rng(0).normal(size=shape) @ np.diag(np.linspace(1, 3, shape[1]))
        values -= values.mean(axis=0)
        expected = ledoit_wolf_shrinkage(values, assume_centered=True)
        assert ledoit_wolf(values) == pytest.approx(expected, rel=1e-9)


def test_knockoffs_of_columns_with_gaps_keep_correlations():
    random = np.random.default_rng(0)
    n, p = 2000, 6
    X = np.sqrt(0.5) * (random.normal(size=(n, 1)) + random.normal(size=(n, p)))
    X[random.random(X.shape) < 0.3] = np.nan
    donors = EstimatedKnockoffs.of(dm.encode(X), "auto").donors(random)
    both = pd.DataFrame(np.hstack([X, np.take_along_axis(X, donors.T.astype(np.intp), axis=0)]))
    correlations = both.corr().to_numpy()  # of the rows where both have values
    others = ~np.eye(p, dtype=bool)
    for part in (correlations[:p, p:], correlations[p:, p:]):
        assert part[others].mean() == pytest.approx(0.5, abs=0.03)
        assert np.abs(part - correlations[:p, :p])[others].max() < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "forest"])
def test_knockoffs_of_mixed_kinds_keep_what_columns_have_in_common(kind):
    random = np.random.default_rng(0)
    n = 3000
    common = random.normal(size=n)
    frame = pd.DataFrame({f"x{j}": common + random.normal(size=n) for j in range(3)})
    frame["flag"] = common + random.normal(size=n) > 0.4
    frame["grade"] = np.digitize(common + random.normal(size=n), [-1.0, 0.5, 1.5])
    frame["level"] = pd.cut(common + random.normal(size=n), 4, labels=list("abcd")).astype(str)
    frame["gap"] = np.where(random.random(n) < 0.3, np.nan, common + random.normal(size=n))
    frame["constant"] = 1.0
    table = dm.encode(frame)
    donors = EstimatedKnockoffs.of(table, kind).donors(random)
    numbers = frame.assign(level=frame["level"].map(dict(zip("abcd", range(4), strict=True))))
    numbers = numbers.drop(columns="constant").astype(float)
    drawn = pd.DataFrame(
        {name: numbers[name].to_numpy()[donors[j]] for j, name in enumerate(numbers)}
    )
    assert drawn["gap"].isna().mean() == pytest.approx(0.3, abs=0.04)
    own = numbers.corr().to_numpy()
    across = pd.concat([numbers, drawn.add_suffix(" drawn")], axis=1).corr().to_numpy()[:7, 7:]
    others = ~np.eye(7, dtype=bool)
    # Of columns that are drawn one after the other, gaps have a score of 0, and the level, whose
    # ridge regression may have the error of the forest, is predicted less.
    gap = np.zeros((7, 7), dtype=bool)
    gap[5:], gap[:, 5:] = True, True
    for of_drawn, tolerance in ((across, 0.08), (drawn.corr().to_numpy(), 0.12)):
        size = np.abs(of_drawn - own)
        assert size[others & ~gap].max() < tolerance
        assert size[others & gap].max() < 0.15
    for name in numbers:
        if numbers[name].nunique() < 10:
            frequencies = drawn[name].value_counts(normalize=True)
            far = np.abs(frequencies - numbers[name].value_counts(normalize=True)).max()
            assert far < 3.5 * np.sqrt(0.25 / n)  # standard errors of ten levels
    assert np.diag(across).max() < 0.8


def test_thresholds_and_e_values_by_definition():
    W = np.array([9, 8, 7, 6, 5, 4, 3.5, 3, 2.5, 2, 1.5, -1, 0.5, -0.4, 0, 0.0])

    def by_definition(alpha):
        for t in np.unique(np.abs(W[W != 0])):
            if (1 + (-t >= W).sum()) / max((t <= W).sum(), 1) <= alpha:
                return t
        return np.inf

    for alpha in (0.05, 0.1, 0.2, 0.5):
        assert threshold(W, alpha) == by_definition(alpha)
    assert threshold(W, 0.1, single=False) == 1.5  # 11 features and no knockoff: enough for .1
    np.testing.assert_array_equal(e_values(W, 0.1), np.where(W >= 1.5, 16.0, 0.0))
    q_values = adjusted(np.array([4.0, 0.0, 2.0, 2.0]))
    np.testing.assert_allclose(q_values, [4 / (3 * 2), 1.0, 4 / (3 * 2), 4 / (3 * 2)])
    assert threshold(np.zeros(3), 0.1) == np.inf


def test_one_draw_selects_as_knockoff_plus():
    random = np.random.default_rng(0)
    for _ in range(50):
        W = random.normal(size=40) + np.r_[np.full(20, 2.0), np.zeros(20)]
        for alpha in (0.1, 0.3):
            chosen = adjusted(e_values(W, alpha)) <= alpha
            np.testing.assert_array_equal(chosen, threshold(W, alpha) <= W)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="sampler must be"):
        knockoffs(FOREST, *doubled(40), sampler="magic")
    with pytest.raises(ValueError, match="bootstrap of estimator"):
        knockoffs(dm.ExtraTreesRegressor(5), *doubled(40))


def flips(n, p, random):
    """Rows of a binary chain that flips with probability .25."""
    return np.cumsum(random.random((n, p)) < 0.25, axis=1) % 2


@pytest.mark.slow
def test_false_discovery_rate_of_flags():
    """30 data sets: mean fraction of false ones at most .1, and 2.6 standard errors; power."""
    false, power = [], []
    for seed in range(30):
        random = np.random.default_rng([seed, 34])
        X = flips(300, 40, random)
        direct = np.zeros(40, dtype=bool)
        direct[random.choice(40, 15, replace=False)] = True
        y = X[:, direct] @ random.choice([-1.0, 1.0], 15) + random.normal(size=300)
        result = knockoffs(FOREST, X, y, alpha=0.1, n_draws=1, random_state=seed, n_jobs=1)
        chosen = result.mask(0.1)
        false.append((chosen & ~direct).sum() / max(chosen.sum(), 1))
        power.append(chosen[direct].mean())
    assert np.mean(false) < 0.1 + 2.6 * np.std(false) / np.sqrt(30)
    assert np.mean(power) > 0.5
