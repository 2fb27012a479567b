import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.grid import one_test
from tests.oracles import association as oracle

import duramen as dm
from duramen.importances.measures.conditional_mda import association_p_values

LEVELS = ["low", "middle", "high"]


def mixed(n=40, seed=0, missing=0.0):
    """Numbers, numbers with ties, an ordinal and two nominal columns, all related."""
    random = np.random.default_rng(seed)
    number = random.normal(size=n)
    few = np.round(number + random.normal(size=n))
    level = np.digitize(number + 2 * random.normal(size=n), [-1, 1])
    first = random.integers(0, 3, n)
    second = np.where(random.random(n) < 0.4, first, random.integers(0, 4, n))
    columns = np.column_stack([number, few, level, first, second]).astype(float)
    columns[random.random(columns.shape) < missing] = np.nan
    return columns


def encoded(columns):
    """Return the columns as a table: two numeric, one ordinal and two nominal columns."""
    frame = {f"x{j}": columns[:, j] for j in range(2)}
    words = [None if np.isnan(v) else LEVELS[int(v)] for v in columns[:, 2]]
    frame["x2"] = pd.Categorical(words, categories=LEVELS, ordered=True)
    for j in (3, 4):
        frame[f"x{j}"] = [None if np.isnan(v) else f"c{int(v)}" for v in columns[:, j]]
    return dm.encode(pd.DataFrame(frame))


def expected(columns, nominal):
    p = columns.shape[1]
    return [
        [
            0.0 if j == k else oracle.p_value(columns[:, j], columns[:, k], nominal[j], nominal[k])
            for k in range(p)
        ]
        for j in range(p)
    ]


@one_test
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(4))
def test_every_pair_of_kinds_against_the_oracle(seed, missing):
    columns = mixed(seed=seed, missing=missing)
    table = encoded(columns)
    assert list(table.kinds) == ["numeric", "numeric", "ordinal", "nominal", "nominal"]
    actual = association_p_values(table)
    np.testing.assert_allclose(
        actual, expected(columns, [False] * 3 + [True] * 2), rtol=1e-8, atol=1e-12
    )
    assert np.array_equal(actual, actual.T)
    assert actual[0, 1] < 0.05  # these two are related


def test_closed_forms_of_scipy():
    columns = mixed(n=60)
    n = len(columns)
    result = association_p_values(encoded(columns))
    r = stats.pearsonr(columns[:, 0], columns[:, 2]).statistic
    assert result[0, 2] == pytest.approx(stats.chi2.sf((n - 1) * r**2, 1), rel=1e-9)

    counts = stats.contingency.crosstab(columns[:, 3], columns[:, 4]).count
    pearson = stats.chi2_contingency(counts, correction=False)
    tail = stats.chi2.sf(pearson.statistic * (n - 1) / n, pearson.dof)
    assert result[3, 4] == pytest.approx(tail, rel=1e-9)

    groups = [columns[columns[:, 4] == c, 0] for c in np.unique(columns[:, 4])]
    f = stats.f_oneway(*groups).statistic
    ratio = f * (len(groups) - 1) / (n - len(groups))  # between over within
    tail = stats.chi2.sf((n - 1) * ratio / (1 + ratio), len(groups) - 1)
    assert result[0, 4] == pytest.approx(tail, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_columns_that_are_constant_where_the_other_is_present(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 30))
    X = np.column_stack([np.full(n, 0.1), random.normal(size=n), random.normal(size=n)])
    X[0] = [0.2, 0.5, np.nan]
    X[1:3, 1] = np.nan
    result = association_p_values(dm.encode(X))
    assert result[0, 2] == 1.0
    assert result[0, 1] == pytest.approx(oracle.p_value(X[:, 0], X[:, 1]), rel=1e-8)
    assert result[1, 2] == pytest.approx(oracle.p_value(X[:, 1], X[:, 2]), rel=1e-8, abs=1e-12)


def test_a_constant_category_and_pairs_without_a_common_row():
    frame = pl.DataFrame(
        {
            "same": ["a"] * 6,
            "word": ["a", "b", "a", "b", "a", "b"],
            "early": [1.0, 2.0, 3.0, None, None, None],
            "late": [None, None, None, "u", "v", "w"],
        }
    )
    result = association_p_values(dm.encode(frame))
    assert result[0].tolist() == [0.0, 1.0, 1.0, 1.0]
    assert result[2, 3] == 1.0
    assert result[1, 2] == pytest.approx(1.0)  # means of "a" and "b" agree


def test_p_values_of_independent_columns_are_uniform():
    # 435 pairs of 30 columns, of each pair of kinds; few pairs are dependent through a column.
    random = np.random.default_rng(1)
    n, p = 300, 30
    frame = {f"x{j}": random.normal(size=n) for j in range(p // 2)}
    frame |= {
        f"c{j}": random.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).tolist()
        for j in range(p // 2)
    }
    result = association_p_values(dm.encode(pl.DataFrame(frame)))
    half = p // 2
    for block in (
        result[:half, :half][np.triu_indices(half, 1)],
        result[half:, half:][np.triu_indices(half, 1)],
        result[:half, half:].ravel(),
    ):
        assert stats.kstest(block, "uniform").pvalue > 0.01
