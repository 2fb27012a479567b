"""Conditional randomization with a known distribution: uniform p-values, whatever the sample."""

import numpy as np
import pytest
from scipy import stats

from duramen.significance.conditional_tests.inference import randomization_p_value

N_ROWS = 60


class Normal:
    """Autoregressive normal columns."""

    def __init__(self, random):
        covariance = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
        precision = np.linalg.inv(covariance)
        self.own = precision.diagonal()
        self.table = random.normal(size=(N_ROWS, 4)) @ np.linalg.cholesky(covariance).T
        self.means = self.table - self.table @ precision / self.own  # given the other columns

    def sample(self, j, random):
        return self.means[:, [j]] + random.normal(size=(N_ROWS, 1)) / np.sqrt(self.own[j])

    def own_values(self, j):
        return self.table[:, [j]]

    def signal(self):
        return self.table[:, 0]


class Mixed:
    """Three levels, and a number and a flag that depend on them."""

    def __init__(self, random):
        self.level = random.integers(0, 3, N_ROWS)
        self.number = self.level + random.normal(size=N_ROWS)
        self.flag = random.random(N_ROWS) < 0.2 + 0.3 * self.level
        levels = np.arange(3)
        flags = np.where(self.flag[:, None], 0.2 + 0.3 * levels, 0.8 - 0.3 * levels)
        ends = np.cumsum(np.exp(-((self.number[:, None] - levels) ** 2) / 2) * flags, axis=1)
        self.ends = ends[:, :-1] / ends[:, -1:]  # given the number and the flag

    def own_values(self, j):
        return np.eye(3)[self.level]

    def sample(self, j, random):
        return np.eye(3)[(random.random((N_ROWS, 1)) > self.ends).sum(axis=1)]

    def signal(self):
        return self.number


def rest_of(distribution, random):
    """A target that depends on the other features, after a prediction that is poor."""
    signal = distribution.signal()
    return (np.sin(2 * signal) + random.standard_t(3, size=N_ROWS))[:, None]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "feature", "data_sets"), [(Normal, 1, 500), (Mixed, 0, 250)])
def test_p_values_are_uniform(kind, feature, data_sets):
    random = np.random.default_rng(34)
    p_values = []
    for seed in range(data_sets):
        distribution = kind(random)

        def drawn(size, batch, distribution=distribution, seed=seed):
            again = np.random.default_rng([seed, batch])
            return np.stack([distribution.sample(feature, again) for _ in range(size)])

        rest, own = rest_of(distribution, random), distribution.own_values(feature)
        p_values.append(randomization_p_value(rest, own, drawn, 199))
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_draws_end_when_enough_of_them_reach_the_data():
    random = np.random.default_rng(0)
    rest, own = random.normal(size=(50, 1)), random.normal(size=(50, 1))
    sizes = []

    def drawn(size, batch):
        sizes.append(size)
        return np.random.default_rng([batch, 1]).normal(size=(size, 50, 1))

    p_value = randomization_p_value(rest, 0.01 * own, drawn, 100_000)
    assert p_value > 0.9
    assert sum(sizes) == 400  # 200 of them for the mean
    assert randomization_p_value(rest, 10 * rest, drawn, 999) == 1 / 1000
