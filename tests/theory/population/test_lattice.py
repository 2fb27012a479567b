"""The walk over the lattice of subsets, against the literal double sum."""

import math
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import population as oracle
from tests.theory.tables import distribution, random_rows, tables

from duramen.theory import FiniteDistribution
from duramen.theory.population import lattice, lattice_cost
from duramen.theory.population.lattice import lattice_importances, multiplicities

CRITERIA = ("entropy", "gini", "variance")


def bits(n, p, *, seed=0, sizes=2, n_classes=2, weights=None):
    random = np.random.default_rng(seed)
    X = random.integers(0, sizes, (n, p))
    y = random.integers(0, n_classes, n)
    return FiniteDistribution.from_table(X, y, weights=weights)


def brute(rows, criterion="entropy"):
    return np.array(oracle.importances(rows, len(rows[0][0]), criterion))


# --- against the definition ----------------------------------------------------------------------


@given(rows=tables(), criterion=st.sampled_from(CRITERIA), data=st.data())
@settings(max_examples=40)
def test_against_the_double_sum(rows, criterion, data):
    expected = brute(rows, criterion)
    p = len(expected)
    dist = distribution(rows)
    np.testing.assert_allclose(
        lattice_importances(dist, criterion=criterion), expected, rtol=0, atol=1e-12
    )
    depth = data.draw(st.integers(1, p))
    bounded = lattice_importances(dist, criterion=criterion, max_depth=depth)
    np.testing.assert_allclose(bounded, expected[:, :depth], rtol=0, atol=1e-12)


@given(rows=tables(most=4), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=30)
def test_against_the_mean_over_orders(rows, criterion):
    expected = oracle.importance_by_order(rows, len(rows[0][0]), criterion)
    actual = lattice_importances(distribution(rows), criterion=criterion)
    np.testing.assert_allclose(actual.sum(axis=1), expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "n, p, sizes, n_classes",
    [
        (3, 8, 2, 2),  # pairs and threes
        (60, 6, [2, 3, 1, 5, 2, 9], 3),  # cells of one word
        (65, 5, 2, 2),
        (128, 5, 3, 5),
        (400, 5, [2, 7, 2, 40, 3], 4),  # many words, planes and classes
        (1500, 3, [20, 3, 2], 300),  # pairs not set aside; most rows a class of their own
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_one_word_and_of_many(criterion, n, p, sizes, n_classes, weighted):
    random = np.random.default_rng(n)
    rows = random_rows(random, n, p, sizes, n_classes)
    if weighted:
        rows = [(x, y, float(random.uniform(0.1, 1.0))) for x, y, _ in rows]
    expected = brute(rows, criterion)
    actual = lattice_importances(distribution(rows), criterion=criterion)
    scale = expected.sum() if criterion == "variance" else 1.0
    np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=1e-12)


@one_test
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_more_features_than_bits_in_a_word(depth):
    rows = random_rows(np.random.default_rng(5), 20, 70)
    actual = lattice_importances(distribution(rows), max_depth=depth)
    assert actual.shape == (70, depth)
    for m in (0, 63, 64, 69):
        others = [j for j in range(70) if j != m]
        for k in range(min(depth, 2)):
            sets = [()] if k == 0 else [(j,) for j in others]
            total = sum(oracle.decrease(rows, m, B, oracle.entropy) for B in sets)
            expected = total / math.comb(70, k) / (70 - k)
            assert actual[m, k] == pytest.approx(expected, abs=1e-14)


def test_two_to_the_hundredth_subsets():
    """Checked by the total, and by the terms of the smallest and largest sets."""
    rows = random_rows(np.random.default_rng(3), 8, 100)
    dist = distribution(rows)
    result = lattice_importances(dist)
    assert result.sum() == pytest.approx(dist.entropy(), abs=1e-12)
    alone = [oracle.decrease(rows, m, (), oracle.entropy) / 100 for m in range(100)]
    np.testing.assert_allclose(result[:, 0], alone, rtol=0, atol=1e-15)
    others = list(range(99))
    np.testing.assert_allclose(
        result[99, 99], oracle.decrease(rows, 99, others, oracle.entropy) / 100, atol=1e-15
    )


# --- what must hold ------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n, p", [(132, 14), (700, 9), (3000, 6)])
@pytest.mark.parametrize("weighted", [False, True])
def test_row_column_and_total_sums(criterion, n, p, weighted):
    random = np.random.default_rng(n)
    weights = random.uniform(0.1, 1.0, n) if weighted else None
    dist = bits(n, p, seed=n, sizes=3, n_classes=3, weights=weights)
    result = lattice_importances(dist, criterion=criterion)
    whole = dist.impurity_decrease(range(p), criterion=criterion)
    assert result.sum() == pytest.approx(whole, abs=1e-12)
    first = [dist.impurity_decrease(m, criterion=criterion) / p for m in range(p)]
    np.testing.assert_allclose(result[:, 0], first, rtol=0, atol=1e-12)
    last = [
        dist.impurity_decrease(m, [j for j in range(p) if j != m], criterion=criterion) / p
        for m in range(p)
    ]
    np.testing.assert_allclose(result[:, -1], last, rtol=0, atol=1e-12)


@given(rows=tables(), criterion=st.sampled_from(CRITERIA), data=st.data())
@settings(max_examples=40)
def test_values_and_order_do_not_matter(rows, criterion, data):
    p = len(rows[0][0])
    order = data.draw(st.permutations(range(p)))
    shuffled = data.draw(st.permutations(rows))
    other = [(tuple(7 - x[j] for j in order), y, w) for x, y, w in shuffled]
    here = lattice_importances(distribution(rows), criterion=criterion)
    there = lattice_importances(distribution(other), criterion=criterion)
    np.testing.assert_allclose(there, here[order], rtol=0, atol=1e-13)


@given(rows=tables(weights=("equal", "whole")), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=40)
def test_equal_rows_and_weights_give_the_same(rows, criterion):
    dist = distribution(rows)
    counted = lattice_importances(dist, criterion=criterion)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "multiplicities", lambda weights: None)
        weighted = lattice_importances(dist, criterion=criterion)
    np.testing.assert_allclose(counted, weighted, rtol=0, atol=1e-13)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=20))
