"""Precision of a ranking: intervals and stability over rows, and the number of trees it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.significance import announce
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.jobs.replicates import checkpoint_beside
from duramen.reports.report import Section
from duramen.results.importances import Importances
from duramen.results.significance import Intervals
from duramen.results.summary import Column
from duramen.significance import (
    Stability,
    TreesNeeded,
    confidence_intervals,
    ranking_stability,
    trees_needed,
)
from duramen.support import checks
from duramen.support.text import fixed

# First features whose order is asked for, the fewest trees that tell anything of it, and the most
# features: parts of the forest have an importance of each of them in memory.
_FIRST, _LEAST_TREES, _MOST_FEATURES = 10, 16, 100_000
_REACH = 4  # times the trees of a forest up to which an agreement is extrapolated
_INTERVAL = 40  # characters that a narrow terminal leaves to an interval
SOURCES = {
    "intervals": "Confidence intervals: H. Ishwaran, M. Lu (2019). Standard errors and confidence "
    "intervals for variable importance in random forest regression, classification, and survival. "
    "Statistics in Medicine 38.",
    "stability": "Stability of the ranking: S. Nogueira, K. Sechidis, G. Brown (2018). On the "
    "stability of feature selection algorithms. Journal of Machine Learning Research 18(174).",
    "trees": "Number of trees: V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). "
    "Statistical interpretation of machine learning-based feature importance scores for biomarker "
    "discovery. Bioinformatics 28.",
}
"""Sources of the parts of a ranking on its precision, by their names."""


# --- intervals and stability ------------------------------------------------------------------


def check_arguments(
    intervals: bool, stability: int | None, confidence_level: float, n_resamples: int | None
) -> None:
    """Check the arguments of `duramen.rank` on intervals and stability.

    Raises
    ------
    TypeError, ValueError
        If one is out of range, or has no effect.
    """
    checks.check_optional_integer("rank", "stability", stability, 1)
    checks.check_optional_integer("rank", "n_resamples", n_resamples, 2)
    checks.check_real("rank", "confidence_level", confidence_level, 0, 1, ends="()")
    if not intervals and stability is None and (n_resamples, confidence_level) != (None, 0.95):
        name = "confidence_level" if n_resamples is None else "n_resamples"
        raise ValueError(
            f"rank: {name} has no effect without intervals=True or stability=K; leave it out"
        )


def check_measure(measure: Measure, n_features: int, stability: int | None) -> None:
    """Check that a measure of `n_features` features can be computed on parts of the rows.

    Raises
    ------
    ValueError
        If it cannot, or there are too few features.
    """
    if not measure.testable:
        able = ", ".join(other.name for other in catalogue if other.testable)
        raise ValueError(
            f"rank: {'intervals' if stability is None else 'stability'} needs a first measure that "
            f"is one of {able}, got {measure.name}"
        )
    if stability is not None and stability >= n_features:
        raise ValueError(
            f"rank: stability must be less than the number of features, {n_features}, got "
            f"{stability}"
        )


def on_parts(
    inputs: Inputs,
    execution: Execution,
    ranked_by: Measure,
    first: Importances,
    *,
    intervals: bool,
    stability: int | None,
    n_resamples: int | None,
    confidence_level: float,
) -> dict[str, Any]:
    """Return the intervals and the stability that are asked for, from forests on parts of the rows.

    Their cost and notes are shown; one that was stopped is None.
    """
    asked, results = dict[str, tuple[Any, int, float, dict[str, Any]]](), dict[str, Any]()
    if intervals:
        asked["intervals"] = confidence_intervals, 100, 0.75, {"measure": first}
    if stability is not None:
        options = {"measure": ranked_by.name, "k": stability}
        asked["stability"] = ranking_stability, 50, 0.5, options
    for what, (function, most, fraction, options) in asked.items():
        checkpoint = checkpoint_beside(execution.checkpoint, what)
        estimator, n = inputs.unfitted().estimator, n_resamples or most
        if execution.announce is not None and execution.stop is None:
            title, of = f"{what} of {ranked_by.title}", ranked_by.name
            announce(execution.announce, title, estimator, inputs, n, measure=of, fraction=fraction)
        compute = partial(
            function,
            estimator,
            inputs.data,
            n_resamples=n,
            confidence_level=confidence_level,
            **{**execution.resources, "checkpoint": checkpoint},
            **options,
        )
        results[what] = execution.run(what, compute, timed=what, checkpoint=checkpoint)
        execution.tell(*(f"{what}: {note}" for note in getattr(results[what], "notes", ())))
    return results


def trees_for(measure: Measure, inputs: Inputs, k: int) -> TreesNeeded | None:
    """Return the number of trees that the first features need; None if it cannot be estimated.

    A measure that grows forests of its own has no parts.
    """
    forest, p = inputs.estimator.forest_, inputs.data.n_columns
    if not isinstance(forest, Forest) or forest.n_trees < _LEAST_TREES:
        return None
    if measure.refits or not measure.testable or not 2 <= p <= _MOST_FEATURES:
        return None
    k = min(k or min(_FIRST, p // 2), _FIRST, p - 1)
    try:
        return trees_needed(inputs.estimator, inputs.data, measure=measure.name, k=k)
    except ValueError:  # of few rows, all may be in the bags of the few trees of a part
        return None


# --- columns, record and words ----------------------------------------------------------------


def columns_of(
    intervals: Intervals | None, stability: Stability | None, names: Sequence[str]
) -> list[Column]:
    """Return the columns of intervals and stability, for these features."""
    columns = []
    if intervals is not None:
        taken = intervals.of(names)
        ends = fixed(np.concatenate([taken.low, taken.high]), 3)
        cells = [f"{low} to {high}" for low, high in zip(ends, ends[len(names) :], strict=False)]
        heading = f"{100 * taken.confidence_level:g}% interval"
        numbers = {
            "interval_low": taken.low,
            "interval_high": taken.high,
            "interval_standard_error": taken.standard_error,
            "interval_p_value": taken.p_values,
        }
        columns = [Column(heading, cells, least=_INTERVAL)]
        columns += [
            Column(name=name, numbers=values)
            for name, values in numbers.items()
            if values is not None
        ]
    if stability is not None:
        frequency = stability.of(names).frequency
        columns.append(
            Column("selected", digits=2, minor=1, name="selection_frequency", numbers=frequency)
        )
    return columns


def record_of(
    intervals: Intervals | None, stability: Stability | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings and a few figures of intervals and stability, for the record."""
    taken = ("measure", "method", "seed", "n_resamples", "subsample", "k", "correction", "scale")
    settings, figures = dict[str, Any](), dict[str, Any]()
    for name, result in (("intervals", intervals), ("stability", stability)):
        if result is not None:
            metadata = {key: result.metadata[key] for key in taken if key in result.metadata}
            settings[name] = {"confidence_level": result.confidence_level, **metadata}
            figures[name] = {"notes": list(result.notes)}
    if intervals is not None:
        settings["intervals"] |= {"kind": intervals.kind, "method": intervals.method}
        if intervals.p_values is not None:
            figures["intervals"]["features_with_interval_above_0"] = len(intervals.above())
    if stability is not None:
        ends = {"stability": stability.nogueira, "low": stability.low, "high": stability.high}
        figures["stability"] |= {
            name: float(number) if math.isfinite(number) else None for name, number in ends.items()
        }
    return settings, figures


