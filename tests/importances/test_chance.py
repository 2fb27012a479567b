import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles import mdi as oracle

import duramen as dm


def excess_information(sides, labels):
    """Information of held-out rows in the split of a tree with a child for each side."""
    pairs = np.array(list(itertools.product(sorted(set(sides)), sorted(set(labels)))), dtype=object)
    forest = dm.TotallyRandomizedTreesClassifier(
        1, criterion="entropy", splits="multiway", bootstrap=False, random_state=0
    ).fit(pairs[:, :1], pairs[:, 1].astype(str))
    rows = np.array(list(sides), dtype=object)[:, None]
    return dm.importances.mdi(forest, rows, np.array(list(labels))).values[0]


def expected(sides, labels):
    return oracle.information(sides, labels) - oracle.mean_information(sides, labels)


@one_test
@pytest.mark.parametrize(
    "sides, labels",
    [("aabb", "xyxy"), ("aaab", "xxyz"), ("abcabc", "xxyyzz"), ("aaaaaaab", "xxxxyyyy")],
)
def test_mean_over_all_permutations(sides, labels):
    by_chance = oracle.mean_information_by_enumeration(sides, labels)
    assert oracle.mean_information(sides, labels) == pytest.approx(by_chance, abs=1e-12)
    assert excess_information(sides, labels) == pytest.approx(expected(sides, labels), abs=1e-12)


@given(st.data())
def test_against_whole_numbers(data):
    n = data.draw(st.integers(2, 400))
    a, b = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, n - 1))
    sides, labels = "a" * a + "b" * (n - a), "x" * b + "y" * (n - b)
    assert excess_information(sides, labels) == pytest.approx(expected(sides, labels), abs=1e-10)


def test_large_tables_approach_the_chi_square_mean():
    n = 200_000
    sides, labels = np.repeat(["a", "b"], n // 2), np.tile(["x", "y", "y", "y"], n // 4)
    assert -excess_information(sides, labels) == pytest.approx(1 / (2 * n * np.log(2)), rel=1e-3)
