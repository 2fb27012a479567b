import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

import duramen as dm
from duramen.theory import FiniteDistribution, discretize


def column(values, **options):
    """Codes and cuts of a single column."""
    result = discretize(np.asarray(values, dtype=float).reshape(-1, 1), **options)
    return result.codes(0).tolist(), result.cuts.get("x0")


# --- quantiles and uniform bins ----------------------------------------------------------------


def test_quantiles_of_distinct_numbers():
    codes, cuts = column(range(12), n_bins=4)
    assert codes == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert cuts.tolist() == [2.75, 5.5, 8.25]


def test_ties_at_quantiles_make_one_cut():
    codes, cuts = column([0] * 8 + [1, 2, 3, 4], n_bins=4)
    assert cuts.tolist() == [0.0, 1.25]
    assert codes == [0] * 8 + [1, 2, 2, 2]
    codes, cuts = column([1, 2, 3, 4] + [9] * 8, n_bins=4)
    assert cuts.tolist() == [3.75]
    assert codes == [0, 0, 0] + [1] * 9


def test_uniform_bins_are_joined_where_they_are_empty():
    codes, cuts = column([0, 1, 2, 3, 4, 100], method="uniform", n_bins=5)
    assert cuts.tolist() == [20.0]
    assert codes == [0] * 5 + [1]
    codes, cuts = column([-3, -2, -1, 0, 1, 2], method="uniform", n_bins=5)
    assert cuts.tolist() == [-2.0, -1.0, 0.0, 1.0]
    assert codes == [0, 0, 1, 2, 3, 4]


@one_test
@pytest.mark.parametrize("method", ["quantile", "uniform"])
@pytest.mark.parametrize("n_bins", [7, 10, 22, 23, 25, 44, 49])
def test_a_bin_includes_its_end_where_that_is_a_number_of_the_column(method, n_bins):
    """Ends k r / n as fractions: of 0 .. r, both methods put as many numbers into each bin."""
    for r in range(n_bins, 200):
        codes, _ = column(range(r + 1), method=method, n_bins=n_bins)
        expected = [max(0, -(-i * n_bins // r) - 1) for i in range(r + 1)]
        assert codes == expected, r


@pytest.mark.parametrize("method", ["quantile", "uniform"])
@given(
    values=st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=1, max_size=40),
    n_bins=st.integers(2, 6),
)
def test_intervals_are_ordered_filled_and_at_most_as_many_as_asked(method, values, n_bins):
    codes, cuts = column(values, method=method, n_bins=n_bins)
    if cuts is None:
        assert len(set(values)) <= n_bins
        return
    assert set(codes) == set(range(len(cuts) + 1))
    assert len(cuts) < n_bins
    assert np.all(np.diff(cuts) > 0)
    for value, code in zip(values, codes, strict=True):
        assert code == sum(cut < value for cut in cuts)


def test_huge_and_tiny_numbers():
    least = [k * 5e-324 for k in (1, 3, 5, 7)]  # halves of which are rounded
    for numbers in ([-1.7e308, -1e308, 1e308, 1.7e308], [1e-300, 2e-300, 3e-300, 4e-300], least):
        for method in ("quantile", "uniform"):
            assert column(numbers, n_bins=2, method=method)[0] == [0, 0, 1, 1]
    neighbors = [1.0 + k * 2**-52 for k in range(4)]
    assert column(neighbors, n_bins=3)[0] == column(range(4), n_bins=3)[0] == [0, 0, 1, 2]


# --- tables ------------------------------------------------------------------------------------


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "dose": np.where(np.arange(50) == 7, np.nan, random.normal(size=50)),
            "group": ["a", "b"] * 25,
            "stage": np.arange(50) % 4,
            "flat": 1.0,
            "age": np.arange(50),
            "smoker": np.arange(50) % 3 == 0,
        }
    )


def test_only_columns_with_many_numbers_are_discretised(frame):
    result = discretize(frame, n_bins=4)
    assert result.names == tuple(frame.columns)
    assert list(result.cuts) == ["dose", "age"]
    assert result.values(1).tolist() == ["a", "b"]
    assert result.values(2).tolist() == [0, 1, 2, 3]
    assert result.values(3).tolist() == [1.0]
    assert result.values(5).tolist() == [False, True]
    assert list(discretize(frame, n_bins=3).cuts) == ["dose", "stage", "age"]


def test_missing_values_stay_missing(frame):
    result = discretize(frame, n_bins=4)
    assert result.codes(0)[7] == 4
    assert np.flatnonzero(result.codes(0) == 4).tolist() == [7]
    assert result.values(0)[4] is None
    nothing = column([np.nan] * 4, n_bins=2)
    assert nothing == ([0] * 4, None)
    nullable = pd.DataFrame({"a": pd.array([1, 2, None, 3, 4, 5], dtype="Int64")})
    assert discretize(nullable, n_bins=2).codes(0).tolist() == [0, 0, 2, 0, 1, 1]


@pytest.mark.parametrize("method", ["quantile", "uniform"])
def test_a_distribution_records_how_its_columns_were_cut(frame, method, tmp_path):
    y = frame["age"] > 30
    result = discretize(frame, method=method, n_bins=4)
    dist = FiniteDistribution.from_table(result, y, context=frame["group"])
    record = dist.metadata["discretization"]
    assert (record["method"], record["n_bins"]) == (method, 4)
    assert list(record["cuts"]) == ["dose", "age"]
    assert record["cuts"]["age"] == result.cuts["age"].tolist()
    assert dist.names == result.names
    assert dist.mutual_information("age") > 0.4
    dist.save(tmp_path / "d")
    assert FiniteDistribution.load(tmp_path / "d").metadata["discretization"] == record


def test_encoded_tables_tell_which_columns_are_numeric(frame):
    kinds = {"age": "nominal"}
    result = discretize(dm.encode(frame.drop(columns="smoker"), kinds=kinds), n_bins=4)
    assert list(result.cuts) == ["dose"]
    np.testing.assert_array_equal(result.codes(0), discretize(frame, n_bins=4).codes(0))
    part = dm.encode(np.arange(20.0).reshape(-1, 1)).take_rows(np.arange(10))
    assert discretize(part, n_bins=2).cuts["x0"].tolist() == [4.5]


@one_test
@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "kmeans"}, "method must be one of 'quantile', 'uniform', got 'kmeans'"),
        ({"X": [[1.0], [2.0], [np.inf]], "n_bins": 2}, "column 'x0' holds an infinite value"),
    ],
)
def test_clear_errors(options, message):
    with pytest.raises(ValueError, match=f"discretize: {message}"):
        discretize(**{"X": np.arange(10.0).reshape(-1, 1), **options})
