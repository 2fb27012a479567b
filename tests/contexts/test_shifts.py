"""Shifts of features between contexts, and strata of the propensity score, against oracles."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.grid import one_test

from duramen.contexts import propensity_strata
from duramen.contexts.limits import shift_p_values, stratified_chi_square
from duramen.data import encode


def drawn(n, n_values, n_contexts, n_strata, seed):
    random = np.random.default_rng(seed)
    return (
        random.integers(0, n_values, n),
        random.integers(0, n_contexts, n).astype(np.uint32),
        random.integers(0, n_strata, n),
    )


def test_one_stratum_is_pearsons_test():
    """Up to the factor (n - 1) / n of a finite population."""
    values, context, _ = drawn(150, 3, 4, 1, 0)
    table = pd.crosstab(values, context).to_numpy()
    pearson = stats.chi2_contingency(table, correction=False)
    expected = stats.chi2.sf(pearson.statistic * 149 / 150, pearson.dof)
    actual = stratified_chi_square(values, context, np.zeros(150, int))
    assert actual == pytest.approx(expected, rel=1e-9)


def test_two_by_two_is_the_test_of_cochran_mantel_and_haenszel():
    values, context, strata = drawn(200, 2, 2, 3, 1)
    excess = variance = 0.0
    for s in range(3):
        n = (strata == s).sum()
        a, b = ((strata == s) & (values == 1)).sum(), ((strata == s) & (context == 1)).sum()
        excess += ((strata == s) & (values == 1) & (context == 1)).sum() - a * b / n
        variance += a * (n - a) * b * (n - b) / (n**2 * (n - 1))
    expected = stats.chi2.sf(excess**2 / variance, 1)
    assert stratified_chi_square(values, context, strata) == pytest.approx(expected, rel=1e-9)


def test_mean_and_covariance_are_those_of_all_permutations():
    """The statistic is excess' V^+ excess with moments over every permutation within strata."""
    values = np.array([0, 1, 2, 1, 0, 2, 2])
    context = np.array([0, 1, 2, 1, 0, 1, 0], dtype=np.uint32)
    strata = np.array([0, 0, 0, 0, 1, 1, 1])

    def cells(codes):
        table = np.zeros((3, 3))
        np.add.at(table, (codes, values), 1)
        return table[:-1, :-1].ravel()

    every = np.array(
        [
            cells(context[[*first, *second]])
            for first in itertools.permutations(range(4))
            for second in itertools.permutations(range(4, 7))
        ]
    )
    excess = cells(context) - every.mean(axis=0)
    covariance = np.cov(every.T, bias=True)
    statistic = excess @ np.linalg.pinv(covariance) @ excess
    expected = stats.chi2.sf(statistic, np.linalg.matrix_rank(covariance))
    assert stratified_chi_square(values, context, strata) == pytest.approx(expected, rel=1e-9)


def test_nothing_to_permute_is_no_shift():
    context = np.arange(6, dtype=np.uint32) % 2
    assert stratified_chi_square(np.zeros(6, int), context, np.zeros(6, int)) == 1
    assert stratified_chi_square(np.arange(6), context, np.arange(6)) == 1
    assert stratified_chi_square(np.arange(6) % 3, context, context.astype(int)) == 1


def test_shifts_of_columns_of_all_kinds():
    """Rates under the null from 300 columns within the 99.9 % band; shifted columns are found."""
    random = np.random.default_rng(3)
    n = 160
    context, strata = (np.arange(n) % 2).astype(np.uint32), np.arange(n) % 5
    frame = {f"normal {k}": random.normal(size=n) for k in range(150)}
    frame |= {f"letter {k}": random.choice(list("abcdef"), n) for k in range(150)}
    frame["moved"] = random.normal(size=n) + context
    frame["wider"] = random.normal(size=n) * (1 + 3 * context)
    frame["gone"] = np.where((context == 1) & (random.random(n) < 0.3), np.nan, frame["normal 0"])
    frame["other"] = np.where(random.random(n) < 0.4 * context, "z", frame["letter 0"])
    frame["constant"] = np.zeros(n)
    result = shift_p_values(encode(pd.DataFrame(frame)), context, strata)
    low, high = stats.binom.interval(0.999, 300, 0.05)
    assert low <= (result[:300] <= 0.05).sum() <= high
    assert (result[300:304] < 0.01).all()
    assert result[304] == 1


# --- propensity ----------------------------------------------------------------------------------


def test_strata_are_quantiles_of_the_score():
    x = np.random.default_rng(5).normal(size=90)
    context = np.where(x + np.random.default_rng(6).normal(size=90) > 0, "u", "v")
    strata = propensity_strata(x.reshape(-1, 1), context, n_strata=5)
    assert np.bincount(strata).tolist() == [18] * 5
    inside = [np.sort(x[strata == s]) for s in np.unique(strata)]
    inside.sort(key=np.mean)
    assert all(a[-1] < b[0] for a, b in itertools.pairwise(inside))


@one_test
@pytest.mark.parametrize("power", [-1070, -600, 600, 1020])
def test_the_unit_of_a_column_does_not_matter(power):
    x = np.random.default_rng(5).integers(-6, 7, (60, 3)).astype(float)
    context = (x[:, 0] > 0).astype(int)
    result = propensity_strata(np.ldexp(x, power), context)
    np.testing.assert_array_equal(result, propensity_strata(x, context))


def test_three_contexts_and_columns_of_all_kinds():
    """Within strata the columns tell the contexts far less than on all rows."""
    random = np.random.default_rng(7)
    n = 300
    context = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "x": random.normal(size=n) + 0.8 * (context == 1),
            "letter": np.where(random.random(n) < 0.2 + 0.25 * (context == 2), "a", "b"),
            "absent": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
        }
    )
    codes = context.astype(np.uint32)
    before = shift_p_values(encode(frame), codes, np.zeros(n, int))
    strata = propensity_strata(frame, context.astype(str), n_strata=16)
    assert sorted(np.bincount(strata)) == [18] * 4 + [19] * 12
    after = shift_p_values(encode(frame), codes, strata)
    assert before[:2].max() < 1e-3
    assert after[:2].min() > 0.05


@one_test
@pytest.mark.parametrize(
    ("context", "options", "message"),
    [
        (np.zeros(4), {}, "context must have at least two values"),
        (np.arange(4) % 2, {"n_strata": 1}, "propensity_strata: n_strata must be"),
        (np.arange(3) % 2, {}, "context"),
    ],
)
def test_scores_that_there_are_not(context, options, message):
    with pytest.raises(ValueError, match=message):
        propensity_strata(np.arange(4.0).reshape(-1, 1), context, **options)
