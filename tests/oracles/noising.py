"""Noising-up of a feature, row by row, over nested nodes: by enumeration and by simulation.

A node is a dictionary with ``train`` (training rows, repeated as drawn), ``held`` (rows dropped
through), and, where it splits, ``feature`` and ``children``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence


def vote(leaf: dict, y: Sequence) -> int:
    """The most frequent class of a leaf's training rows, the smallest of several."""
    counts = Counter(int(y[i]) for i in leaf["train"])
    return min(counts, key=lambda label: (-counts[label], label))


def mean(leaf: dict, y: Sequence) -> float:
    return sum(float(y[i]) for i in leaf["train"]) / len(leaf["train"])


def zero_one(prediction: int, truth: int) -> float:
    return float(prediction != truth)


def squared(prediction: float, truth: float) -> float:
    return (prediction - truth) ** 2


def ends(node: dict, chance: float = 1.0) -> Iterator[tuple[dict, float]]:
    """Leaves below a node, and the probability that random sides lead there."""
    if "children" not in node:
        yield node, chance
        return
    for child in node["children"]:
        yield from ends(child, chance / len(node["children"]))


def path(root: dict, row: int) -> Iterator[dict]:
    """Nodes that a row passes through."""
    node = root
    yield node
    while "children" in node:
        (node,) = (child for child in node["children"] if row in child["held"])
        yield node


def first_split(root: dict, row: int, feature: int) -> dict | None:
    """The first node on a row's path that splits on the feature."""
    return next((node for node in path(root, row) if node.get("feature") == feature), None)


def rise(root: dict, feature: int, predict: Callable, loss: Callable, truth: Sequence) -> float:
    """Mean rise of a tree's loss over the rows dropped through, by enumeration of the leaves."""
    total = 0.0
    for row in root["held"]:
        node = first_split(root, row, feature)
        if node is not None:
            *_, leaf = path(root, row)
            total -= loss(predict(leaf), truth[row])
            total += sum(chance * loss(predict(end), truth[row]) for end, chance in ends(node))
    return total / len(root["held"]) if root["held"] else 0.0
