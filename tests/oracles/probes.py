"""Probes, null samples and split frequencies by plain loops; imports nothing from the package."""

from itertools import combinations
from math import acos, pi, sin, sqrt


def null_fractions(values, add_one=False):
    """P-values of Janitza et al.: fraction of mirrored negatives and zeros that reach a value."""
    null = []
    for v in values:
        if v < 0:
            null += [v, -v]
        elif v == 0:
            null.append(0.0)
    fractions = []
    for v in values:
        reached = sum(1 for w in null if w >= v)
        fractions.append((reached + add_one) / (len(null) + add_one))
    return fractions


def win_probability(n_features, max_features, n_winners):
    """Chance of feature p - 1 to win a split: all draws of K candidates, one by one."""
    wins, draws = 0.0, 0
    for candidates in combinations(range(n_features), max_features):
        draws += 1
        if min(candidates) >= n_winners and n_features - 1 in candidates:
            wins += 1 / max_features
    return wins / draws


def cosine_tail(cos2, dimension, steps=20000):
    """P(cos^2 of the angle to a fixed line >= cos2) of a direction drawn uniformly.

    The angle has a density proportional to sin^(dimension - 2); Simpson's rule.
    """

    def integral(low, high):
        h = (high - low) / steps
        total = 0.0
        for i in range(steps + 1):
            weight = 1 if i in (0, steps) else 4 if i % 2 else 2
            total += weight * sin(low + i * h) ** (dimension - 2)
        return total * h / 3

    return integral(0.0, acos(sqrt(cos2))) / integral(0.0, pi / 2)


def forward_ranking(columns, y):
    """Columns by orthogonal forward selection with an intercept, and cos^2 at each step.

    At each step, every column that is left is made orthogonal, from scratch, to the constant and
    the columns that were ranked, and so is the target.
    """
    n = len(y)
    ranked, cosines = [], []
    basis = [[1 / sqrt(n)] * n]
    while len(ranked) < len(columns) and len(basis) < n - 1:
        residual = _orthogonal(y, basis)
        best, best_cos2, best_axis = None, -1.0, None
        for j, column in enumerate(columns):
            if j in ranked:
                continue
            axis = _orthogonal(column, basis)
            length = sqrt(_dot(axis, axis))
            if length < 1e-9:
                continue
            cos2 = _dot(axis, residual) ** 2 / (length**2 * _dot(residual, residual))
            if cos2 > best_cos2 + 1e-12:
                best, best_cos2, best_axis = j, cos2, [a / length for a in axis]
        if best is None:
            break
        ranked.append(best)
        cosines.append(best_cos2)
        basis.append(best_axis)
    return ranked, cosines


def _orthogonal(vector, basis):
    left = list(vector)
    for _ in range(2):
        for axis in basis:
            along = _dot(left, axis)
            left = [a - along * b for a, b in zip(left, axis, strict=True)]
    return left


def _dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def upper_binomial(count, total, probability):
    """P(Bin(total, probability) >= count), term by term."""
    tail, term = 0.0, (1 - probability) ** total
    for k in range(total + 1):
        if k >= count:
            tail += term
        term *= (total - k) / (k + 1) * probability / (1 - probability)
    return tail
