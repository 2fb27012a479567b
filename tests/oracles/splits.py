"""The largest decrease of impurity that any split of a node achieves, by trying them all.

Columns are lists of codes (0, 1, ...), the code of missing values being `missing` (or None).
"""

import math
from itertools import combinations


def impurity(y, w, criterion):
    """Gini index, entropy in bits, or variance, of weighted targets."""
    total = math.fsum(w)
    if criterion == "variance":
        mean = math.fsum(a * b for a, b in zip(y, w, strict=True)) / total
        return math.fsum(b * (a - mean) ** 2 for a, b in zip(y, w, strict=True)) / total
    fractions = [math.fsum(b for a, b in zip(y, w, strict=True) if a == k) / total for k in set(y)]
    if criterion == "gini":
        return 1 - math.fsum(s * s for s in fractions)
    return -math.fsum(s * math.log2(s) for s in fractions if s > 0)


def decrease(groups, y, w, criterion):
    """Impurity less the weighted mean impurity of the groups of rows."""
    total = math.fsum(w)
    left = impurity(y, w, criterion)
    for rows in groups:
        part = [w[i] for i in rows]
        left -= math.fsum(part) / total * impurity([y[i] for i in rows], part, criterion)
    return left


def partitions(codes, family, missing):
    """Return all partitions of the rows of a node by a family of splits."""
    present = sorted(set(codes))
    if len(present) < 2:
        return
    if family == "multiway":
        yield [[i for i, c in enumerate(codes) if c == code] for code in present]
        return
    sides = []
    if family == "ordered":
        seen = [c for c in present if c != missing]
        for k in range(1, len(seen) + 1):
            sides.append(set(seen[:k]))
            if missing in present:
                sides.append({*seen[:k], missing})
    elif family == "one-vs-rest":
        sides = [{code} for code in present]
    else:
        for size in range(1, len(present)):
            sides.extend(set(chosen) for chosen in combinations(present, size))
    for side in sides:
        first = [i for i, c in enumerate(codes) if c in side]
        second = [i for i, c in enumerate(codes) if c not in side]
        if first and second:
            yield [first, second]


def best_decrease(columns, families, missing, y, w, criterion, least=1):
    """Largest decrease over all columns and all splits with `least` rows a child; None if none."""
    best = None
    for codes, family, hole in zip(columns, families, missing, strict=True):
        for groups in partitions(codes, family, hole):
            if min(len(rows) for rows in groups) >= least:
                value = decrease(groups, y, w, criterion)
                best = value if best is None else max(best, value)
    return best
