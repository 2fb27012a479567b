"""Diversity of columns, and what is told of columns that differ in it."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

import duramen as dm
from duramen.findings.table import diversity, unequal_values

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("counts", [[3, 3], [5, 1], [2, 2, 2], [1] * 7, [4, 2, 1], [6]])
@pytest.mark.parametrize("m", [1, 2, 4, 6])
def test_diversity_is_the_mean_over_all_draws(counts, m):
    column = np.repeat(np.arange(len(counts)), counts)
    drawn = [len(set(some)) for some in combinations(column.tolist(), min(m, len(column)))]
    assert len(drawn) == comb(len(column), min(m, len(column)))
    assert diversity(counts, m) == pytest.approx(np.mean(drawn) - 1, abs=1e-12)


def binary(fraction, n=200):
    return np.arange(n) < fraction * n


@pytest.mark.parametrize(
    ("columns", "reported"),
    [
        ([binary(0.5), RNG.random(200)], True),
        ([binary(0.5), RNG.integers(0, 3, 200)], False),
        ([binary(0.5), RNG.integers(0, 4, 200)], True),
        ([binary(0.5), binary(0.3)], False),
        ([binary(0.5), binary(0.05)], True),
        ([RNG.random(200), RNG.integers(0, 60, 200)], False),
        ([RNG.random(200), np.zeros(200)], False),  # a constant column is reported as that
        ([RNG.random(200)], False),
    ],
)
def test_columns_are_reported_from_a_ratio_of_two(columns, reported):
    result = unequal_values(dm.encode(np.column_stack(columns)))
    assert (result is not None) == reported


def test_the_sentence_names_both_ends_and_the_ratio():
    table = dm.encode(np.column_stack([RNG.random(200), binary(0.5)]), names=["age", "sex"])
    result = unequal_values(table, "frequency")
    assert result.kind == "unequal values"
    assert result.columns == ("sex", "age")
    assert "'sex' has 2 distinct values, the most frequent in 50% of the rows" in result.message
    assert "'age' has 200, the most frequent in less than 1%" in result.message
    assert result.message.endswith("those like 'age' get more frequency than those like 'sex'")
    assert unequal_values(table).message.endswith("'sex', up to about 9.0 times as much")


def test_a_few_odd_columns_among_many_are_passed_over():
    table = RNG.random((100, 60))
    table[:, 7] = binary(0.5, 100)
    assert unequal_values(dm.encode(table)) is None
    table[:, 10:20] = RNG.integers(0, 2, (100, 10))
    assert unequal_values(dm.encode(table)) is not None


def test_rows_that_were_left_out_leave_codes_without_rows():
    table = dm.encode(np.column_stack([binary(0.5), np.arange(200), RNG.random(200)]))
    first = table.take_rows(np.arange(100))  # the first column is constant in them
    assert unequal_values(first) is None


def test_stores_and_large_tables_are_sampled_evenly(tmp_path):
    codes = RNG.binomial(2, np.tile([0.05, 0.5], 600), (60, 1200)).astype(np.int8)
    store = dm.pack(codes, tmp_path / "s")
    for table in (store, dm.encode(codes)):
        result = unequal_values(table)
        assert "has 2 distinct values" in result.message
    assert unequal_values(dm.pack(codes[:, 1::2], tmp_path / "t")) is None
