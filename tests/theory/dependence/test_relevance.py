import importlib.util
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.theory.dependences import counted, distribution_of, joints, named, oracle_of

from duramen.theory import FiniteDistribution, examples, relevance
from duramen.theory.dependence import (
    all_relevant,
    conditioning_order,
    feature_relevance,
    strongly_relevant,
)
from duramen.theory.distributions.examples import SEGMENTS

DIGITS = {(*map(int, lit), digit): 1 for digit, lit in enumerate(SEGMENTS)}

XOR_WITH_COPIES = counted(
    [
        lambda a, b, c: a,
        lambda a, b, c: b,
        lambda a, b, c: a,
        lambda a, b, c: c,
        lambda a, b, c: a ^ b,
    ],
    bits=3,
)


def by_name(dist, **options):
    return {feature.name: feature for feature in feature_relevance(dist, **options)}


# --- known answers -------------------------------------------------------------------------


def test_a_copy_makes_both_weak_and_a_stranger_is_irrelevant() -> None:
    result = by_name(distribution_of(XOR_WITH_COPIES))
    assert {name: feature.relevance for name, feature in result.items()} == {
        "X1": "weak",
        "X2": "strong",
        "X3": "weak",
        "X4": "irrelevant",
    }
    assert result["X2"].conditionings == (("X1",), ("X3",))
    assert result["X1"].conditionings == (("X2",),)
    assert result["X4"].conditionings == ()
    assert result["X4"].degree is None
    dist = examples.correlated_xor()  # of Kohavi and John: X4 the negation of X2
    kinds = [feature.relevance for feature in feature_relevance(dist)]
    assert kinds == ["strong", "weak", "irrelevant", "weak", "irrelevant"]
    assert all_relevant(dist) == ("X1", "X2", "X4")
    assert strongly_relevant(dist) == ("X1",)


def test_a_noisy_copy_is_marginal_but_weak_beside_the_xor() -> None:
    result = by_name(examples.noisy_copy(0.25))
    copy = result["X3"]
    assert (copy.relevance, copy.degree, copy.conditionings) == ("weak", 0, ((),))
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert copy.largest_information == pytest.approx(1 - entropy)
    for name, other in (("X1", "X2"), ("X2", "X1")):
        assert result[name].relevance == "strong"
        assert result[name].conditionings == ((other,),)
        # I(X1;Y|X2,X3) = H(Y|X2,X3) - 0 = H(Y|X3)
        assert result[name].strong_information == pytest.approx(entropy)


def test_chain_has_rising_degrees() -> None:
    result = feature_relevance(examples.chain(4))
    assert [feature.degree for feature in result] == [0, 1, 2, 3]
    assert result[3].conditionings == (("X1", "X2", "X3"),)
    assert result[0].marginal


@one_test
@pytest.mark.parametrize("r", [2, 3, 5])
def test_clique_has_the_highest_degree(r) -> None:
    for feature in feature_relevance(examples.clique(r)):
        assert (feature.relevance, feature.degree, feature.marginal) == ("strong", r - 1, False)
        assert len(feature.conditionings) == 1


def test_digits() -> None:
    result = feature_relevance(distribution_of(DIGITS))
    assert all(feature.marginal and feature.conditionings == ((),) for feature in result)
    # Each pair of digits that only this segment tells apart: 2/10 of the rows, 1 bit each.
    pairs = [
        sum(
            1
            for a, b in itertools.combinations(SEGMENTS, 2)
            if [i for i in range(7) if a[i] != b[i]] == [j]
        )
        for j in range(7)
    ]
    assert [feature.strong_information for feature in result] == pytest.approx(
        [n / 5 for n in pairs]
    )
    assert [feature.relevance for feature in result] == ["strong" if n else "weak" for n in pairs]


def test_nothing_to_know() -> None:
    constant = FiniteDistribution.from_table([[0, 1], [1, 1], [0, 0]], [7, 7, 7])
    assert {feature.relevance for feature in feature_relevance(constant)} == {"irrelevant"}
    assert all_relevant(constant) == ()
    empty = FiniteDistribution.from_table(np.empty((3, 0)), [0, 1, 1])
    assert feature_relevance(empty) == ()
    assert strongly_relevant(empty) == ()


# --- against the definitions ---------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=200)
@given(joints())
def test_agrees_with_the_definitions(counts) -> None:
    dist, oracle = distribution_of(counts), oracle_of(counts)
    actual = feature_relevance(dist)
    assert [feature.name for feature in actual] == list(dist.names)
    for m, feature in enumerate(actual):
        expected = oracle.conditionings(m)
        assert feature.relevance == oracle.kind(m)
        assert feature.conditionings == named(expected, dist.names)
        assert feature.degree == min(map(len, expected), default=None)
        assert feature.marginal == oracle.tells(m, frozenset())
        last = oracle.information(m, oracle.features - {m})
        assert feature.strong_information == pytest.approx(last, abs=1e-12)
        assert feature.largest_information == pytest.approx(oracle.largest(m), abs=1e-12)


