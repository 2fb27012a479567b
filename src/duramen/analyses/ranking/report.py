"""Report of a ranking: table, conclusion and sections, from the results of the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.analyses.ranking import direct as given_others
from duramen.analyses.ranking import effects, precision, significance
from duramen.analyses.ranking.pairs import AllPairs
from duramen.analyses.ranking.rows import RowImportances
from duramen.analyses.ranking.rows import columns_of as columns_of_rows
from duramen.data import EncodedTable, LearningSet
from duramen.forests.settings import CRITERIA
from duramen.importances.measure import Measured
from duramen.plots.curves import OOB_ERROR
from duramen.reports.facts import (
    LEVEL,
    OTHER_METHODS,
    adjusted_words,
    as_importances,
    degree_charts,
    name_of,
    page,
    rows_note,
    sizes,
    subject,
    unit_words,
    words_of,
)
from duramen.reports.report import (
    HELD,
    OF_PAIRS,
    OF_ROWS,
    Chart,
    Group,
    Part,
    Plot,
    Prose,
    Report,
    Run,
    Section,
    Table,
    shown_columns,
)
from duramen.results.importances import Importances
from duramen.results.significance import (
    CANDIDATE,
    CONFIRMED,
    NOISE,
    ConditionalSignificance,
    Significance,
)
from duramen.results.summary import Column, counted
from duramen.significance import catalogue as tests

_ROWS = 100  # features of the table on the page
_DIRECTION = 14  # characters that a narrow terminal leaves to a direction
_CAVEATS = (
    "Features that carry the same information share it: each of several copies is less important "
    "than one alone would be.",
    "An importance measures how much the forest uses a feature; it is no evidence of a causal "
    "effect.",
)
_NO_TEST = "No significance test was run: the order alone is no evidence that a feature is relevant"
_NO_ERROR = "the accuracy out of bag is not known, because every tree sees all rows"
# Whether the forest predicts better than without features, and whether a feature was found; None
# where nothing was tested.
_MEANINGS = {
    (True, True): "the features predict {target}, and the {found} associated with it",
    (True, False): "the features together predict {target}, but no single feature is "
    "distinguished from noise",
    (True, None): "the features together predict {target}",
    (False, True): "the {found} associated with {target}, but the forest does not "
    "predict it better than without any feature",
    (False, False): "there is no evidence that any feature is associated with {target}, and the "
    "order may be due to chance",
    (False, None): "there is no evidence that the features predict {target}, and the order may be "
    "due to chance",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankingReport(Report):
    """Report of `duramen.rank`: importances, verdicts and directions of all features.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    importances : mapping of str to Importances or Significance
        Importances by each measure, by its name; the first one orders the table.
    significance : Significance, ErrorRates or None
        Result of the test, if one was run.
    selected : tuple of str
        Features that the test selects, the best first: those confirmed, and candidates.
    direct : ConditionalSignificance or None
        Test of each feature given all others, with `direct`.
    direct_clusters : tuple of tuples of str
        Direct and associated features, correlated ones together.
    rows : tuple of RowImportances
        Importances in the rows to explain: those of the table, then new ones.
    interactions : AllPairs or None
        Interactions of all pairs, with `interactions`.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.rank(data.X, data.y, n_jobs=1)
    >>> report.selected
    ('x0', 'x1')
    """

    importances: Mapping[str, Any] = field(default_factory=dict)
    significance: significance.Tested | None = None
    selected: tuple[str, ...] = ()
    direct: ConditionalSignificance | None = None
    direct_clusters: tuple[tuple[str, ...], ...] = ()
    rows: tuple[RowImportances, ...] = ()
    interactions: AllPairs | None = None

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict of each feature, "confirmed", "candidate" or "noise", in the order of the table.

        Empty where the test gives none.
        """
        return self._words("verdict")

    @property
    def directions(self) -> dict[str, str]:
        """Directions of the effects, in words, of the features for which they are described."""
        return {name: words for name, words in self._words("direction").items() if words}

    def _words(self, column: str) -> dict[str, str]:
        if column not in self.table:
            return {}
        names, words = (self.table[key] for key in ("name", column))
        lists = (one.to_pylist() if hasattr(one, "to_pylist") else one for one in (names, words))
        return dict(zip(*lists, strict=True))


