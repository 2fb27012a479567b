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
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import NumberTarget, target_class
from duramen.effects import Direction
from duramen.forests.settings import CRITERIA
from duramen.importances.measure import Measure, Measured
from duramen.plots.curves import OOB_ERROR
from duramen.reports.report import (
    HELD,
    LEVEL,
    OF_PAIRS,
    OF_ROWS,
    OTHER_METHODS,
    Report,
    Run,
    Section,
    Table,
    adjusted_words,
    as_importances,
    degree_charts,
    page,
    rows_note,
    shown_columns,
    unit_words,
    words_of,
)
from duramen.results.importances import Importances
from duramen.results.significance import (
    CANDIDATE,
    CONFIRMED,
    DIRECT,
    NOISE,
    AdjustedSignificance,
    ConditionalSignificance,
    Significance,
)
from duramen.results.summary import Column, counted, percents
from duramen.significance import catalogue as tests
from duramen.support.arrow import pa
from duramen.support.provenance import cited
from duramen.support.text import printable

_ROWS = 100  # features of the table on the page
_DIRECTION = 14  # characters that a narrow terminal leaves to a direction
_CAVEATS = (
    "Features that carry the same information share it: each of several copies is less important "
    "than one alone would be.",
    "An importance measures how much the forest uses a feature; it is no evidence of a causal "
    "effect.",
)
_NO_TEST = (
    "No significance test was run: the order alone is no evidence that a feature is relevant."
)
_NO_ERROR = (
    "The accuracy of the forest is not known, because every tree sees all rows (no row is out of "
    "bag)."
)
# Whether the forest predicts better than without features, and whether a feature was found; None
# where nothing was tested.
_MEANINGS = {
    (True, True): "",
    (True, False): " Together the features predict {target}, but no single one stands out.",
    (True, None): " The features predict {target}.",
    (False, True): " That is no better than without any feature: those found are associated with "
    "{target}, but do not predict it well.",
    (False, False): " Nothing here is evidence that any feature is associated with {target}; the "
    "order may be due to chance.",
    (False, None): " That is no evidence that the features predict {target}; their order may be "
    "due to chance.",
}
_PARTS = {  # parts on precision that the methods name
    "intervals": "Confidence intervals are from forests on random subsamples of the rows",
    "stability": "Stability is the agreement of forests on random halves of the rows",
}
_STRONGEST = 3  # features that the conclusion names


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
    if isinstance(tested, AdjustedSignificance):
        ranks = {CONFIRMED: 0, CANDIDATE: 1, NOISE: 2}
        verdicts = tested.of(best.names).verdicts(LEVEL)
        best = best.take(np.argsort([ranks[verdict] for verdict in verdicts], kind="stable"))
    return best