@settings(max_examples=40)
@given(joints(), st.data())
def test_level_draws_the_line_between_relevant_and_not(counts, data) -> None:
    dist, oracle = distribution_of(counts), oracle_of(counts)
    level = data.draw(st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9]))
    tight, loose = feature_relevance(dist, level=level), feature_relevance(dist, level=2 * level)
    for m, (first, other) in enumerate(zip(tight, loose, strict=True)):
        assert (first.relevance == "irrelevant") == (oracle.largest(m) <= level + 1e-10)
        # What is approximately irrelevant at a level is so at any higher one.
        assert first.relevance != "irrelevant" or other.relevance == "irrelevant"
        assert other.degree is None or first.degree <= other.degree


@settings(max_examples=40)
@given(joints())
def test_minimal_conditionings_are_minimal_and_hold_relevant_features_of_no_higher_degree(
    counts,
) -> None:
    dist = distribution_of(counts)
    result = by_name(dist)
    for first in result.values():
        for b in first.conditionings:
            assert dist.mutual_information(first.name, b) > 1e-10
            for fewer in itertools.combinations(b, max(len(b) - 1, 0)):
                assert len(b) == 0 or dist.mutual_information(first.name, fewer) <= 1e-10
            for other in b:  # thesis, propositions 5.1 and 5.2
                assert result[other].degree is not None
                assert result[other].degree <= len(b)
        for b, other in itertools.permutations(first.conditionings, 2):
            assert not set(b) <= set(other)


@settings(max_examples=40)
@given(joints(), st.data())
def test_the_order_of_the_columns_does_not_matter(counts, data) -> None:
    dist = distribution_of(counts)
    order = data.draw(st.permutations(range(dist.n_features)))
    shuffled = by_name(dist.marginal(order))
    for first in feature_relevance(dist):
        other = shuffled[first.name]
        assert (first.relevance, first.degree) == (other.relevance, other.degree)
        assert {frozenset(b) for b in first.conditionings} == {
            frozenset(b) for b in other.conditionings
        }
        assert first.strong_information == pytest.approx(other.strong_information, abs=1e-12)


@settings(max_examples=40)
@given(joints(), st.integers(0, 3))
def test_max_degree_finds_what_the_whole_search_finds_up_to_it(counts, most) -> None:
    dist = distribution_of(counts)
    whole = feature_relevance(dist)
    part = feature_relevance(dist, max_degree=most)
    complete = most >= dist.n_features - 1
    for full, cut in zip(whole, part, strict=True):
        assert cut.conditionings == tuple(b for b in full.conditionings if len(b) <= most)
        assert cut.searched_degree == min(most, dist.n_features - 1)
        assert cut.strong_information == full.strong_information
        if cut.conditionings or full.relevance == "strong" or complete:
            assert cut.relevance == full.relevance
        else:
            assert cut.relevance == "unknown"


# --- the frame -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("counts", [XOR_WITH_COPIES, {(0, 0): 1, (1, 0): 1}])
def test_frame(counts, backend, monkeypatch) -> None:
    import narwhals.stable.v2 as nw

    dist = distribution_of(counts)
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: name if name == backend else None)
        native = relevance(dist)
    assert type(native).__module__.startswith(backend)
    frame = nw.from_native(native, eager_only=True)
    result = feature_relevance(dist)
    assert frame.columns[:4] == ["name", "relevance", "degree", "conditionings"]
    for column in ("name", "relevance", "strong_information"):
        assert frame[column].to_list() == [getattr(feature, column) for feature in result]
    degrees = [None if d is None or d != d else int(d) for d in frame["degree"].to_list()]
    assert degrees == [feature.degree for feature in result]
    sets = [[tuple(b) for b in some] for some in frame["conditionings"].to_list()]
    assert sets == [list(feature.conditionings) for feature in result]


# --- errors --------------------------------------------------------------------------------


def test_clear_errors() -> None:
    with pytest.raises(ValueError, match="feature_relevance: level must be a number"):
        relevance(examples.xor(), level=-0.1)
    dist = FiniteDistribution.from_table(np.eye(3, 30), [0, 1, 1])
    with pytest.raises(ValueError, match=r"30 features have 1073741824 subsets .* max_degree=5 is"):
        relevance(dist)
    with pytest.raises(ValueError, match="max_degree=5 is possible"):
        relevance(dist, max_degree=6)
    assert len(feature_relevance(dist, max_degree=2)) == 30


def test_members_of_a_conditioning_are_ordered_by_degree() -> None:
    chain = examples.chain(4)
    assert conditioning_order(chain, "X4", ["X3", "X1", "X2"]) == ("X1", "X2", "X3")
    assert conditioning_order(examples.clique(3), "X3", ["X1", "X2"]) is None
    with pytest.raises(ValueError, match=r"must be a minimal conditioning of 'X4', got \['X1'\]"):
        conditioning_order(chain, "X4", ["X1"])
