"""Notes on the limits of the p-values of an analysis."""

from __future__ import annotations

import numpy as np

from duramen.contexts.dependence import Dependence
from duramen.contexts.nulls import Null
from duramen.contexts.subject import Subject
from duramen.contexts.values import Context
from duramen.support.arrays import FloatArray

_LEVEL = 0.05
# Fraction of the variance of the weights in the contexts, explained by a model, above which
# permutations change little.
_DETERMINED = 0.6
_GLOBAL = {
    "within_target": "is independent of all features given the target",
    "all": "is independent of all features and the target together",
}


def limits_of(
    subject: Subject, context: Context, null: Null, dependence: Dependence, n_permutations: int
) -> tuple[str, ...]:
    """Say what null hypothesis is global, and where p-values cannot be small."""
    n_effects = context.count * subject.data.table.n_columns
    return (
        *_global(context, null),
        *_few_arrangements(context, null, n_permutations),
        *_few_permutations(n_effects, n_permutations),
        *_of_models(subject, context, dependence),
    )


def _global(context: Context, null: Null) -> tuple[str, ...]:
    if null.permute not in _GLOBAL:
        return ()
    return (
        "The p-values are those of one global null hypothesis, that "
        f"{context.name} {_GLOBAL[null.permute]}: if a feature depends on {context.name}, or its "
        "spread does, other features are found too often, and no error rate holds for them. "
        "Conditional permutations test each feature by itself.",
    )


def _few_arrangements(context: Context, null: Null, n_permutations: int) -> tuple[str, ...]:
    """Say so where few permutations of the context differ from it."""
    number = null.effects.count(context.codes)
    if number > n_permutations:
        return ()
    return (
        f"only {number:,.0f} arrangements of {context.name} are possible under this scheme of "
        f"permutations, so that no p-value of an effect is below about {1 / number:.2g}.",
    )


def _few_permutations(n_effects: int, n_permutations: int) -> tuple[str, ...]:
    """Say so where a single effect cannot be significant after a correction for all of them."""
    least = 1 / (n_permutations + 1)
    if n_effects * least <= _LEVEL:
        return ()
    return (
        f"With {n_permutations:,} permutations no p-value is below {least:.2g}, too large for a "
        f"single effect among {n_effects:,} to be significant at {_LEVEL:g} after a correction "
        f"for all of them; with {round(n_effects / _LEVEL):,} it can be.",
    )


def _of_models(subject: Subject, context: Context, dependence: Dependence) -> tuple[str, ...]:
    """Say so where the models of the context have too few rows, or leave nothing to permute."""
    notes = []
    if dependence.left_out:
        terms, left = len(dependence.terms), dependence.left_out
        notes.append(
            f"{terms + left} features or pairs of features are associated with {context.name} "
            f"given the target; there are enough rows to allow for {terms} of them, those with "
            "the smallest p-values. Features that do not depend on it may be found too often."
        )
    names = subject.data.table.names
    values = np.bincount(context.codes) / len(context.codes)
    total = _variance(values[None], context)
    certain = [
        [names[j] for j in hypothesis.features]
        for hypothesis in dependence.hypotheses
        if hypothesis.log_weights is not None
        and _variance(np.exp(hypothesis.log_weights), context) < (1 - _DETERMINED) * total
    ]
    if certain:
        count = sum(map(len, certain))
        notes.append(
            f"The target and the other features largely determine {context.name}, so that "
            f"permutations change it little for {count} of {len(names)} features, such as "
            f"{certain[0][0]}: a dependence of these can hardly be found."
        )
    return tuple(notes)


def _variance(probabilities: FloatArray, context: Context) -> float:
    """Return the mean variance of the weights in all contexts, by probabilities of the values."""
    weights = np.column_stack([1 - context.scores.sum(axis=1), context.scores])
    squares = probabilities @ (weights**2) - (probabilities @ weights) ** 2
    return float(squares.sum(axis=1).mean())
