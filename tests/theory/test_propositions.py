"""Random searches for a counterexample of propositions that docs/errata.md does not refute.

Those that Hypothesis searches stand beside the functions that they are about: 2.1 to 2.3, 5.1 to
5.15, 5.17, 5.19 to 5.24, 6.1 to 6.3, 7.5. Numbers are those of the thesis.
"""

import itertools
from random import Random

import numpy as np
import pytest
from tests.theory.dependences import distribution_of, hidden_bits

import duramen as dm
from duramen.theory.dependence import (
    all_relevant,
    conditioning_order,
    feature_relevance,
    properties,
    strongly_relevant,
)
from duramen.theory.population.recursion import Trees

pytestmark = pytest.mark.slow
POSITIVE = 1e-10


def found_by_trees(dist, K, depth=None):
    trees = Trees("trees", dist, max_features=K, max_depth=depth)
    values = trees.importances().sum(axis=1)
    return {name for name, value in zip(dist.names, values, strict=True) if value > POSITIVE}


def found_by_subspaces(dist, q, places, K, random):
    """Features that SRS ends with: draws are made, in random order, until none adds a feature."""
    found, cache = set(), {}
    while True:
        draws = [
            tuple(sorted((*kept, *others)))
            for kept in itertools.combinations(sorted(found), min(places, len(found)))
            for others in itertools.combinations(
                [name for name in dist.names if name not in kept], q - len(kept)
            )
        ]
        random.shuffle(draws)
        for draw in draws:
            if draw not in cache:
                cache[draw] = found_by_trees(dist.marginal(list(draw)), min(K, q))
            if new := cache[draw] - found:
                found |= new
                break
        else:
            return found


def test_theorem_5_16_and_proposition_5_25():
    """All strong features in trees as deep as there are relevant ones, and no irrelevant ones.

    The text below proposition 7.2 adds that a larger K finds no other features.
    """
    cases = 0
    for seed in range(500):
        dist = distribution_of(hidden_bits(seed))
        strong, relevant = set(strongly_relevant(dist)), set(all_relevant(dist))
        for depth in range(max(1, len(relevant)), dist.n_features + 1):
            sets = [found_by_trees(dist, K, depth) for K in range(1, dist.n_features + 1)]
            for smaller, larger in itertools.pairwise(sets):
                assert strong <= larger <= smaller <= relevant, (seed, depth)
            cases += bool(strong) and depth < dist.n_features
    assert cases > 100


def test_proposition_5_25_of_single_trees():
    positive = 0
    for seed in range(150):
        counts = hidden_bits(seed)
        dist = distribution_of(counts)
        relevant = set(all_relevant(dist))
        rows = np.repeat(list(counts), list(counts.values()), axis=0)
        X, y = rows[:, :-1], rows[:, -1]
        for K in (1, 2, None):
            tree = dm.ExtraTreesClassifier(
                1, max_features=K, criterion="entropy", splits="multiway", random_state=seed
            ).fit(X, y)
            values = dm.importances.mdi(tree).values
            found = {dist.names[j] for j in np.flatnonzero(values > POSITIVE)}
            assert found <= relevant, (seed, K)
            positive += len(found)
    assert positive > 300


def test_propositions_7_1_to_7_3():
    """Features that SRS finds where the relevant ones fit, or have low degrees.

    Proposition 7.4 is refuted in the errata.
    """
    fit = low = 0
    for seed in range(100):
        dist, random = distribution_of(hidden_bits(seed)), Random(seed)
        degrees = {first.name: first.degree for first in feature_relevance(dist)}
        strong, relevant = set(strongly_relevant(dist)), set(all_relevant(dist))
        for q in range(1, dist.n_features + 1):
            for places in sorted({0, q // 2, q}):
                found = found_by_subspaces(dist, q, places, 1, random)
                shallow = {name for name in relevant if degrees[name] < q - places}
                assert shallow <= found <= relevant, (seed, q, places)  # 7.3
                low += bool(shallow) and len(relevant) > q
                if len(relevant) <= q:
                    assert found == relevant, (seed, q, places)  # 7.1
                    for K in range(2, q + 1):  # 7.2
                        found = found_by_subspaces(dist, q, places, K, random)
                        assert strong <= found <= relevant, (seed, q, places, K)
                        fit += bool(strong)
    assert min(fit, low) > 40


def test_theorem_7_6():
    """An order of every minimal conditioning, by degrees, where positivity and composition hold."""
    orders = 0
    for seed in range(1500):
        random = Random(seed)
        p = random.randint(2, 3)
        names = [f"X{j + 1}" for j in range(p)]
        strength = [[random.choice([0, 0, 1, 2]) for _ in range(p + 1)] for _ in range(p + 1)]
        counts = {  # a positive Markov random field of pairs, with few of them
            cell: int(np.prod([
                1 + strength[a][b] * (cell[a] == cell[b])
                for a, b in itertools.combinations(range(p + 1), 2)
            ]))
            for cell in itertools.product((0, 1), repeat=p + 1)
        }  # fmt: skip
        if random.random() < 0.5:  # and a collider of two features and the target
            counts = {c: w * (5 if c[0] == (c[1] or c[-1]) else 1) for c, w in counts.items()}
        dist = distribution_of(counts, names)
        if not properties(dist).PC:
            continue
        for first in feature_relevance(dist):
            for B in first.conditionings:
                if B:
                    assert conditioning_order(dist, first.name, list(B)) is not None, (seed, B)
                    orders += 1
    assert orders > 15