def sections_of(intervals: Intervals | None, stability: Stability | None) -> list[Section]:
    """Return the words on intervals and stability."""
    sections = list[Section]()
    if intervals is not None:
        settings = intervals.metadata
        units = "groups" if settings.get("groups") is not None else "rows"
        meaning = (
            f"An interval covers, with a probability of {intervals.confidence_level:g} for each "
            f"feature separately, the importance that forests on as many rows have on average over "
            f"data sets. It comes from {settings['n_resamples']:,} forests on "
            f"{settings['subsample']:,} random {units} each."
        )
        sections.append(Section("Confidence intervals", (meaning, *intervals.notes)))
    if stability is not None:
        line = f"{stability.summary(0).heading[0]}; 1 if all are the same, 0 on average by chance."
        about = "Random halves of the rows overlap: rankings of independent data sets agree less."
        lines = (line, about, *stability.notes)
        sections.append(Section("Stability of the ranking", lines, brief=(line,)))
    return sections


def trees_words(needed: TreesNeeded, title: str) -> str:
    """Return a sentence about whether the number of trees suffices for the first features."""
    first, half = f"the first {needed.k} features", f"{int(needed.sizes[-1]):,}"
    agreed = f"{float(needed.agreement[-1]):.0%} of them in common on average"
    if needed.k == 1:
        first = "the first feature"
        agreed = f"the same one with a probability of {float(needed.agreement[-1]):.2f}"
    enough = needed.trees_to_rank <= needed.n_trees
    words = (
        f"{needed.n_trees:,} trees are {'sufficient' if enough else 'too few'} for an average "
        f"agreement of {needed.wanted:.0%} on {first} by {title}: two forests of {half} trees on "
        f"these rows have {agreed}"
    )
    if math.isinf(needed.trees_to_rank):
        words += f"; {_REACH * needed.n_trees:,} trees would not suffice"
    elif not enough:
        step = 10.0 ** max(0, math.floor(math.log10(needed.trees_to_rank)) - 1)
        words += f"; about {int(math.ceil(needed.trees_to_rank / step) * step):,} trees are needed"
    return f"{words}."
