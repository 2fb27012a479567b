"""Importances on the data and under permuted labels: checks, threshold, table, files."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test

import duramen as dm
from duramen.results.importances import NULL, PermutedImportances

OBSERVED = dm.Importances(("a", "b", "c"), [0.4, 0.1, 0.2], "mdi", "bits", standard_error=[1, 2, 3])
PERMUTED = np.array([[0.1, 0.2, 0.0], [0.3, 0.1, 0.0]])


def made(**changes):
    return PermutedImportances(**{"importances": OBSERVED, "permuted": PERMUTED, **changes})


def test_fields_are_read_only_and_of_the_right_shapes():
    result = made(marginal=np.arange(9.0).reshape(3, 3), restrictions=" Within strata.")
    assert result.names == ("a", "b", "c")
    assert result.null == NULL + " Within strata."
    np.testing.assert_array_equal(result.maxima, [0.2, 0.3])
    for array in (result.permuted, result.marginal):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@one_test
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"importances": PERMUTED}, TypeError, "importances must be Importances, got ndarray"),
        ({"permuted": PERMUTED[:, :2]}, ValueError, r"permuted must have shape .*, got \(2, 2\)"),
        ({"permuted": PERMUTED[:0]}, ValueError, "permuted must have a row for each permutation"),
        ({"permuted": PERMUTED * np.nan}, ValueError, "permuted must be finite"),
        ({"marginal": PERMUTED}, ValueError, r"marginal must have shape \(3, 3\), got \(2, 3\)"),
        ({"notes": (1,)}, TypeError, "notes"),
        ({"metadata": {"seed": {1}}}, ValueError, "metadata must be valid JSON"),
    ],
)
def test_wrong_fields_are_refused(changes, error, message):
    with pytest.raises(error, match=f"PermutedImportances: {message}"):
        made(**changes)


@given(
    seed=st.integers(0, 10**6),
    draws=st.integers(1, 40),
    alpha=st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5]),
)
@settings(max_examples=100)
def test_what_is_above_the_threshold_has_a_small_p_value_among_the_maxima(seed, draws, alpha):
    random = np.random.default_rng(seed)
    permuted = random.integers(0, 8, (draws, 3)).astype(float)  # with ties
    result = made(permuted=permuted)
    for value in np.arange(-0.5, 9.0, 0.5):
        reached = sum(max(row) >= value for row in permuted.tolist())
        significant = 20 * (1 + reached) <= round(20 * alpha) * (draws + 1)
        assert (value > result.threshold(alpha)) == significant


def test_too_few_permutations_have_no_threshold():
    assert made().threshold() == math.inf
    with pytest.raises(ValueError, match=r"PermutedImportances\.threshold: alpha must be"):
        made().threshold(1)
