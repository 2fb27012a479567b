"""Text of a distribution: its first rows as a table."""

from __future__ import annotations

from duramen.results.text import aligned
from duramen.theory.distributions.partition import FloatArray
from duramen.theory.distributions.variables import Columns

_SHOWN_ROWS = 12
_SHOWN_FEATURES = 10


def distribution_text(columns: Columns, weights: FloatArray) -> str:
    """Return the sizes of a distribution and its first rows, with their probabilities."""
    target, context, p = columns.target, columns.context, len(columns.features)
    counts = [
        _counted(len(weights), "row"),
        _counted(p, "feature"),
        f"{_counted(len(target.values), 'value')} of {target.name}",
    ]
    if context is not None:
        counts.append(f"{_counted(len(context.values), 'value')} of the context")
    lines = [f"FiniteDistribution: {', '.join(counts)}"]
    shown = [*columns.features[:_SHOWN_FEATURES], *columns.all[p:]]
    rows = slice(0, _SHOWN_ROWS)
    cells = [list(map(str, column.values[column.codes[rows]].tolist())) for column in shown]
    cells.append([f"{weight:.6g}" for weight in weights[rows]])
    header = [*(column.name for column in shown), "probability"]
    lines += aligned(header, cells, right=[True] * len(header))
    for hidden, noun in (
        (len(weights) - _SHOWN_ROWS, "more row"),
        (p - _SHOWN_FEATURES, "more feature"),
    ):
        if hidden > 0:
            lines.append(f"... and {_counted(hidden, noun)}")
    return "\n".join(lines)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
