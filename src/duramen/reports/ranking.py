"""Report of a ranking, its forest and its run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from duramen.importances.after.comparison import Measured
from duramen.plots.oob import OOB_ERROR
from duramen.reports.agreement import agreement
from duramen.reports.conclusion import conclusion, remarks
from duramen.reports.effects import Effects, effect_sections, interpretation
from duramen.reports.facts import OTHER_METHODS, about, looked_at, subject, thousands
from duramen.reports.features import degree_charts, ranking_chart, rows_note
from duramen.reports.groups import GroupImportances
from duramen.reports.measures import (
    LEVEL,
    as_importances,
    cautions,
    n_significant,
    name_of,
    readings,
    references,
    spread_of,
    words_of,
)
from duramen.reports.precision import Precision
from duramen.reports.ranked import Ranked, ranked
from duramen.reports.report import (
    HELD,
    Chart,
    Fact,
    Group,
    Part,
    Plot,
    Prose,
    Report,
    Section,
    Table,
)
from duramen.reports.run import Run
from duramen.reports.significance import Verdict, verdict_sections
from duramen.results.columns import Column, places
from duramen.results.significance import Significance
from duramen.support.text import fixed

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
        measures, max(n_rows, HELD), tested=tested, described=described, precision=precision
    )
    sections: list[Section] = [_table(best, measures, tested, n_rows)]
    if feature_groups is not None:
        sections.append(feature_groups.table())
    if effects is not None:
        sections += effect_sections(effects, run)
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out)))
    trees = f"{run.settings.get('n_estimators', 0):,} trees"
    caveats = (*cautions(measures), *_CAVEATS, *([] if tested is None else [OTHER_METHODS]))
    sections += [
        Prose(
            "Interpretation", (*_reading(best, measures), *(interpretation(run) if effects else ()))
        ),
        Prose("Limitations", caveats, points=True, caution=True),
        Prose("Command", (run.command,)),
        *_folded(measures, run, tested, precision, _known(oob_errors)),
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
        feature_groups=None if feature_groups is None else feature_groups.columns(),
        references=sources_of(measures, tested, precision),
    )


def _folded(
    measures: Sequence[Measured],
    run: Run,
    tested: Verdict | None,
    precision: Precision | None,
    errors: tuple[float, ...] | None,
) -> list[Group]:
    """Return what stands behind the ranking, folded."""
    first, others = measures[0], measures[1:]
    forest: list[Part] = [*degree_charts(as_importances(first))]
    if errors is not None:
        forest.append(_errors(errors, run.target_class.oob_error))
    if precision is not None:
        forest += precision.of_trees()
    sources = sources_of(measures, tested, precision)
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
    measures: Sequence[Measured], tested: Verdict | None, precision: Precision | None = None
) -> tuple[str, ...]:
    """Return the sources of the measures, of the test, and of intervals and stability."""
    known = [one.references() for one in (tested, precision) if one is not None]
    return (*references(measures), *(source for sources in known for source in sources))


def _headline(measures: Sequence[Measured], run: Run, tested: Verdict | None) -> tuple[Fact, ...]:
    facts = [
        Fact("rows", thousands(run.n_rows)),
        Fact("features", thousands(run.n_features)),
        Fact("trees", f"{run.settings.get('n_estimators', 0):,}"),
    ]
    for one in measures:
        if isinstance(one, Significance):
            name = f"with q up to {LEVEL:g} by {words_of(one).title}"
            facts.append(Fact(name, f"{n_significant(one):,}"))
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


def _test_of(one: Measured, tested: Verdict | None) -> Verdict | None:
    """Return the test if it is of this measure."""
    return tested if tested is not None and tested.measure == name_of(one) else None


def _rankings(others: Sequence[Measured], tested: Verdict | None) -> list[Part]:
    return [
        ranking_chart(
            as_importances(one),
            by=words_of(one).title,
            spread=spread_of(one),
            most=_COMPACT,
            tested=_test_of(one, tested),
        )
        for one in others
        if len(one)
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
    best: Ranked, measures: Sequence[Measured], tested: Verdict | None, n_rows: int
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
    columns += [*best.judgments(), *best.tests(best.scores[0])]
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
        brief=_brief(best, measures, tested),
    )


def _brief(best: Ranked, measures: Sequence[Measured], tested: Verdict | None) -> tuple[str, ...]:
    """Return what a terminal says below the table."""
    lines = [
        f"{n_significant(one):,} of {len(one):,} features have q <= {LEVEL:g} by "
        f"{words_of(one).title}; its p-values shrink as trees are added, also for irrelevant "
        "features"
        for one in measures
        if isinstance(one, Significance)
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
    known = tuple(np.asarray(errors, dtype=np.float64).tolist())
    return known if any(map(math.isfinite, known)) else None


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
    elif any(as_importances(one).standard_error is not None for one in measures):
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