def in_order(measured: Measured, tested: significance.Tested | None) -> Importances:
    """Return a measure with the most important feature first.

    With a test that gives verdicts, the confirmed features are first, then the candidates.
    """
    best = as_importances(measured)
    best = best.take(best.order())
    if verdicts := significance.verdicts_of(tested):
        ranks = {CONFIRMED: 0, CANDIDATE: 1, NOISE: 2}
        best = best.take(np.argsort([ranks[verdicts[name]] for name in best.names], kind="stable"))
    return best


def table_columns(
    measures: Sequence[Measured], **parts: Any
) -> tuple[list[Column], list[Column], list[Column]]:
    """Return the columns of all results, the features in the order of `in_order`.

    They are in three lists: rank, name and importance; those of tests and effects; and those of the
    measures: values, ``_standard_error``, ``_p_value`` and ``_q_value`` after the name of each.
    """
    names = ("tested", "direct", "described", "intervals", "stability")
    tested, direct, described, intervals, stability = map(parts.get, names)
    best = in_order(measures[0], tested)
    features, error = best.names, best.standard_error
    judgments = [] if tested is None else significance.columns_of(tested, features)
    verdicts = next((column.cells for column in judgments if column.name == "verdict"), None)
    if direct is not None:  # which takes the room of what says less
        judgments = [replace(c, minor=1) if c.name == "evidence" else c for c in judgments]
    if described is not None:  # after the last major column of the test
        words = {direction.name: direction.words for direction in described}
        cells = [words.get(name, "") for name in features]
        place = max((i + 1 for i, column in enumerate(judgments) if not column.minor), default=0)
        column = Column("direction", cells, "words", least=_DIRECTION, name="direction")
        judgments.insert(place, column)
    if direct is not None:
        judgments += given_others.columns_of(direct, features)
    whiskers = None if error is None else (best.values - error, best.values + error)
    if intervals is not None:
        taken = intervals.of(features)
        whiskers = taken.low, taken.high
    title = words_of(measures[0]).title
    columns = [
        Column("rank", kind="rank", name="rank", numbers=np.arange(1, len(best) + 1)),
        Column("feature", features, "name", name="name"),
        Column(
            title if best.unit == "1" else f"{title}, {best.unit}",
            digits=4,
            bars=best.values,
            whiskers=whiskers,
            faint=None if verdicts is None else [word == NOISE for word in verdicts],
            name="importance",
            numbers=best.values,
        ),
    ]
    of_rows = precision.columns_of(intervals, stability, features)
    columns += of_rows
    if error is not None:
        minor = int(intervals is not None or verdicts is not None)
        column = Column("std. error", digits=2, minor=minor, name="standard_error", numbers=error)
        columns.append(column)
    columns += [column for column in best.table() if not column.title]
    alone = tested is None and sum(isinstance(one, Significance) for one in measures) == 1
    scores = list[Column]()
    for i, measure in enumerate(measures):
        own, name, title = measure.of(features), name_of(measure), words_of(measure).title
        values = as_importances(own)
        if i > 0:
            heading = title if own.unit == "1" else f"{title}, {own.unit}"
            scores.append(Column(heading, digits=4, minor=1, name=name, numbers=values.values))
            if values.standard_error is not None:
                errors = values.standard_error
                scores.append(Column(name=f"{name}_standard_error", numbers=errors))
        if isinstance(own, Significance):
            for letter, numbers in (("p", own.p_values), ("q", own.q_values)):
                head = letter if alone else f"{letter}, {title}"
                file = f"{name}_{letter}_value"
                minor = int(i > 0)
                scores.append(Column(head, digits=0, minor=minor, name=file, numbers=numbers))
    return columns, judgments, scores


