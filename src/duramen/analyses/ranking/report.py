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
from duramen.analyses.ranking.measures import agreement, columns_of
from duramen.analyses.ranking.pairs import AllPairs
from duramen.analyses.ranking.rows import RowImportances
from duramen.analyses.ranking.rows import columns_of as columns_of_rows
from duramen.data import EncodedTable, LearningSet
from duramen.importances.comparison import Measured
from duramen.plots.curves import OOB_ERROR
from duramen.reports.facts import (
    LEVEL,
    OTHER_METHODS,
    about,
    as_importances,
    cautions,
    degree_charts,
    further_columns,
    looked_at,
    n_significant,
    name_of,
    ranking_chart,
    readings,
    references,
    rows_note,
    spread_of,
    subject,
    thousands,
    words_of,
)
from duramen.reports.report import (
    HELD,
    OF_PAIRS,
    OF_ROWS,
    Chart,
    Fact,
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
from duramen.results.columns import Column, counted
from duramen.results.conditional_significance import ConditionalSignificance
from duramen.results.importances import Importances
from duramen.results.significance import (
    CANDIDATE,
    CONFIRMED,
    NOISE,
    Intervals,
    Significance,
)

_ROWS, _COMPACT = 100, 10  # features of the table on the page, and of figures of other measures
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


def summarize(
    measures: Sequence[Measured],
    run: Run,
    *,
    data: LearningSet[EncodedTable] | None = None,
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
    of_direct = parts.get("direct_groups"), parts.get("direct_clusters", ())
    intervals, rows = parts.get("intervals"), parts.get("rows", ())
    first, title = measures[0], words_of(measures[0]).title
    head, judgments, scores = table_columns(measures, **parts)
    named = {"name": head[1], **{c.name: c for c in (*head, *scores, *judgments)}}
    verdicts = named["verdict"].cells if "verdict" in named else ()
    noise = effects.directed_noise(named.get("direction"), verdicts, named["name"].cells)
    order = "" if tested is None else significance.order_note(tested, title)
    note = (
        rows_note(min(n_rows, len(first)), len(first)),
        _bars(first, intervals, bool(verdicts)),
        order,
        noise,
    )
    brief = (
        *_counts(measures),
        "" if tested is None else order or significance.meaning_of(tested),
        noise,
        "" if direct is None else given_others.line_of(direct, of_direct[0]),
    )
    sections: list[Section] = [
        Table(
            "Ranking",
            shown_columns([*head, *judgments, *scores], max(n_rows, HELD)),
            " ".join(filter(None, note)),
            shown=n_rows,
            total=len(first),
            main=True,
            brief=tuple(filter(None, brief)),
        )
    ]
    if direct is not None:
        sections.append(given_others.section_of(direct, *of_direct))
    if "groups" in parts:
        sections.append(parts["groups"])
    reading = _reading(measures, verdicts, intervals)
    if "described" in parts and data is not None:
        sections += effects.sections_of(parts["described"], data, run.target or "target")
        reading.append(effects.interpretation(data))
    sections += [part.section() for part in (*([] if pairs is None else [pairs]), *rows)]
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out)))
    tests = [result for result in (tested, direct) if result is not None]
    sources = [
        *references(measures),
        *map(reference_of_test, tests),
        *precision.references_of(parts),
    ]
    sources = list(filter(None, sources))
    trees = [precision.trees_section(parts["trees"], title)] if "trees" in parts else []
    cited = [Prose("References", tuple(sources), points=True)] if sources else []
    folded: dict[str, Sequence[Part]] = {
        "Other measures": [*_rankings(measures[1:], tested), *agreement(measures)],
        "Significance test": [] if tested is None else significance.sections_of(tested),
        "Confidence intervals and stability": precision.sections_of(parts, title),
        "Forest": [*degree_charts(as_importances(first)), *_errors(oob_errors, run), *trees],
        "Settings, data and references": [*about(run), *cited],
    }
    caveats = (*cautions(measures), *_CAVEATS, *([] if tested is None else [OTHER_METHODS]))
    sections += [
        Prose("Interpretation", tuple(reading)),
        Prose("Limitations", caveats, points=True, caution=True),
        Prose("Command", (run.command,)),
        *(Group(title, tuple(parts)) for title, parts in folded.items() if parts),
    ]
    error, target_class = run.results.get("oob_error"), run.target_class
    accuracy = {} if error is None else {target_class.oob_error: target_class.error_text(error)}
    n_trees = run.settings.get("n_estimators", 0)
    facts = {
        "rows": thousands(run.n_rows),
        "features": thousands(run.n_features),
        "trees": f"{n_trees:,}",
        **{
            f"with q up to {LEVEL:g} by {words_of(measure).title}": f"{n_significant(measure):,}"
            for measure in measures
            if isinstance(measure, Significance)
        },
        **({} if tested is None else significance.facts_of(tested)),
        **accuracy,
    }
    words = [f"{name} {text}" for name, text in accuracy.items()]
    of_rows = {OF_ROWS: columns_of_rows(rows)} if rows else {}
    of_pairs = {} if pairs is None else {OF_PAIRS: pairs.columns()}
    more = [*(rows[0].references if rows else ()), *(() if pairs is None else pairs.references)]
    return RankingReport(
        kind="ranking of features",
        title=f"Feature importances for {run.target}",
        run=run,
        headline=tuple(Fact(name, value) for name, value in facts.items()),
        sections=(*looked_at(run), *sections),
        conclusion=conclusion(run, tested),
        subject=subject(run, counted(n_trees, "tree"), *words),
        table={column.name: column.values for column in named.values() if column.name},
        further={**of_rows, **of_pairs},
        references=(*sources, *more),
        importances={name_of(measure): measure for measure in measures},
        significance=tested,
        selected=() if tested is None else significance.selected_by(tested),
        direct=direct,
        direct_clusters=tuple(map(tuple, of_direct[1])),
        rows=tuple(rows),
        interactions=pairs,
    )


