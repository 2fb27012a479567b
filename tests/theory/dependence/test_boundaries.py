import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from tests.theory.dependences import counted, distribution_of, joints, named, oracle_of

from duramen.theory import FiniteDistribution, markov_boundaries, properties
from duramen.theory.dependence import (
    all_relevant,
    minimal_optimal,
    relevant_features,
    strongly_relevant,
)
from duramen.theory.dependence.relevant_features import smallest_boundary


def test_copies_give_a_boundary_each() -> None:
    # X1, X3 and X4 tell the same; X5 is noise; Y = X1 xor X2.
    dist = distribution_of(
        counted(
            [
                lambda a, b, c: a,
                lambda a, b, c: b,
                lambda a, b, c: 1 - a,
                lambda a, b, c: a + 3,
                lambda a, b, c: c,
                lambda a, b, c: a ^ b,
            ],
            bits=3,
        )
    )
    assert markov_boundaries(dist) == [("X1", "X2"), ("X2", "X3"), ("X2", "X4")]
    assert set.intersection(*map(set, markov_boundaries(dist))) == set(strongly_relevant(dist))


def test_boundaries_of_different_sizes() -> None:
    # X3 holds both bits of Y at once, X1 and X2 one each.
    dist = distribution_of(
        counted(
            [lambda a, b: a, lambda a, b: b, lambda a, b: a + 2 * b, lambda a, b: a + 2 * b], bits=2
        )
    )
    assert markov_boundaries(dist) == [("X3",), ("X1", "X2")]
    assert minimal_optimal(dist) == [("X3",)]


def test_three_bits_any_two_of_which_tell_the_third() -> None:
    dist = distribution_of(
        counted(
            [lambda a, b: a, lambda a, b: b, lambda a, b: a ^ b, lambda a, b: a + 2 * b], bits=2
        )
    )
    assert markov_boundaries(dist) == [("X1", "X2"), ("X1", "X3"), ("X2", "X3")]
    assert minimal_optimal(dist) == markov_boundaries(dist)


def test_nothing_relevant_has_the_empty_boundary() -> None:
    dist = FiniteDistribution.from_table([[0, 1], [1, 1], [0, 0]], [7, 7, 7])
    assert markov_boundaries(dist) == [()]
    empty = FiniteDistribution.from_table(np.empty((3, 0)), [0, 1, 1])
    assert markov_boundaries(empty) == [()]


@pytest.mark.slow
@settings(max_examples=200)
@given(joints())
def test_agrees_with_the_definition(counts) -> None:
    dist = distribution_of(counts)
    expected = named(oracle_of(counts).boundaries(), dist.names)
    assert tuple(markov_boundaries(dist)) == expected
    least = min(map(len, expected))
    assert tuple(minimal_optimal(dist)) == tuple(
        boundary for boundary in expected if len(boundary) == least
    )


@settings(max_examples=40)
@given(joints())
def test_boundaries_hold_the_strong_and_no_irrelevant_features(counts) -> None:
    dist = distribution_of(counts)
    strong, relevant = set(strongly_relevant(dist)), set(all_relevant(dist))
    results = [set(first) for first in markov_boundaries(dist)]
    for first, other in itertools.permutations(results, 2):
        assert not first <= other
    for first in results:  # thesis, properties 2.1 and 2.2
        assert strong <= first <= relevant


@settings(max_examples=80)
@given(joints())
def test_one_boundary_where_features_are_strictly_positive_or_intersection_holds(counts) -> None:
    dist = distribution_of(counts)
    result = properties(dist)
    assert result.intersection or not result.strictly_positive
    if result.positive_features or result.intersection:
        assert markov_boundaries(dist) == [strongly_relevant(dist)]


def test_many_copies_are_all_combined() -> None:
    # Six bits, two copies each: 2^6 boundaries; and noise that is in none.
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, size=(200, 6))
    noise = rng.integers(0, 2, size=(200, 1))
    y = bits @ (2 ** np.arange(6))
    dist = FiniteDistribution.from_table(np.hstack([bits, 1 - bits, noise * 0]), y)
    actual = markov_boundaries(dist)
    assert len(actual) == 2**6
    expected = itertools.product(*((f"x{j}", f"x{j + 6}") for j in range(6)))
    assert set(map(frozenset, actual)) == set(map(frozenset, expected))


def test_hundreds_of_features_with_one_boundary() -> None:
    X = np.zeros((1000, 300), dtype=int)
    X[:, 20:24] = np.random.default_rng(4).integers(0, 3, size=(1000, 4))
    y = X[:, 20] * X[:, 21] + X[:, 23]
    assert markov_boundaries(FiniteDistribution.from_table(X, y)) == [("x20", "x21", "x23")]


def test_too_many_boundaries(monkeypatch) -> None:
    monkeypatch.setattr(relevant_features, "MOST_SETS", 20)
    bits = np.array(list(itertools.product((0, 1), repeat=4)))
    dist = FiniteDistribution.from_table(np.hstack([bits, bits]), bits @ [8, 4, 2, 1])
    with pytest.raises(ValueError, match=r"too many Markov boundaries to list: \d+ were found"):
        markov_boundaries(dist)


def test_the_smallest_boundary_does_not_hang_on_a_digit() -> None:
    """P(y|x) half-way between two numbers of nine digits: rounding may take it to either."""
    random = np.random.default_rng(0)
    for _ in range(50):
        chance = (int(random.integers(1, 10**9)) + 0.5) * 1e-9
        X, y, weights = [], [], []
        for noise, fraction in enumerate(random.dirichlet(np.ones(3)).tolist()):
            for x, probability in ((0, chance), (1, chance / 3)):
                X += [[x, noise]] * 2
                y += [1, 0]
                weights += [fraction * probability, fraction * (1 - probability)]
        dist = FiniteDistribution.from_table(np.array(X), np.array(y), weights=weights)
        assert smallest_boundary(dist) == ("x0",)
