"""Precision of a ranking: intervals and stability over rows, and the number of trees it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.measures import is_let_go
from duramen.analyses.ranking.significance import announce
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs, Measure, catalogue
from duramen.jobs.replicates import checkpoint_beside
from duramen.plots.importances import RANKING
from duramen.reports.facts import unit_words
from duramen.reports.report import DRAWN, Chart, Part, Plot, Prose
from duramen.results.columns import Column
from duramen.results.importances import Importances
from duramen.results.significance import Intervals
from duramen.significance import (
    Stability,
    TreesNeeded,
    trees_needed,
)
from duramen.significance.resampling_intervals import variance_error
from duramen.support import checks
from duramen.support.text import fixed

# First features whose order is asked for, the fewest trees that tell anything of it, and the most
# features: parts of the forest have an importance of each of them in memory.
_FIRST, _LEAST_TREES, _MOST_FEATURES = 10, 16, 100_000
_REACH = 4  # times the trees of a forest up to which an agreement is extrapolated
_INTERVAL = 40  # characters that a narrow terminal leaves to an interval
INTERVALS, STABILITY, TREES = (
    *("Confidence intervals", "Stability of the ranking", "Number of trees"),
)
_SOURCES = {
    "intervals": (
        INTERVALS,
        "H. Ishwaran, M. Lu (2019). Standard errors and confidence intervals for variable "
        "importance in random forest regression, classification, and survival. Statistics in "
        "Medicine 38.",
    ),
    "stability": (
        STABILITY,
        "S. Nogueira, K. Sechidis, G. Brown (2018). On the stability of feature selection "
        "algorithms. Journal of Machine Learning Research 18(174).",
    ),
    "trees": (
        TREES,
        "V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of "
        "machine learning-based feature importance scores for biomarker discovery. Bioinformatics "
        "28.",
    ),
}

# --- intervals and stability ------------------------------------------------------------------


def check_arguments(
    intervals: bool,
    scale: Any,
    stability: int | None,
    confidence_level: float,
    n_resamples: int | None,
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
    if scale is not None:
        checks.check_choice("rank", "interval_scale", scale, ("importance", "fraction"))
    either, of = intervals or stability is not None, "intervals=True or stability=K"
    for name, changed, used, needed in (
        ("confidence_level", confidence_level != 0.95, either, of),
        ("n_resamples", n_resamples is not None, either, of),
        ("interval_scale", scale is not None, intervals, "intervals=True"),
    ):
        if changed and not used:
            raise ValueError(f"rank: {name} has no effect without {needed}; leave it out")


def check_measure(
    measure: Measure, n_features: int, *, intervals: bool, stability: int | None
) -> None:
    """Check that a measure of so many features can be computed on parts of the rows.

    Raises
    ------
    ValueError
        If it cannot, or there are too few features.
    """
    if (intervals or stability is not None) and not measure.testable:
        able = ", ".join(other.name for other in catalogue if other.testable)
        raise ValueError(
            f"rank: {'intervals' if intervals else 'stability'} needs a first measure that is one "
            f"of {able}, got {measure.name}"
        )
    if stability is not None and stability >= n_features:
        raise ValueError(
            f"rank: stability must be less than the number of features, {n_features}, got "
            f"{stability}"
        )


def check_target(scores: Importances, data: LearningSet[EncodedTable], scale: Any) -> None:
    """Check that importances of a target can have intervals, before a long test is run.

    Raises
    ------
    ValueError
        If one row has most of the sum of squares of the target.
    """
    variance_error(
        data,
        scores.unit,
        scale or "importance",
        "rank: intervals=True",
        "interval_scale='fraction'",
    )


def without_strata(inputs: Inputs) -> Inputs:
    """Return inputs whose rows have no strata, which are for the test alone."""
    rows = inputs.data.exchangeability.without_strata()
    return replace(inputs, data=inputs.data.with_exchangeability(rows))


def on_parts(
    function: Callable[..., Any],
    what: str,
    measure: Measure,
    inputs: Inputs,
    execution: Execution,
    *,
    n_resamples: int,
    fraction: float,
    options: Mapping[str, Any],
) -> Any:
    """Return the result of a function of forests on parts of the rows; show its cost and notes."""
    estimator = inputs.unfitted().estimator
    named = f"{what} of {measure.title}"
    announce(
        named, estimator, inputs, n_resamples, execution, measure=measure.name, fraction=fraction
    )
    result = function(
        estimator,
        inputs.data,
        n_resamples=n_resamples,
        random_state=inputs.random_state,
        n_jobs=inputs.n_jobs,
        client=execution.client,
        checkpoint=checkpoint_beside(execution.checkpoint, what),
        verbose=inputs.verbose,
        **options,
    )
    execution.notes(f"{what}: {note}" for note in result.notes)
    return result


def trees_for(measure: Measure, inputs: Inputs, k: int, execution: Execution) -> TreesNeeded | None:
    """Return the trees that the first features need; None where parts of a forest do not tell.

    A measure that grows forests of its own has no parts.
    """
    if is_let_go(inputs.estimator):
        return None
    trees, p = inputs.estimator.forest_.n_trees, inputs.data.n_columns
    if measure.refits or not measure.testable or trees < _LEAST_TREES:
        return None
    if not 2 <= p <= _MOST_FEATURES:
        return None
    k = min(k or min(_FIRST, p // 2), _FIRST, p - 1)
    with execution.step("trees needed"):
        return trees_needed(inputs.estimator, inputs.data, measure=measure.name, k=k)


# --- columns and record -----------------------------------------------------------------------


def of_fractions(intervals: Intervals | None) -> bool:
    """Tell whether intervals are of fractions of the sum of the importances."""
    return intervals is not None and intervals.metadata.get("scale") == "fraction"


def columns_of(
    intervals: Intervals | None, stability: Stability | None, names: Sequence[str]
) -> list[Column]:
    """Return the columns of intervals and stability, for these features."""
    columns = []
    if intervals is not None:
        taken = intervals.of(names)
        ends = fixed(np.concatenate([taken.low, taken.high]), 3)
        cells = [f"{low} to {high}" for low, high in zip(ends, ends[len(names) :], strict=False)]
        heading = f"{_percent(taken.confidence_level)} interval"
        heading += ", fraction" * of_fractions(taken)
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
        frequency = stability.frequency[stability.places(names)]
        columns.append(Column(name="selection_frequency", numbers=frequency))
    return columns


def references_of(parts: Mapping[str, Any]) -> list[str]:
    """Return the sources of the parts of a ranking on its precision."""
    return [f"{title}: {source}" for part, (title, source) in _SOURCES.items() if part in parts]


def settings_of(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for the record."""
    taken = ("measure", "method", "seed", "n_resamples", "subsample", "k", "correction", "scale")
    settings: dict[str, Any] = {}
    for name, result in parts.items():
        if name in ("intervals", "stability"):
            metadata = {key: result.metadata[key] for key in taken if key in result.metadata}
            settings[name] = {"confidence_level": result.confidence_level, **metadata}
        if name == "intervals":
            settings[name] |= {"kind": result.kind, "method": result.method}
    return settings


