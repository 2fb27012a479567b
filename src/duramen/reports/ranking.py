"""Report of a ranking: its table, conclusion and agreement of measures, its forest and its run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.effects import Direction, EffectsDescription
from duramen.importances.comparison import Comparison, Measured, compare
from duramen.plots.curves import OOB_ERROR
from duramen.plots.importances import PARALLEL_RANKS, RANK_CORRELATIONS
from duramen.reports.direct import Directness
from duramen.reports.effects import Effects, effect_sections, interpretation
from duramen.reports.facts import (
    LEVEL,
    OTHER_METHODS,
    about,
    as_importances,
    cautions,
    looked_at,
    n_significant,
    name_of,
    readings,
    references,
    spread_of,
    subject,
    thousands,
    words_of,
)
from duramen.reports.features import degree_charts, ranking_chart, rows_note
from duramen.reports.pairs import AllPairs
from duramen.reports.precision import Precision
from duramen.reports.report import (
    DRAWN,
    HELD,
    OF_GROUPS,
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
    joined,
)
from duramen.reports.rows import RowImportances, columns_of
from duramen.reports.signals import GroupImportances
from duramen.reports.significance import Verdict, verdict_sections
from duramen.results.columns import Column, counted, places, small
from duramen.results.importances import Importances
from duramen.results.significance import CANDIDATE, CONFIRMED, NOISE, Significance
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

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


def conclusion(run: Run, tested: Verdict | None) -> str:
    """Return what was found, how accurate the forest is out of bag, and what both mean.

    The record of the run gives ``oob_error``, and ``baseline_error``, the error of the best
    prediction without features, with ``baseline_p_value``, the p-value of the null hypothesis
    that the forest is not more accurate; and ``groups``, the number of groups of rows, if any.
    """
    summary = _NO_TEST if tested is None else tested.count()
    error, baseline = run.results.get("oob_error"), run.results.get("baseline_error")
    if error is None or baseline is None:
        return (
            f"{summary}; {_NO_ERROR}." if error is None else f"{summary}{_concordance(run, error)}."
        )
    accuracy = accuracy_words(run, float(error), float(baseline))
    better = run.results.get("baseline_p_value", 1.0) <= LEVEL
    n_found = len(tested.selected()) if tested is not None and tested.test.controls else None
    ones = "feature found is" if n_found == 1 else "features found are"
    any_found = None if n_found is None else n_found > 0
    meaning = _MEANINGS[better, any_found].format(target=run.target, found=ones)
    unseen = ", where trees saw no row of the same group" if "groups" in run.results else ""
    return f"{summary}; out of bag{unseen}, {accuracy}: {meaning}."


def _concordance(run: Run, error: float) -> str:
    """Say how well a forest of survival orders the rows; nothing for other tasks."""
    by_chance = run.target_class.chance_score
    if by_chance is None:
        return ""
    return (
        f"; out of bag, the concordance of the forest is {1 - error:.2f}, by chance {by_chance:.2f}"
    )


def accuracy_words(run: Run, error: float, baseline: float) -> str:
    """Say how accurate the forest is, compared with a prediction that uses no feature."""
    if run.target_class.categorical:
        return (
            f"the forest predicts {1 - error:.1%} of the rows correctly, the most frequent class "
            f"alone {1 - baseline:.1%}"
        )
    explained = 1 - error / baseline if baseline > 0 else 0.0
    if explained <= 0:
        return f"the forest explains none of the variance of {run.target}"
    return f"the forest explains {explained:.1%} of the variance of {run.target}, the mean alone 0%"


def remarks(measures: Sequence[Measured], tested: Verdict | None) -> tuple[str, ...]:
    """Explain counts of features that seem to contradict each other."""
    counts = {
        words_of(measure).title: n_significant(measure)
        for measure in measures
        if isinstance(measure, Significance)
    }
    if not counts or (tested is None and len(counts) < 2):
        return ()
    titles = " and ".join(counts)
    return (
        f"The counts differ because they answer different questions. The p-values of {titles} "
        "depend on the number of trees and shrink as trees are added, also for irrelevant "
        "features: they compare features within this forest."
        + ("" if tested is None else f" Evidence of relevance is the count by {tested.title}."),
    )


NO_DIRECTION = Direction("").words
_DIRECTION, _INTERVAL = 14, 40  # characters that a narrow terminal leaves to them
_VERDICTS = (CONFIRMED, CANDIDATE, NOISE)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of features by one measure.

    Attributes
    ----------
    name, title, unit : str
        The measure, its title at the head of a column, the unit of its values.
    values : float64 array of shape (k,)
    standard_error, p_values, q_values : float64 arrays of shape (k,), or None
    """

    name: str
    title: str
    unit: str
    values: FloatArray
    standard_error: FloatArray | None = None
    p_values: FloatArray | None = None
    q_values: FloatArray | None = None

    @property
    def heading(self) -> str:
        """The title, with the unit if there is one."""
        return self.title if self.unit == "1" else f"{self.title}, {self.unit}"

    def columns(self, *, first: bool) -> dict[str, FloatArray]:
        """Return its columns of a table of results.

        They are its values and, where known, ``_standard_error``, ``_p_value`` and ``_q_value``,
        after its name. The first measure of a table has its values and standard errors elsewhere.
        """
        columns = {f"{self.name}_p_value": self.p_values, f"{self.name}_q_value": self.q_values}
        if not first:
            own = {self.name: self.values, f"{self.name}_standard_error": self.standard_error}
            columns = {**own, **columns}
        return {name: numbers for name, numbers in columns.items() if numbers is not None}


