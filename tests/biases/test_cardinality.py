"""Claims of docs/biases/cardinality.md, in small."""

import numpy as np
import pytest
from benchmarks.biases import cardinality
from benchmarks.biases.cardinality import (
    KINDS,
    by_ratio,
    features,
    null_task,
    with_relevant,
)
from benchmarks.biases.chance import QUICK, flatness, importances, simulated

import duramen as dm

# 25 data sets; the largest of 5 standardized deviations of a flat measure is above 4.5 in about
# one of 1000 runs.
HIGH = 4.5


@pytest.fixture(scope="module")
def null():
    return simulated(null_task(QUICK), 25, 1)


@pytest.mark.slow
@pytest.mark.parametrize("measure", QUICK)
def test_measures_that_favor_many_values_are_known_as_such(measure, null):
    of_measure = null[:, QUICK.index(measure)]
    _, score = flatness(of_measure, [[j] for j in range(len(KINDS))])
    biased = dm.importances.catalogue[measure].favors_many_values
    assert (score > HIGH) == biased
    if biased:
        means = of_measure.mean(axis=0)
        assert means[-1] > means[0]


@pytest.mark.slow
def test_measures_that_are_not_on_the_page_favor_many_values_too():
    others = [entry.name for entry in dm.importances.catalogue if entry.favors_many_values]
    others = [name for name in others if name not in QUICK]

    for name in others:

        def task(random, seed, name=name):
            data = dm.learning_set(features(random), random.integers(0, 2, cardinality.ROWS))
            return importances([name], dm.RandomForestClassifier(10, random_state=seed), data, seed)

        # Of one table, MCFS gives the numbers 30 times what it gives two values.
        values = simulated(task, 1 if name == "mcfs" else 3, 1).mean(axis=0)[0]
        assert values[-1] > 1.5 * values[0], name


@pytest.mark.slow
def test_mdi_rises_with_the_number_of_values_and_air_has_mean_0(null):
    mdi, air = (null[:, QUICK.index(name)] for name in ("mdi", "air"))
    assert (np.diff(mdi.mean(axis=0)) > 0).all()
    assert mdi.mean(axis=0)[-1] > 5 * mdi.mean(axis=0)[0]
    error = air.std(axis=0, ddof=1) / np.sqrt(len(air))
    assert (np.abs(air.mean(axis=0)) < 4 * error).all()


@pytest.mark.slow
def test_a_relevant_feature_of_two_values_is_first_by_air_not_by_mdi():
    first = {row[0]: row[1] for row in with_relevant(15, 1).rows}
    assert first["MDI"] < 0.4 < 0.5 < first["AIR"]


@pytest.mark.slow
def test_the_ratio_of_diversity_is_about_that_of_mdi():
    rows = {row[0]: row for row in by_ratio(12, 1).rows}
    for name, least in (("2 and 3", 1.5), ("2 and 10", 3.0), ("2 and numeric", 4.5)):
        diversity, mdi, first = rows[name][1:4]
        assert least < mdi < 1.1 * diversity
        assert first > 0.8
    assert rows["2 and 2"][2] == pytest.approx(1, abs=0.15)


def test_trees_on_few_rows_overestimate_in_theory():
    mdi, mda = (row[1:] for row in cardinality.whole_trees(5, 0).rows)
    assert (np.diff(mdi) > 0).all()
    assert (np.diff(mda) > 0).all()
    gains = {(row[0], row[1]): row[2:] for row in cardinality.at_a_node().rows}
    exact, about, gini = gains[100, 4]
    assert exact == pytest.approx(about, rel=0.05)
    assert gini == pytest.approx(3 * 0.5 / 100, rel=1e-6)
