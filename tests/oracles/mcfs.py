"""Monte Carlo feature selection the slow way: trees as nested dictionaries, loops over lists.

Trees are grown here too, by trying every cut; the subsets, the training rows and the choice among
cuts that are equally good have to be known. A node is a dictionary with ``rows`` and, where it
splits, ``feature``, ``cut`` and ``children``.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence


def entropy(labels: Sequence) -> float:
    return -sum(k / len(labels) * math.log2(k / len(labels)) for k in Counter(labels).values())


def information_gain(rows: Sequence[int], parts: Sequence[Sequence[int]], y: Sequence) -> float:
    rest = sum(len(part) / len(rows) * entropy([y[i] for i in part]) for part in parts)
    return entropy([y[i] for i in rows]) - rest


def gain_ratio(node: dict, y: Sequence) -> float:
    parts = [child["rows"] for child in node["children"]]
    side = [c for c, part in enumerate(parts) for _ in part]
    return information_gain(node["rows"], parts, y) / entropy(side)


def grown(
    X: Sequence[Sequence[float]],
    y: Sequence,
    rows: Sequence[int],
    features: Sequence[int],
    max_depth: int,
    taken: dict,
    depth: int = 0,
) -> dict:
    """The tree whose every split is the best of all cuts, halfway between neighbors.

    Several cuts can be equally good: `taken`, a tree of ``feature``, ``cut`` and ``children``,
    says which of them to take. A ValueError tells that there are better ones.
    """
    node: dict = {"rows": list(rows)}
    gains = {}
    if depth < max_depth and len({y[i] for i in rows}) > 1:
        for j in features:
            for low, high in itertools.pairwise(sorted({X[i][j] for i in rows})):
                cut = (low + high) / 2
                gains[j, cut] = information_gain(rows, halves(X, rows, j, cut), y)
    if bool(gains) != ("children" in taken):
        raise ValueError(f"{len(gains)} cuts, but the tree is {taken}")
    if gains:
        node["feature"], node["cut"] = split = taken["feature"], taken["cut"]
        if gains[split] < max(gains.values()) - 1e-12:
            raise ValueError(f"{split} gains {gains[split]}, others {max(gains.values())}")
        node["children"] = [
            grown(X, y, part, features, max_depth, child, depth + 1)
            for part, child in zip(halves(X, rows, *split), taken["children"], strict=True)
        ]
    return node


def halves(
    X: Sequence[Sequence[float]], rows: Sequence[int], feature: int, cut: float
) -> list[list[int]]:
    left = [i for i in rows if X[i][feature] <= cut]
    return [left, [i for i in rows if X[i][feature] > cut]]


def guess(node: dict, x: Sequence[float], y: Sequence) -> object:
    while "children" in node:
        node = node["children"][0 if x[node["feature"]] <= node["cut"] else 1]
    votes = Counter(y[i] for i in node["rows"])
    return min(votes, key=lambda label: (-votes[label], label))


def weighted_accuracy(root: dict, X: Sequence[Sequence[float]], y: Sequence) -> float:
    held = [i for i in range(len(y)) if i not in set(root["rows"])]
    recalls = []
    for label in sorted({y[i] for i in held}):
        of_class = [i for i in held if y[i] == label]
        recalls.append(sum(guess(root, X[i], y) == label for i in of_class) / len(of_class))
    return sum(recalls) / len(recalls)


def splits(node: dict, above: tuple[dict, ...] = ()) -> Iterator[tuple[dict, tuple[dict, ...]]]:
    """Every node that splits, with its ancestors, the nearest first."""
    if "children" in node:
        yield node, above
        for child in node["children"]:
            yield from splits(child, (node, *above))


def relative_importances(
    forest: Sequence[tuple[Sequence[int], Sequence[dict]]],
    X: Sequence[Sequence[float]],
    y: Sequence,
    p: int,
    u: float,
    v: float,
) -> list[float]:
    """RI of each feature, from pairs of a subset and its trees."""
    totals, trees_offered = [0.0] * p, [0] * p
    for subset, roots in forest:
        for root in roots:
            accuracy = weighted_accuracy(root, X, y)
            for j in subset:
                trees_offered[j] += 1
            for node, _ in splits(root):
                fraction = len(node["rows"]) / len(root["rows"])
                totals[node["feature"]] += accuracy**u * gain_ratio(node, y) * fraction**v
    return [
        total / trees if trees else 0.0 for total, trees in zip(totals, trees_offered, strict=True)
    ]


def edges(
    forest: Sequence[tuple[Sequence[int], Sequence[dict]]], y: Sequence, levels: int
) -> dict[tuple[int, int], float]:
    """Weight of each edge of the interdependency graph."""
    weights: dict[tuple[int, int], float] = {}
    for _, roots in forest:
        for root in roots:
            for node, above in splits(root):
                for ancestor in above[:levels]:
                    pair = (ancestor["feature"], node["feature"])
                    if pair[0] != pair[1]:
                        fraction = len(node["rows"]) / len(ancestor["rows"])
                        weights[pair] = weights.get(pair, 0.0) + gain_ratio(node, y) * fraction
    return weights
