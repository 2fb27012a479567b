"""Strata of covariates: cells of categories, intervals of numbers, and error rates with them."""

import numpy as np
import pyarrow as pa
import pytest

import duramen as dm
from duramen.significance import covariate_strata


def sizes(strata):
    return sorted(np.bincount(strata).tolist())


def test_categories_are_cells():
    random = np.random.default_rng(0)
    sex, center = random.integers(1, 3, 60), random.choice(["a", "b", "c"], 60)
    y = random.normal(size=60)
    strata = covariate_strata(pa.table({"sex": sex, "center": center}), y)
    pairs = set(zip(sex.tolist(), center.tolist(), strata.tolist(), strict=True))
    assert len(pairs) == len({k for _, _, k in pairs}) == 6


def test_a_number_is_cut_into_intervals_whatever_the_target():
    random = np.random.default_rng(1)
    age = random.normal(size=100)
    strata = covariate_strata(age, random.integers(0, 2, 100))
    assert sizes(strata) == [10] * 10
    order = np.argsort(age)
    assert (np.diff(strata[order]) != 0).sum() == 9  # intervals
    again = covariate_strata(age, random.normal(size=100))
    assert len(np.unique(np.stack([strata, again]), axis=1).T) == 10
    assert sizes(covariate_strata(age, age, rows_per_stratum=25)) == [25] * 4


def test_numbers_are_cut_within_categories():
    random = np.random.default_rng(2)
    sex, age = np.repeat([0, 1], [70, 30]), random.normal(size=100)
    strata = covariate_strata(pa.table({"sex": sex, "age": age}), random.normal(size=100))
    assert sizes(strata) == [10] * 10
    assert all(len(set(sex[strata == k])) == 1 for k in range(10))


@pytest.mark.parametrize("classes", [False, True])
def test_several_numbers_are_cut_by_what_they_predict(classes):
    random = np.random.default_rng(3)
    Z = random.normal(size=(400, 3))
    expected = Z[:, 0] + Z[:, 1] ** 2
    y = expected + 0.5 * random.normal(size=400)
    if classes:
        y = (y > np.median(y)).astype(int)
    strata = covariate_strata(Z, y)
    assert sizes(strata) == [10] * 40
    within = np.mean([expected[strata == k].var() for k in range(40)])
    assert within < 0.1 * expected.var()


def test_three_classes_and_missing_categories():
    random = np.random.default_rng(4)
    Z = random.normal(size=(120, 2))
    y = random.integers(0, 3, 120)
    assert sizes(covariate_strata(Z, y)) == [10] * 12
    assert covariate_strata(["a", None, "a", "b"], [0, 1, 0, 1]).tolist() == [0, 2, 0, 1]


def test_what_cannot_be_used():
    with pytest.raises(ValueError, match="rows_per_stratum must be"):
        covariate_strata([0.5, 1.5, 2.5], [0, 1, 1], rows_per_stratum=1)
    with pytest.raises(ValueError, match="no missing numbers, but 'x0' has"):
        covariate_strata([1.5, float("nan"), 2.0], [0, 1, 1])
    with pytest.raises(ValueError, match="3"):
        covariate_strata([0.5, 1.5, 2.5], [1, 0])


def admixed(random, n=200, p=20):
    """SNPs and a disease that depend on ancestry, a fraction, and not on each other within it."""
    fraction = random.beta(0.4, 0.4, n)
    ends = random.uniform(0.1, 0.5, (2, p))
    ends[1] += 0.4
    snps = random.binomial(2, fraction[:, None] * ends[0] + (1 - fraction)[:, None] * ends[1])
    return snps, (random.random(n) < 0.1 + 0.8 * fraction).astype(int), fraction


@pytest.mark.slow
def test_covariate_strata_keep_the_level_where_free_permutations_do_not():
    rates, forest = [], dm.RandomForestClassifier(20)
    for seed in range(20):
        snps, ill, fraction = admixed(np.random.default_rng(seed))
        for strata in (None, covariate_strata(fraction, ill)):
            test = {"n_permutations": 19, "random_state": seed, "strata": strata}
            significance = dm.significance.altmann(forest, snps, ill, **test)
            rates.append(np.mean(significance.p_values <= 0.05))
    assert np.mean(rates[::2]) > 0.1
    assert np.mean(rates[1::2]) < 0.05 + 3 * np.std(rates[1::2]) / np.sqrt(20)
