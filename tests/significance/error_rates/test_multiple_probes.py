import numpy as np
import pandas as pd
import pytest
from tests.significance.noise import TINY, band, noise, scripted

import duramen as dm
from duramen.significance import multiple_probes

# --- the rates -----------------------------------------------------------------------------------


def test_fraction_of_the_runs_in_which_some_probe_is_as_good():
    X, y = noise(0, n=20, p=2)
    runs = [
        # two features, their probes
        [1, 5, 0, 0],
        [1, 5, 1, 0],  # a tie counts against the feature
        [1, 5, 0, 2],
        [1, 5, 6, 0],
    ]
    result = multiple_probes(TINY, X, y, measure=scripted(runs), n_permutations=4, add_one=False)
    assert result.names == ("x1", "x0")
    np.testing.assert_allclose(result.rates, [1 / 4, 3 / 4])
    np.testing.assert_allclose(result.scores, [3 / 4, 1 / 4])
    np.testing.assert_allclose(result.details["own_probe"], [0, 2 / 4])
    np.testing.assert_allclose(result.details["importance"], [5, 1])
    plus = multiple_probes(TINY, X, y, measure=scripted(runs), n_permutations=4)
    np.testing.assert_allclose(plus.rates, [2 / 5, 4 / 5])
    np.testing.assert_allclose(plus.details["own_probe"], [1 / 5, 3 / 5])


def test_probes_are_copies_of_all_columns_by_one_permutation():
    X = pd.DataFrame({"a": np.arange(30.0), "b": 100 + np.arange(30.0)})
    orders = []

    def look(forest, table, y):
        assert table.names == ("a", "b", "a (shadow)", "b (shadow)")
        first, second = (table.values(j)[table.codes(j)] for j in (2, 3))
        np.testing.assert_array_equal(first + 100, second)
        orders.append(tuple(first))
        return np.zeros(4)

    multiple_probes(TINY, X, np.arange(30) % 2, measure=look, n_permutations=10, random_state=0)
    assert len(set(orders)) == 10


# --- calibration ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_own_probe_is_fair_to_columns_of_few_and_of_many_values():
    """25 data sets: own-probe p-values <= .05 for no kind of column more than .05 + 3.3 s.e."""
    small = []
    for seed in range(25):
        random = np.random.default_rng(seed)
        levels = np.repeat([2, 4, 20, 10**6], 4)
        X = np.column_stack([random.integers(0, k, 60) for k in levels])
        y = random.permutation(np.arange(60) % 2)
        options = {"measure": "mdi", "n_permutations": 40, "random_state": seed}
        result = multiple_probes(dm.RandomForestClassifier(100), X, y, add_one=True, **options)
        of_column = np.empty(16)
        of_column[[int(name[1:]) for name in result.names]] = result.details["own_probe"]
        small.append((of_column <= 0.05).reshape(4, 4).mean(axis=1))
    assert np.mean(small, axis=0).max() < 0.05 + band(0.05, 100)
    assert np.mean(small) > 0.005
