"""Report of a ranking, its forest and its run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from duramen.reports.agreement import agreement
from duramen.reports.facts import about, looked_at, thousands
from duramen.reports.features import (
    importance_charts,
    ranking_chart,
    rows_note,
    shares_of_first,
)
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
from duramen.reports.ranked import ranked
from duramen.reports.report import Chart, Column, Fact, Plot, Prose, Report, Section, Table
from duramen.reports.run import Run
from duramen.reports.significance import Verdict, verdict_sections
from duramen.results.significance import Significance
from duramen.results.text import fixed

if TYPE_CHECKING:
    from duramen.importances.after.comparison import Measured

_ROWS = 100

_COMPACT = 10

_CAVEATS = (
    "Features that carry the same information share it: each of several copies is less important "
    "than one alone would be.",
    "An importance measures the use of a feature by the forest; it is no evidence of a causal "
    "effect.",
)


def summarise(
    importances: Measured,
    run: Run,
    *,
    others: Sequence[Measured] = (),
    left_out: Sequence[str] = (),
    tested: Verdict | None = None,
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
    sections: list[Section] = [
        *importance_charts(
            as_importances(importances),
            spread=spread_of(importances),
            tested=_test_of(importances, tested),
        ),
        *_rankings(others, tested),
        *([] if tested is None else verdict_sections(tested)),
        *agreement(measures),
    ]
    errors = _known(oob_errors)
    if errors is not None:
        sections.append(_errors(errors, oob_name(run.task)))
    sections.append(_table(measures, n_rows, tested))
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out)))
    caveats = (*cautions(measures), *_CAVEATS)
    sections += [
        Prose("Interpretation", _reading(measures)),
        Prose("Limitations", caveats, points=True, caution=True),
    ]
    sources = [*references(measures), *([] if tested is None else tested.references())]
    if sources:
        sections.append(Prose("References", tuple(sources), points=True))
    return Report(
        kind="ranking of features",
        title=f"Feature importances for {run.target}",
        headline=_headline(measures, run, tested),
        sections=(*looked_at(run), *sections, *about(run)),
    )


def oob_name(task: str | None) -> str:
    """Return the name of the out-of-bag error of a task."""
    names = {
        "classification": "out-of-bag error",
        "survival": "out-of-bag error (1 - concordance)",
    }
    return names.get(task or "", "out-of-bag mean squared error")


def _headline(measures: Sequence[Measured], run: Run, tested: Verdict | None) -> tuple[Fact, ...]:
    facts = [
        Fact("rows", thousands(run.n_rows)),
        Fact("features", thousands(run.n_features)),
        Fact("trees", f"{run.settings.get('n_estimators', 0):,}"),
    ]
    if "features_used" in run.results:
        facts.append(Fact("features used", f"{run.results['features_used']:,}"))
    for one in measures:
        if isinstance(one, Significance):
            name = f"with q up to {LEVEL:g} by {words_of(one).title}"
            facts.append(Fact(name, f"{n_significant(one):,}"))
    if tested is not None:
        facts += [Fact(name, f"{count:,}") for name, count in tested.facts()]
    error = run.results.get("oob_error")
    if error is not None:
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        facts.append(Fact(oob_name(run.task), shown))
    return tuple(facts)


def _test_of(one: Measured, tested: Verdict | None) -> Verdict | None:
    """Return the test if it is of this measure."""
    return tested if tested is not None and tested.measure == name_of(one) else None


def _rankings(others: Sequence[Measured], tested: Verdict | None) -> list[Chart]:
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
        plot=Plot("oob_error", errors, {"what": what}),
        text=f"Line chart of the {what} against the number of trees; after {len(errors)} trees it "
        f"is {errors[-1]:.3g}.",
        caption="Error on the rows that a tree was grown without. Where the line is flat, more "
        "trees do not predict better; a stable ranking can need many more.",
    )


def _table(measures: Sequence[Measured], n_rows: int, tested: Verdict | None) -> Table:
    best = ranked(measures, n_rows, tested=tested)
    k, first = len(best.first), best.first
    errors = [""] * k if first.standard_error is None else fixed(first.standard_error, 2)
    title = "importance" if len(measures) == 1 else best.scores[0].heading
    columns: list[tuple[Column, Sequence[str | float]]] = [
        (Column("rank", "number"), [str(i + 1) for i in range(k)]),
        (Column("feature", "name"), first.names),
        (Column(title, "number"), fixed(first.values, 5)),
        (Column("standard error", "number"), errors),
    ]
    for i, one in enumerate(best.scores):
        if i:
            columns.append((Column(one.heading, "number"), fixed(one.values, 4)))
        columns += [(Column(name, "number"), cells) for name, cells in best.tests(one)]
    columns += [
        (Column(one.title, "words" if one.numbers is None else "number"), one.cells)
        for one in best.tested
    ]
    if len(measures) == 1:  # more would leave no room for bars
        columns.append((Column("fraction of the first", "bar"), shares_of_first(first)))
    return Table.of("Table", columns, rows_note(k, len(measures[0])))


def _known(errors: ArrayLike | None) -> tuple[float, ...] | None:
    if errors is None:
        return None
    known = tuple(np.asarray(errors, dtype=np.float64).tolist())
    return known if any(map(math.isfinite, known)) else None


def _reading(measures: Sequence[Measured]) -> tuple[str, ...]:
    lines = readings(measures)
    if len(measures) > 1:
        lines.insert(0, f"The order of the features is that of {words_of(measures[0]).title}.")
    first = as_importances(measures[0])
    if any(as_importances(one).standard_error is not None for one in measures):
        lines.append(
            "The error bars are one standard error over forests of the same size on the same data: "
            "more trees shrink them. They do not include the sampling error of the data."
        )
    if first.by_degree is not None:
        lines.append(
            "The heat map by interaction degree decomposes an importance by the number of splits "
            "above. Nodes far down hold few rows, where noise features have importance by chance "
            "too: little at degree 0 and more at higher degrees is no evidence of an interaction."
        )
    return tuple(lines)