@dataclass(frozen=True, eq=False)
class Ranked:
    """Features in the order of the first measure, or of verdicts first, with all measures."""

    first: Importances  # the first measure with all that is known of it; of a test, its scores
    scores: tuple[Scores, ...]  # all measures, the first one included
    # What a test of one of the measures says of the features.
    tested: tuple[Column, ...] = ()
    directions: tuple[str, ...] = ()  # of the effects, in words
    precision: Precision | None = None  # intervals of the first measure, and stability
    direct: tuple[Column, ...] = ()  # what a test of each feature given all others says

    def tests(self, scores: Scores, minor: int = 0) -> list[Column]:
        """Return p- and q-values of a measure."""
        alone = not self.tested and sum(s.p_values is not None for s in self.scores) == 1
        return [
            Column(letter if alone else f"{letter}, {scores.title}", small(numbers), minor=minor)
            for letter, numbers in (("p", scores.p_values), ("q", scores.q_values))
            if numbers is not None
        ]

    def judgments(self) -> tuple[Column, ...]:
        """Return the columns of the test, with the directions after the last major one.

        Columns without any number or word are left out.
        """
        tested = tuple(
            column for column in self.tested if column.numbers is not None or any(column.cells)
        )
        if not any(self.directions):
            return tested
        column = Column("direction", self.directions, "words", least=_DIRECTION, name="direction")
        place = max((i + 1 for i, column in enumerate(tested) if not column.minor), default=0)
        return (*tested[:place], column, *tested[place:])

    def directed_noise(self) -> str:
        """Return why features that a test calls noise have a direction; empty if none has."""
        pairs = zip(self.first.names, self.faint or (), self.directions, strict=False)
        names = [name for name, noise, said in pairs if noise and said not in ("", NO_DIRECTION)]
        if not names:
            return ""
        return (
            f"Features called noise that have a direction: {joined(names, shown=5)}. The "
            "direction is based on a test of the feature by itself; the verdict compares its test "
            "statistic with the largest of all features under permuted labels."
        )

    def intervals(self) -> Column | None:
        """Return the column of intervals; None if there are none."""
        if self.precision is None or self.precision.intervals is None:
            return None
        cells = self.precision.cells(self.first.names)
        return Column(self.precision.heading, cells, least=_INTERVAL)

    def ends(self) -> tuple[FloatArray, FloatArray] | None:
        """Return the ends of the error bars: intervals, or one standard error to both sides."""
        values, error = self.first.values, self.first.standard_error
        intervals = None if self.precision is None else self.precision.ends(self.first.names)
        if intervals is None and error is not None:
            return values - error, values + error
        return intervals

    @property
    def faint(self) -> list[bool] | None:
        """True for features that a test with verdicts calls noise; None without one."""
        verdicts = [column for column in self.tested if column.numbers is None]
        return [cell == NOISE for cell in verdicts[0].cells] if verdicts else None

    def columns(self) -> dict[str, object]:
        """Return the columns of a table of results: the first, other measures, then the test."""
        columns: dict[str, object] = self.first.columns()
        columns["rank"] = np.arange(1, len(self.first) + 1)
        if self.precision is not None:
            columns.update(self.precision.columns(self.first.names))
        for i, scores in enumerate(self.scores):
            columns.update(scores.columns(first=i == 0))
        columns.update({column.name: column.values for column in (*self.tested, *self.direct)})
        if self.directions:
            columns["direction"] = list(self.directions)
        return columns


