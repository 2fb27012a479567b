"""Cut points by minimum description length, row by row, as Fayyad and Irani (1993) define them."""

from collections import Counter
from itertools import pairwise
from math import log2


def entropy(classes):
    n = len(classes)
    return -sum(k / n * log2(k / n) for k in Counter(classes).values())


def cuts(x, y):
    """All accepted cuts of a column x with classes y, ascending."""
    rows = sorted(zip(x, y, strict=True))
    values = sorted(set(x))
    best = None
    for low, high in pairwise(values):
        left = [c for v, c in rows if v <= low]
        right = [c for v, c in rows if v >= high]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(rows)
        if best is None or after < best[0] - 1e-12:
            best = after, (low + high) / 2, left, right
    if best is None:
        return []
    after, cut, left, right = best
    n, everything = len(rows), [c for _, c in rows]
    k, k_left, k_right = (len(set(part)) for part in (everything, left, right))
    delta = log2(3**k - 2) - (
        k * entropy(everything) - k_left * entropy(left) - k_right * entropy(right)
    )
    if entropy(everything) - after <= (log2(n - 1) + delta) / n + 1e-12:
        return []
    below = [(v, c) for v, c in rows if v <= cut]
    above = [(v, c) for v, c in rows if v > cut]
    return [
        *cuts([v for v, _ in below], [c for _, c in below]),
        cut,
        *cuts([v for v, _ in above], [c for _, c in above]),
    ]