def summarize(
    measures: Sequence[Measured],
    run: Run,
    *,
    data: LearningSet[EncodedTable] | None = None,
    above: Sequence[Section] = (),
    left_out: Sequence[str] = (),
    oob_errors: ArrayLike | None = None,
    n_rows: int = _ROWS,
    **parts: Any,
) -> RankingReport:
    """Return the report of a ranking.

    Parameters
    ----------
    measures : sequence of Importances or Significance
        Importance measures, the first of which orders the features.
    run : Run
        Record of the run.
    data : LearningSet, optional
        Rows by which effects were described.
    above : sequence of sections
        Sections above the table.
    left_out : sequence of str
        What is not computed, and why.
    oob_errors : array-like, optional
        Out-of-bag error after each tree.
    n_rows : int
        Rows of the table on the page.
    **parts
        Results of further steps, as far as there are any: ``tested``, ``described``, ``intervals``,
        ``stability``, ``trees``, ``direct``, ``direct_groups``, ``direct_clusters``, ``groups`` (a
        table), ``pairs`` and ``rows``.
    """
    parts = {name: part for name, part in parts.items() if part is not None}
    tested, direct, pairs = map(parts.get, ("tested", "direct", "pairs"))
    intervals, rows, clusters = (
        parts.get(name, ()) for name in ("intervals", "rows", "direct_clusters")
    )
    first, title = measures[0], words_of(measures[0]).title
    head, judgments, scores = table_columns(measures, **parts)
    named = {"name": head[1], **{c.name: c for c in (*head, *scores, *judgments) if c.name}}
    verdicts = "verdict" in named
    has_errors = any(as_importances(measure).standard_error is not None for measure in measures)

    # --- what the page shows ---
    note = rows_note(min(n_rows, len(first)), len(first))
    if intervals:
        note += f" Lines at the bars: {100 * intervals.confidence_level:g}% confidence intervals."
    elif as_importances(first).standard_error is not None:
        note += f" Lines at the bars: one standard error over the {words_of(first).spread}."
    if verdicts:
        note += f" Features are in the order of verdicts, then of {title}. Gray bars: noise."
    columns = shown_columns([*head, *judgments, *scores], max(n_rows, HELD))
    table = Table("Ranking", columns, note, shown=n_rows, total=len(first), main=True)
    sections: list[Section] = [*above, table]
    if direct is not None:
        sections.append(given_others.section_of(direct, parts.get("direct_groups"), clusters))
    if "groups" in parts:
        sections.append(parts["groups"])
    reading = list[str]()
    for measure in measures:
        words = words_of(measure)
        scored = measure.unit == CRITERIA["log_rank"].unit
        text = (words.survival_reading if scored else "") or words.reading
        reading.append(text.format(unit=unit_words(measure.unit)))
        if isinstance(measure, Significance):
            trees = measure.metadata.get("n_trees")
            depends = "" if trees is None else words.p_values.format(n_trees=trees)
            reading.append(
                f"The p-value of {words.title} tests this null hypothesis: {measure.null} "
                f"{depends}{adjusted_words(measure)}"
            )
    if has_errors:
        reading.append(
            "Standard errors are over forests of the same size on the same data: more trees shrink "
            "them, and they do not include the sampling error of the data."
        )
    if "described" in parts and data is not None:
        sections += effects.sections_of(parts["described"], data, run.target or "target")
        reading.append(effects.interpretation(data))
    sections += [part.section() for part in (*([] if pairs is None else [pairs]), *rows)]
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out)))
    caveats = [
        words.caution.format(title=words.title)
        for words in map(words_of, measures)
        if words.caution
    ]
    caveats += [*_CAVEATS, *([] if tested is None else [OTHER_METHODS])]
    of_forest: list[Part] = [*degree_charts(as_importances(first))]
    errors = np.asarray([] if oob_errors is None else oob_errors, dtype=np.float64).tolist()
    if any(map(math.isfinite, errors)):
        what = run.target_class.oob_error
        of_forest.append(
            Chart(
                "Error against number of trees",
                Plot(OOB_ERROR, tuple(errors), {"what": what}),
                f"Line chart of the {what} against the number of trees; after {len(errors)} trees "
                f"it is {errors[-1]:.3g}.",
                "Error of out-of-bag predictions. Where the line is flat, more trees do not "
                "improve the predictions; a stable ranking can need many more trees.",
            )
        )
    if "trees" in parts:
        words_on_trees = precision.trees_words(parts["trees"], title)
        of_forest.append(Prose("Number of trees", (words_on_trees,), brief=(words_on_trees,)))
    cited: list[Any] = [words_of(measure) for measure in measures]
    cited += [tests[result.method] for result in (tested, direct) if result is not None]
    sources = [f"{entry.title}: {entry.reference}" for entry in cited if entry.reference]
    sources += [source for part, source in precision.SOURCES.items() if part in parts]
    folded: dict[str, Sequence[Part]] = {
        "Significance test": [] if tested is None else significance.sections_of(tested),
        "Confidence intervals and stability": precision.sections_of(parts),
        "Forest": of_forest,
    }
    sections += [Group(title, tuple(parts)) for title, parts in folded.items() if parts]
    if sources:
        sections.append(Prose("References", tuple(sources), points=True))

    # --- its head, and the results ---
    facts = {**sizes(run), "trees": f"{run.settings.get('n_estimators', 0):,}"}
    for measure in measures:
        if isinstance(measure, Significance):
            n = np.count_nonzero(measure.q_values <= LEVEL)
            facts[f"with q up to {LEVEL:g} by {words_of(measure).title}"] = f"{n:,}"
    selected = significance.selected_by(tested)
    if verdicts:
        count = list(significance.verdicts_of(tested).values()).count
        facts |= {CONFIRMED: f"{count(CONFIRMED):,}", "candidates": f"{count(CANDIDATE):,}"}
    elif tested is not None:
        facts[f"with {significance.limit_of(tested)}"] = f"{len(selected):,}"
    accuracy = list[str]()
    if (error := run.results.get("oob_error")) is not None:
        target_class = run.target_class
        facts[target_class.oob_error] = target_class.error_text(error)
        accuracy.append(f"{target_class.oob_error} {target_class.error_text(error)}")
    of_rows = {OF_ROWS: columns_of_rows(rows)} if rows else {}
    of_pairs = {} if pairs is None else {OF_PAIRS: pairs.columns()}
    more = [*(rows[0].references if rows else ()), *(() if pairs is None else pairs.references)]
    trees = counted(run.settings.get("n_estimators", 0), "tree")
    return page(
        RankingReport,
        run,
        facts=facts,
        sections=sections,
        reading=list(filter(None, reading)),
        cautions=caveats,
        kind="ranking of features",
        title=f"Feature importances for {run.target}",
        conclusion=conclusion(run, tested),
        subject=subject(run, trees, *accuracy),
        table={name: column.values for name, column in named.items()},
        further={**of_rows, **of_pairs},
        references=(*sources, *more),
        importances={name_of(measure): measure for measure in measures},
        significance=tested,
        selected=selected,
        direct=direct,
        direct_clusters=tuple(map(tuple, clusters)),
        rows=tuple(rows),
        interactions=pairs,
    )


