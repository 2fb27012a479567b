"""Importances of infinitely many totally randomized multiway trees, by their definition.

A table is a list of ``(x, y, weight)``, x a tuple of values. Every conditional decrease of impurity
is computed by itself, from dictionaries of weights; the double sum over sizes and sets is literal.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = tuple[Sequence[Any], Any, float]
Distribution = dict[Any, float]


def entropy(distribution: Distribution) -> float:
    return -sum(p * math.log2(p) for p in distribution.values())


def gini(distribution: Distribution) -> float:
    return 1.0 - sum(p * p for p in distribution.values())


def variance(distribution: Distribution) -> float:
    mean = sum(p * y for y, p in distribution.items())
    return sum(p * (y - mean) ** 2 for y, p in distribution.items())


IMPURITIES = {"entropy": entropy, "gini": gini, "variance": variance}


def distributions(rows: Iterable[Row], given: Sequence[int]) -> list[tuple[float, Distribution]]:
    """Probability of each cell of the given features, and the distribution of Y in it."""
    masses: dict[tuple[Any, ...], Distribution] = defaultdict(lambda: defaultdict(float))
    total = 0.0
    for x, y, weight in rows:
        masses[tuple(x[j] for j in given)][y] += weight
        total += weight
    results = []
    for mass in masses.values():
        inside = sum(mass.values())
        results.append((inside / total, {y: w / inside for y, w in mass.items()}))
    return results


def uncertainty(rows: Sequence[Row], given: Sequence[int], impurity: Callable) -> float:
    return sum(p * impurity(distribution) for p, distribution in distributions(rows, given))


def decrease(rows: Sequence[Row], m: int, given: Sequence[int], impurity: Callable) -> float:
    """G(Y; X_m | B), which is I(X_m; Y | B) for the entropy."""
    return uncertainty(rows, given, impurity) - uncertainty(rows, [*given, m], impurity)


def importance_by_degree(rows: Sequence[Row], m: int, p: int, impurity: Callable) -> list[float]:
    """Thesis, eq. 5.2, each of the sums over sets of one size by itself."""
    others = [j for j in range(p) if j != m]
    parts = []
    for k in range(p):
        total = sum(decrease(rows, m, B, impurity) for B in itertools.combinations(others, k))
        parts.append(total / math.comb(p, k) / (p - k))
    return parts


def importances(rows: Sequence[Row], p: int, criterion: str = "entropy") -> list[list[float]]:
    return [importance_by_degree(rows, m, p, IMPURITIES[criterion]) for m in range(p)]


def importance_by_order(rows: Sequence[Row], p: int, criterion: str = "entropy") -> list[float]:
    """Return the importances as mean gains of the features over all their orders."""
    impurity = IMPURITIES[criterion]
    totals = [0.0] * p
    for order in itertools.permutations(range(p)):
        for place, m in enumerate(order):
            totals[m] += decrease(rows, m, order[:place], impurity)
    return [total / math.factorial(p) for total in totals]


def is_irrelevant(rows: Sequence[Row], m: int, p: int, tolerance: float = 1e-10) -> bool:
    others = [j for j in range(p) if j != m]
    return all(
        decrease(rows, m, B, entropy) <= tolerance
        for k in range(p)
        for B in itertools.combinations(others, k)
    )


def degree(rows: Sequence[Row], m: int, p: int, tolerance: float = 1e-10) -> int | None:
    """Return the size of the smallest conditioning set that makes the feature informative."""
    others = [j for j in range(p) if j != m]
    for k in range(p):
        for B in itertools.combinations(others, k):
            if decrease(rows, m, B, entropy) > tolerance:
                return k
    return None


def with_copies(rows: Sequence[Row], j: int, copies: int) -> list[Row]:
    """Append copies of feature j, each under other labels."""
    return [((*x, *((i, x[j]) for i in range(copies))), y, w) for x, y, w in rows]


def with_irrelevant(rows: Sequence[Row], distributions: Sequence[Sequence[float]]) -> list[Row]:
    """Append features with these distributions, independent of everything."""
    made = []
    for x, y, w in rows:
        for values in itertools.product(
            *(range(len(distribution)) for distribution in distributions)
        ):
            fraction = math.prod(
                distribution[v] for distribution, v in zip(distributions, values, strict=True)
            )
            made.append(((*x, *values), y, w * fraction))
    return made
