"""Draws of a feature given the others: the distribution that they should have."""

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.significance.conditional_tests.sampler import Sampler


def correlated(n, seed=0):
    random = np.random.default_rng(seed)
    common = random.normal(size=n)
    frame = pd.DataFrame({f"x{j}": common + random.normal(size=n) for j in range(4)})
    frame["flag"] = np.where(common + random.normal(size=n) > 0.4, "yes", "no")
    frame["level"] = pd.cut(common + random.normal(size=n), 4, labels=list("abcd")).astype(str)
    frame["gap"] = np.where(random.random(n) < 1 / (1 + np.exp(-2 * common)), np.nan, common)
    return dm.encode(frame)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "forest", "auto"])
def test_draws_keep_what_a_feature_has_to_do_with_the_others(kind):
    table = correlated(1500)
    sampler = Sampler.of(table, kind, 3)
    values = [np.asarray(table.values(j)) for j in range(4)]
    X = np.column_stack([values[j][np.asarray(table.codes(j))] for j in range(4)])
    for j in range(2):
        donors = sampler.donors([j], 20)[0]
        drawn = X[donors, j]
        own = np.corrcoef(X, rowvar=False)[j]
        of_draws = np.mean([np.corrcoef(column, X.T)[0, 1:] for column in drawn], axis=0)
        others = np.delete(np.arange(4), j)
        np.testing.assert_allclose(of_draws[others], own[others], atol=0.04)
        # With the values themselves: only as much as the others tell of both.
        assert of_draws[j] == pytest.approx(sampler.explained([np.array([j])])[0], abs=0.05)
        assert drawn.std() == pytest.approx(X[:, j].std(), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "forest"])
def test_levels_and_gaps_are_drawn_as_often_as_they_occur(kind):
    table = correlated(1500)
    sampler = Sampler.of(table, kind, 3)
    common = np.asarray(table.codes(0)).argsort().argsort()
    high = common > 750
    for j in range(4, 7):
        codes = np.asarray(table.codes(j))
        drawn = codes[sampler.donors([j], 20)[0]]
        for code in np.unique(codes) if j < 6 else [len(table.values(j))]:
            for rows in (high, ~high):
                assert (drawn[:, rows] == code).mean() == pytest.approx(
                    (codes[rows] == code).mean(), abs=0.05
                )


def test_rows_lend_residuals_within_strata_only():
    random = np.random.default_rng(0)
    strata = np.repeat([0, 1], 50)
    X = random.normal(size=(100, 3)) + 100 * strata[:, None]
    sampler = Sampler.of(dm.encode(X), "gaussian", 0, strata=strata)
    assert (strata[sampler.donors([0], 4)[0]] == strata).all()


def test_flags_are_drawn_as_often_as_they_occur_in_a_stratum():
    random = np.random.default_rng(0)
    strata = np.repeat([0, 1], 200)
    X = (random.random((400, 3)) < np.where(strata, 0.9, 0.1)[:, None]).astype(float)
    for kind in ("gaussian", "forest"):
        sampler = Sampler.of(dm.encode(X), kind, 0, strata=strata)
        drawn = X[sampler.donors([0], 50)[0], 0]
        for stratum in (0, 1):
            wanted = X[strata == stratum, 0].mean()
            assert abs(drawn[:, strata == stratum].mean() - wanted) < 0.03


def test_rows_lend_few_values_to_other_groups_only():
    groups = np.repeat(np.arange(20), 4)
    X = np.random.default_rng(0).integers(0, 4, (20, 3))[groups].astype(float)
    donors = Sampler.of(dm.encode(X), "gaussian", 0, groups=groups).donors([1], 10)[0]
    assert (groups[donors] != groups).all()


def alleles(n, p=2, seed=0):
    """Counts of two alleles a row, each of which differs from that in the column before by .15."""
    random = np.random.default_rng(seed)
    return (np.cumsum(random.random((2, n, p)) < 0.15, axis=2) % 2).sum(axis=0)


def test_few_values_are_drawn_as_often_as_they_occur_beside_the_same_neighbor():
    """With residuals of other rows, whatever their prediction, they differ by .21 or more."""
    X = alleles(3000)
    drawn = X[Sampler.of(dm.encode(X.astype(float)), "gaussian", 0).donors([1], 10)[0], 1]
    for beside in range(3):
        rows = X[:, 0] == beside
        for value in range(3):
            own, of_draws = (X[rows, 1] == value).mean(), (drawn[:, rows] == value).mean()
            assert abs(own - of_draws) < 3.5 * np.sqrt(0.25 / rows.sum())


def test_rows_lend_few_values_within_strata_not_to_themselves_and_not_gaps():
    X, strata = alleles(60).astype(float), np.repeat([0, 1, 2], [30, 29, 1])
    X[::7, 1] = np.nan
    sampler = Sampler.of(dm.encode(X), "gaussian", 0, strata=strata)
    present = ~np.isnan(X[:, 1])
    base = np.arange(60.0)[:, None]
    donors = sampler.similar(base, present, 50, np.random.default_rng(0)).astype(int)
    assert (strata[donors] == strata).all()
    assert (donors[:, :59] != np.arange(59)).all()
    assert (donors[:, 59] == 59).all()  # alone in its stratum
    assert present[donors[:, :59]].all()
    assert np.abs(donors - np.arange(60)).max() <= 8  # six rows around, and gaps between them
    assert len(np.unique(donors[:, 15])) == 6


def test_columns_of_a_category_are_drawn_together():
    random = np.random.default_rng(0)
    number = random.normal(size=300)
    level = np.digitize(number + random.normal(size=300), [-1.0, 0.0, 1.0])
    X = np.column_stack([number, np.eye(4)[level]])
    donors = Sampler.of(dm.encode(X), "gaussian", 0).donors([1, 2, 3, 4], 6)
    drawn = np.stack([X[donors[j], 1 + j] for j in range(4)])
    assert (drawn.sum(axis=0) == 1).all()
    for high in (number > 0, number <= 0):
        often = drawn[:, :, high].mean(axis=(1, 2))
        assert np.abs(often - X[high, 1:].mean(axis=0)).max() < 3.5 * np.sqrt(0.25 / high.sum())


def test_a_feature_that_is_the_square_of_another_is_drawn_near_it():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * random.normal(size=600)
    table = dm.encode(X)
    plain, curved = Sampler.of(table, "gaussian", 0), Sampler.of(table, "auto", 0)
    second = [np.array([1])]
    assert curved.forests[1]
    assert not curved.forests[2:].any()
    assert plain.explained(second)[0] < 0.05 < 0.7 < curved.explained(second)[0]
    drawn = X[curved.donors([1], 5)[0], 1]
    assert np.corrcoef(drawn.ravel(), np.tile(X[:, 0] ** 2, 5))[0, 1] > 0.8
