import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles.theory import information as oracle
from tests.theory.drawn import as_table

from duramen.theory import CONTEXT, examples

DIGITS = [0.4127, 0.5815, 0.5312, 0.5421, 0.6566, 0.2258, 0.3720]


def importances(dist):
    """From the definition, in code of the tests alone."""
    return oracle.importances(as_table(dist), dist.target_name, list(dist.names))


def test_splitting_the_first_segment_in_four_tells_no_more():
    digits = examples.digits7(first_in_four=True)
    assert digits.n_rows == 20
    assert digits.cardinalities.tolist() == [4, 2, 2, 2, 2, 2, 2]
    np.testing.assert_allclose(importances(digits), DIGITS, atol=5e-5)
    joint = digits.probabilities(["X1", "X7"])
    np.testing.assert_allclose(joint.sum(axis=1), [0.1, 0.1, 0.4, 0.4], atol=1e-15)


@one_test
@pytest.mark.parametrize(
    "dist, expected",
    [
        (examples.noisy_copy(), [0.262, 0.262, 0.476]),
        (examples.example_5_1(), [0.323, 0.323, 0.354]),
        (examples.example_5_1(alpha=1.0), [1 / 6, 1 / 6, 2 / 3]),
        (examples.example_5_1(alpha=0.0), [0.5, 0.5, 0.0]),
        (examples.example_5_2(), [0.459, 0.459]),
        (examples.correlated_xor(), [2 / 3, 1 / 6, 0.0, 1 / 6, 0.0]),
        (examples.clique(4), [0.25] * 4),
    ],
)
def test_known_importances(dist, expected):
    np.testing.assert_allclose(importances(dist), expected, atol=5e-4)


def test_the_better_feature_of_an_imbalanced_xor_is_the_fair_one():
    dist = examples.imbalanced_xor(0.4)
    alone = [dist.mutual_information(m) for m in (0, 1)]
    assert alone[0] == pytest.approx(1 - dist.entropy("X2"), abs=1e-12)
    assert alone[0] > 0.02
    assert alone[1] == 0.0


# --- with a context ----------------------------------------------------------------------------


def test_problem_1_has_the_rows_and_importances_of_the_thesis():
    dist = examples.problem_1()
    assert dist.n_rows == 16
    assert dist.entropy("Y", ["X1", "X2", "X3", CONTEXT]) == 0.0
    assert importances(dist) == pytest.approx([1.0, 0.125, 0.125], abs=1e-12)
    expected = {0: [1.0, 0.5, 0.0], 1: [1.0, 0.0, 0.5]}
    for c in (0, 1):
        within = dist.conditioned({CONTEXT: c})
        assert importances(within) == pytest.approx(expected[c], abs=1e-12)


def test_problem_2_is_digits_with_three_segments_out_of_order_in_one_context():
    dist = examples.problem_2()
    assert dist.n_rows == 20 + 160
    within = [dist.conditioned({CONTEXT: c}) for c in (0, 1)]
    plain = within[0].marginal([f"X{m}" for m in range(1, 8)])
    assert plain.equals(examples.digits7(), atol=1e-15)
    for noise in ("X5", "X6", "X7", "X8"):
        others = [name for name in dist.names if name != noise]
        assert within[1].mutual_information(noise, other=["Y", *others]) < 1e-12
    assert dist.mutual_information("X8", dist.names[:7]) < 1e-12


@pytest.mark.slow
def test_problem_2_has_the_importances_of_the_thesis():
    dist = examples.problem_2()
    expected = [0.5727, 0.7514, 0.5528, 0.687, 0.1746, 0.0753, 0.1073, 0.0]
    np.testing.assert_allclose(importances(dist), expected, atol=5e-5)
    within = dist.conditioned({CONTEXT: 1})
    expected = [0.6243, 0.8057, 0.5577, 0.7343, 0.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(importances(within), expected, atol=5e-5)


@pytest.mark.parametrize("example", [examples.clique, examples.chain])
def test_clear_errors(example):
    with pytest.raises(ValueError, match=f"{example.__name__}: r must be at least 1, got 0"):
        example(0)


def test_simpson_reverses_within_both_groups():
    dist = examples.simpson()
    joint = dist.probabilities(["X1", "X2", "Y"])
    overall = joint.sum(axis=1)[:, 1] / joint.sum(axis=(1, 2))
    within = joint[..., 1] / joint.sum(axis=2)
    assert overall[1] > overall[0]
    assert (within[1] < within[0]).all()


def test_correlation_and_redundancy_are_different_notions():
    for redundant, correlation in ((False, 10 / 11), (True, 0.7529)):
        dist = examples.correlated_pair(redundant=redundant)
        x, z = (np.asarray(dist.labels[j])[dist.codes[:, j]].astype(float) for j in (0, 1))
        cov = np.cov(x, z, aweights=dist.weights, ddof=0)
        result = cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])
        assert result == pytest.approx(correlation, abs=1e-4)
        assert dist.mutual_information(["X1", "X2"]) == pytest.approx(1)
        alone = 1.0 if redundant else 0.125
        assert dist.mutual_information("X1") == pytest.approx(alone)
    with pytest.raises(ValueError, match="at least 2"):
        examples.correlated_pair(1)
