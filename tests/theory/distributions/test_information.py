import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.theory import information as oracle
from tests.theory.drawn import as_table, with_sets

from duramen.theory import CONTEXT, TARGET, FiniteDistribution
from duramen.theory.distributions.information import Partition

EXACT = 1e-12
CRITERIA = ["entropy", "gini", "variance"]


@pytest.fixture
def bits():
    """Y is X1 xor X2, X3 a copy of X1, the context is X2; all four rows equally probable."""
    X = [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]]
    return FiniteDistribution.from_table(
        X, [0, 1, 1, 0], context=[0, 1, 0, 1], names=["X1", "X2", "X3"]
    )


def test_known_informations(bits):
    assert bits.entropy() == 1.0
    assert bits.entropy(["X1", "X2", "X3", TARGET]) == 2.0
    assert bits.entropy("Y", ["X1", "X2"]) == 0.0
    assert bits.mutual_information("X1") == 0.0
    assert bits.mutual_information("X1", "X2") == 1.0
    assert bits.mutual_information(["X1", "X2"]) == 1.0
    assert bits.mutual_information(0, CONTEXT) == 1.0
    assert bits.mutual_information("X1", other="X3") == 1.0
    assert bits.multivariate_information("X1", "X2", "Y") == -1.0
    assert bits.multivariate_information("X1", "X2", "Y", given="X3") == 0.0
    assert bits.multivariate_information("X1") == 1.0


def test_a_fair_die_and_a_biased_coin():
    die = FiniteDistribution.from_table(np.arange(6)[:, np.newaxis], np.arange(6) % 2)
    assert die.entropy(0) == pytest.approx(np.log2(6), abs=EXACT)
    coin = FiniteDistribution.from_table([[0], [1]], [0, 1], weights=[1, 3])
    assert coin.entropy() == pytest.approx(2 - 0.75 * np.log2(3), abs=EXACT)
    assert coin.impurity(criterion="gini") == pytest.approx(0.375, abs=EXACT)
    assert coin.impurity(criterion="variance") == pytest.approx(0.1875, abs=EXACT)
    assert coin.impurity_decrease(0, criterion="variance") == pytest.approx(0.1875, abs=EXACT)


def test_variance_of_a_target_far_from_zero_keeps_its_digits():
    near = FiniteDistribution.from_table([[0], [0], [1], [1]], [0.0, 1.0, 2.0, 3.0])
    far = FiniteDistribution.from_table([[0], [0], [1], [1]], np.arange(4.0) + 1e12)
    assert near.impurity_decrease(0, criterion="variance") == 1.0
    assert far.impurity_decrease(0, criterion="variance") == 1.0
    assert far.impurity("x0", criterion="variance") == 0.25


# --- against the oracle ------------------------------------------------------------------------


@given(with_sets(2))
def test_entropy_against_oracle(case):
    dist, a, b = case
    expected = oracle.conditional_entropy(as_table(dist), a, b)
    assert dist.entropy(a, b) == pytest.approx(expected, abs=EXACT)


@given(with_sets(3))
def test_mutual_information_against_oracle(case):
    dist, a, b, c = case
    expected = oracle.information(as_table(dist), a, b, c)
    assert dist.mutual_information(a, c, other=b) == pytest.approx(expected, abs=EXACT)


@given(with_sets(4))
def test_multivariate_information_against_oracle(case):
    dist, *sets, condition = case
    expected = oracle.shared_information(as_table(dist), sets, condition)
    actual = dist.multivariate_information(*sets, given=condition)
    assert actual == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(case=with_sets(2))
def test_impurity_decrease_against_oracle(criterion, case):
    dist, a, b = case
    table = [({**row, "Y": float(dist.classes[row["Y"]])}, p) for row, p in as_table(dist)]
    expected = oracle.decrease(table, "Y", a, b, criterion)
    actual = dist.impurity_decrease(a, b, criterion=criterion)
    assert actual == pytest.approx(expected, abs=EXACT)
    before, after = (dist.impurity(c, criterion=criterion) for c in (b, [*b, *a]))
    assert actual == pytest.approx(before - after, abs=EXACT)


@given(with_sets(3))
def test_the_total_correlation_is_that_of_entropies(drawn):
    dist, a, c, b = drawn
    expected = dist.entropy(a, b) + dist.entropy(c, b) - dist.entropy([*a, *c], b)
    assert dist.total_correlation(a, c, given=b) == pytest.approx(expected, abs=1e-10)
    assert all(dist.total_correlation(variable) == 0 for variable in a)
    three = dist.total_correlation(a, c, b)
    sums = dist.entropy(a) + dist.entropy(c) + dist.entropy(b) - dist.entropy([*a, *c, *b])
    assert three == pytest.approx(sums, abs=1e-10)


# --- distributions -----------------------------------------------------------------------------


def test_independent_variables_have_no_information_in_common():
    X = [[a, b] for a in range(5) for b in range(7)]
    weights = [(a + 1) * (b + 2) for a, b in X]
    dist = FiniteDistribution.from_table(X, [b for _, b in X], weights=weights)
    assert dist.mutual_information(0) < 1e-15


# --- partitions --------------------------------------------------------------------------------


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=30))
def test_partition_numbers_cells_in_lexicographic_order(rows):
    columns = np.array(rows)
    result = Partition.by([(columns[:, j], 4) for j in range(4)], len(rows))
    place = {row: cell for cell, row in enumerate(sorted(set(rows)))}
    assert result.cell.tolist() == [place[row] for row in rows]
    assert result.n_cells == len(place)
    assert [rows[i] for i in result.first_rows()] == sorted(set(rows))
    assert [rows.index(rows[i]) for i in result.first_rows()] == result.first_rows().tolist()


def test_products_of_many_values_do_not_overflow():
    random = np.random.default_rng(0)
    n = 40
    X = np.column_stack([random.permutation(n) for _ in range(30)])  # 40**30 combinations
    X = np.vstack([X, X])
    dist = FiniteDistribution.from_table(X, np.arange(2 * n) % n)
    assert dist.n_rows == n
    assert dist.entropy(range(30)) == pytest.approx(np.log2(n), abs=EXACT)
    huge = Partition.by([(np.array([0, 2**32 - 1, 0, 5]), 2**32)] * 3, 4)
    assert huge.cell.tolist() == [0, 2, 0, 1]


# --- errors ------------------------------------------------------------------------------------


def test_clear_errors(bits):
    with pytest.raises(ValueError, match="criterion must be one of 'entropy', 'gini', 'variance'"):
        bits.impurity_decrease(0, criterion="mse")
    for of in (bits.total_correlation, bits.multivariate_information):
        with pytest.raises(ValueError, match="several variables or sets"):
            of()
        with pytest.raises(ValueError, match=rf"{of.__name__}: .* got \[\['X1', 'X2'\]\]"):
            of(["X1", "X2"])
    words = FiniteDistribution.from_table([[0], [1]], ["no", "yes"])
    with pytest.raises(ValueError, match="needs a numeric target, but Y has values such as 'no'"):
        words.impurity(criterion="variance")
