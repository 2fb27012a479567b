"""Random subspaces the slow way: every subset drawn, every tree grown, in whole numbers.

Features 0 .. r-1 are relevant, r .. p-1 are not. ``needs[m]`` lists the minimal conditionings of
feature m, as sets. A distribution is a dictionary of outcomes and fractions.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from functools import cache

CHAIN, CLIQUE, MARGINAL = "chain", "clique", "marginal"


def conditionings(scenario: str, r: int) -> tuple:
    if scenario == CHAIN:
        return tuple((frozenset(range(m)),) for m in range(r))
    if scenario == CLIQUE:
        return tuple((frozenset(set(range(r)) - {m}),) for m in range(r))
    return ((frozenset(),),) * r


@cache
def tree_distribution(needs: tuple, held: frozenset, K: int) -> dict:
    """Return the distribution of the features that a tree finds, level by level."""
    distribution: dict = defaultdict(Fraction)

    def grow(unused: frozenset, tested: frozenset, result: frozenset, chance: Fraction) -> None:
        if not unused:
            distribution[result] += chance
            return
        candidates = list(itertools.combinations(sorted(unused), min(K, len(unused))))
        for drawn in candidates:
            active = [
                m for m in drawn if m < len(needs) and any(need <= tested for need in needs[m])
            ]
            for m in active or drawn:
                part = chance / len(candidates) / len(active or drawn)
                more = result | {m} if active else result
                grow(unused - {m}, tested | {m}, more, part)

    grow(held, frozenset(), frozenset(), Fraction(1))
    return dict(distribution)


@cache
def step_distribution(p: int, q: int, places: int, needs: tuple, K: int, result: frozenset) -> dict:
    """Return the distribution of the found features after another tree."""
    distribution: dict = defaultdict(Fraction)
    kept_sets = list(itertools.combinations(sorted(result), min(places, len(result))))
    for kept_set in kept_sets:
        others = sorted(set(range(p)) - set(kept_set))
        fillings = list(itertools.combinations(others, q - len(kept_set)))
        for filling in fillings:
            held = _renamed(frozenset(kept_set) | frozenset(filling), len(needs))
            for new, chance in tree_distribution(needs, held, K).items():
                distribution[result | new] += chance / len(kept_sets) / len(fillings)
    return dict(distribution)


def _renamed(held: frozenset, r: int) -> frozenset:
    """Number the irrelevant features, which are exchangeable, from r on."""
    relevant = {m for m in held if m < r}
    return frozenset(relevant | set(range(r, r + len(held) - len(relevant))))


def distribution_after(p: int, q: int, places: int, needs: tuple, K: int, trees: int) -> dict:
    distribution = {frozenset(): Fraction(1)}
    for _ in range(trees):
        following: dict = defaultdict(Fraction)
        for result, chance in distribution.items():
            for then, part in step_distribution(p, q, places, needs, K, result).items():
                following[then] += chance * part
        distribution = dict(following)
    return distribution


def number_distribution(distribution: dict, r: int) -> list[Fraction]:
    """The distribution of the number found."""
    return [
        sum((c for result, c in distribution.items() if len(result) == k), Fraction(0))
        for k in range(r + 1)
    ]


def expected_trees(p: int, q: int, places: int, needs: tuple, K: int) -> Fraction | None:
    """Expected number of trees until all are found; None if they may never be."""

    @cache
    def remaining(result: frozenset) -> Fraction | None:
        if len(result) == len(needs):
            return Fraction(0)
        distribution = step_distribution(p, q, places, needs, K, result)
        stay = distribution.get(result, Fraction(0))
        if stay == 1:
            return None
        total = Fraction(1)
        for then, chance in distribution.items():
            if then != result:
                more = remaining(then)
                if more is None:
                    return None
                total += chance * more
        return total / (1 - stay)

    return remaining(frozenset())


def cover_distribution(p: int, K: int, draws: int) -> list[Fraction]:
    """Distribution of the number of features seen, drawing after drawing, by sets of features."""
    distribution = {frozenset(): Fraction(1)}
    subsets = [frozenset(drawn) for drawn in itertools.combinations(range(p), K)]
    for _ in range(draws):
        following: dict = defaultdict(Fraction)
        for seen, chance in distribution.items():
            for drawn in subsets:
                following[seen | drawn] += chance / len(subsets)
        distribution = dict(following)
    return [
        sum((c for seen, c in distribution.items() if len(seen) == k), Fraction(0))
        for k in range(p + 1)
    ]
