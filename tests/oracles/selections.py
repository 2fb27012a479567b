"""Agreement of selections and of rankings, by loops over pairs and over all ways to break ties."""

from itertools import combinations, product


def kuncheva(selections):
    """Mean of the index over pairs of rows of 0 and 1."""
    p = len(selections[0])
    total, pairs = 0.0, 0
    for a, b in combinations(selections, 2):
        k, common = sum(a), sum(x * y for x, y in zip(a, b, strict=True))
        total += (common * p - k * k) / (k * (p - k))
        pairs += 1
    return total / pairs


def nogueira(selections):
    """Stability and its variance, written as in the paper (M rows, d columns)."""
    M, d = len(selections), len(selections[0])
    fraction = [sum(row[f] for row in selections) / M for f in range(d)]
    sizes = [sum(row) for row in selections]
    mean = sum(sizes) / M
    spread = sum(M / (M - 1) * p * (1 - p) for p in fraction) / d
    phi = 1 - spread / (mean / d * (1 - mean / d))
    parts = []
    for row, k in zip(selections, sizes, strict=True):
        inner = sum(z * p for z, p in zip(row, fraction, strict=True)) / d - k * mean / d**2
        inner += phi / 2 * (2 * mean * k / d**2 - k / d - mean / d + 1)
        parts.append(inner / (mean / d * (1 - mean / d)))
    average = sum(parts) / M
    return phi, 4 / M**2 * sum((part - average) ** 2 for part in parts)


def sets_of_best(values, k):
    """Return all sets of k features without a better feature outside."""
    features = range(len(values))
    return [
        set(chosen)
        for chosen in combinations(features, k)
        if all(values[i] >= values[o] for i in chosen for o in features if o not in chosen)
    ]


def agreement(rankings, k):
    """Mean over pairs of rankings, and over how lots fall, of the fraction of k best in common."""
    total, pairs = 0.0, 0
    for a, b in combinations(rankings, 2):
        fractions = [
            len(first & other) / k
            for first, other in product(sets_of_best(a, k), sets_of_best(b, k))
        ]
        total += sum(fractions) / len(fractions)
        pairs += 1
    return total / pairs
