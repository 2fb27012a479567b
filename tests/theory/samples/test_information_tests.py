import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.theory.samples import (
    degrees_of_freedom,
    expected_information,
    information_p_value,
    information_threshold,
    miller_madow,
    node_test,
)


def plug_in(xs, ys):
    """Information of two lists in nats, the slow way."""
    n = len(xs)
    x, y, xy = Counter(xs), Counter(ys), Counter(zip(xs, ys, strict=True))
    return sum(k / n * math.log(k * n / (x[a] * y[b])) for (a, b), k in xy.items())


def spread(counts):
    """Two lists that have these counts."""
    pairs = [(a, b) for a, row in enumerate(counts) for b, k in enumerate(row) for _ in range(k)]
    return [a for a, _ in pairs], [b for _, b in pairs]


tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 12), min_size=width, max_size=width), min_size=1, max_size=4
    )
).filter(lambda rows: sum(map(sum, rows)) > 0)  # fmt: skip


# --- the distribution of plug-in information ------------------------------------------------------


def mean_plug_in(n_rows, x, y):
    """Exact mean over all samples of independent variables: each count of a table is binomial."""

    def mean_n_log_n(chance):
        n = np.arange(1, n_rows + 1)
        return float(scipy.stats.binom.pmf(n, n_rows, chance) @ (n * np.log(n)))

    cells = sum(mean_n_log_n(a * b) for a in x for b in y)
    margins = sum(mean_n_log_n(a) for a in (*x, *y))
    return (cells - margins + n_rows * math.log(n_rows)) / n_rows


@one_test
@pytest.mark.parametrize(
    "x, y", [((0.5, 0.5), (0.5, 0.5)), ((0.2, 0.3, 0.5), (0.6, 0.4)), ((0.9, 0.1), (0.25,) * 4)]
)
def test_mean_is_exact_to_the_order_of_the_rows(x, y):
    rows = np.array([500, 1000, 2000, 4000])
    formula = [expected_information(int(n), len(x), len(y)) * math.log(2) for n in rows]
    errors = np.array([mean_plug_in(n, x, y) for n in rows]) / formula - 1
    # What is left of the relative error falls as 1/N.
    assert np.all(np.abs(errors) < 10 / rows)
    np.testing.assert_allclose(errors[:-1] / errors[1:], 2.0, rtol=0.2)


def null_samples(n_samples, n_rows, n_values, n_classes, n_conditions, seed):
    """Tables of counts of independent variables, axes sample, Z, X, Y."""
    random = np.random.default_rng(seed)
    z = random.dirichlet(np.full(n_conditions, 20.0))
    x = random.dirichlet(np.full(n_values, 20.0))
    y = random.dirichlet(np.full(n_classes, 20.0))
    joint = np.einsum("i,j,k->ijk", z, x, y)
    counts = random.multinomial(n_rows, joint.ravel(), size=n_samples)
    return counts.reshape(n_samples, *joint.shape)


@one_test
@pytest.mark.parametrize("shape", [(2, 2, 1), (3, 4, 1), (3, 2, 5)])
def test_distribution_of_samples(shape):
    n_rows, n_samples = 3000, 1500
    tests = [node_test(counts) for counts in null_samples(n_samples, n_rows, *shape, seed=1)]
    information = np.array([test.information for test in tests])
    error = information.std() / np.sqrt(n_samples)
    assert abs(information.mean() - expected_information(n_rows, *shape)) < 4 * error
    p_values = information_p_value(information, n_rows, *shape)
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 1e-3
    np.testing.assert_allclose([test.p_value for test in tests], p_values, rtol=1e-6)
    threshold = information_threshold(0.1, n_rows, *shape)
    assert np.mean(information > threshold) == pytest.approx(0.1, abs=4 * 0.3 / n_samples**0.5)


def test_known_bias():
    assert expected_information(100, 3, 4) == pytest.approx(6 / (200 * math.log(2)))
    assert expected_information(100, 3, 4, 5) == pytest.approx(30 / (200 * math.log(2)))
    assert degrees_of_freedom(3, 4, 5) == 30
    assert degrees_of_freedom(1, 4) == 0


