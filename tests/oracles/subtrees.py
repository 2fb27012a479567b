"""Minimal depth of features in a tree, by recursion over nested nodes.

A node is a dictionary with, where it splits, ``feature`` and ``children``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction


def maximal_roots(node: dict, feature: int) -> list[dict]:
    """The nodes that split on the feature and have none above them that does."""
    if "children" not in node:
        return []
    if node["feature"] == feature:
        return [node]
    return [root for child in node["children"] for root in maximal_roots(child, feature)]


def height(node: dict) -> int:
    """Depth of the deepest leaf."""
    return 1 + max(map(height, node["children"])) if "children" in node else 0


def minimal_depth(node: dict, feature: int) -> int | None:
    """Return the smallest depth of a split on the feature, or None."""
    if "children" not in node:
        return None
    if node["feature"] == feature:
        return 0
    below = [minimal_depth(child, feature) for child in node["children"]]
    defined = [depth for depth in below if depth is not None]
    return 1 + min(defined) if defined else None


def splits_by_depth(node: dict) -> list[int]:
    """Number of internal nodes at depth 0, 1, 2 ..."""
    if "children" not in node:
        return []
    below = map(splits_by_depth, node["children"])
    return [1, *(sum(level) for level in itertools.zip_longest(*below, fillvalue=0))]


def distribution_by_enumeration(shape: Sequence, n_features: int, *, once: bool) -> list[Fraction]:
    """Distribution of the minimal depth of feature 0 over all ways to assign features to splits.

    A shape is the sequence of the shapes of a node's children; a leaf has none. With `once`, no
    feature comes twice on a path.
    """
    deepest = _height(shape)
    distribution = [Fraction(0)] * (deepest + 1)
    for depth, chance in _first_depths(shape, 0, tuple(range(n_features)), once):
        distribution[deepest if depth is None else depth] += chance
    return distribution


def _height(shape: Sequence) -> int:
    return 1 + max(map(_height, shape)) if shape else 0


def _first_depths(
    shape: Sequence, depth: int, features: tuple[int, ...], once: bool
) -> Iterator[tuple[int | None, Fraction]]:
    if not shape:
        yield None, Fraction(1)
        return
    for feature in features:
        chance = Fraction(1, len(features))
        if feature == 0:
            yield depth, chance
            continue
        left = tuple(k for k in features if k != feature) if once else features
        below = [list(_first_depths(child, depth + 1, left, once)) for child in shape]
        for outcome in itertools.product(*below):
            joint = chance
            for _, part in outcome:
                joint *= part
            defined = [result for result, _ in outcome if result is not None]
            yield (min(defined) if defined else None), joint
