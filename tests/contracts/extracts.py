"""Values extracted from each kind of result; only this module names their fields."""

from __future__ import annotations

from typing import Any


def frame(result: Any) -> list[Any]:
    """The columns of a result's data frame, in order, without their names."""
    table = result.to_frame()
    return [_column(table[name].tolist()) for name in table.columns]


def _column(values: list[Any]) -> list[Any]:
    """Values of a column of a data frame; what pandas calls missing is None."""
    import pandas as pd

    return [None if value is pd.NA or value is pd.NaT else value for value in values]


def importances(result: Any) -> tuple[Any, ...]:
    """Names and numbers of importances."""
    return (
        result.values,
        result.names,
        result.by_degree,
        result.standard_error,
        result.by_class,
        [str(label) for label in result.classes],
    )


def significance(result: Any) -> tuple[Any, ...]:
    """Names, scores, p- and q-values of a test."""
    return (result.p_values, result.names, result.scores, result.q_values)


def adjusted(result: Any) -> tuple[Any, ...]:
    """Extract the values of a step-down test, with adjusted p-values and verdicts."""
    verdicts = [str(verdict) for verdict in result.verdicts(0.2)]
    return (*significance(result), result.p_adjusted, result.statistics, verdicts)


def intervals(result: Any) -> tuple[Any, ...]:
    """Values, bounds and errors of intervals."""
    return (
        result.values,
        result.names,
        result.standard_error,
        result.low,
        result.high,
        result.p_values,
        result.replicate_mean,
        result.degrees_of_freedom,
    )


def forest(result: Any) -> tuple[Any, ...]:
    """The trees of a grown forest, without its settings and fingerprint."""
    return (
        result.impurity,
        result.feature,
        result.child,
        result.cut,
        result.threshold,
        result.pool,
        result.rows,
        result.leaf_values,
        result.offsets,
    )


def contexts(result: Any) -> tuple[Any, ...]:
    """Effects and p-values of contexts."""
    return (
        result.absolute,
        result.signed,
        result.names,
        [str(context) for context in result.contexts],
        result.fractions,
        result.importances,
        result.conditional,
        result.overall,
        result.relevance,
        result.plain,
        result.within,
        result.absolute_p_values,
        result.signed_p_values,
        result.plain_p_values,
        result.overall_p_values,
        result.relevance_p_value,
    )