def ranked(
    measures: Sequence[Measured],
    k: int | None = None,
    *,
    tested: Verdict | None = None,
    described: EffectsDescription | None = None,
    precision: Precision | None = None,
    direct: Directness | None = None,
) -> Ranked:
    """Put all measures in one order: that of `in_order`.

    Parameters
    ----------
    measures : sequence of Importances and Significance
        At least one; all of the same features, whose order may differ.
    k : int, optional
        How many features; by default all.
    tested : Verdict, optional
        A test of one of the measures.
    described : EffectsDescription, optional
        Effects of some of the features.
    precision : Precision, optional
        Intervals of the first measure, and stability of its ranking.
    direct : Directness, optional
        A test of each feature given all others.

    Raises
    ------
    ValueError
        If a measure, or the test, lacks a feature of the first.
    """
    best = in_order(measures[0], tested)
    best = best.take(np.arange(len(best) if k is None else min(k, len(best))))
    return Ranked(
        best,
        tuple(_scores(measure, best.names) for measure in measures),
        () if tested is None else tuple(tested.columns(best.names)),
        () if described is None else _directions(described, best.names),
        precision,
        () if direct is None else tuple(direct.columns(best.names)),
    )


def in_order(measured: Measured, tested: Verdict | None) -> Importances:
    """Return a measure with the most important feature first.

    With a test that gives verdicts, the confirmed features are first, then the candidates.
    """
    best = as_importances(measured)
    best = best.take(best.order())
    verdicts = {} if tested is None else tested.verdicts()
    if not verdicts:
        return best
    places = [_VERDICTS.index(verdicts[name]) for name in best.names]
    return best.take(np.argsort(places, kind="stable"))


def _directions(described: EffectsDescription, names: Sequence[str]) -> tuple[str, ...]:
    """Return the directions of features in words; empty for those that are not described."""
    words_of_feature = {direction.name: direction.words for direction in described.directions}
    return tuple(words_of_feature.get(name, "") for name in names)


def _scores(measure: Measured, names: Sequence[str]) -> Scores:
    place = {name: j for j, name in enumerate(measure.names)}
    lacking = [name for name in names if name not in place]
    if lacking:
        raise ValueError(
            f"reports: measures must be about the same features; {name_of(measure)} lacks "
            f"{lacking[0]!r}."
        )
    index = np.array([place[name] for name in names], dtype=np.intp)

    def taken(numbers: FloatArray | None) -> FloatArray | None:
        return None if numbers is None else numbers[index]

    tested = measure if isinstance(measure, Significance) else None
    return Scores(
        name=name_of(measure),
        title=words_of(measure).title,
        unit=measure.unit,
        values=as_importances(measure).values[index],
        standard_error=taken(as_importances(measure).standard_error),
        p_values=taken(None if tested is None else tested.p_values),
        q_values=taken(None if tested is None else tested.q_values),
    )