def table_columns(
    measures: Mapping[str, Measured], **parts: Any
) -> tuple[list[Column], list[Column], list[Column]]:
    """Return the columns of all results, the features in the order of `in_order`.

    They are in three lists: rank, name and importance; those of tests and effects; and those of the
    measures: values, ``_standard_error``, ``_p_value`` and ``_q_value`` after the name of each.
    """
    names = ("tested", "direct", "described", "intervals", "stability")
    tested, direct, described, intervals, stability = map(parts.get, names)
    first = next(iter(measures.values()))
    best, words = in_order(first, tested), words_of(first)
    features, error = best.names, best.standard_error
    judgments = [] if tested is None else significance.columns_of(tested, features)
    verdicts = next((column.cells for column in judgments if column.name == "verdict"), None)
    if direct is not None:  # which takes the room of what says less
        judgments = [replace(c, minor=1) if c.name == "evidence" else c for c in judgments]
    if described is not None:  # after the last major column of the test
        directions = {direction.name: direction.words for direction in described}
        cells = [directions.get(name, "") for name in features]
        place = max((i + 1 for i, column in enumerate(judgments) if not column.minor), default=0)
        column = Column("direction", cells, "words", least=_DIRECTION, name="direction")
        judgments.insert(place, column)
    if direct is not None:
        title, short = tests[direct.method].title, f", {DIRECT}"
        judgments += [
            replace(column, title=column.title.replace(f", {title}", short))
            for column in significance.columns_of(direct, features)
        ]
    whiskers = None if error is None else (best.values - error, best.values + error)
    if intervals is not None:
        taken = intervals.of(features)
        whiskers = taken.low, taken.high
    columns = [
        Column("rank", kind="rank", name="rank", numbers=np.arange(1, len(best) + 1)),
        Column("feature", features, "name", name="name"),
        Column(
            words.title if best.unit == "1" else f"{words.title}, {best.unit}",
            digits=4,
            bars=best.values,
            whiskers=whiskers,
            faint=None if verdicts is None else [word == NOISE for word in verdicts],
            name="importance",
            numbers=best.values,
        ),
    ]
    if intervals is not None or stability is not None:
        columns += precision.columns_of(intervals, stability, features)
    if error is not None:
        minor = int(intervals is not None or verdicts is not None)
        column = Column("std. error", digits=2, minor=minor, name="standard_error", numbers=error)
        columns.append(column)
    columns += [column for column in best.table() if not column.title]
    alone = tested is None and sum(isinstance(one, Significance) for one in measures.values()) == 1
    scores = list[Column]()
    for i, (name, measured) in enumerate(measures.items()):
        ordered, title = measured.of(features), words_of(measured).title
        if i > 0:
            values = as_importances(ordered)
            heading = title if values.unit == "1" else f"{title}, {values.unit}"
            scores.append(Column(heading, digits=4, minor=1, name=name, numbers=values.values))
            if values.standard_error is not None:
                errors = values.standard_error
                scores.append(Column(name=f"{name}_standard_error", numbers=errors))
        if isinstance(ordered, Significance):
            for letter, numbers in (("p", ordered.p_values), ("q", ordered.q_values)):
                head = letter if alone else f"{letter}, {title}"
                file, minor = f"{name}_{letter}_value", int(i > 0)
                scores.append(Column(head, digits=0, minor=minor, name=file, numbers=numbers))
    return columns, judgments, scores


