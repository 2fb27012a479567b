"""Claims of docs/biases/bootstrap.md."""

from itertools import product

import numpy as np
import pytest
from benchmarks.biases import bootstrap
from benchmarks.biases.bootstrap import SAMPLINGS, TREES_GROWN, VALUES

ALL, SUBSAMPLE, BOOTSTRAP = SAMPLINGS
CELLS = np.array([(x, y) for x in range(2) for y in range(2)])


def mean_over_tables(n_rows, samples):
    """Mean information over all tables of so many rows and all samples of each."""
    results = [
        bootstrap.root_information(*CELLS[np.take(table, rows)].T, 2)
        for table in product(range(4), repeat=n_rows)
        for rows in samples
    ]
    return np.mean(results)


def test_mean_information_is_that_of_all_tables_and_all_samples_of_them():
    every = {
        ALL: [[0, 1, 2]],
        SUBSAMPLE: [[0, 1], [0, 2], [1, 2]],
        BOOTSTRAP: list(product(range(3), repeat=3)),
    }
    for sampling, samples in every.items():
        expected = bootstrap.mean_information(2, sampling, n_rows=3)
        assert np.isclose(expected, mean_over_tables(3, samples), atol=1e-12)


def test_information_by_chance_is_doubled_by_the_bootstrap():
    for c in VALUES[:2]:
        bits = {sampling: bootstrap.mean_information(c, sampling, 300) for sampling in SAMPLINGS}
        assert np.isclose(bits[BOOTSTRAP] / bits[ALL], 2, rtol=0.01)
        assert np.isclose(bits[SUBSAMPLE] / bits[ALL], 1 / bootstrap.SUBSAMPLE, rtol=0.01)


@pytest.mark.slow
def test_levels_of_the_node_test_are_those_of_the_theory():
    result = np.array(bootstrap.levels_at_the_root(60, seed=1).rows, dtype=float)
    theory = np.array(bootstrap.levels_in_theory().rows, dtype=float)
    few = result[:2]  # few values: the large-sample distribution holds
    # Four standard errors of 60 data sets, whose draws have the rows in common.
    assert np.abs(few[:, [1, 2, 4, 5, 6]] - 0.05).max() < 0.11  # 4: bootstrap as N / 2 rows
    assert np.abs(few[:, 3] - theory[:2, 2]).max() < 0.12
    assert np.abs(few[:, 7] - theory[:2, 3]).max() < 0.11
    assert np.all(result[:, 3] > result[:, 2] + 0.05)
    assert np.all(result[:, 7] > result[:, 6])


@pytest.mark.slow
def test_tested_nodes_give_noise_more_in_bootstrap_samples():
    table = bootstrap.importances_by_sampling(30, seed=1)
    mdi = {(row[0], row[1]): row[3:] for row in table.rows if row[2] == "MDI"}
    full, tested = TREES_GROWN
    noise, ahead = 4, 5  # the feature of 20 values
    assert mdi[tested, BOOTSTRAP][noise] > 1.4 * mdi[tested, SUBSAMPLE][noise]
    assert mdi[tested, BOOTSTRAP][noise] > 2 * mdi[tested, ALL][noise]
    values = [mdi[full, sampling][noise] for sampling in SAMPLINGS]
    assert max(values) < 1.1 * min(values)  # grown in full, the rows make little difference
    assert all(mdi[full, sampling][ahead] > 0.9 for sampling in SAMPLINGS)
    for row in table.rows:
        if row[2] != "MDI":
            assert np.abs(row[4:8]).max() < 0.02
            assert row[3] > 0.01