@dataclass(frozen=True, eq=False)
class Reasons:
    """Parts of a report on the reasons of predictions: pairs of features, and single rows."""

    pairs: AllPairs | None = None
    rows: tuple[RowImportances, ...] = ()

    def sections(self) -> list[Section]:
        """Return the sections of the report."""
        pairs = [] if self.pairs is None else [self.pairs.section()]
        return [*pairs, *(explained.section() for explained in self.rows)]

    def further(self) -> dict[str, dict[str, Any]]:
        """Return the columns of further tables, by their file."""
        pairs = {} if self.pairs is None else {OF_PAIRS: self.pairs.columns()}
        return {**({OF_ROWS: columns_of(self.rows)} if self.rows else {}), **pairs}

    def figures(self) -> dict[str, Any]:
        """Return what was found, for the record."""
        pairs = {} if self.pairs is None else {"interactions": self.pairs.figures()}
        rows = {"rows": [explained.figures() for explained in self.rows]} if self.rows else {}
        return {**pairs, **rows}

    def references(self) -> tuple[str, ...]:
        """Return the sources of the methods."""
        of_pairs = () if self.pairs is None else self.pairs.references
        return (*(self.rows[0].references if self.rows else ()), *of_pairs)


_ROWS = 100

_COMPACT = 10

_CAVEATS = (
    "Features that carry the same information share it: each of several copies is less important "
    "than one alone would be.",
    "An importance measures how much the forest uses a feature; it is no evidence of a causal "
    "effect.",
)


def summarise(
    importances: Measured,
    run: Run,
    *,
    others: Sequence[Measured] = (),
    left_out: Sequence[str] = (),
    tested: Verdict | None = None,
    effects: Effects | None = None,
    precision: Precision | None = None,
    feature_groups: GroupImportances | None = None,
    direct: Directness | None = None,
    reasons: Reasons | None = None,
    oob_errors: ArrayLike | None = None,
    n_rows: int = _ROWS,
) -> Report:
    """Summarize a ranking as a report.

    Parameters
    ----------
    importances : Importances or Significance
        The ranking, with its decomposition by degree and standard errors where known.
    run : Run
        What was run.
    others : sequence of Importances and Significance
        What other measures say of the same features.
    left_out : sequence of str
        What was not computed, and why.
    tested : Verdict, optional
        A test of one of the measures.
    effects : Effects, optional
        Effects of the first features.
    precision : Precision, optional
        Intervals, stability, and the number of trees.
    feature_groups : GroupImportances, optional
        Importances of groups of features.
    direct : Directness, optional
        A test of each feature given all others.
    reasons : Reasons, optional
        Interactions of all pairs of features, and importances in single rows.
    oob_errors : array-like of shape (T,), optional
        Out-of-bag error after each tree.
    n_rows : int
        Number of features in the table.

    Raises
    ------
    ValueError
        If the measures are not about the same features, or two are the same measure.
    """
    measures = (importances, *others)
    described = None if effects is None else effects.described
    best = ranked(
        measures,
        max(n_rows, HELD),
        tested=tested,
        described=described,
        precision=precision,
        direct=direct,
    )
    sections: list[Section] = [_table(best, measures, tested, direct, n_rows)]
    if direct is not None:
        sections.append(direct.section())
    if feature_groups is not None:
        sections.append(feature_groups.table())
    if effects is not None:
        sections += effect_sections(effects, run)
    reasons = reasons or Reasons()
    sections += reasons.sections()
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out)))
    trees = counted(run.settings.get("n_estimators", 0), "tree")
    caveats = (*cautions(measures), *_CAVEATS, *([] if tested is None else [OTHER_METHODS]))
    sections += [
        Prose(
            "Interpretation",
            (*_reading(best, measures), *(interpretation(effects, run) if effects else ())),
        ),
        Prose("Limitations", caveats, points=True, caution=True),
        Prose("Command", (run.command,)),
        *_folded(measures, run, (tested, precision, direct), _known(oob_errors)),
    ]
    return Report(
        kind="ranking of features",
        title=f"Feature importances for {run.target}",
        run=run,
        headline=_headline(measures, run, tested),
        sections=(*looked_at(run), *sections),
        conclusion=conclusion(run, tested),
        subject=subject(run, trees, *_error_words(run)),
        remarks=remarks(measures, tested),
        further={
            **({} if feature_groups is None else {OF_GROUPS: feature_groups.columns()}),
            **reasons.further(),
        },
        references=(
            *sources_of(measures, tested, precision, direct),
            *reasons.references(),
        ),
    )