@settings(max_examples=40)
def test_multiplicities_are_recovered(counts):
    wanted = np.array(counts) // math.gcd(*counts)
    result = multiplicities(np.array(counts) / sum(counts))
    if wanted.sum() > 4 * len(counts):
        assert result is None
    else:
        np.testing.assert_array_equal(result, wanted)


@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n, p, depth", [(150, 12, None), (300, 30, 3)])
def test_threads_change_no_bit(criterion, weighted, n, p, depth):
    weights = np.random.default_rng(1).uniform(0.5, 1.0, n) if weighted else None
    dist = bits(n, p, n_classes=3, weights=weights)
    results = [
        lattice_importances(dist, criterion=criterion, max_depth=depth, n_jobs=jobs).tobytes()
        for jobs in (1, 2, 3, -1)
    ]
    assert len(set(results)) == 1


@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weighted", [False, True])
def test_builds_give_the_same_bits(both_kernels, use_build, criterion, weighted):
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 200) if weighted else None
    dist = bits(200, 9, sizes=3, n_classes=4, weights=weights)
    results = []
    for build in both_kernels:
        use_build(build)
        results.append(lattice_importances(dist, criterion=criterion).tobytes())
    assert results[0] == results[1]


def test_nothing_to_tell():
    constant = FiniteDistribution.from_table(np.zeros((5, 3)), [0, 1, 0, 1, 1])
    assert lattice_importances(constant).tolist() == [[0.0] * 3] * 3
    settled = FiniteDistribution.from_table(np.arange(6).reshape(6, 1), [1] * 6)
    assert lattice_importances(settled).tolist() == [[0.0]]
    empty = FiniteDistribution.from_table(np.zeros((4, 0)), [0, 1, 1, 1])
    assert lattice_importances(empty).shape == (0, 0)


# --- long calls ----------------------------------------------------------------------------------


def test_control_c_stops_the_walk():
    dist = bits(500, 40)
    timer = threading.Timer(0.4, signal.raise_signal, [signal.SIGINT])
    start = time.process_time()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        lattice_importances(dist, n_jobs=2, max_hours=None)
    assert time.process_time() - start < 2


def test_an_error_of_progress_stops_the_walk():
    def progress(fraction):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lattice_importances(bits(500, 40), progress=progress, max_hours=None)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(
    "dist, depth",
    [(bits(400, 19), None), (bits(400, 60, sizes=3), 4), (bits(132, 26, n_classes=20), None)],
)
def test_the_estimate_is_of_the_right_order(dist, depth):
    # Other processes make the clock run on: the smallest of several estimates is the truest.
    cost = min((lattice_cost(dist, depth) for _ in range(5)), key=lambda cost_of: cost_of.seconds)
    start = time.process_time()
    lattice_importances(dist, max_depth=depth)
    taken = time.process_time() - start
    assert taken / 5 < cost.seconds < 5 * taken
    assert sum(cost.by_size) == pytest.approx(cost.seconds)


def test_what_is_hopeless_is_refused_with_a_way_out():
    dist = bits(400, 80)
    start = time.process_time()
    with pytest.raises(ValueError, match=r"2\^80 subsets, about .* more than max_hours=6") as error:
        lattice_importances(dist)
    assert time.process_time() - start < 3
    depth = int(str(error.value).split("max_depth=")[1].split()[0])
    assert lattice_cost(dist, depth).seconds < 900
    with pytest.raises(ValueError, match="more than max_hours=1e-05"):
        lattice_importances(bits(400, 20), max_hours=1e-5)


@one_test
@pytest.mark.parametrize("shift, scale", [(1e9, 1.0), (0.0, 1e-140), (-5.0, 1e140)])
def test_variance_keeps_its_digits_whatever_the_numbers(shift, scale):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (60, 5)), random.integers(0, 8, 60)
    plain = lattice_importances(FiniteDistribution.from_table(X, y), criterion="variance")
    moved = FiniteDistribution.from_table(X, (y + shift) * scale)
    result = lattice_importances(moved, criterion="variance")
    np.testing.assert_allclose(result / scale**2, plain, rtol=0, atol=1e-12 * plain.sum())


def test_variance_of_endless_numbers_is_refused():
    dist = FiniteDistribution.from_table([[0], [1]], [1e308, -1e308])
    with pytest.raises(ValueError, match=r"Y must hold numbers up to 1e\+150 .* the variance is"):
        lattice_importances(dist, criterion="variance")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
def test_memory_stays_small():
    """The walk takes memory for the table times the depth, not for the subsets."""
    code = (
        "import numpy as np, resource\n"
        "from duramen.theory import FiniteDistribution\n"
        "from duramen.theory.population.lattice import lattice_importances\n"
        "random = np.random.default_rng(0)\n"
        "def table(p): return FiniteDistribution.from_table(\n"
        "    random.integers(0, 2, (300, p)), random.integers(0, 2, 300))\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "lattice_importances(table(8))\n"
        "before = peak()\n"
        "lattice_importances(table(20))\n"
        "print(peak() - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kilobytes = int(run.stdout) // (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 20_000
