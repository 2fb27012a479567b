"""Importance measures of a ranking: their choice, their computation, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import target_class
from duramen.estimators.base import fit_by_parts
from duramen.findings.table import names_in, unequal_values
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.comparison import Measured, compare
from duramen.importances.measure import TreeSums
from duramen.importances.refit import leaves_rows_out
from duramen.plots.importances import PARALLEL_RANKS
from duramen.reports.facts import as_importances, name_of, words_of
from duramen.reports.report import DRAWN, Chart, Part, Plot, Table
from duramen.results.columns import Column
from duramen.results.significance import Significance
from duramen.significance.measured import exchanging
from duramen.support import checks
from duramen.support.text import joined

_KEPT = 1 << 29  # bytes that the trees of a forest may take to be kept; larger ones are let go


# --- their choice -----------------------------------------------------------------------------


def measures_of(asked: Any) -> tuple[str, ...]:
    """Return the names of measures; none for "auto".

    Raises
    ------
    ValueError
        If there is no such measure.
    """
    several = [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked
    names = [name.replace("-", "_") if isinstance(name, str) else name for name in several]
    allowed = ("auto", *(measure.name for measure in catalogue))
    chosen = [checks.check_choice("rank", "measure", name, allowed) for name in names]
    if chosen == ["auto"]:
        return ()
    if not chosen or "auto" in chosen:
        raise checks.refuse("rank", "measure", "'auto' or names of measures", asked)
    return tuple(dict.fromkeys(chosen))


def choose(
    asked: Sequence[str], *, forest: str, task: str, out_of_bag: bool
) -> tuple[list[Measure], str]:
    """Return the measures, those that were asked for or suit the forest, and why some are left out.

    The forest is named for messages; `out_of_bag` tells whether its trees leave rows out.

    Raises
    ------
    ValueError
        If a measure was asked for that needs classes or rows out of bag, and there are none.
    """
    target = target_class(task)
    unseen = f"every tree of {forest} sees all rows"
    if not asked:
        suited = [measure for measure in catalogue if measure.default and measure.suits(target)]
        usable = [measure for measure in suited if out_of_bag or measure.rows != "out-of-bag"]
        # A measure that is 0 on average for irrelevant features ranks, not MDI.
        first = next((measure for measure in usable if measure.zero_if_irrelevant), usable[0])
        usable.sort(key=lambda measure: measure is not first)
        gone = " and ".join(measure.name for measure in suited if measure not in usable)
        return usable, f"{gone} left out: {unseen}; bootstrap=True computes them" if gone else ""
    chosen = [catalogue[name] for name in asked]
    for measure in chosen:
        why = ""
        if target.censored and not measure.survival:
            able = ", ".join(other.name for other in catalogue if other.survival)
            why = f"is not defined for survival; use one of {able}"
        elif not measure.suits(target):
            others = " and ".join(m.name for m in catalogue if m.default and not m.classes)
            why = f"needs a target of classes, got numbers; {others} work for both"
        elif measure.rows == "out-of-bag" and not out_of_bag:
            why = f"needs out-of-bag rows, but {unseen}; add bootstrap=True"
        if why:
            raise ValueError(f"rank: measure={measure.name!r} {why}")
    return chosen, ""


def with_bias(
    data: LearningSet[EncodedTable], first: Measure, estimator: Any, execution: Execution
) -> LearningSet[EncodedTable]:
    """Return the data with a finding on columns that the first measure favors by chance."""
    if not first.favors_many_values:
        return data
    findings = data.provenance.findings
    unequal = unequal_values(data.table, first.title, named=names_in(findings))
    if unequal is None:
        return data
    out_of_bag = leaves_rows_out(estimator)
    fair = ", ".join(
        measure.name
        for measure in catalogue
        if measure.zero_if_irrelevant
        and measure.suits(data.target)
        and (out_of_bag or measure.rows != "out-of-bag")
    )
    hint = f"measure=NAME ranks without this bias, with NAME one of {fair}"
    unequal = replace(unequal, hint=hint)
    execution.tell(str(unequal))
    provenance = replace(data.provenance, findings=(*findings, unequal))
    return replace(data, provenance=provenance)


# --- their computation ------------------------------------------------------------------------


def trees_within(memory: int) -> int:
    """Return the bytes of trees that are kept where a table takes more memory than stated."""
    return memory // 8


def is_let_go(estimator: Any) -> bool:
    """Tell whether the trees of a fitted forest were let go."""
    return not isinstance(estimator.forest_, Forest)


def grow_and_compute(
    chosen: Sequence[Measure],
    inputs: Inputs,
    execution: Execution,
    *,
    required: Sequence[Measure] = (),
    memory: int | None = None,
) -> tuple[dict[str, Measured], int]:
    """Grow the forest, and compute the measures from its trees, kept or not.

    A measure that is `required`, or the only one left, and cannot be computed from these rows
    raises; others are left out, as are those that a stop such as Ctrl-C leaves unfinished, once the
    first is there. Also returns the number of features that the forest splits on.
    """
    most_bytes = _KEPT if memory is None else min(_KEPT, trees_within(memory))
    used = np.zeros(inputs.data.n_columns, dtype=np.bool_)
    sums: dict[str, TreeSums] = {}

    def take(trees: Forest) -> None:
        used[trees.feature[trees.feature >= 0]] = True
        for measure in sums.values():
            measure.add(trees)

    def takers() -> Sequence[Callable[[Forest], None]]:
        for measure in chosen:
            if measure.over_trees:
                sums[measure.name] = measure.compute(inputs)
        return [take]

    with execution.step("grow"):
        on, client = (inputs.estimator, inputs.data), execution.client
        if not fit_by_parts(*on, takers, most_bytes=most_bytes, client=client):
            take(inputs.estimator.forest_)
    data = inputs.data.with_exchangeability(inputs.data.exchangeability.without_strata())
    done: dict[str, Measured] = {}
    for i, measure in enumerate(chosen):
        own = replace(inputs, data=exchanging(measure, data))
        try:
            with execution.step(f"measure {measure.name}"):
                if measure.name in sums:
                    done[measure.name] = measure.result(sums[measure.name].importances(), own)
                else:
                    _check_trees(measure, inputs)
                    done[measure.name] = measure(own.unfitted() if measure.refits else own)
        except (ValueError, MemoryError) as error:
            if measure in required or (not done and measure is chosen[-1]):
                raise
            execution.left_out.append(f"{measure.name} left out: {error}")
        except KeyboardInterrupt as stop:
            if not done:
                raise
            execution.end(stop, *(left.name for left in chosen[i:]))
            break
    return done, int(used.sum())


def _check_trees(measure: Measure, inputs: Inputs) -> None:
    """Check that a measure that needs all trees at once has them."""
    if not measure.refits and is_let_go(inputs.estimator):
        raise ValueError(
            f"rank: measure={measure.name!r} needs all trees at once, and they do not fit in "
            "memory. Hint: max_rows, n_estimators, max_depth or min_samples_leaf makes a smaller "
            "forest"
        )


# --- their columns and agreement --------------------------------------------------------------


def columns_of(
    measure: Measured, names: Sequence[str], *, first: bool, alone: bool
) -> list[Column]:
    """Return the columns of a measure for these features.

    They are its values and, where known, ``_standard_error``, ``_p_value`` and ``_q_value``, after
    its name. The first measure of a table has its values and standard errors elsewhere; the only
    one with p-values is not named at their heads.
    """
    taken, name, title = measure.of(names), name_of(measure), words_of(measure).title
    scores, columns = as_importances(taken), list[Column]()
    if not first:
        heading = title if measure.unit == "1" else f"{title}, {measure.unit}"
        columns.append(Column(heading, digits=4, minor=1, name=name, numbers=scores.values))
        if scores.standard_error is not None:
            columns.append(Column(name=f"{name}_standard_error", numbers=scores.standard_error))
    if isinstance(taken, Significance):
        for letter, numbers in (("p", taken.p_values), ("q", taken.q_values)):
            head = letter if alone else f"{letter}, {title}"
            file = f"{name}_{letter}_value"
            columns.append(Column(head, digits=0, minor=int(not first), name=file, numbers=numbers))
    return columns


_LEAST = 3  # features from which on ranks are compared
_FEW = (100, 20, 10)  # first features among which they are compared, where there are twice as many


def agreement(measures: Sequence[Measured]) -> list[Part]:
    """Return sections on the ranks that several measures give; none for a single one.

    Raises
    ------
    ValueError
        If they are not of the same features, or two have the same title.
    """
    if len(measures) < 2 or len(measures[0]) < _LEAST:
        return []
    comparison = compare({words_of(measure).title: measure for measure in measures})
    few = next((k for k in _FEW if 2 * k <= len(comparison)), None)  # None: there are too few
    titles, first = comparison.measures, comparison.measures[0]
    matrices = {f"all {len(comparison):,}": comparison.spearman}
    note = (
        "Rank correlations (Spearman): 1 if two measures order the features in the same way, 0 "
        "if their orders are unrelated, -1 if one order is the reverse of the other."
    )
    if few is not None:
        of_first = comparison.top(few).spearman
        matrices |= {f"first {few}": of_first, "in common": comparison.overlap(few)}
        note += (
            f" They are computed over all features and over the first {few} by {first}; the last "
            f"number is the fraction of their first {few} features that two measures have in "
            "common. Among all features, most are often irrelevant, and their order is random."
        )
    pairs = list(combinations(range(len(titles)), 2))
    columns = [
        Column("measure", [titles[i] for i, _ in pairs], "words"),
        Column("and", [titles[j] for _, j in pairs], "words"),
        *(
            Column(heading, [_number(matrix[pair]) for pair in pairs])
            for heading, matrix in matrices.items()
        ),
    ]
    table = Table("Agreement of the measures", tuple(columns), note)
    k = min(DRAWN, len(comparison))
    others = joined(titles[1:], shown=20)
    place = {name: j for j, name in enumerate(comparison.names)}
    ranks = comparison.ranks[:, [place[name] for name in comparison.top(k).names]]
    stay = int((ranks <= k).all(axis=0).sum())
    chart = Chart(
        "Ranks side by side",
        Plot(PARALLEL_RANKS, comparison, {"k": k}),
        f"One line for each of the first {k} features by {first}, from that rank to its ranks by "
        f"{others}. {stay} are among the first {k} by all measures.",
        f"The first {k} features by {first}, and their ranks by {others}. Gray lines: features "
        f"that are not among the first {k} by some measure. Lines also cross because of random "
        "variation of the measures, which more trees reduce.",
    )
    return [table, chart]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
