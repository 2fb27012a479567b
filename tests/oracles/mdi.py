"""Mean decrease of impurity the slow way, over nested nodes and lists of rows.

A node is a dictionary with ``train`` (training rows, repeated as drawn), ``held`` (rows dropped
through), and, where it splits, ``feature``, ``children`` and ``degree``, the number of columns
conditioned on above it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence


def entropy(labels: Sequence) -> float:
    return -sum(k / len(labels) * math.log2(k / len(labels)) for k in Counter(labels).values())


def gini(labels: Sequence) -> float:
    return 1 - sum((k / len(labels)) ** 2 for k in Counter(labels).values())


def variance(numbers: Sequence) -> float:
    mean = sum(numbers) / len(numbers)
    return sum((number - mean) ** 2 for number in numbers) / len(numbers)


def internal(node: dict) -> Iterator[tuple[dict, int]]:
    if "children" in node:
        yield node, node["degree"]
        for child in node["children"]:
            yield from internal(child)


def decrease(node: dict, y: Sequence, impurity: Callable, rows: str = "train") -> float:
    total = len(node[rows])
    rest = sum(
        len(child[rows]) / total * impurity([y[i] for i in child[rows]])
        for child in node["children"]
        if child[rows]
    )
    return impurity([y[i] for i in node[rows]]) - rest


def expected_bias(node: dict, y: Sequence) -> float:
    classes = len({y[i] for i in node["train"]})
    return (len(node["children"]) - 1) * (classes - 1) / (2 * rows_of(node) * math.log(2))


def miller_madow_bias(node: dict, y: Sequence) -> float:
    classes = len({y[i] for i in node["train"]})
    cells = sum(len({y[i] for i in child["train"]}) for child in node["children"])
    excess = cells - len(node["children"]) - classes + 1
    return excess / (2 * rows_of(node) * math.log(2))


def rows_of(node: dict) -> int:
    return len(set(node["train"]))


def information(sides: Sequence, labels: Sequence) -> float:
    """Plug-in information between two lists of labels, in bits."""
    pairs = list(zip(sides, labels, strict=True))
    return entropy(list(sides)) + entropy(list(labels)) - entropy(pairs)


def mean_information_by_enumeration(sides: Sequence, labels: Sequence) -> float:
    """Mean of the information over every order of the labels."""
    orders = list(itertools.permutations(labels))
    return sum(information(sides, order) for order in orders) / len(orders)


def mean_information(sides: Sequence, labels: Sequence) -> float:
    """Mean of the information over every order of the labels, by counting tables' cells."""
    n = len(labels)
    total = 0.0
    for a in Counter(sides).values():
        for b in Counter(labels).values():
            for k in range(max(0, a + b - n), min(a, b) + 1):
                chance = math.comb(b, k) * math.comb(n - b, a - k) / math.comb(n, a)
                if k:
                    total += chance * k / n * math.log2(n * k / (a * b))
    return total


def excess_information(node: dict, y: Sequence) -> float:
    """Information between child and class among held-out rows, less its mean under permutation."""
    rows = [(c, y[i]) for c, child in enumerate(node["children"]) for i in child["held"]]
    if not rows:
        return 0.0
    sides, labels = zip(*rows, strict=True)
    return information(sides, labels) - mean_information(sides, labels)


def covariance(node: dict, trained: Sequence, seen: Sequence) -> float:
    """Sum over the children of n_c m_c . (Y_c - Y_t): training means m, held-out means Y.

    `trained` and `seen` are lists of vectors, of the training and of the held-out rows.
    """
    if not node["held"]:
        return 0.0
    total = 0.0
    for k in range(len(seen[0])):
        here = mean([seen[i][k] for i in node["held"]])
        for child in node["children"]:
            if child["held"]:
                predicted = mean([trained[i][k] for i in child["train"]])
                surplus = mean([seen[i][k] for i in child["held"]]) - here
                total += len(child["held"]) * predicted * surplus
    return total


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
