"""Exact draws and knockoffs of a Markov chain, against its joint probabilities."""

import itertools

import numpy as np
import pytest

from duramen.significance import MarkovChain

INITIAL = np.array([0.5, 0.3, 0.2])
TRANSITIONS = np.array(
    [
        [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]],
        [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.0, 0.1, 0.9]],
    ]
)


def drawn_rows(n, random):
    """Draw rows of the chain, state by state."""
    rows = np.empty((n, 3), dtype=int)
    rows[:, 0] = random.choice(3, n, p=INITIAL)
    for j in (1, 2):
        for state in range(3):
            here = rows[:, j - 1] == state
            rows[here, j] = random.choice(3, here.sum(), p=TRANSITIONS[j - 1, state])
    return rows


def joint_of_knockoffs(n, random):
    """Return the frequencies of rows and their knockoffs, an array of 6 axes."""
    rows = drawn_rows(n, random)
    both = np.hstack([rows, MarkovChain(rows, INITIAL, TRANSITIONS).knockoffs(random)])
    counts = np.bincount(np.ravel_multi_index(both.T, (3,) * 6), minlength=3**6)
    return counts.reshape((3,) * 6) / n


@pytest.mark.slow
def test_swapped_columns_and_knockoffs_have_the_same_distribution():
    """Total variation of .01, with 4 million rows: about .006 is by chance (independent: .3)."""
    random = np.random.default_rng(0)
    frequencies = np.mean([joint_of_knockoffs(1_000_000, random) for _ in range(4)], axis=0)
    for size in (1, 2, 3):
        for chosen in itertools.combinations(range(3), size):
            axes = np.arange(6)
            for j in chosen:
                axes[[j, j + 3]] = j + 3, j
            distance = np.abs(frequencies - frequencies.transpose(axes)).sum() / 2
            assert distance < 0.01, chosen


def test_knockoffs_have_the_probabilities_of_their_columns():
    frequencies = joint_of_knockoffs(200_000, np.random.default_rng(1))
    pairs = frequencies.sum(axis=(0, 1, 2))
    second = INITIAL @ TRANSITIONS[0]
    np.testing.assert_allclose(pairs.sum(axis=(1, 2)), INITIAL, atol=0.01)
    np.testing.assert_allclose(pairs.sum(axis=0), second[:, None] * TRANSITIONS[1], atol=0.01)


def test_a_column_is_drawn_given_its_neighbors():
    random = np.random.default_rng(2)
    rows = np.tile([0, 1, 2], (50_000, 1))
    drawn = MarkovChain(rows, INITIAL, TRANSITIONS).sample(1, random)
    weights = TRANSITIONS[0, 0] * TRANSITIONS[1, :, 2]
    np.testing.assert_allclose(np.bincount(drawn) / len(drawn), weights / weights.sum(), atol=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 3]], INITIAL, TRANSITIONS[0]), "rows must be a table of whole numbers from 0 to 2"),
        (([[0, 1]], [0.5, 0.2], TRANSITIONS[0]), "initial must be probabilities"),
        (([[0, 1]], INITIAL, np.eye(2)), "transitions must have shape"),
        (([[0, 1, 0], [0, 0, 2]], INITIAL, TRANSITIONS), "row 1 of rows has probability 0"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        MarkovChain(*arguments)