def _folded(
    measures: Sequence[Measured],
    run: Run,
    tests: tuple[Verdict | None, Precision | None, Directness | None],
    errors: tuple[float, ...] | None,
) -> list[Group]:
    """Return what stands behind the ranking, folded."""
    tested, precision, _ = tests
    first, others = measures[0], measures[1:]
    forest: list[Part] = [*degree_charts(as_importances(first))]
    if errors is not None:
        forest.append(_errors(errors, run.target_class.oob_error))
    if precision is not None:
        forest += precision.of_trees()
    sources = sources_of(measures, *tests)
    cited = [Prose("References", sources, points=True)] if sources else []
    by_title: dict[str, list[Part]] = {
        "Other measures": [*_rankings(others, tested), *agreement(measures)],
        "Significance test": [] if tested is None else verdict_sections(tested),
        "Confidence intervals and stability": [] if precision is None else precision.sections(),
        "Forest": forest,
        "Settings, data and references": [*about(run), *cited],
    }
    return [Group(title, tuple(parts)) for title, parts in by_title.items() if parts]


def sources_of(
    measures: Sequence[Measured],
    tested: Verdict | None,
    precision: Precision | None = None,
    direct: Directness | None = None,
) -> tuple[str, ...]:
    """Return the sources of the measures, of the tests, and of intervals and stability."""
    tests = (tested, precision, None if direct is None else direct.verdict)
    references_of = [test.references() for test in tests if test is not None]
    return (*references(measures), *(source for sources in references_of for source in sources))


def _headline(measures: Sequence[Measured], run: Run, tested: Verdict | None) -> tuple[Fact, ...]:
    facts = [
        Fact("rows", thousands(run.n_rows)),
        Fact("features", thousands(run.n_features)),
        Fact("trees", f"{run.settings.get('n_estimators', 0):,}"),
    ]
    for measure in measures:
        if isinstance(measure, Significance):
            name = f"with q up to {LEVEL:g} by {words_of(measure).title}"
            facts.append(Fact(name, f"{n_significant(measure):,}"))
    if tested is not None:
        facts += [Fact(name, f"{count:,}") for name, count in tested.facts()]
    error = run.results.get("oob_error")
    if error is not None:
        facts.append(Fact(run.target_class.oob_error, _error_shown(run, error)))
    return tuple(facts)


def _error_shown(run: Run, error: float) -> str:
    return run.target_class.error_text(error)


def _error_words(run: Run) -> list[str]:
    """Return the out-of-bag error with its name, if it is known."""
    error = run.results.get("oob_error")
    return [] if error is None else [f"{run.target_class.oob_error} {_error_shown(run, error)}"]


def _test_of(measure: Measured, tested: Verdict | None) -> Verdict | None:
    """Return the test if it is of this measure."""
    return tested if tested is not None and tested.measure == name_of(measure) else None


def _rankings(others: Sequence[Measured], tested: Verdict | None) -> list[Part]:
    return [
        ranking_chart(
            as_importances(other),
            by=words_of(other).title,
            spread=spread_of(other),
            most=_COMPACT,
            tested=_test_of(other, tested),
        )
        for other in others
        if len(other)
    ]