def figures_of(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a few figures for the record."""
    intervals, stability, trees = map(parts.get, ("intervals", "stability", "trees"))
    figures: dict[str, Any] = {}
    if intervals is not None:
        above = {"features_with_interval_above_0": len(intervals.above())}
        tested = {} if intervals.p_values is None else above
        figures["intervals"] = {**tested, "notes": list(intervals.notes)}
    if stability is not None:
        numbers = {"stability": stability.nogueira, "low": stability.low, "high": stability.high}
        finite = {name: _finite(number) for name, number in numbers.items()}
        figures["stability"] = {**finite, "notes": list(stability.notes)}
    if trees is not None:
        figures["trees_needed"] = {
            "first_features": trees.k,
            "agreement_of_halves": float(trees.agreement[-1]),
            "agreement_interval": list(trees.interval()),
            "wanted_agreement": trees.wanted,
            "trees_to_rank": _finite(trees.trees_to_rank),
            "trees_to_see": _finite(trees.trees_to_see),
        }
    return figures


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


# --- sections ---------------------------------------------------------------------------------


def sections_of(parts: Mapping[str, Any], title: str) -> list[Part]:
    """Return the figures of intervals and stability with their meanings, by a measure's title."""
    return [
        *(_of_intervals(parts["intervals"], title) if "intervals" in parts else ()),
        *(_of_stability(parts["stability"], title) if "stability" in parts else ()),
    ]


def _of_intervals(intervals: Intervals, title: str) -> list[Part]:
    best, settings = intervals.top(DRAWN), intervals.metadata
    listed = ", ".join(f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in list(best)[:5])
    level = _percent(intervals.confidence_level)
    units = "groups" if settings.get("groups") is not None else "rows"
    covered = "fraction of the sum of all importances" if of_fractions(intervals) else "importance"
    zero = (
        f"{title} of an irrelevant feature is not 0 on average, so that an interval above 0 is no "
        "evidence of relevance."
    )
    if intervals.p_values is not None:
        zero = (
            "The importance of an irrelevant feature is 0 on average: interval_p_value of "
            "result.csv is the one-sided p-value of this null hypothesis, for each feature alone."
        )
    meaning = (
        f"An interval covers, with a probability of {intervals.confidence_level:g}, the {covered} "
        "that forests on as many rows have on average over data sets. It comes from "
        f"{settings['n_resamples']:,} forests on {settings['subsample']:,} random {units} each. "
        "The level holds for each interval separately: of many intervals, some miss the value."
    )
    return [
        Chart(
            INTERVALS,
            Plot(RANKING, best, {"k": len(best)}),
            f"Bar chart of the {len(best)} most important features by {title} with {level} "
            f"confidence intervals. First: {listed}.",
            f"{title}, in {unit_words(intervals.unit)}. Lines: {level} confidence intervals.",
        ),
        Prose("About the intervals", (meaning, zero, *intervals.notes)),
    ]


def _of_stability(stable: Stability, title: str) -> list[Part]:
    k, n = int(stable.metadata["k"]), f"{stable.n_selections:,}"
    most = stable.top(min(DRAWN, int(np.count_nonzero(stable.frequency))))
    listed = ", ".join(f"{name} {fraction:.0%}" for name, fraction in list(most)[:5])
    among = f"that have a feature among their {k} most important ones"
    of = f"tability of the {'first feature' if k == 1 else f'first {k} features'} by {title}"
    words = f"The s{of} is not defined."
    if not math.isnan(stable.nogueira):
        interval = "no interval"
        if not math.isnan(stable.low):
            level = _percent(stable.confidence_level)
            interval = f"{level} interval {stable.low:.2f} to {stable.high:.2f}"
        words = (
            f"S{of} over {n} random halves of the rows: {stable.nogueira:.2f} ({interval}); 1 if "
            "every half selects the same features, 0 on average by chance."
        )
    return [
        Chart(
            STABILITY,
            Plot(RANKING, most, {"k": len(most)}),
            f"Bar chart of the fraction of forests on halves of the rows {among}. First: {listed}.",
            f"Fraction of {n} forests on random halves of the rows {among} by {title}.",
        ),
        Prose(
            "About the stability",
            (
                f"{words} The interval is over the choice of halves, not over other data sets. "
                "Halves share half of their rows, so that rankings of independent data sets agree "
                "less.",
                "Correlated features can replace each other among the first. A stable ranking need "
                "not be correct.",
                *stable.notes,
            ),
            brief=(words,),
        ),
    ]


def trees_section(needed: TreesNeeded, title: str) -> Prose:
    """Return the section about the number of trees; `title` is that of the measure."""
    words = trees_words(needed, title)
    about = (
        "Two forests on the same rows differ only by their random numbers. Their agreement is "
        "measured on halves of this forest, and the advised number of trees is extrapolated: grow "
        "so many, and check again. Features that are equivalent on these rows, such as copies, "
        "never have a fixed order. More trees do not make a ranking valid for other rows."
    )
    return Prose(TREES, (words, about), brief=(words,))


def trees_words(needed: TreesNeeded, title: str) -> str:
    """Return whether the trees suffice for the first features, and how many would."""
    first = "the first feature" if needed.k == 1 else f"the first {needed.k} features"
    n, wanted = f"{needed.n_trees:,} trees", f"{needed.wanted:.0%}"
    low, high = needed.interval()
    half, agreed = f"{int(needed.sizes[-1]):,}", float(needed.agreement[-1])
    common = (
        f"two forests of {half} trees on these rows have {agreed:.0%} of them in common on "
        f"average, and a new pair {low:.0%} to {high:.0%} (95% prediction interval)"
        if needed.k > 1
        else f"two forests of {half} trees on these rows have the same first feature with an "
        f"estimated probability of {agreed:.2f}"
    )
    few = f"{n} are too few for {first} by {title}: {common}"
    if needed.trees_to_rank <= needed.n_trees:
        words = (
            f"{n} are sufficient for an average agreement of {wanted} on {first} by {title}: "
            f"{common}"
        )
        if agreed < needed.wanted:
            words += f"; {needed.expected_agreement:.0%} are expected of {n}"
    elif math.isinf(needed.trees_to_rank):
        words = (
            f"{few}, and {_REACH * needed.n_trees:,} trees would not suffice for {wanted}; "
            "features next to each other may be equally important"
        )
    else:
        words = f"{few}; about {_rounded(needed.trees_to_rank):,} trees are needed for {wanted}"
    if needed.n_trees < needed.trees_to_see < math.inf:
        words += (
            f"; {needed.trees_to_see:,.0f} trees have every feature as a candidate at some node "
            f"with a probability of {1 - needed.risk:g}"
        )
    return f"{words}."


def _percent(level: float) -> str:
    return f"{100 * level:g}%"


def _rounded(number: float) -> int:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, math.floor(math.log10(number)) - 1)
    return int(math.ceil(number / step) * step)
