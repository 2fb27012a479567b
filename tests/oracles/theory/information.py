"""Informations of a table by their definitions: dictionaries, and logarithms one at a time.

A table is a list of ``(row, probability)``, a row a dictionary from variables to values.
"""

from collections import defaultdict
from itertools import combinations
from math import comb, log2


def distribution(table, variables):
    """Probability of each combination of values of some variables."""
    total = defaultdict(float)
    for row, p in table:
        total[tuple(row[v] for v in variables)] += p
    return dict(total)


def given_each(table, variables):
    """Pairs of the probability of a combination of values, and the table given it."""
    parts = defaultdict(list)
    for row, p in table:
        parts[tuple(row[v] for v in variables)].append((row, p))
    for part in parts.values():
        mass = sum(p for _, p in part)
        yield mass, [(row, p / mass) for row, p in part]


def entropy(table, variables):
    return sum(-p * log2(p) for p in distribution(table, variables).values())


def conditional_entropy(table, variables, given):
    return sum(mass * entropy(part, variables) for mass, part in given_each(table, given))


def information(table, left, right, given):
    """Mean over the given values of the divergence of the joint distribution from the product."""
    total = 0.0
    for mass, part in given_each(table, given):
        both, first, other = (distribution(part, v) for v in ([*left, *right], left, right))
        for values, p in both.items():
            a, b = values[: len(left)], values[len(left) :]
            total += mass * p * log2(p / (first[a] * other[b]))
    return total


def shared_information(table, sets, given):
    """The recursion I(A; ..; C; D | B) = I(A; ..; C | B) - I(A; ..; C | B, D)."""
    if len(sets) == 1:
        return conditional_entropy(table, sets[0], given)
    if len(sets) == 2:
        return information(table, sets[0], sets[1], given)
    *rest, last = sets
    return shared_information(table, rest, given) - shared_information(table, rest, [*given, *last])


def impurity(table, target, criterion):
    probabilities = distribution(table, [target])
    if criterion == "entropy":
        return entropy(table, [target])
    if criterion == "gini":
        return 1 - sum(p * p for p in probabilities.values())
    mean = sum(p * y for (y,), p in probabilities.items())
    return sum(p * (y - mean) ** 2 for (y,), p in probabilities.items())


def decrease(table, target, variables, given, criterion):
    """Mean over the given values of the impurity less the mean impurity once `variables` show."""
    total = 0.0
    for mass, part in given_each(table, given):
        after = sum(m * impurity(p, target, criterion) for m, p in given_each(part, variables))
        total += mass * (impurity(part, target, criterion) - after)
    return total


def importances(table, target, features):
    """Importances in infinitely many totally randomized multiway trees, in bits."""
    p = len(features)
    return [
        sum(
            information(table, [feature], [target], list(chosen)) / (comb(p, k) * (p - k))
            for k in range(p)
            for chosen in combinations([f for f in features if f != feature], k)
        )
        for feature in features
    ]