def _errors(errors: tuple[float, ...], what: str) -> Chart:
    return Chart(
        title="Error against number of trees",
        plot=Plot(OOB_ERROR, errors, {"what": what}),
        text=f"Line chart of the {what} against the number of trees; after {len(errors)} trees it "
        f"is {errors[-1]:.3g}.",
        caption="Error of out-of-bag predictions. Where the line is flat, more trees do not "
        "improve the predictions; a stable ranking can need many more trees.",
    )


def _table(
    best: Ranked,
    measures: Sequence[Measured],
    tested: Verdict | None,
    direct: Directness | None,
    n_rows: int,
) -> Table:
    first, intervals = best.first, best.intervals()
    columns = [
        places(len(first), "rank"),
        Column("feature", first.names, "name"),
        Column(
            best.scores[0].heading,
            fixed(first.values, 4),
            bars=first.values,
            whiskers=best.ends(),
            faint=best.faint,
        ),
        *([] if intervals is None else [intervals]),
    ]
    if first.standard_error is not None:
        minor = int(intervals is not None or best.faint is not None)
        columns.append(Column("std. error", fixed(first.standard_error, 2), minor=minor))
    judgments = best.judgments()
    if best.direct:  # which take the room of what says less
        judgments = tuple(
            replace(column, minor=1) if column.name == "evidence" else column
            for column in judgments
        )
    columns += [*judgments, *best.direct, *best.tests(best.scores[0])]
    for scores in best.scores[1:]:
        columns.append(Column(scores.heading, fixed(scores.values, 4), minor=1))
        columns += best.tests(scores, minor=1)
    total = len(measures[0])
    return Table(
        "Ranking",
        tuple(columns),
        _note(best, measures[0], tested, min(n_rows, len(first))),
        shown=n_rows,
        total=total,
        main=True,
        brief=(*_brief(best, measures, tested), *([] if direct is None else [direct.line()])),
    )


def _brief(best: Ranked, measures: Sequence[Measured], tested: Verdict | None) -> tuple[str, ...]:
    """Return what a terminal says below the table."""
    lines = [
        f"{n_significant(measure):,} of {len(measure):,} features have q <= {LEVEL:g} by "
        f"{words_of(measure).title}; its p-values shrink as trees are added, also for irrelevant "
        "features"
        for measure in measures
        if isinstance(measure, Significance)
    ]
    if tested is not None:
        lines.append(tested.note(words_of(measures[0]).title))
    return tuple(filter(None, (*lines, best.directed_noise())))


def _note(best: Ranked, measured: Measured, tested: Verdict | None, shown: int) -> str:
    words = [rows_note(shown, len(measured))]
    bar = "Bars: the importance, as a fraction of the largest"
    drawn = best.precision is not None and best.precision.ends(()) is not None
    if (intervals := best.intervals()) is not None and drawn:
        bar += f"; lines: {intervals.title.replace(' interval', ' confidence intervals')}"
    elif best.first.standard_error is not None:
        bar += f"; lines: one standard error over {spread_of(measured)} to both sides"
    words.append(f"{bar}." + ("" if best.faint is None else " Gray bars: noise."))
    if tested is not None and (line := tested.order_note(words_of(measured).title)):
        words.append(line)
    return " ".join([*words, best.directed_noise()]).strip()


def _known(errors: ArrayLike | None) -> tuple[float, ...] | None:
    if errors is None:
        return None
    values = tuple(np.asarray(errors, dtype=np.float64).tolist())
    return values if any(map(math.isfinite, values)) else None