def summarize(
    measures: Mapping[str, Measured],
    run: Run,
    *,
    data: LearningSet[EncodedTable] | None = None,
    above: Sequence[Section | Table] = (),
    left_out: Sequence[str] = (),
    unfinished: Sequence[str] = (),
    oob_errors: ArrayLike | None = None,
    n_rows: int = _ROWS,
    **parts: Any,
) -> RankingReport:
    """Return the report of a ranking.

    Parameters
    ----------
    measures : mapping of str to Importances or Significance
        Importance measures by name, the first of which orders the features.
    run : Run
        Record of the run.
    data : LearningSet, optional
        Rows by which effects were described.
    above : sequence of sections
        Sections above the table.
    left_out : sequence of str
        What is not computed, and why.
    unfinished : sequence of str
        Parts that a stop has left out.
    oob_errors : array-like, optional
        Out-of-bag error after each tree.
    n_rows : int
        Rows of the table on the page.
    **parts
        Results of further steps, as far as there are any: ``tested``, ``described``, ``intervals``,
        ``stability``, ``trees``, ``direct``, ``direct_groups``, ``direct_clusters``, ``groups`` (a
        table), ``pairs``, ``rows``, and ``associated`` (the columns of `effects.target_columns`).
    """
    names = ("tested", "direct", "pairs", "trees", "intervals", "stability")
    tested, direct, pairs, trees, intervals, stability = map(parts.get, names)
    rows, clusters = (parts.get(name) or () for name in ("rows", "direct_clusters"))
    words = {name: words_of(measured) for name, measured in measures.items()}
    first, of_first = next(zip(measures.values(), words.values(), strict=True))
    verdicts = tested.verdicts(LEVEL) if isinstance(tested, AdjustedSignificance) else None
    errors = [as_importances(measured).standard_error for measured in measures.values()]
    head, judgments, scores = table_columns(measures, **parts)
    file = {"name": head[1], **{c.name: c for c in (*head, *scores, *judgments) if c.name}}

    # --- what the page shows ---
    note = rows_note(min(n_rows, len(first)), len(first))
    if intervals is not None:
        note += f" Lines at the bars: {100 * intervals.confidence_level:g}% confidence intervals."
    elif errors[0] is not None:
        note += f" Lines at the bars: one standard error over the {of_first.spread}."
    if verdicts is not None:
        note += f" Features are in the order of verdicts, then of {of_first.title}. Gray: noise."
    columns = shown_columns([*head, *judgments, *scores], max(n_rows, HELD))
    table = Table("Ranking", columns, note, shown=n_rows, total=len(first), main=True)
    sections: list[Section | Table] = [*above, table]
    if direct is not None:
        sections.append(given_others.section_of(direct, parts.get("direct_groups"), clusters))
    if parts.get("groups") is not None:
        sections.append(parts["groups"])
    n_grown, other = run.settings.get("n_estimators", 0), str(run.settings.get("model", ""))
    events = run.results.get("events")
    facts = {} if events is None else {"events": f"{events:,}"}
    facts |= {"model": other} if other else {"trees": f"{n_grown:,}"}
    reading, cautions, used = list[str](), list[str](), list[Any](words.values())
    for name, measured in measures.items():
        entry = words[name]
        scored = measured.unit == CRITERIA["log_rank"].unit
        text = (entry.survival_reading if scored else "") or entry.reading
        reading.append(text.format(unit=unit_words(measured.unit)))
        if entry.caution:
            cautions.append(entry.caution.format(title=entry.title))
        if isinstance(measured, Significance):
            n_trees, n = measured.metadata.get("n_trees"), np.sum(measured.q_values <= LEVEL)
            depends = "" if n_trees is None else entry.p_values.format(n_trees=n_trees)
            reading.append(
                f"The p-value of {entry.title} tests this null hypothesis: {measured.null} "
                f"{depends}{adjusted_words(measured)}"
            )
            facts[f"with q up to {LEVEL:g} by {entry.title}"] = f"{n:,}"
    if any(error is not None for error in errors):
        reading.append(
            "Standard errors are over forests of the same size on the same data: more trees shrink "
            "them, and they do not include the sampling error of the data."
        )
    if parts.get("described") is not None and data is not None:
        section, text = effects.section_of(parts["described"], data, run.target or "target")
        sections.append(section)
        reading.append(text)
        associated = parts.get("associated") or {}
        overview = effects.overview_of(
            data, head[1].cells, first, tested, associated, run.target or "target"
        )
        sections += [] if overview is None else [overview]
    sections += [part.section() for part in (*([] if pairs is None else [pairs]), *rows)]
    if left_out:
        sections.append(Section("Not computed", tuple(left_out)))

    # --- folded below it ---
    selected = significance.selected_by(tested)
    if tested is not None:
        below = tuple(significance.sections_of(tested))
        sections.append(Section("Significance test", sections=below, folded=True))
        used.append(tests[tested.method])
        if verdicts is not None:
            facts[CONFIRMED] = f"{verdicts.count(CONFIRMED):,}"
            facts["candidates"] = f"{verdicts.count(CANDIDATE):,}"
        else:
            facts[f"with {significance.limit_of(tested)}"] = f"{len(selected):,}"
    if direct is not None:
        used.append(tests[direct.method])
    if intervals is not None or stability is not None:
        below = tuple(precision.sections_of(intervals, stability))
        sections.append(Section("Confidence intervals and stability", sections=below, folded=True))
    target, error = target_class(run.task or NumberTarget.task), run.results.get("oob_error")
    ranked, of_forest = as_importances(first), list[Section]()
    if ranked.by_degree is not None:
        of_forest += degree_charts(ranked)
    curve = np.asarray([] if oob_errors is None else oob_errors, dtype=np.float64).tolist()
    if any(map(math.isfinite, curve)):
        chart = Section(
            "Error against number of trees",
            caption="Error of out-of-bag predictions. Where the line is flat, more trees do not "
            "improve the predictions; a stable ranking can need many more trees.",
            figure=(OOB_ERROR, tuple(curve), {"what": target.oob_error}),
            text=f"Line chart of the {target.oob_error} against the number of trees; after "
            f"{len(curve)} trees it is {curve[-1]:.3g}.",
        )
        of_forest.append(chart)
    if trees is not None:
        line = precision.trees_words(trees, of_first.title)
        of_forest.append(Section("Number of trees", (line,), brief=(line,)))
    if of_forest:
        sections.append(Section("Forest", sections=tuple(of_forest), folded=True))
    sources = [f"{entry.title}: {entry.reference}" for entry in used if entry.reference]
    sources += [text for part, text in precision.SOURCES.items() if parts.get(part) is not None]

    caveats = [text.replace("the forest", "the model") if other else text for text in _CAVEATS]
    model, further = [other or counted(n_grown, "tree")], dict[str, Any]()
    if error is not None:
        facts[target.oob_error] = target.error_text(error)
        model.append(f"{target.oob_error} {target.error_text(error)}")
    error = run.results.get("cross_fitted_error")
    if error is not None:
        name = target.oob_error.replace("out-of-bag", "cross-fitted")
        facts[name] = target.error_text(error)
        model.append(f"{name} {target.error_text(error)}")
    if rows:
        tables = [pa.table(part.columns()) for part in rows]
        of_rows = pa.concat_tables(tables, promote_options="default")
        further[OF_ROWS] = dict(zip(of_rows.column_names, of_rows.columns, strict=True))
        sources += rows[0].references
    if pairs is not None:
        further[OF_PAIRS] = pairs.columns()
        sources += pairs.references
    return page(
        RankingReport,
        run,
        facts=facts,
        sections=sections,
        methods=methods_of(run, of_first, **parts),
        references=sources,
        reading=list(filter(None, reading)),
        cautions=[*cautions, *caveats, *([] if tested is None else [OTHER_METHODS])],
        model=model,
        kind="ranking of features",
        title=f"Feature importances for {run.target}",
        conclusion=conclusion(run, tested, parts.get("described") or (), unfinished),
        table={name: column.values for name, column in file.items()},
        further=further,
        importances=dict(measures),
        significance=tested,
        selected=selected,
        direct=direct,
        direct_clusters=tuple(map(tuple, clusters)),
        rows=tuple(rows),
        interactions=pairs,
    )