def conclusion(run: Run, tested: significance.Tested | None) -> str:
    """Return what was found, how accurate the forest is out of bag, and what both mean.

    The record of the run gives ``oob_error``, and ``baseline_error``, the error of the best
    prediction without features, with ``baseline_p_value``, the p-value of the null hypothesis
    that the forest is not more accurate; and ``groups``, the number of groups of rows, if any.
    """
    summary = _NO_TEST if tested is None else significance.count_words(tested)
    error, baseline = run.results.get("oob_error"), run.results.get("baseline_error")
    by_chance = run.target_class.chance_score
    if error is None:
        return f"{summary}; {_NO_ERROR}."
    if baseline is None:
        if by_chance is None:
            return f"{summary}."
        return (
            f"{summary}; out of bag, the concordance of the forest is {1 - error:.2f}, by chance "
            f"{by_chance:.2f}."
        )
    explained = 1 - error / baseline if baseline > 0 else 0.0
    if run.target_class.categorical:
        accuracy = (
            f"the forest predicts {1 - error:.1%} of the rows correctly, the most frequent class "
            f"alone {1 - baseline:.1%}"
        )
    elif explained <= 0:
        accuracy = f"the forest explains none of the variance of {run.target}"
    else:
        accuracy = (
            f"the forest explains {explained:.1%} of the variance of {run.target}, the mean alone "
            "0%"
        )
    found = None
    if tested is not None and tests[tested.method].controls:
        found = len(significance.selected_by(tested))
    better = run.results.get("baseline_p_value", 1.0) <= LEVEL
    meaning = _MEANINGS[better, None if found is None else found > 0].format(
        target=run.target, found="feature found is" if found == 1 else "features found are"
    )
    unseen = ", where trees saw no row of the same group" if "groups" in run.results else ""
    return f"{summary}; out of bag{unseen}, {accuracy}: {meaning}."
