"""Uniform cuts on finer and finer grids: the importances of continuous features."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

import duramen as dm


def bits(p):
    return 0.0 if p in (0.0, 1.0) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def decrease(cut, step):
    """Decrease of entropy by a cut of [0, 1] where the class changes at `step`."""
    if cut < step:
        return bits(step) - (1 - cut) * bits((step - cut) / (1 - cut))
    return bits(step) - cut * bits(step / cut)


@pytest.mark.parametrize("step", [0.5, 0.3])
def test_the_first_level_of_a_step_has_its_integral(step):
    """X uniform on [0, 1], Y = 1(X < c): the mean decrease over uniform cuts is c (1 - c) / ln 2.

    A grid of m values differs by less than 1 / m, and all levels together give H(Y).
    """
    limit = step * (1 - step) / math.log(2)
    integral = quad(decrease, 0, 1, args=(step,), points=[step])[0]
    assert integral == pytest.approx(limit, abs=1e-9)
    for m in (10, 40, 160):
        x = (np.arange(m) + 0.5) / m
        dist = dm.theory.FiniteDistribution.from_table(x[:, np.newaxis], x < step)
        first = dm.theory.population_importances(dist, max_depth=1, splits="ordered", cut="uniform")
        assert first.values[0] == pytest.approx(limit, abs=1 / m)
    x = (np.arange(500.0) + 0.5) / 500
    trees = dm.TotallyRandomizedTreesClassifier(
        2000, max_depth=1, criterion="entropy", splits="ordered", random_state=0
    )
    forest = trees.fit(x[:, np.newaxis], x < step)
    # The standard deviation of the decrease of a tree is below .3: four standard errors.
    assert dm.importances.mdi(forest).values[0] == pytest.approx(limit, abs=4 * 0.3 / 2000**0.5)


def test_sums_and_irrelevant_features_are_those_of_categories():
    """The sum is I(V; Y); a feature independent of the target and the others changes nothing."""
    values = np.arange(4) / 4
    rows = np.array(list(itertools.product(values, values)))
    y = rows[:, 0] + rows[:, 1] / 2 < 0.6
    options = {"splits": "ordered", "cut": "uniform"}
    dist = dm.theory.FiniteDistribution.from_table(rows, y)
    alone = dm.theory.population_importances(dist, **options).values
    assert alone.sum() == pytest.approx(dist.mutual_information(["x0", "x1"]))
    more = np.array([[*row, extra] for row in rows for extra in (0.0, 0.5, 2.0)])
    wider = dm.theory.FiniteDistribution.from_table(more, np.repeat(y, 3))
    with_noise = dm.theory.population_importances(wider, **options).values
    np.testing.assert_allclose(with_noise, [*alone, 0.0], atol=1e-12)
