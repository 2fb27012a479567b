"""Which rows may be exchanged: strata, groups, and how many arrangements there are."""

import datetime
import itertools
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.data import Exchangeability
from duramen.data.exchangeability import EXCHANGEABLE


def checked(n, strata=None, groups=None):
    return Exchangeability.checked(n, strata, groups, function="f")


def admissible(n, strata, groups):
    """All permutations, by the definition: groups move whole, in order, within their stratum."""
    rows = range(n)
    strata = [0] * n if strata is None else strata
    groups = list(rows) if groups is None else groups
    members = {b: [i for i in rows if groups[i] == b] for b in groups}
    results = []
    for order in itertools.permutations(rows):
        same = all(strata[i] == strata[order[i]] for i in rows)
        whole = all([order[i] for i in mine] in list(members.values()) for mine in members.values())
        if same and whole:
            results.append(order)
    return results


def assert_uniform(drawn, possible, draws):
    """A chi-squared statistic of equal frequencies that a right sampler exceeds in 1 of 10,000."""
    from scipy import stats

    counts = Counter(drawn)
    assert set(counts) == set(possible)
    expected = draws / len(possible)
    statistic = sum((counts[order] - expected) ** 2 / expected for order in possible)
    assert statistic < stats.chi2.isf(1e-4, max(1, len(possible) - 1))


SCHEMES = {
    "strata": ("aabab", None),
    "a stratum of one row": ("abbb", None),
    "groups": (None, "aabbc"),
    "groups that are scattered": (None, "abacbc"),
    "groups of different sizes": (None, "aabbcde"),
    "groups within strata": ("xxxxyyyy"[:6], "aabbcd"),
}


@one_test
@pytest.mark.parametrize("strata, groups", SCHEMES.values(), ids=SCHEMES)
def test_every_admissible_permutation_is_drawn_as_often(strata, groups):
    n = len(strata or groups)
    scheme = checked(n, strata and list(strata), groups and list(groups))
    possible = admissible(n, strata, groups)
    assert scheme.count() == len(possible)
    random = np.random.default_rng(0)
    draws = 200 * len(possible)
    drawn = [tuple(scheme.permutation(random).tolist()) for _ in range(draws)]
    assert_uniform(drawn, possible, draws)


@pytest.mark.parametrize("strata, groups", SCHEMES.values(), ids=SCHEMES)
def test_rows_are_told_whose_values_they_may_take(strata, groups):
    n = len(strata or groups)
    scheme = checked(n, strata and list(strata), groups and list(groups))
    orders = np.array(admissible(n, strata, groups))
    cells = scheme.exchanged(np.arange(n))
    for row in range(n):
        assert set(orders[:, row].tolist()) == set(np.flatnonzero(cells == cells[row]).tolist())


def test_rows_of_blocks_of_one_value_may_take_any_value_of_the_stratum():
    groups, strata = np.array([0, 0, 0, 1, 2, 2, 3]), np.array([0, 0, 0, 0, 1, 1, 1])
    values = np.array([1, 0, 1, 0])[groups]
    assert checked(7).exchanged(values) is None
    assert checked(7, None, groups).exchanged(values) is None
    assert checked(7, strata, groups).exchanged(values).tolist() == strata.tolist()


@one_test
@pytest.mark.parametrize("strata", [None, [0, 0, 1, 1]])
def test_blocks_of_one_value_exchange_it_whatever_their_size(strata):
    groups = np.array([0, 0, 0, 1, 2, 2, 3])
    blocks = np.array(["ill", "well", "ill", "well"])
    values = blocks[groups]
    scheme = checked(7, None if strata is None else np.array(strata)[groups], groups)
    orders = admissible(4, strata, None)
    possible = sorted({tuple(blocks[list(order)][groups]) for order in orders})
    assert scheme.count(values) == len(possible)
    random = np.random.default_rng(1)
    drawn = [tuple(values[scheme.permutation(random, values)]) for _ in range(3000)]
    assert_uniform(drawn, possible, 3000)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), kinds=st.integers(1, 4))
@settings(max_examples=60)
def test_counts_are_those_of_what_can_be_drawn(seed, n, kinds):
    random = np.random.default_rng(seed)
    strata, values = random.integers(0, 3, n).tolist(), random.integers(0, kinds, n)
    arrangements = {tuple(values[list(order)]) for order in admissible(n, strata, None)}
    assert checked(n, strata).count(values) == len(arrangements)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30))
