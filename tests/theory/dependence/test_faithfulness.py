"""Faithfulness to a graph, d-separation, and the order of a minimal conditioning."""

from itertools import combinations

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.theory import FiniteDistribution
from duramen.theory.dependence import (
    conditioning_order,
    d_separated,
    faithfulness,
    feature_relevance,
)
from duramen.theory.distributions import TOLERANCE


def subsets(items):
    return [chosen for k in range(len(items) + 1) for chosen in combinations(items, k)]


def separated_by_moral_graph(parents, a, c, given):
    """Lauritzen's criterion: separation in the moral graph of the smallest ancestral set."""
    ancestral = {a, c, *given}
    while True:
        more = {p for v in ancestral for p in parents.get(v, ())} - ancestral
        if not more:
            break
        ancestral |= more
    edges = {v: set() for v in ancestral}
    for v in ancestral:
        family = [v, *parents.get(v, ())]
        for first, other in combinations(family, 2):
            edges[first].add(other)
            edges[other].add(first)
    reached, waiting = {a}, [a]
    while waiting:
        for v in edges[waiting.pop()] - reached - set(given):
            reached.add(v)
            waiting.append(v)
    return c not in reached


def random_graph(random, names):
    return {
        child: [p for p in names[:i] if random.random() < 0.45] for i, child in enumerate(names)
    }


def test_d_separation_is_that_of_moral_graphs():
    random = np.random.default_rng(0)
    names = ["a", "b", "c", "d", "e", "f"]
    for _ in range(25):
        parents = random_graph(random, names)
        for a, c in combinations(names, 2):
            for subset in subsets([v for v in names if v not in (a, c)]):
                expected = separated_by_moral_graph(parents, a, c, subset)
                assert d_separated(parents, a, c, subset) == expected


def of_graph(random, parents, names):
    """A distribution of fair random tables that factorizes by a graph."""
    joint = np.ones([2] * len(names))
    for i, name in enumerate(names):
        above = [names.index(p) for p in parents[name]]
        probability = random.uniform(0.1, 0.9, [2] * len(above))
        shape = [2 if j in above else 1 for j in range(len(names))]
        both = np.stack(
            [1 - probability.reshape(shape).squeeze(i), probability.reshape(shape).squeeze(i)],
            axis=i,
        )
        joint = joint * both
    return FiniteDistribution.from_probabilities(joint, names=names, target="Y")


def test_random_tables_of_a_graph_are_faithful_to_it():
    random = np.random.default_rng(1)
    names = ["X1", "X2", "X3", "X4", "Y"]
    for _ in range(8):
        parents = random_graph(random, names)
        result = faithfulness(of_graph(random, parents, names), parents)
        assert result.markov
        assert result.faithful


def test_disagreements_are_those_of_all_pairs_and_sets():
    random = np.random.default_rng(2)
    names = ["X1", "X2", "X3", "Y"]
    for _ in range(5):
        dist = of_graph(random, random_graph(random, names), names)
        other = random_graph(random, names)
        result = faithfulness(dist, other)
        dependent, independent = set(), set()
        for a, c in combinations(names, 2):
            for subset in subsets([v for v in names if v not in (a, c)]):
                free = dist.mutual_information(a, subset, other=c) <= TOLERANCE
                apart = separated_by_moral_graph(other, a, c, subset)
                if apart and not free:
                    dependent.add((a, c, subset))
                if free and not apart:
                    independent.add((a, c, subset))
        assert set(result.dependent) == dependent
        assert set(result.independent) == independent
        assert result.faithful == (not dependent and not independent)
        assert len(result.columns()["a"]) == len(dependent) + len(independent)
    assert "disagreement" in str(result)


@one_test
@pytest.mark.parametrize(
    "parents, message",
    [
        ({"Y": ["X1"], "X1": ["Y"]}, "no cycle, got one through"),
        ({"Z": []}, "no variable 'Z'"),
        (["Y"], "a mapping of names to their parents"),
    ],
)
def test_wrong_graphs_are_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        faithfulness(dm.theory.examples.xor(), parents)


def test_d_separation_needs_different_variables():
    with pytest.raises(ValueError, match="different variables"):
        d_separated({"a": ["b"]}, "a", "a")
    with pytest.raises(ValueError, match="different variables"):
        d_separated({"a": ["b"]}, "a", "b", given=["b"])
    with pytest.raises(ValueError, match="no variable 'c'"):
        d_separated({"a": ["b"]}, "a", "c")
    many = FiniteDistribution.from_table(np.eye(14, dtype=int), np.arange(14) % 2)
    with pytest.raises(ValueError, match="at most 13 features"):
        faithfulness(many, {})


# --- order of a minimal conditioning -------------------------------------------------------------


def test_orders_are_those_of_the_degrees():
    chain = dm.theory.examples.chain(4)
    assert conditioning_order(chain, "X4", ["X3", "X1", "X2"]) == ("X1", "X2", "X3")
    assert conditioning_order(chain, "X1", []) == ()
    assert conditioning_order(dm.theory.examples.clique(3), 2, [0, 1]) is None
    with pytest.raises(ValueError, match="minimal conditioning of 'X3'"):
        conditioning_order(chain, "X3", ["X1"])
    with pytest.raises(ValueError, match="minimal conditioning"):
        conditioning_order(dm.theory.examples.xor(), "X1", ["X1"])


def test_theorem_7_6_holds_for_random_pc_distributions():
    """Random tables of graphs: where they are PC, every minimal conditioning has an order."""
    random = np.random.default_rng(3)
    names = ["X1", "Y", "X2", "X3"]
    tried = 0
    for _ in range(15):
        dist = of_graph(random, random_graph(random, names), names)
        if not dm.theory.properties(dist).PC:
            continue
        for feature in feature_relevance(dist):
            for conditioning in feature.conditionings:
                tried += bool(conditioning)
                order = conditioning_order(dist, feature.name, conditioning)
                assert order is not None
                assert sorted(order) == sorted(conditioning)
    assert tried > 5