def methods_of(run: Run, measure: Measure, **parts: Any) -> str:
    """Return the methods of a ranking in the terms of the field, with their sources.

    `parts` are those of `summarize`.
    """
    tested = parts.get("tested")
    forest = str(run.settings.get("forest", "forest")).replace("_", " ").replace("-", " ")
    model = f"a {forest} of {counted(run.settings.get('n_estimators', 0), 'tree')}"
    model = str(run.settings.get("estimator", model))  # of another package, with its parameters
    sentence = f"Features were ranked by {cited(measure.title, measure.reference)} of {model}"
    if tested is not None:
        test, n = tests[tested.method], tested.metadata.get("n_permutations")
        sentence += f" and tested by {cited(significance.title_of(tested), test.reference)}"
        if n is not None:
            rounds = counted(n, "permutation")
            sentence += f", {f'at most {rounds} a stage' if test.stops_early else rounds}"
    if isinstance(tested, AdjustedSignificance):
        sentence += (
            f"; confirmed features have a family-wise adjusted p-value up to {LEVEL:g}, candidates "
            f"a false discovery rate up to {LEVEL:g}"
        )
    sentences = [f"{sentence}."]
    if (direct := parts.get("direct")) is not None:
        test = tests[direct.method]
        sentences.append(
            "Features were also tested given all others by the "
            f"{cited(test.title, test.reference)}."
        )
    for part, words in _PARTS.items():
        if parts.get(part) is not None:
            sentences.append(f"{cited(words, precision.SOURCES[part].partition(': ')[2])}.")
    if (pairs := parts.get("pairs")) is not None:
        words = "Pairs of features were tested for interactions"
        sentences.append(f"{cited(words, *pairs.references)}.")
    return " ".join(sentences)


