"""Directivity and transfer entropy."""

import numpy as np
import pytest
from scipy import sparse
from tests.networks.connectome.cultures import bursting
from tests.oracles import connectome as oracle

from duramen.networks import connectome as dc

# --- directivity ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_precedence_equals_the_oracle(monkeypatch, n_jobs):
    monkeypatch.setattr("duramen.networks.connectome.direction._PAIRS", 40)
    x = oracle.processed(bursting(p=8), "f2", 0.12, exponent=0.9, weighting="none")
    expected = oracle.precedence(x)
    assert expected.any()
    np.testing.assert_array_equal(dc.precedence(x, n_jobs=n_jobs), expected)
    np.testing.assert_array_equal(dc.precedence(sparse.csr_array(x)), expected)


def test_precedence_of_frames_made_by_hand():
    x = np.zeros((5, 3))
    x[1, 0], x[2, 1], x[3, 2] = 0.1, 0.4, 0.2  # the last difference is -.2
    # Neuron 1 rises by .3 above 0, and by .4 above 2 in the frame before; 2 never by more than .2.
    assert dc.precedence(x).tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]


def test_bounds_are_open():
    x = np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 0.25], [0.0, 0.0]])
    assert dc.precedence(x, low=0.25, high=0.5)[0, 1] == 0
    assert dc.precedence(x, low=0.2, high=0.6)[0, 1] == 2


def test_directed_formulas():
    p = np.array([[0, 0.4, 0.1], [0.4, 0, -0.1], [0.1, -0.1, 0]])
    s = np.array([[0, 9, 3], [5, 0, 4], [3, 2, 0]])
    actual = dc.directed(p, s)
    z = s - s.T
    for i, j in ((0, 1), (1, 0), (0, 2), (2, 1)):
        expected = 0.997 * (p[i, j] + 0.1) / 0.5 + 0.003 * (z[i, j] + 4) / 8
        assert actual[i, j] == pytest.approx(expected)
    assert not np.diag(actual).any()
    masked = dc.directed(p, s, rule="masked", excess=1)
    np.testing.assert_array_equal(masked, [[0, 0.4, 0], [0, 0, -0.1], [0, 0, 0]])


def test_directed_keeps_the_order_of_clearly_different_weights():
    rng = np.random.default_rng(0)
    p = rng.permutation(20 * 19 // 2) * 1.0
    weights = np.zeros((20, 20))
    weights[np.triu_indices(20, 1)] = p
    weights += weights.T
    result = dc.directed(weights, rng.integers(0, 50, (20, 20)))
    both = np.maximum(result, result.T)[np.triu_indices(20, 1)]
    np.testing.assert_array_equal(np.argsort(both), np.argsort(p))


# --- transfer entropy ----------------------------------------------------------------------


def test_a_repeated_coin_transfers_one_bit_one_way():
    source = np.random.default_rng(0).integers(0, 2, 100_000)
    target = np.concatenate([[0], source[:-1]])
    result = dc.transfer_entropy(np.column_stack([source, target]))
    assert result[0, 1] == pytest.approx(1, abs=1e-3)
    assert result[1, 0] == pytest.approx(0, abs=1e-3)


def test_an_unbiased_coin_transfers_nothing():
    coins = np.random.default_rng(0).integers(0, 2, (50_000, 2))
    # Plug-in estimates are above 0 by about 12 degrees of freedom / (2 T log 2).
    assert dc.transfer_entropy(coins).max() < 3e-3


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("same_frame", [True, False])
@pytest.mark.parametrize("n_states", [2, 3])
def test_transfer_entropy_equals_the_oracle(monkeypatch, order, same_frame, n_states):
    monkeypatch.setattr("duramen.networks.connectome.direction._COLUMNS", 3)
    rng = np.random.default_rng(1)
    states = rng.choice(n_states, (400, 4), p=[0.7, 0.3] if n_states == 2 else [0.2, 0.7, 0.1])
    states[1:, 3] = (states[:-1, 0] + states[1:, 3] * (rng.random(399) < 0.3)) % n_states
    frames = rng.random(400) < 0.8
    actual = dc.transfer_entropy(
        states, order=order, same_frame=same_frame, frames=frames, n_jobs=2
    )
    for j in range(4):
        for i in range(4):
            if i == j:
                assert actual[j, i] == 0
                continue
            expected = oracle.transfer_entropy(
                states[:, j], states[:, i], order, same_frame, frames
            )
            assert actual[j, i] == pytest.approx(expected, abs=1e-10)


def test_silence_transfers_nothing():
    assert not dc.generalized_transfer_entropy(np.full((50, 4), 0.1)).any()
    states = np.zeros((50, 2), dtype=int)
    states[7, 0] = 1  # in a frame that is not kept, and whose followers are not
    assert not dc.transfer_entropy(states, frames=np.arange(50) > 20).any()


def test_generalized_transfer_entropy_is_that_of_the_rises_in_quiet_frames():
    x = bursting(p=5)
    actual = dc.generalized_transfer_entropy(x, threshold=0.3)
    states = (oracle.difference(x) >= 0.12).astype(int)
    quiet = x.mean(axis=1) < 0.3
    assert 0 < quiet.sum() < len(x)
    for j, i in ((0, 1), (1, 0), (3, 4)):
        expected = oracle.transfer_entropy(states[:, j], states[:, i], counted=quiet)
        assert actual[j, i] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: dc.precedence(-np.ones((3, 2))),
            "precedence: signal must be without negative values",
        ),
        (lambda: dc.precedence(np.ones((3, 2)), low=0.5, high=0.2), "precedence: high must be"),
        (lambda: dc.directed(np.eye(3), np.eye(2)), "directed: counts must be of the shape"),
        (lambda: dc.directed(np.eye(3), np.eye(3), rule="up"), "directed: rule must be one of"),
        (lambda: dc.transfer_entropy(np.ones((9, 2)) / 2), "states must be integers >= 0"),
        (lambda: dc.transfer_entropy(np.full((9, 2), 20)), "states must be at most 4096"),
        (
            lambda: dc.transfer_entropy(np.eye(9, dtype=int), frames=np.zeros(9, bool)),
            "transfer_entropy: no frame is kept",
        ),
        (
            lambda: dc.generalized_transfer_entropy(np.ones((9, 2)), edges=[1, 0]),
            "edges must be at least 3 ascending numbers",
        ),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