def _reading(best: Ranked, measures: Sequence[Measured]) -> tuple[str, ...]:
    lines = readings(measures)
    if len(measures) > 1:
        by = "" if best.faint is None else "the verdicts, then that of "
        lines.insert(0, f"The order of the features is that of {by}{words_of(measures[0]).title}.")
    first = as_importances(measures[0])
    if best.precision is not None and best.precision.ends(()) is not None:
        lines.append(
            "The lines of the ranking are confidence intervals, which include the sampling error "
            "of the data. Other error bars are one standard error over forests of the same size on "
            "the same data: more trees shrink them."
        )
    elif any(as_importances(measure).standard_error is not None for measure in measures):
        lines.append(
            "The error bars are one standard error over forests of the same size on the same data: "
            "more trees shrink them. They do not include the sampling error of the data."
        )
    if first.by_degree is not None:
        lines.append(
            "The heat map by interaction degree decomposes an importance by the number of splits "
            "above. Deep nodes hold few rows, where noise features have importance by chance "
            "too: little at degree 0 and more at higher degrees is no evidence of an interaction."
        )
    return tuple(lines)


_LEAST = 3
_FEW = (100, 20, 10)


def agreement(measures: Sequence[Measured]) -> list[Part]:
    """Return sections on the ranks that several measures give; none for a single one.

    Parameters
    ----------
    measures : sequence of Importances and Significance
        All of the same features.

    Raises
    ------
    ValueError
        If they are not, or two have the same title.
    """
    if len(measures) < 2 or len(measures[0]) < _LEAST:
        return []

    comparison = compare({words_of(measure).title: measure for measure in measures})
    few = next((k for k in _FEW if 2 * k <= len(comparison)), None)  # None: there are too few
    sections: list[Part] = [_agreement_table(comparison, few)]
    if len(measures) > 2:
        sections.append(_correlations(comparison, few))
    return [*sections, _ranks(comparison)]


def _agreement_table(comparison: Comparison, few: int | None) -> Table:
    titles, first = comparison.measures, comparison.measures[0]
    pairs = list(combinations(range(len(titles)), 2))
    headings = [f"all {len(comparison):,}"]
    matrices = [comparison.spearman]
    note = (
        "Rank correlations (Spearman): 1 if two measures order the features in the same way, 0 "
        "if their orders are unrelated, -1 if one order is the reverse of the other."
    )
    if few is not None:
        matrices += [comparison.top(few).spearman, comparison.overlap(few)]
        headings += [f"first {few}", "in common"]
        note += (
            f" They are computed over all features and over the first {few} by {first}; the last "
            f"number is the fraction of their first {few} features that two measures have in "
            "common. Among all features, most are often irrelevant, and their order is random."
        )
    columns = [
        Column("measure", [titles[i] for i, _ in pairs], "words"),
        Column("and", [titles[j] for _, j in pairs], "words"),
        *(
            Column(heading, [_number(matrix[i, j]) for i, j in pairs])
            for heading, matrix in zip(headings, matrices, strict=True)
        ),
    ]
    return Table("Agreement of the measures", tuple(columns), note)


def _correlations(comparison: Comparison, few: int | None) -> Chart:
    shown = comparison if few is None else comparison.top(few)
    which = "all features" if few is None else f"the first {few} features by {shown.measures[0]}"
    return Chart(
        title="Rank correlations",
        plot=Plot(RANK_CORRELATIONS, shown),
        text=f"Heat map of the rank correlation of every two measures among {which}. The table "
        "above holds its numbers.",
        caption=f"Rank correlation of every two measures among {which}.",
    )


def _ranks(comparison: Comparison) -> Chart:
    k = min(DRAWN, len(comparison))
    best = comparison.top(k)
    first, others = comparison.measures[0], joined(comparison.measures[1:], shown=20)
    place = {name: j for j, name in enumerate(comparison.names)}
    ranks = comparison.ranks[:, [place[name] for name in best.names]]
    stay = int((ranks <= k).all(axis=0).sum())
    return Chart(
        title="Ranks side by side",
        plot=Plot(PARALLEL_RANKS, comparison, {"k": k}),
        text=f"One line for each of the first {k} features by {first}, from that rank to its "
        f"ranks by {others}. {stay} are among the first {k} by all measures.",
        caption=f"The first {k} features by {first}, and their ranks by {others}. Gray lines: "
        f"features that are not among the first {k} by some measure. Lines also cross because of "
        "random variation of the measures, which more trees reduce.",
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
