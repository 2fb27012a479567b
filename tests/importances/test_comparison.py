from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.grid import one_test

from duramen import Importances, Significance
from duramen.importances import compare


def measure(values, name, names=None, **changes):
    names = names or tuple("abcdefghijklmnopqrstuvwxyz"[: len(values)])
    return Importances(names, values, name, "1", **changes)


def example():
    return compare(
        [
            measure([5.0, 4.0, 3.0, 2.0], "mdi", metadata={"seed": 1}),
            measure([1.0, 3.0, 1.0, 0.0], "mda"),
            measure([0.2, 0.1, 0.4, 0.3], "frequency", names=("d", "c", "b", "a")),
        ]
    )


# --- ranks ---------------------------------------------------------------------------------------


def test_features_are_put_in_the_order_of_the_first_measure():
    result = example()
    assert result.names == ("a", "b", "c", "d")
    assert result.measures == ("mdi", "mda", "frequency")
    assert result.scores.tolist() == [[5, 4, 3, 2], [1, 3, 1, 0], [0.3, 0.4, 0.1, 0.2]]
    assert result.ranks.tolist() == [[1, 2, 3, 4], [2.5, 1, 2.5, 4], [2, 1, 4, 3]]
    assert len(result) == 4
    assert result.metadata["mdi"] == {"seed": 1}


def test_significance_is_ranked_by_p_value_then_score():
    tested = Significance(
        ("a", "b", "c", "d"), [1.0, 9.0, 2.0, 9.0], [0.01, 0.5, 0.01, 0.5], "test", "Nothing."
    )
    result = compare([tested, measure([1.0, 2.0, 3.0, 4.0], "mdi")])
    assert result.measures == ("test", "mdi")
    assert result.ranks[0].tolist() == [2.0, 3.5, 1.0, 3.5]
    assert result.scores[0].tolist() == [1.0, 9.0, 2.0, 9.0]


def test_a_mapping_names_the_measures():
    few, many = measure([1.0, 2.0], "mdi"), measure([2.0, 1.0], "mdi")
    result = compare({"few trees": few, "many trees": many})
    assert result.measures == ("few trees", "many trees")
    assert result.spearman[0, 1] == -1.0


# --- agreement -----------------------------------------------------------------------------------


def test_known_correlations():
    """Ranks 1 2 3 4 against 2 1 4 3: rho = 1 - 6 * 4 / 60, tau = (4 - 2) / 6."""
    result = example()
    assert result.spearman[0, 2] == pytest.approx(0.6, abs=1e-15)
    assert result.kendall[0, 2] == pytest.approx(1 / 3, abs=1e-15)
    # 2.5 1 2.5 4: covariance 3 of 5 and 4.5; one pair tied, 4 in order, 1 not
    assert result.spearman[0, 1] == pytest.approx(3 / np.sqrt(5 * 4.5), abs=1e-15)
    assert result.kendall[0, 1] == pytest.approx(3 / np.sqrt(6 * 5), abs=1e-15)


@pytest.mark.slow
@given(
    st.integers(2, 12).flatmap(
        lambda p: st.lists(
            st.lists(st.integers(0, 5), min_size=p, max_size=p), min_size=2, max_size=4
        )
    )
)
def test_correlations_are_those_of_scipy(rows):
    result = compare({str(i): measure(row, "m") for i, row in enumerate(rows)})
    for matrix in (result.spearman, result.kendall):
        np.testing.assert_array_equal(matrix, matrix.T)
        np.testing.assert_array_equal(np.diagonal(matrix), 1.0)
    for i, j in combinations(range(len(rows)), 2):
        if len(set(rows[i])) == 1 or len(set(rows[j])) == 1:
            assert np.isnan(result.spearman[i, j])
            assert np.isnan(result.kendall[i, j])
        else:
            rho, tau = stats.spearmanr(rows[i], rows[j]), stats.kendalltau(rows[i], rows[j])
            assert result.spearman[i, j] == pytest.approx(rho.statistic, abs=1e-12)
            assert result.kendall[i, j] == pytest.approx(tau.statistic, abs=1e-12)


def test_overlap_of_the_best():
    result = example()
    np.testing.assert_array_equal(result.overlap(1), [[1, 0, 0], [0, 1, 1], [0, 1, 1]])
    # mda: b, and a or c by lot
    np.testing.assert_allclose(result.overlap(2), [[1, 0.75, 1], [0.75, 1, 0.75], [1, 0.75, 1]])
    np.testing.assert_array_equal(result.overlap(4), np.ones((3, 3)))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=10), st.integers(1, 10))
def test_ties_are_broken_by_lot(values, k):
    """Against the mean over all orders of the tied features, by counting."""
    p = len(values)
    k = min(k, p)
    other = list(range(p, 0, -1))  # the first k are best
    expected = 0.0
    for j in range(k):
        better = sum(value > values[j] for value in values)
        equal = sum(value == values[j] for value in values)
        expected += min(1.0, max(0.0, (k - better) / equal))
    overlap = compare([measure(values, "x"), measure(other, "y")]).overlap(k)
    assert overlap[0, 1] == pytest.approx(expected / k, abs=1e-12)


def test_among_the_best_of_one_measure():
    best = example().top(3, by="mda")
    assert best.names == ("b", "a", "c")
    assert best.ranks.tolist() == [[2, 1, 3], [1, 2.5, 2.5], [1, 2, 3]]
    assert best.scores.tolist() == [[4, 5, 3], [3, 1, 1], [0.4, 0.3, 0.1]]
    assert best.spearman[0, 2] == pytest.approx(0.5)
    assert example().top(2).names == ("a", "b")
    assert example().top(99).equals(example())


# --- as a result ---------------------------------------------------------------------------------


def test_one_feature_or_none_has_no_correlation():
    for p in (0, 1):
        result = compare([measure([1.0] * p, "x"), measure([2.0] * p, "y")])
        assert np.isnan(result.spearman[0, 1])
        assert np.isnan(result.kendall[0, 1])
        assert f"{p} features" in repr(result)
        assert result.to_frame().shape == (p, 3)


# --- errors --------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "measures, message",
    [
        ([], "measures must be two or more"),
        ([measure([1.0], "x")], "measures must be two or more"),
        ([measure([1.0], "x"), measure([2.0], "x")], r"called 'x'\. Hint: name them"),
        (
            [measure([1.0, 2.0], "x"), measure([1.0, 2.0], "y", names=("a", "z"))],
            "but 'b', 'z' of 'y' or 'x' are not in both",
        ),
        ([measure([1.0], "x"), measure(range(9), "y")], r"'b', 'c', 'd', \.\.\. of 'y'"),
    ],
)
def test_clear_errors(measures, message):
    with pytest.raises((TypeError, ValueError), match=f"compare: .*{message}"):
        compare(measures)
