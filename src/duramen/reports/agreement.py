"""Agreement of measures on the same features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from duramen.importances.after.comparison import Comparison, Measured, compare
from duramen.plots.comparison import PARALLEL_RANKS, RANK_CORRELATIONS
from duramen.reports.measures import words_of
from duramen.reports.report import DRAWN, Chart, Part, Plot, Table, joined
from duramen.results.columns import Column

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

    comparison = compare({words_of(one).title: one for one in measures})
    few = _few(len(comparison))
    sections: list[Part] = [_table(comparison, few)]
    if len(measures) > 2:
        sections.append(_correlations(comparison, few))
    return [*sections, _ranks(comparison)]


def _few(n_features: int) -> int | None:
    """Return how many of the features are called the first ones; None where there are too few."""
    return next((k for k in _FEW if 2 * k <= n_features), None)


def _table(comparison: Comparison, few: int | None) -> Table:
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
