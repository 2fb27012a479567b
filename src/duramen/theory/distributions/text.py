"""Summary of a distribution: its first rows as a table."""

from __future__ import annotations

from duramen.results.columns import Column, counted
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.variables import Columns

_SHOWN_FEATURES = 10


def distribution_summary(columns: Columns, weights: FloatArray, rows: int) -> Summary:
    """Return the sizes of a distribution and its first rows, with their probabilities."""
    target, context, p = columns.target, columns.context, len(columns.features)
    counts = [
        counted(len(weights), "row"),
        counted(p, "feature"),
        f"{counted(len(target.values), 'value')} of {target.name}",
    ]
    if context is not None:
        counts.append(f"{counted(len(context.values), 'value')} of the context")
    shown = [*columns.features[:_SHOWN_FEATURES], *columns.all[p:]]
    first = weights[:rows]
    cells = [
        Column(one.name, list(map(str, one.values[one.codes[:rows]].tolist()))) for one in shown
    ]
    cells.append(Column("probability", [f"{weight:.6g}" for weight in first], bars=first))
    more = len(weights) - len(first), p - _SHOWN_FEATURES
    below = [
        f"... and {counted(count, noun)}"
        for count, noun in zip(more, ("more row", "more feature"), strict=True)
        if count > 0
    ]
    return Summary((f"FiniteDistribution: {', '.join(counts)}",), cells, tuple(below))
