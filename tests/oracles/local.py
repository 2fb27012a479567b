"""Local importances by their definitions: every set of features, every node of a path."""

from collections import defaultdict
from itertools import combinations
from math import factorial, log2, nan


def impurity(masses, criterion):
    """Impurity of masses by value of Y."""
    total = sum(masses.values())
    p = {y: mass / total for y, mass in masses.items() if mass}
    if criterion == "entropy":
        return -sum(q * log2(q) for q in p.values())
    if criterion == "gini":
        return 1 - sum(q * q for q in p.values())
    mean = sum(q * y for y, q in p.items())
    return sum(q * (y - mean) ** 2 for y, q in p.items())


def masses_given(rows, x, members):
    """Masses of Y among the rows (x, y, mass) that agree with x on some features."""
    masses = defaultdict(float)
    for other, y, mass in rows:
        if all(other[j] == x[j] for j in members):
            masses[y] += mass
    return masses


def worth(rows, x, criterion, members, y=None):
    """Worth of a set of features for a row: negative impurity, or bits of its class."""
    masses = masses_given(rows, x, members)
    if y is None:
        return -impurity(masses, criterion)
    return log2(masses[y] / sum(masses.values()))


def shapley(p, value):
    """Shapley values of p players, a set at a time."""
    result = []
    for m in range(p):
        others = [j for j in range(p) if j != m]
        total = 0.0
        for size in range(p):
            weight = factorial(size) * factorial(p - size - 1) / factorial(p)
            for members in combinations(others, size):
                total += weight * (value((*members, m)) - value(members))
        result.append(total)
    return result


def along_paths(path_of, trees, numbers, features, p, row):
    """Changes of a number along the paths of a row, by feature: mean over trees.

    `path_of(tree, row)` gives nodes; `numbers[tree][node]` and `features[tree][node]` are of them.
    """
    changes = [0.0] * p
    for tree in trees:
        path = path_of(tree, row)
        for i in range(len(path) - 1):
            step = numbers[tree][path[i + 1]] - numbers[tree][path[i]]
            changes[features[tree][path[i]]] += step
    return [change / len(trees) for change in changes] if trees else [nan] * p


def interaction(p, value, m, j):
    """Shapley interaction index of two of p players, a set at a time."""
    others = [i for i in range(p) if i not in (m, j)]
    total = 0.0
    for size in range(p - 1):
        weight = factorial(size) * factorial(p - size - 2) / factorial(p - 1)
        for members in combinations(others, size):
            total += weight * (
                value((*members, m, j)) - value((*members, m)) - value((*members, j))
            )
            total += weight * value(members)
    return total
