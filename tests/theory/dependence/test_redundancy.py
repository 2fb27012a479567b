import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from tests.theory.dependences import counted, distribution_of, joints, named, oracle_of

from duramen.theory import FiniteDistribution, redundancy
from duramen.theory.dependence import feature_relevance

COPIES = counted(
    [
        lambda a, b, c: a,
        lambda a, b, c: b,
        lambda a, b, c: 1 - a,
        lambda a, b, c: c,
        lambda a, b, c: a ^ b,
    ],
    bits=3,
)


def pairs_of(dist):
    return itertools.permutations(range(dist.n_features), 2)


# --- known answers -------------------------------------------------------------------------


def test_copies() -> None:
    result = redundancy(distribution_of(COPIES))
    assert result.copies == [("X1", "X3")]
    assert result.totally_redundant == [("X1", "X3")]
    assert result.shields == {"X1": (("X3",),), "X3": (("X1",),)}
    assert result.redundant_to("X1", ["X2", "X3"])
    assert not result.redundant_to("X1", ["X2", "X4"])
    assert not result.redundant_to("X2", ["X1", "X3"])  # strong
    assert result.relevant.tolist() == [True, True, True, False]
    # Irrelevant: never anything to add, to whatever feature.
    assert result.total[3].tolist() == [True, True, True, False]


def test_xor_is_complementary() -> None:
    dist = distribution_of({(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 1): 1, (1, 1, 0): 1})
    result = redundancy(dist)
    assert result.degree[0, 1] == pytest.approx(-1.0)
    assert not result.total.any()
    assert not result.partial.any()


def test_a_noisy_copy_is_partially_redundant_and_totally_so_one_way_only() -> None:
    # X1 = Y but for an error, X2 = X1 but for another: X2 adds nothing to X1, X1 adds to X2.
    dist = distribution_of(
        counted(
            [lambda y, e, f: y ^ e, lambda y, e, f: y ^ e ^ f, lambda y, e, f: y],
            bits=3,
            odds=[1, 0.25, 0.25],
        )
    )
    result = redundancy(dist)
    assert result.total.tolist() == [[False, False], [True, False]]
    assert result.partial.tolist() == [[False, True], [False, False]]
    assert not result.determined.any()
    assert result.totally_redundant == []
    assert result.shields == {"X2": (("X1",),)}


def test_total_redundancy_is_weaker_than_being_copies() -> None:
    # Both features tell Y; X1 besides tells a bit that has nothing to do with Y.
    dist = distribution_of(
        counted([lambda y, a: y + 2 * a, lambda y, a: y, lambda y, a: y], bits=2)
    )
    result = redundancy(dist)
    assert result.totally_redundant == [("X1", "X2")]
    assert result.copies == []
    assert result.determined.tolist() == [[False, False], [True, False]]


def test_total_redundancy_is_not_yu_and_lius() -> None:
    # X1 and X2 both tell Y, but X1 shares another bit with X3 that X2 knows nothing of.
    dist = distribution_of(
        counted([lambda y, a: y + 2 * a, lambda y, a: y, lambda y, a: a, lambda y, a: y], bits=2)
    )
    result = redundancy(dist)
    assert ("X1", "X2") in result.totally_redundant
    assert not result.redundant_to("X1", ["X2"])
    assert result.redundant_to("X1", ["X2", "X3"])
    assert result.redundant_to("X2", "X1")


@pytest.mark.parametrize("p", [0, 1])
def test_without_pairs(p) -> None:
    dist = FiniteDistribution.from_table(np.eye(2)[:, :p], [0, 1])
    result = redundancy(dist)
    assert result.total.shape == (p, p)
    assert not result.total.any()
    assert np.isfinite(result.lowest).all()
    assert result.shields == {}
    assert "no relevant feature is redundant" in repr(result)


# --- against the definitions ---------------------------------------------------------------


@settings(max_examples=150)
@given(joints())
def test_agrees_with_the_definitions(counts) -> None:
    dist, oracle = distribution_of(counts), oracle_of(counts)
    result = redundancy(dist)
    for i, j in pairs_of(dist):
        assert result.total[i, j] == oracle.totally_redundant_to(i, j)
        assert result.determined[i, j] == oracle.determined_by(i, j)
        assert result.partial[i, j] == oracle.partially_redundant_to(i, j)
        degrees = oracle.degrees(i, j)
        assert result.degree[i, j] == pytest.approx(degrees[frozenset()], abs=1e-12)
        assert result.lowest[i, j] == pytest.approx(min(degrees.values()), abs=1e-12)
        assert result.highest[i, j] == pytest.approx(max(degrees.values()), abs=1e-12)
    for i, name in enumerate(dist.names):
        others = sorted(oracle.features - {i})
        works = {
            frozenset(b)
            for size in range(len(others) + 1)
            for b in itertools.combinations(others, size)
            if oracle.redundant_to_set(i, frozenset(b))
        }
        smallest = {b for b in works if not any(other < b for other in works)}
        assert result.shields.get(name, ()) == named(smallest, dist.names)
        assert result.relevant[i] == (oracle.kind(i) != "irrelevant")
        for b in works:
            assert result.redundant_to(name, [dist.names[j] for j in b])


@settings(max_examples=60)
@given(joints())
def test_what_the_notions_imply(counts) -> None:
    dist = distribution_of(counts)
    result = redundancy(dist)
    kinds = [feature.relevance for feature in feature_relevance(dist)]
    np.testing.assert_allclose(result.degree, result.degree.T, atol=1e-12)
    assert not (result.total & result.partial).any()
    for i, j in pairs_of(dist):
        if result.determined[i, j]:  # whoever knows X_j knows X_i
            assert result.total[i, j]
        if result.total[i, j]:
            assert kinds[i] != "strong"
        if result.total[i, j] and result.total[j, i]:
            assert (kinds[i] == "irrelevant") == (kinds[j] == "irrelevant")
        if result.partial[i, j]:  # thesis, property 2.3
            assert "irrelevant" not in (kinds[i], kinds[j])
    for name in result.shields:
        assert kinds[dist.index(name)] == "weak"


# --- how it shows --------------------------------------------------------------------------


def test_repr_names_the_strongest_notion() -> None:
    text = repr(redundancy(distribution_of(COPIES)))
    assert text.splitlines()[0] == "Redundancy of 3 relevant features"
    assert [line.split() for line in text.splitlines()[2:]] == [
        ["X1", "a", "copy", "X3", "0.0000"],
        ["X3", "a", "copy", "X1", "0.0000"],
    ]


# --- errors --------------------------------------------------------------------------------


def test_unknown_or_equal_features() -> None:
    dist = distribution_of(COPIES)
    result = redundancy(dist)
    with pytest.raises(ValueError, match=r"redundant_to: .* different ones of .* got \['X9'\]"):
        result.redundant_to("X1", ["X9"])
    with pytest.raises(ValueError, match=r"must be different ones of .* got \['X1'\]"):
        result.redundant_to("X1", ["X1", "X2"])