def reference_of_test(result: significance.Tested) -> str:
    """Return the source of a test; empty if it has none."""
    test = significance.test_of(result)
    return f"{test.title}: {test.reference}" if test.reference else ""


# --- the table --------------------------------------------------------------------------------


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

    They are in three parts: rank, name and importance; those of tests and effects; and those of the
    measures.
    """
    tested, direct, intervals = map(parts.get, ("tested", "direct", "intervals"))
    best = in_order(measures[0], tested)
    names, error = best.names, best.standard_error
    of_tests = [] if tested is None else significance.columns_of(tested, names)
    if direct is not None:  # which takes the room of what says less
        of_tests = [replace(c, minor=1) if c.name == "evidence" else c for c in of_tests]
    verdict = next((column.cells for column in of_tests if column.name == "verdict"), None)
    faint = None if verdict is None else [word == NOISE for word in verdict]
    if "described" in parts:  # after the last major column of the test
        place = max((i + 1 for i, column in enumerate(of_tests) if not column.minor), default=0)
        of_tests.insert(place, effects.direction_column(parts["described"], names))
    whiskers = None if error is None else (best.values - error, best.values + error)
    if intervals is not None and not precision.of_fractions(intervals):
        taken = intervals.of(names)
        whiskers = taken.low, taken.high
    title, unit = words_of(measures[0]).title, best.unit
    columns = [
        Column("rank", kind="rank", name="rank", numbers=np.arange(1, len(best) + 1)),
        Column("feature", names, "name", name="name"),
        Column(
            title if unit == "1" else f"{title}, {unit}",
            digits=4,
            bars=best.values,
            whiskers=whiskers,
            faint=faint,
            name="importance",
            numbers=best.values,
        ),
    ]
    of_rows = precision.columns_of(intervals, parts.get("stability"), names)
    columns += [column for column in of_rows if column.title]
    if error is not None:
        minor = int(intervals is not None or faint is not None)
        column = Column("std. error", digits=2, minor=minor, name="standard_error", numbers=error)
        columns.append(column)
    columns += [*further_columns(best), *(column for column in of_rows if not column.title)]
    if direct is not None:
        of_tests += given_others.columns_of(direct, names)
    alone = tested is None and sum(isinstance(one, Significance) for one in measures) == 1
    scores = [
        column
        for i, measure in enumerate(measures)
        for column in columns_of(measure, names, first=i == 0, alone=alone)
    ]
    return columns, of_tests, scores


# --- sentences --------------------------------------------------------------------------------


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
    better = run.results.get("baseline_p_value", 1.0) <= LEVEL
    n_found = None
    if tested is not None and significance.test_of(tested).controls:
        n_found = len(significance.selected_by(tested))
    meaning = _MEANINGS[better, None if n_found is None else n_found > 0].format(
        target=run.target, found="feature found is" if n_found == 1 else "features found are"
    )
    unseen = ", where trees saw no row of the same group" if "groups" in run.results else ""
    accuracy = accuracy_words(run, float(error), float(baseline))
    return f"{summary}; out of bag{unseen}, {accuracy}: {meaning}."


def accuracy_words(run: Run, error: float, baseline: float) -> str:
    """Return how accurate the forest is, compared with a prediction that uses no feature."""
    if run.target_class.categorical:
        return (
            f"the forest predicts {1 - error:.1%} of the rows correctly, the most frequent class "
            f"alone {1 - baseline:.1%}"
        )
    explained = 1 - error / baseline if baseline > 0 else 0.0
    if explained <= 0:
        return f"the forest explains none of the variance of {run.target}"
    return f"the forest explains {explained:.1%} of the variance of {run.target}, the mean alone 0%"


def _counts(measures: Sequence[Measured]) -> list[str]:
    """Return how many features are significant by the measures with p-values."""
    return [
        f"{n_significant(measure):,} of {len(measure):,} features have q <= {LEVEL:g} by "
        f"{words_of(measure).title}; its p-values shrink as trees are added, also for irrelevant "
        "features"
        for measure in measures
        if isinstance(measure, Significance)
    ]


def _bars(first: Measured, intervals: Intervals | None, with_noise: bool) -> str:
    """Return what the bars of the table are."""
    bars = "Bars: the importance, as a fraction of the largest"
    if intervals is not None and not precision.of_fractions(intervals):
        bars += f"; lines: {100 * intervals.confidence_level:g}% confidence intervals"
    elif as_importances(first).standard_error is not None:
        bars += f"; lines: one standard error over {spread_of(first)} to both sides"
    return f"{bars}.{' Gray bars: noise.' * with_noise}"


def _reading(
    measures: Sequence[Measured], verdicts: Sequence[str], intervals: Intervals | None
) -> list[str]:
    """Return what the numbers and the figures show."""
    words = readings(measures)
    if len(measures) > 1:
        by = "the verdicts, then that of " if verdicts else ""
        words.insert(0, f"The order of the features is that of {by}{words_of(measures[0]).title}.")
    of_forests = (
        "error bars are one standard error over forests of the same size on the same data: more "
        "trees shrink them"
    )
    if intervals is not None and not precision.of_fractions(intervals):
        words.append(
            "The lines of the ranking are confidence intervals, which include the sampling error "
            f"of the data. Other {of_forests}."
        )
    elif any(as_importances(measure).standard_error is not None for measure in measures):
        words.append(f"The {of_forests}. They do not include the sampling error of the data.")
    if as_importances(measures[0]).by_degree is not None:
        words.append(
            "The heat map by interaction degree decomposes an importance by the number of splits "
            "above. Deep nodes hold few rows, where noise features have importance by chance "
            "too: little at degree 0 and more at higher degrees is no evidence of an interaction."
        )
    return words


def _rankings(others: Sequence[Measured], tested: significance.Tested | None) -> list[Part]:
    """Return the figures of the other measures."""
    charts: list[Part] = []
    for other in filter(len, others):
        scores, of_test = as_importances(other), None
        if tested is not None and tested.metadata.get("measure") == name_of(other):
            of_test = tested
        best = scores.top(_COMPACT).names
        charts.append(
            ranking_chart(
                scores,
                by=words_of(other).title,
                spread=spread_of(other),
                most=_COMPACT,
                threshold=significance.threshold_of(of_test, scores),
                line="" if of_test is None else significance.line_words(of_test, scores, best),
            )
        )
    return charts


def _errors(oob_errors: ArrayLike | None, run: Run) -> list[Part]:
    """Return the figure of the error against the number of trees, where it is known."""
    errors = np.asarray([] if oob_errors is None else oob_errors, dtype=np.float64).tolist()
    if not any(map(math.isfinite, errors)):
        return []
    what = run.target_class.oob_error
    chart = Chart(
        "Error against number of trees",
        Plot(OOB_ERROR, tuple(errors), {"what": what}),
        f"Line chart of the {what} against the number of trees; after {len(errors)} trees it is "
        f"{errors[-1]:.3g}.",
        "Error of out-of-bag predictions. Where the line is flat, more trees do not improve the "
        "predictions; a stable ranking can need many more trees.",
    )
    return [chart]
