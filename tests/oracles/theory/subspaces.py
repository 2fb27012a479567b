"""Distributions of random subspaces by enumeration, and a sequential search with its trees."""

import itertools
import math
from collections import defaultdict


def distribution_among_found(result, n_features, size, places):
    """Probability of every subspace under step 2(a) of algorithm 7.1: {frozenset: probability}."""
    distribution = defaultdict(float)
    kept_sets = list(itertools.combinations(sorted(result), min(places, len(result))))
    for kept_set in kept_sets:
        for subspace, fraction in distribution_of_filling(kept_set, n_features, size).items():
            distribution[subspace] += fraction / len(kept_sets)
    return dict(distribution)


def distribution_of_filling(retained, n_features, size):
    """Return the distribution if some features are certain and the others are drawn."""
    others = [j for j in range(n_features) if j not in retained]
    count = math.comb(len(others), size - len(retained))
    return {
        frozenset(retained) | frozenset(more): 1 / count
        for more in itertools.combinations(others, size - len(retained))
    }


def decreases_of_tree(tree, total_rows):
    """{column: decrease of impurity} of one tree, a mapping of lists, by its children one by one.

    Keys: feature, child, n_children, rows, impurity.
    """
    sums = defaultdict(float)
    for node, column in enumerate(tree["feature"]):
        if column < 0:
            continue
        first = tree["child"][node]
        children = range(first, first + tree["n_children"][node])
        rest = math.fsum(tree["rows"][c] * tree["impurity"][c] for c in children)
        decrease = (tree["rows"][node] * tree["impurity"][node] - rest) / total_rows
        sums[column] += decrease
    return dict(sums)
