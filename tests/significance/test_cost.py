import time

import numpy as np
import pytest

import duramen as dm
from duramen.significance import estimate_cost


def problem():
    random = np.random.default_rng(0)
    return random.normal(size=(50, 6)), random.integers(0, 2, 50)


def slow(forest, X, y):
    time.sleep(0.05)
    return np.zeros(6)


@pytest.mark.parametrize("n_jobs, least", [(None, 5.0), (4, 1.25)])
def test_it_is_the_time_of_a_forest_times_their_number(n_jobs, least):
    forest = dm.RandomForestClassifier(2)
    cost = estimate_cost(forest, *problem(), 100, measure=slow, n_jobs=n_jobs)
    assert least <= cost.seconds < 40 * least  # a busy machine takes longer
    assert (cost.n_forests, cost.n_threads) == (100, n_jobs or 1)


@pytest.mark.parametrize("permuted, deep", [(False, False), (True, True)])
def test_forests_on_permuted_targets_are_timed_where_they_will_be_grown(permuted, deep):
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = random.normal(size=(200, 30)) + 3 * y[:, None]  # a split or two tell the classes apart
    nodes = []

    def measure(forest, X, y):
        nodes.append(len(forest.forest_.feature))
        return np.zeros(30)

    estimate_cost(dm.RandomForestClassifier(5), X, y, 10, measure=measure, permuted=permuted)
    assert (min(nodes) > 100) == deep


def test_forests_on_a_fraction_of_the_rows_are_timed_on_as_many():
    rows = []

    def measure(forest, X, y):
        rows.append(X.n_rows)
        return np.zeros(6)

    estimate_cost(dm.RandomForestClassifier(2), *problem(), 10, measure=measure, fraction=0.5)
    assert set(rows) == {25}
