"""Terminal output of `duramen rank`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from duramen.analyses.files import OF_GROUPS
from duramen.cli.show import Shown, bars, named, ranks, shape_words, show, taken
from duramen.reports import Run
from duramen.reports.conclusion import conclusion
from duramen.reports.facts import unit_words
from duramen.reports.measures import LEVEL, n_significant, words_of
from duramen.reports.ranked import Ranked
from duramen.results.significance import Significance
from duramen.support.text import fixed

if TYPE_CHECKING:
    from duramen.analyses.ranking.measuring import Found
    from duramen.importances.after.comparison import Measured
    from duramen.reports.significance import VerdictColumn

_DIRECTION = 14  # cells of a direction where the terminal is narrow
_FEW = 4  # columns of a table that has room for bars


def show_ranking(found: Found, run: Run, top: int, out: Path) -> None:
    """Print the result, the best features by the first measure, and where the results lie."""
    measures, tested = found.measures, found.tested
    best = found.ranked(top)
    columns, hidden = _fitting(_columns(best))
    after = [*_hidden(hidden), *_significant(measures)]
    if tested is not None:
        after.append(tested.note(words_of(measures[0]).title))
    if line := best.directed_noise():
        after.append(line)
    if found.precision is not None:
        after += found.precision.lines()
    if found.feature_groups is not None:
        after.append(found.feature_groups.line())
    before = [conclusion(run, tested), ", ".join(_headline(run))]
    files = [] if found.feature_groups is None else [OF_GROUPS]
    show(before, columns, len(measures[0]) - top, out, after, files)


def _columns(best: Ranked) -> list[tuple[Shown, bool]]:
    """Return all columns, each with whether it is left out first where the terminal is narrow."""
    first, alone = best.first, len(best.scores) == 1
    heading = unit_words(first.unit) if alone else best.scores[0].heading
    columns = [
        (ranks(len(first)), False),
        (named("feature", first.names), False),
        (Shown(heading, fixed(first.values, 4), right=True), False),
    ]
    intervals = best.intervals()
    if intervals is not None:
        columns.append((Shown(intervals[0], intervals[1], right=True, wraps=False), False))
    if first.standard_error is not None:
        errors = Shown("std. error", fixed(first.standard_error, 2), right=True)
        columns.append((errors, intervals is not None or best.faint is not None))
    columns += [(_judgment(one), one.minor) for one in best.judgments()]
    for i, one in enumerate(best.scores):
        if i:
            columns.append((Shown(one.heading, fixed(one.values, 4), right=True), True))
        columns += [(Shown(title, cells, right=True), i > 0) for title, cells in best.tests(one)]
    if alone and len(columns) <= _FEW:
        columns.append((Shown("", bars(first.values.tolist()), style="cyan", wraps=False), True))
    return columns


def _judgment(column: VerdictColumn) -> Shown:
    if column.name == "direction":
        return named(column.title, column.cells, _DIRECTION)
    return Shown(column.title, column.cells, right=column.numbers is not None)


def _fitting(columns: Sequence[tuple[Shown, bool]]) -> tuple[list[Shown], list[str]]:
    """Return the columns that the terminal has room for, and the titles of the others."""
    room = Console().width - sum(taken(column) for column, minor in columns if not minor)
    kept, hidden = list[Shown](), list[str]()
    for column, minor in columns:
        room -= taken(column) if minor else 0
        if room >= 0 or not minor:
            kept.append(column)
        elif column.title:
            hidden.append(column.title)
    return kept, hidden


def _hidden(titles: Sequence[str]) -> list[str]:
    if not titles:
        return []
    return [f"More columns in the results: {'; '.join(titles)}"]


def _significant(measures: Sequence[Measured]) -> list[str]:
    return [
        f"{n_significant(one):,} of {len(one):,} features have q <= {LEVEL:g} by "
        f"{words_of(one).title}; its p-values shrink as trees are added, also "
        "for irrelevant features"
        for one in measures
        if isinstance(one, Significance)
    ]


def _headline(run: Run) -> list[str]:
    words = [*shape_words(run), f"{run.settings['n_estimators']:,} trees"]
    error = run.results.get("oob_error")
    if error is not None:
        words.append(f"{run.target_class.oob_error} {run.target_class.error_text(error)}")
    return words
