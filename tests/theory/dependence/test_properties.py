import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from tests.grid import one_test
from tests.theory.dependences import distribution_of, joints, oracle_of, positive

from duramen.theory import FiniteDistribution, properties, redundancy
from duramen.theory.dependence import feature_relevance

XOR = {(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 1): 1, (1, 1, 0): 1}
COPIES = {(0, 0, 0): 3, (0, 0, 1): 1, (1, 1, 0): 1, (1, 1, 1): 3}
INDEPENDENT = dict.fromkeys(itertools.product((0, 1), repeat=3), 1)
# A Markov chain X1 - X2 - Y that stays with odds 3 to 1: faithful to a graph.
CHAIN = {
    (a, b, y): (3 if a == b else 1) * (3 if b == y else 1)
    for a, b, y in itertools.product((0, 1), repeat=3)
}
# A noisy xor: positive, but neither bit alone says anything.
NOISY_XOR = {(a, b, y): 3 if a ^ b == y else 1 for a, b, y in itertools.product((0, 1), repeat=3)}
# X1 tells of the first bit of a four-valued Y, X2 of the second: X1 and X2 know nothing of each
# other, with or without Y, and yet both depend on Y.
TWO_HALVES = {
    (a, b, y): (3 if a == y // 2 else 1) * (3 if b == y % 2 else 1)
    for a, b, y in itertools.product((0, 1), (0, 1), range(4))
}


@one_test
@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (XOR, (False, True, False, True)),
        (COPIES, (False, False, True, True)),
        (INDEPENDENT, (True, True, True, True)),
        (CHAIN, (True, True, True, True)),
        (NOISY_XOR, (True, True, False, True)),
        (TWO_HALVES, (True, True, True, False)),
    ],
    ids=["xor", "copies", "independent", "chain", "noisy xor", "two halves"],
)
def test_known_cases(counts, expected) -> None:
    result = properties(distribution_of(counts))
    names = ("strictly_positive", "intersection", "composition", "weak_transitivity")
    assert tuple(getattr(result, name) for name in names) == expected
    positive, _, composition, transitive = expected
    assert (positive, positive and composition) == (result.P, result.PC)
    assert (positive and composition and transitive) == result.PCWT


def test_a_function_of_its_features_is_positive_over_these_alone() -> None:
    result = properties(distribution_of(XOR))
    assert result.positive_features
    assert not result.strictly_positive


def test_a_context_is_no_variable() -> None:
    rows = list(itertools.product((0, 1), repeat=2))
    X = [[a] for a, _ in rows] * 2
    y = [b for _, b in rows] * 2
    plain = properties(FiniteDistribution.from_table(X, y))
    beside = properties(FiniteDistribution.from_table(X, y, context=[0, 0, 0, 0, 0, 1, 1, 1]))
    assert plain == beside
    assert plain.strictly_positive


@pytest.mark.parametrize("p", [0, 1])
def test_few_features(p) -> None:
    result = properties(FiniteDistribution.from_table(np.eye(2)[:, :p], [0, 1]))
    assert result.intersection
    assert result.composition
    assert result.weak_transitivity
    assert result.strictly_positive == (p == 0)
    assert result.positive_features


# --- against the definitions ---------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=150)
@given(joints(most_features=4))
def test_agrees_with_the_definitions_for_all_sets(counts) -> None:
    dist, oracle = distribution_of(counts), oracle_of(counts)
    result = properties(dist)
    assert result.strictly_positive == oracle.positive(oracle.features | {oracle.y})
    assert result.positive_features == oracle.positive(oracle.features)
    assert result.intersection == oracle.intersection()
    assert result.composition == oracle.composition()
    assert result.weak_transitivity == oracle.weak_transitivity()


@settings(max_examples=80)
@given(joints())
def test_counterexamples_are_some(counts) -> None:
    dist = distribution_of(counts)
    result = properties(dist)
    y = dist.target_name
    assert set(result.counterexamples) == {
        name
        for name in ("intersection", "composition", "weak_transitivity")
        if not getattr(result, name)
    }

    def apart(a, c, given):
        return dist.mutual_information(a, given, other=c) <= 1e-10

    for name, case in result.counterexamples.items():
        a, c, d, z = case.a, case.c, case.d, list(case.given)
        assert len({a, c, d, *z}) == 3 + len(z)
        assert {a, c, d, *z} <= {*dist.names, y}
        if name == "intersection":
            assert apart(a, c, [*z, d])
            assert apart(a, d, [*z, c])
            assert not apart(a, [c, d], z)
        elif name == "composition":
            assert apart(a, c, z)
            assert apart(a, d, z)
            assert not apart(a, [c, d], z)
        else:
            assert apart(a, c, z)
            assert apart(a, c, [*z, d])
            assert not apart(a, d, z)
            assert not apart(d, c, z)


@settings(max_examples=60)
@given(positive())
def test_conditionings_of_pc_distributions_have_lower_degrees(counts) -> None:
    # Thesis, proposition 7.5.
    dist = distribution_of(counts)
    if not properties(dist).PC:
        return
    results = {first.name: first for first in feature_relevance(dist)}
    for first in results.values():
        for b in first.conditionings:
            assert all(results[other].degree < len(b) for other in b)


def test_pc_with_a_conditioning() -> None:
    # X1 - Y and X1 - X2 meet in a collider: X2 is relevant given X1 alone, X1 is of degree 0.
    counts = {
        (x, b, y): (5 if x == (b or y) else 1) for x, b, y in itertools.product((0, 1), repeat=3)
    }
    dist = distribution_of(counts)
    assert properties(dist).PC
    x, b = feature_relevance(dist)
    assert (x.degree, b.degree) == (0, 1)
    assert b.conditionings == (("X1",),)


# --- how it shows --------------------------------------------------------------------------


def test_too_many_features() -> None:
    dist = FiniteDistribution.from_table(np.eye(2, 20), [0, 1])
    for function in (properties, redundancy):
        message = f"{function.__name__}: dist must have at most 19 features, got 20"
        with pytest.raises(ValueError, match=message):
            function(dist)
