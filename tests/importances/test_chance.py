import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles import mdi as oracle

from duramen.importances.measures import mdi as chance


def mean_of(n, a, b):
    return chance.mean_xlog2x(*(np.array([count]) for count in (n, a, b)))[0]


def mean_information(sides, labels):
    """Mean information by the module under test."""
    n = len(labels)
    rows = [sides.count(side) for side in sorted(set(sides))]
    columns = [labels.count(label) for label in sorted(set(labels))]
    cells = sum(mean_of(n, a, b) for a in rows for b in columns)
    margins = sum(chance.xlog2x(np.array(counts)).sum() for counts in (rows, columns))
    return (cells - margins + chance.xlog2x(np.array([n]))[0]) / n


@one_test
@pytest.mark.parametrize(
    "sides, labels",
    [("aabb", "xyxy"), ("aaab", "xxyz"), ("abcabc", "xxyyzz"), ("aaaaaaab", "xxxxyyyy")],
)
def test_mean_over_all_permutations(sides, labels):
    expected = oracle.mean_information_by_enumeration(sides, labels)
    assert oracle.mean_information(sides, labels) == pytest.approx(expected, abs=1e-12)
    assert mean_information(sides, labels) == pytest.approx(expected, abs=1e-12)


@given(st.data())
def test_against_whole_numbers(data):
    n = data.draw(st.integers(1, 400))
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    sides, labels = "a" * a + "b" * (n - a), "x" * b + "y" * (n - b)
    expected = oracle.mean_information(sides, labels)
    assert mean_information(sides, labels) == pytest.approx(expected, abs=1e-10)


def test_large_tables_approach_the_chi_square_mean():
    n = 200_000
    sides, labels = (n // 2, n // 2), (n // 4, n - n // 4)
    cells = sum(mean_of(n, a, b) for a in sides for b in labels)
    margins = sum(chance.xlog2x(np.array(counts)).sum() for counts in (sides, labels))
    bits = (cells - margins + chance.xlog2x(np.array([n]))[0]) / n
    assert bits == pytest.approx(1 / (2 * n * np.log(2)), rel=1e-3)


def test_counts_too_large_for_a_key_are_not_merged():
    n = np.array([5_000_000, 5_000_000, 10])
    a, b = np.array([3, 3, 4]), np.array([2_000_000, 2_000_000, 5])
    together = chance.mean_xlog2x(n, a, b)
    assert together[0] == together[1]
    assert together[2] == pytest.approx(mean_of(10, 4, 5), abs=1e-12)