def conclusion(
    run: Run,
    tested: significance.Tested | None,
    described: Sequence[Direction] = (),
    unfinished: Sequence[str] = (),
) -> str:
    """Return the result and the accuracy of the forest in plain sentences, without methods.

    The record of the run gives ``oob_error``, or ``cross_fitted_error`` of another model, and
    ``baseline_error``, the error of the best prediction without features, with
    ``baseline_p_value``, the p-value of the null hypothesis that the forest is not more accurate;
    and ``groups``, the number of groups of rows, if any.
    `described` are directions of the features, the most important first; `unfinished` are parts
    that a stop has left out.
    """
    target, n_rows = run.target or "the target", run.n_rows or 0
    sentences = [_NO_TEST if tested is None else significance.finding(tested, target)]

    # --- how well the forest predicts ---
    error, baseline = run.results.get("oob_error"), run.results.get("baseline_error")
    error = run.results.get("cross_fitted_error", error)
    what = "model" if "cross_fitted_error" in run.results else "forest"
    kind = target_class(run.task or NumberTarget.task)
    unseen = "rows of groups" if "groups" in run.results else "rows"
    if error is None:
        sentences.append(_NO_ERROR)
    elif baseline is not None:
        explained = 1 - error / baseline if baseline > 0 else 0.0
        if kind.categorical:
            right, guessed = percents(1 - error, 1 - baseline, n=n_rows)
            accuracy = (
                f"The {what} classifies {right} of the {unseen} that it had not seen correctly; "
                f"always guessing the most frequent class gives {guessed}."
            )
        else:
            part = percents(explained, n=n_rows)[0] if explained > 0 else "none"
            accuracy = (
                f"In {unseen} that it had not seen, the {what} explains {part} of the variance of "
                f"{target}."
            )
        n = None
        if tested is not None and tests[tested.method].controls:
            n = len(significance.selected_by(tested))
        better = run.results.get("baseline_p_value", 1.0) <= LEVEL
        meaning = _MEANINGS[better, None if n is None else n > 0]
        sentences.append(accuracy + meaning.format(target=target))
    elif kind.chance_score is not None:
        sentences.append(
            f"Of two {unseen} that it had not seen, the forest tells in "
            f"{percents(1 - error, n=n_rows)[0]} of all cases which has its event first; guessing "
            f"gives {kind.chance_score:.0%}."
        )

    # --- the strongest features, and the directions of their effects ---
    selected, named = set(significance.selected_by(tested)), dict[str, str]()
    for one in described or map(Direction, significance.selected_by(tested)):
        if one.name not in selected or len(named) == _STRONGEST:
            continue
        words = "" if one.kind == "none" else one.words
        if one.kind in ("up", "down") and one.of:
            words = f"{'higher' if one.kind == 'up' else 'lower'} in {one.of}"
        elif one.kind in ("up", "down"):
            moves = "rising" if one.kind == "up" else "falling"
            words = f"{moves} with {'the risk' if one.risk else target}"
        named[printable(one.name)] = words
    if named:
        if len(set(named.values())) > 1 or not all(named.values()):
            shown = ", ".join(
                f"{name} ({words})" if words else name for name, words in named.items()
            )
        else:
            every = ("", "both ", "all ")[len(named) - 1]
            shown = f"{', '.join(named)} ({every}{next(iter(named.values()))})"
        sentences.append(f"Strongest: {shown}.")
    if unfinished:
        sentences.append(f"The analysis was stopped early, without {', '.join(unfinished)}.")
    return " ".join(sentences)