@settings(max_examples=60)
def test_draws_respect_strata_and_groups(seed, n):
    random = np.random.default_rng(seed)
    groups = random.integers(0, max(1, n // 2), n)
    strata = random.integers(0, 2, n)[groups]
    scheme = checked(n, strata, groups)
    order = scheme.permutation(random)
    assert sorted(order.tolist()) == list(range(n))
    np.testing.assert_array_equal(strata[order], strata)
    for block in np.unique(groups):
        taken = order[groups == block]
        assert len(set(groups[taken].tolist())) == 1
        np.testing.assert_array_equal(taken, np.flatnonzero(groups == groups[taken[0]]))


@one_test
@pytest.mark.parametrize("n", [1, 2, 17])
@pytest.mark.parametrize("given_", [{}, {"strata": 0}, {"groups": 1}, {"strata": 0, "groups": 1}])
def test_without_restriction_the_stream_is_that_of_a_plain_permutation(n, given_):
    labels = {"strata": np.zeros(n, int), "groups": np.arange(n)[::-1]}
    scheme = checked(n, **{name: labels[name] for name in given_})
    assert not scheme.restricted
    assert scheme.identity() == {}
    assert scheme.clause == EXCHANGEABLE
    first, other = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(3):
        np.testing.assert_array_equal(scheme.permutation(first), other.permutation(n))
    assert first.random() == other.random()


def test_names_of_labels_have_no_influence():
    strata, groups = list("aabbaabb"), [7, 7, 8, 8, 1, 1, 2, 2]
    plain = checked(8, strata, groups)
    renamed = checked(8, [{"a": "z", "b": "c"}[s] for s in strata], [-b for b in groups])
    assert plain.identity() == renamed.identity() != checked(8, strata).identity()
    np.testing.assert_array_equal(
        plain.permutation(np.random.default_rng(0)), renamed.permutation(np.random.default_rng(0))
    )


CONTAINERS = {
    "list": list,
    "numpy": np.array,
    "masked": np.ma.array,
    "pandas": pd.Series,
    "categorical": pd.Categorical,
    "nullable": lambda labels: pd.Series(labels, dtype="string"),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda labels: pa.chunked_array([labels[:2], labels[2:]]),
    "arrow dictionary": lambda labels: pa.array(labels).dictionary_encode(),
}


@one_test
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_labels_of_every_container_are_the_same(container):
    labels = ["b", "a", "b", "c", "a"]
    scheme = checked(5, container(labels))
    np.testing.assert_array_equal(scheme.strata, [0, 1, 0, 2, 1])


def test_labels_of_any_type():
    dates = np.array(["2020-01-01", "2021-01-01", "2020-01-01"], dtype="datetime64[ns]")
    days = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)]
    for labels in ([1.0, 2.0, 1.0], dates, days, [True, False, True], ["1", 1, "1"]):
        np.testing.assert_array_equal(checked(3, labels).strata, [0, 1, 0])


MISSING = {
    "none": ["a", None, "b"],
    "nan": [1.0, np.nan, 2.0],
    "nat": np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[ns]"),
    "pandas na": pd.Series(["a", pd.NA, "b"], dtype="string"),
    "pandas nat": pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01"])),
    "categorical": pd.Categorical(["a", None, "b"]),
    "polars": pl.Series(["a", None, "b"]),
    "arrow": pa.array([1, None, 2]),
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "masked texts": np.ma.array(["a", "b", "c"], mask=[0, 1, 0]),
    "masked dates": np.ma.array(
        np.array(["2020-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[D]"), mask=[0, 1, 0]
    ),
}


@one_test
@pytest.mark.parametrize("parameter", ["strata", "groups"])
@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused(labels, parameter):
    with pytest.raises(ValueError, match=f"^f: {parameter} must have .* that of row 1 is missing"):
        checked(3, **{parameter: labels})


@one_test
@pytest.mark.parametrize(
    "labels, error, message",
    [
        ([1, 2], ValueError, r"a label for each of the 3 rows, got shape \(2,\)"),
        (np.zeros((3, 1)), ValueError, r"got shape \(3, 1\)"),
        (3, ValueError, r"got shape \(\)"),
        ("abc", TypeError, "got the text 'abc'"),
        ([[1], [2], [3]], TypeError, r"labels such as texts or whole numbers, got \[1\] for row 0"),
    ],
)
def test_what_is_no_label_a_row_is_refused(labels, error, message):
    with pytest.raises(error, match=message):
        checked(3, labels)


def test_torn_blocks_are_refused_by_name():
    message = r"rows 1 and 3 are of one group \('b'\) and of different strata"
    with pytest.raises(ValueError, match=message):
        checked(4, ["x", "x", "y", "y"], ["a", "b", "c", "b"])


@one_test
@pytest.mark.parametrize(
    "strata, groups, values, names",
    [
        ([0, 1, 2, 3], None, [0, 1, 0, 1], "strata"),
        ([0, 0, 1, 1], None, [0, 0, 1, 1], "strata"),
        (None, [0, 0, 0, 1], [0, 1, 0, 1], "groups"),
        (None, [0, 0, 1, 1], [0, 1, 0, 1], "groups"),
        ([0, 0, 0, 1], [0, 0, 1, 2], [1, 1, 1, 0], "strata and groups"),
    ],
)
def test_nothing_to_exchange_is_an_error(strata, groups, values, names):
    with pytest.raises(ValueError, match=f"^f: {names} must leave rows to exchange"):
        checked(4, strata, groups).require(9, "f", np.array(values))


def test_fewer_arrangements_than_permutations_are_pointed_out():
    scheme = checked(8, [0, 0, 0, 0, 1, 1, 1, 1])
    values = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    with pytest.warns(
        UserWarning, match="f: strata allow only 36 different .* the 99 .* about 0.028"
    ):
        scheme.require(99, "f", values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheme.require(35, "f", values)
        scheme.require(99, "f")  # 576 permutations of the rows
        checked(4).require(99, "f", values[:4])  # as ever without strata


def test_rows_of_a_table_take_their_strata_and_groups_along():
    part = checked(6, [0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3]).of_rows(np.array([0, 1, 3, 4]))
    assert (part.n_rows, part.strata.tolist(), part.groups.tolist()) == (
        4,
        [0, 0, 1, 1],
        [0, 0, 1, 1],
    )


def test_counts_of_many_rows_are_no_error():
    assert checked(10_000, np.arange(10_000) % 2).count() == np.inf
    assert checked(10_000, np.arange(10_000) // 2).count() == np.inf
    assert checked(60, np.arange(60) // 2).count() == pytest.approx(2.0**30)
