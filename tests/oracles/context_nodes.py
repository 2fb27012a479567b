"""Effects of a context at the nodes of trees, node by node and context by context.

A tree is a list of nodes ``(rows, feature, children, level)``: the numbers of the rows at the node,
the column that it splits on (None at a leaf), the rows of each child, and what the decrease that
the context would bring at the node weighs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.oracles.mdi import entropy, gini, variance

Node = tuple[Sequence[int], int | None, Sequence[Sequence[int]], float]

IMPURITIES: dict[str, Callable[[Sequence[Any]], float]] = {
    "entropy": entropy,
    "gini": gini,
    "variance": variance,
}


def decrease(parts: Sequence[Sequence[int]], y: Sequence[Any], criterion: str) -> float:
    """Impurity of all rows together less the mean impurity of the parts; 0 without rows."""
    impurity = IMPURITIES[criterion]
    rows = [i for part in parts for i in part]
    if not rows:
        return 0.0
    inside = sum(len(part) * impurity([y[i] for i in part]) for part in parts if part)
    return impurity([y[i] for i in rows]) - inside / len(rows)


def effects(
    trees: Sequence[Sequence[Node]],
    y: Sequence[Any],
    context: Sequence[int],
    n_contexts: int,
    p: int,
    criterion: str,
    empty: str,
) -> dict[str, Any]:
    """Return all effects of a context on p features, means over trees (thesis, 6.7, 6.10, 6.12)."""

    def within(rows: Sequence[int], c: int) -> list[int]:
        return [i for i in rows if context[i] == c]

    def by_context() -> list[list[float]]:
        return [[0.0] * p for _ in range(n_contexts)]

    absolute, signed, conditional = by_context(), by_context(), by_context()
    importances, overall, relevance = [0.0] * p, [0.0] * p, 0.0
    for rows, feature, children, level in (node for tree in trees for node in tree):
        fraction = len(rows) / len(y) / len(trees)
        groups = [within(rows, c) for c in range(n_contexts)]
        relevance += fraction * level * decrease(groups, y, criterion)
        if feature is None:
            continue
        everywhere = decrease(children, y, criterion)
        importances[feature] += fraction * everywhere
        given_context = 0.0
        for c, group in enumerate(groups):
            here = decrease([within(child, c) for child in children], y, criterion)
            given_context += len(group) / len(rows) * here
            if not group and empty == "skip":
                continue
            absolute[c][feature] += fraction * abs(everywhere - here)
            signed[c][feature] += fraction * (everywhere - here)
            conditional[c][feature] += fraction * here
        overall[feature] += fraction * (everywhere - given_context)
    return {
        "importances": importances,
        "absolute": absolute,
        "signed": signed,
        "conditional": conditional,
        "overall": overall,
        "relevance": relevance,
    }