@given(st.floats(1e-6, 0.9), st.integers(10, 10**6), st.integers(1, 50))
def test_threshold_inverts_the_p_value(level, n_rows, K):
    setting = {"n_values": 4, "n_classes": 3, "n_candidates": K}
    bits = information_threshold(level, n_rows, **setting)
    assert information_p_value(bits, n_rows, **setting) == pytest.approx(level, rel=1e-8)


def test_best_of_many_candidates_keeps_the_level():
    n_rows, K, n_nodes = 1000, 10, 400
    rejected = 0
    samples = null_samples(K * n_nodes, n_rows, 3, 2, 1, seed=5)
    for node in samples.reshape(n_nodes, K, 1, 3, 2):
        best = min((node_test(counts, n_candidates=K) for counts in node), key=lambda t: t.p_value)
        rejected += best.p_value <= 0.1
    assert 0.04 < rejected / n_nodes < 0.15


# --- tables of counts -----------------------------------------------------------------------------


@given(st.lists(tables, min_size=1, max_size=3))
@settings(max_examples=100)
def test_node_against_lists_and_scipy(parts):
    shape = np.max([np.shape(part) for part in parts], axis=0)
    counts = np.zeros((len(parts), *shape), dtype=int)
    for cell, part in zip(counts, parts, strict=True):
        cell[: len(part), : len(part[0])] = part
    n = counts.sum()
    nats = sum(plug_in(*spread(cell.tolist())) * cell.sum() for cell in counts) / n
    statistic, freedom = 0.0, 0
    for cell in counts:
        used = cell[cell.any(axis=1)][:, cell.any(axis=0)]
        g = scipy.stats.chi2_contingency(used, correction=False, lambda_="log-likelihood")
        statistic, freedom = statistic + g.statistic, freedom + g.dof
    result = node_test(counts if len(counts) > 1 else counts[0])
    assert result.information == pytest.approx(nats / math.log(2), abs=1e-12)
    assert result.n_rows == n
    assert result.freedom == freedom
    assert 2 * n * math.log(2) * result.information == pytest.approx(statistic, abs=1e-9)
    p_value = scipy.stats.chi2.sf(statistic, freedom) if freedom else 1.0
    assert result.p_value == pytest.approx(p_value, rel=1e-8)
    assert result.expected == pytest.approx(freedom / (2 * n * math.log(2)))
    assert result.corrected == pytest.approx(result.information - result.expected)
    many = node_test(counts, n_candidates=7)
    assert many.p_value == min(1.0, 7 * result.p_value)


# --- errors ---------------------------------------------------------------------------------------


@given(tables)
def test_miller_madow_against_lists(counts):
    xs, ys = spread(counts)
    cells, values, classes = len(set(zip(xs, ys, strict=True))), len(set(xs)), len(set(ys))
    expected = plug_in(xs, ys) - (cells - values - classes + 1) / (2 * len(xs))
    assert miller_madow(counts) == pytest.approx(expected / math.log(2), abs=1e-12)


def test_miller_madow_is_centred():
    values = [miller_madow(counts[0]) for counts in null_samples(3000, 500, 3, 4, 1, seed=2)]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(3000)


@one_test
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: expected_information(0, 2, 2), "expected_information: n_rows must be an int >= 1"),
        (lambda: information_p_value(np.nan, 5, 2, 2), "information must be finite numbers"),
        (lambda: information_p_value(0.1, 0, 2, 2), "n_rows must be at least 1"),
        (lambda: node_test([1, 2]), "node_test: counts must be numbers with axes"),
        (lambda: node_test([["a", "b"]]), "counts must be numbers"),
        (lambda: node_test([[0.5, 1]]), "counts must be whole numbers >= 0.*not fractions"),
        (lambda: node_test([[-1, 1]]), "counts must be whole"),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
