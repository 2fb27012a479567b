import time

import numpy as np
import pytest

import duramen as dm
from duramen.significance import estimate_cost


@pytest.mark.parametrize("n_jobs, least", [(None, 5.0), (4, 1.25)])
def test_it_is_the_time_of_a_forest_times_their_number(n_jobs, least):
    def slow(forest, X, y):
        time.sleep(0.05)
        return np.zeros(6)

    X, forest = np.random.default_rng(0).normal(size=(50, 6)), dm.RandomForestClassifier(2)
    cost = estimate_cost(forest, X, X[:, 0] > 0, 100, measure=slow, n_jobs=n_jobs)
    assert least <= cost.seconds < 40 * least  # a busy machine takes longer
    assert (cost.n_forests, cost.n_threads) == (100, n_jobs or 1)


@pytest.mark.parametrize("permuted", [False, True])
def test_forests_are_timed_on_such_rows_and_targets_as_they_will_be_grown_on(permuted):
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, 30)) + 3 * y[:, None]
    grown = []

    def measure(forest, X, y):
        grown.append((X.n_rows, len(forest.forest_.feature)))
        return np.zeros(30)

    options = {"measure": measure, "permuted": permuted}
    estimate_cost(dm.RandomForestClassifier(5), X, y, 10, **options)
    # A split or two tell the classes apart.
    assert (min(nodes for _, nodes in grown) > 100) == permuted
    grown.clear()
    estimate_cost(dm.RandomForestClassifier(5), X, y, 10, fraction=0.5, **options)
    assert {rows for rows, _ in grown} == {100}
