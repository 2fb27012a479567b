"""Relevance, boundaries, redundancy and properties straight from their definitions.

A joint distribution is a dictionary from ``(x_1, ..., x_p, y)`` to a `Fraction`; variables are
numbers, the target is the last one. Independence is decided exactly, over all values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

Joint = dict[tuple, Fraction]


def normalized(counts: dict[tuple, int]) -> Joint:
    total = sum(counts.values())
    return {row: Fraction(n, total) for row, n in counts.items() if n}


def subsets(of: Iterable[int]) -> Iterator[frozenset[int]]:
    pool = sorted(of)
    for size in range(len(pool) + 1):
        yield from map(frozenset, itertools.combinations(pool, size))


class Oracle:
    """Questions about one distribution."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.n = len(next(iter(joint)))
        self.y = self.n - 1
        self.features = frozenset(range(self.n - 1))
        self.marginal = lru_cache(None)(self._marginal)
        self.independent = lru_cache(None)(self._independent)
        self.information = lru_cache(None)(self._information)

    def _marginal(self, variables: frozenset) -> dict[frozenset, Fraction]:
        table: dict[frozenset, Fraction] = {}
        for row, p in self.joint.items():
            key = frozenset((v, row[v]) for v in variables)
            table[key] = table.get(key, Fraction(0)) + p
        return table

    def _independent(self, a: frozenset, c: frozenset, given: frozenset) -> bool:
        """P(a,c,b) P(b) = P(a,b) P(c,b) for all values."""
        both = self.marginal(a | c | given)
        left, right = self.marginal(a | given), self.marginal(c | given)
        for b, p_b in self.marginal(given).items():
            for ab, p_ab in left.items():
                if not b <= ab:
                    continue
                for cb, p_cb in right.items():
                    if b <= cb and both.get(ab | cb, 0) * p_b != p_ab * p_cb:
                        return False
        return True

    def _information(self, a: int, given: frozenset) -> float:
        """I(X_a;Y|given) in bits, from conditional probabilities."""
        first, y = frozenset([a]), frozenset([self.y])
        total = 0.0
        for cell, p in self.marginal(first | y | given).items():
            b = frozenset(pair for pair in cell if pair[0] in given)
            ab = frozenset(pair for pair in cell if pair[0] != self.y)
            yb = frozenset(pair for pair in cell if pair[0] != a)
            p_b = self.marginal(given)[b]
            ratio = (p / p_b) / (
                (self.marginal(first | given)[ab] / p_b) * (self.marginal(y | given)[yb] / p_b)
            )
            total += float(p) * math.log2(ratio)
        return total

    # --- relevance -------------------------------------------------------------------------

    def tells(self, m: int, given: frozenset) -> bool:
        return not self.independent(frozenset([m]), frozenset([self.y]), given)

    def conditionings(self, m: int) -> set[frozenset]:
        works = [b for b in subsets(self.features - {m}) if self.tells(m, b)]
        return {b for b in works if not any(other < b for other in works)}

    def kind(self, m: int) -> str:
        if self.tells(m, self.features - {m}):
            return "strong"
        relevant = any(self.tells(m, b) for b in subsets(self.features - {m}))
        return "weak" if relevant else "irrelevant"

    def largest(self, m: int) -> float:
        return max(self.information(m, b) for b in subsets(self.features - {m}))

    # --- boundaries ------------------------------------------------------------------------

    def boundaries(self) -> set[frozenset]:
        y = frozenset([self.y])
        blankets = [m for m in subsets(self.features) if self.independent(y, self.features - m, m)]
        return {m for m in blankets if not any(other < m for other in blankets)}

    # --- redundancy ------------------------------------------------------------------------

    def totally_redundant_to(self, i: int, j: int) -> bool:
        return not any(self.tells(i, b | {j}) for b in subsets(self.features - {i, j}))

    def determined_by(self, i: int, j: int) -> bool:
        return all(
            len({row[i] for row in self.joint if row[j] == value}) == 1
            for value in {row[j] for row in self.joint}
        )

    def partially_redundant_to(self, i: int, j: int) -> bool:
        telling = [b for b in subsets(self.features - {i, j}) if self.tells(i, b | {j})]
        return bool(telling) and all(
            self.information(i, b) > self.information(i, b | {j}) + 1e-9 for b in telling
        )

    def degrees(self, i: int, j: int) -> dict[frozenset, float]:
        return {
            b: self.information(i, b) - self.information(i, b | {j})
            for b in subsets(self.features - {i, j})
        }

    def redundant_to_set(self, i: int, others: frozenset) -> bool:
        """Yu and Liu's notion."""
        return self.kind(i) == "weak" and any(
            self.independent(frozenset([i]), frozenset([self.y]) | (self.features - m - {i}), m)
            for m in subsets(others)
        )

    # --- properties ------------------------------------------------------------------------

    def positive(self, variables: frozenset) -> bool:
        values = [{row[v] for row in self.joint} for v in variables]
        return len(self.marginal(variables)) == math.prod(map(len, values))

    def disjoint_sets(self) -> Iterator[tuple[frozenset, frozenset, frozenset, frozenset]]:
        """Yield all disjoint A, C, D, Z among all variables; A, C and D are not empty."""
        for owner in itertools.product("ACDZ-", repeat=self.n):
            sets = tuple(
                frozenset(v for v in range(self.n) if owner[v] == letter) for letter in "ACDZ"
            )
            if all(sets[:3]):
                yield sets

    def intersection(self) -> bool:
        return all(
            self.independent(a, c | d, z)
            for a, c, d, z in self.disjoint_sets()
            if self.independent(a, c, z | d) and self.independent(a, d, z | c)
        )

    def composition(self) -> bool:
        return all(
            self.independent(a, c | d, z)
            for a, c, d, z in self.disjoint_sets()
            if self.independent(a, c, z) and self.independent(a, d, z)
        )

    def weak_transitivity(self) -> bool:
        return all(
            self.independent(a, d, z) or self.independent(d, c, z)
            for a, c, d, z in self.disjoint_sets()
            if len(d) == 1 and self.independent(a, c, z) and self.independent(a, c, z | d)
        )
