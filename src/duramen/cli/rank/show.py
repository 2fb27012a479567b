"""Terminal output of `duramen rank`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from duramen.cli.show import Shown, bars, named, ranks, shape_words, show, taken
from duramen.reports import Run
from duramen.reports.facts import unit_words
from duramen.reports.measures import LEVEL, n_significant, words_of
from duramen.reports.ranked import Ranked, ranked
from duramen.reports.ranking import oob_name
from duramen.reports.report import joined
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.results.text import fixed

if TYPE_CHECKING:
    from duramen.importances.after.comparison import Measured
    from duramen.reports.significance import Verdict


def show_ranking(
    measures: Sequence[Measured], run: Run, top: int, out: Path, tested: Verdict | None = None
) -> None:
    """Print what was ranked, the best features by the first measure, and where the results lie."""
    best = ranked(measures, top, tested=tested)
    names = [
        ranks(len(best.first)),
        named("feature", best.first.names),
    ]
    tests = [Shown(one.title, one.cells, right=one.numbers is not None) for one in best.tested] or [
        Shown(title, cells, right=True) for one in best.scores for title, cells in best.tests(one)
    ]
    values, hidden, drawn = _alone(best.first), list[str](), list[Shown]()
    if len(best.scores) > 1:
        values, hidden = _fitting(best, names + tests)
    elif not tests:
        drawn = [Shown("", bars(best.first.values.tolist()), style="cyan", wraps=False)]
    after = [*_hidden(hidden), *_significant(measures)]
    if tested is not None:
        after.append(f"{tested.count()}. {tested.note}")
    more = len(measures[0]) - top
    show([", ".join(_headline(run))], [*names, *values, *tests, *drawn], more, out, after)


def _alone(only: Importances) -> list[Shown]:
    columns = [Shown(unit_words(only.unit), fixed(only.values, 4), right=True)]
    if only.standard_error is not None:
        columns.append(Shown("std. error", fixed(only.standard_error, 2), right=True))
    return columns


def _fitting(best: Ranked, others: Sequence[Shown]) -> tuple[list[Shown], list[str]]:
    """Return a column for each measure that the terminal has room for, and the titles of others."""
    room = Console().width - sum(map(taken, others))
    columns, hidden = list[Shown](), list[str]()
    for one in best.scores:
        column = Shown(one.heading, fixed(one.values, 4), right=True)
        room -= taken(column)
        if room >= 0 or not columns:
            columns.append(column)
        else:
            hidden.append(one.title)
    return columns, hidden


def _hidden(titles: Sequence[str]) -> list[str]:
    if not titles:
        return []
    return [f"No room here for {joined(titles, shown=len(titles))}: see the results"]


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
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        words.append(f"{oob_name(run.task)} {shown}")
    return words
