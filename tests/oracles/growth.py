"""Rows, weight, impurity and value of every node of a tree, counted from its bag, row by row."""

import math

from tests.oracles.route import path_of
from tests.oracles.splits import impurity


def weights_of(bag, weights, target, n_classes, balanced):
    """Weights of the rows in one tree: multiplicity times weight, times the balance of the bag."""
    result = [times * weight for times, weight in zip(bag, weights, strict=True)]
    if balanced:
        in_bag = [0] * n_classes
        for times, code in zip(bag, target, strict=True):
            in_bag[code] += times
        fraction = sum(bag) / n_classes
        result = [
            w * fraction / in_bag[code] if w else 0.0
            for w, code in zip(result, target, strict=True)
        ]
    return result


def nodes_of(arrays, schema, tree, rows, weights, target, criterion):
    """Return rows, weight, impurity and values of every node, without rows of weight 0.

    `values` are the weighted frequencies of the classes, or the mean in a list.
    """
    start, stop = (int(arrays["offsets"][tree + i]) for i in (0, 1))
    members = [[] for _ in range(start, stop)]
    for i, row in enumerate(rows):
        if weights[i] > 0:
            for node in path_of(arrays, schema, tree, row):
                members[node].append(i)
    n_values = len(arrays["leaf_values"][0])
    return [_summary(member, weights, target, criterion, n_values) for member in members]


def _summary(members, weights, target, criterion, n_values):
    w, y = [weights[i] for i in members], [target[i] for i in members]
    total = math.fsum(w)
    if not members:
        return 0, 0.0, 0.0, None
    if criterion == "variance":
        values = [math.fsum(a * b for a, b in zip(w, y, strict=True)) / total]
    else:
        of_class = [[a for a, code in zip(w, y, strict=True) if code == k] for k in range(n_values)]
        values = [math.fsum(part) / total for part in of_class]
    return len(members), total, impurity(y, w, criterion), values
