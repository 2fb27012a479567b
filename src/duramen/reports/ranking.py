"""A ranking, its forest and its run as a report."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from duramen.reports.facts import about, thousands, unit_words
from duramen.reports.features import importance_charts, rows_note, shares_of_first
from duramen.reports.report import Chart, Column, ErrorCurve, Fact, Prose, Report, Section, Table
from duramen.reports.run import Run
from duramen.results.importances import Importances
from duramen.results.text import fixed

_ROWS = 100

_CAVEATS = (
    "Every feature that is tried often enough gets some importance, relevant or not, since a "
    "tree fits chance too. Features with many distinct values get more of it than those with "
    "few. There is no threshold above which an importance is real.",
    "Features that carry the same information share it: each of several copies looks less "
    "important than one alone would.",
    "An importance says that the forest used a feature, not that the feature causes anything.",
)


def summarise(
    importances: Importances,
    run: Run,
    *,
    oob_errors: ArrayLike | None = None,
    n_rows: int = _ROWS,
) -> Report:
    """Gather what a report of a ranking says.

    Parameters
    ----------
    importances : Importances
        The ranking, with its decomposition by degree and standard errors where known.
    run : Run
        What was run.
    oob_errors : array-like of shape (T,), optional
        Out-of-bag error after each tree.
    n_rows : int
        Number of features in the table.
    """
    sections: list[Section] = [*importance_charts(importances)]
    errors = _known(oob_errors)
    if errors is not None:
        sections.append(_errors(errors, oob_name(run.task)))
    sections += [
        _table(importances.top(n_rows), len(importances)),
        Prose("How to read it", _reading(importances)),
        Prose("What not to read into it", _CAVEATS, points=True, caution=True),
    ]
    return Report(
        kind="ranking of features",
        title=f"Which features matter for {run.target}",
        headline=_headline(importances, run),
        sections=(*sections, *about(run)),
    )


def oob_name(task: str | None) -> str:
    """Return the name of the out-of-bag error of a task."""
    return "out-of-bag error" if task == "classification" else "out-of-bag mean squared error"


def _headline(importances: Importances, run: Run) -> tuple[Fact, ...]:
    facts = [
        Fact("rows", thousands(run.n_rows)),
        Fact("features", thousands(run.n_features)),
        Fact("trees", f"{run.settings.get('n_estimators', 0):,}"),
        Fact("features used", f"{int(np.count_nonzero(importances.values)):,}"),
    ]
    error = run.results.get("oob_error")
    if error is not None:
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        facts.append(Fact(oob_name(run.task), shown))
    return tuple(facts)


def _errors(errors: tuple[float, ...], what: str) -> Chart:
    return Chart(
        title="Error against number of trees",
        plot=ErrorCurve(errors, what),
        text=f"Line chart of the {what} against the number of trees; after {len(errors)} trees it "
        f"is {errors[-1]:.3g}.",
        caption="Error on the rows that a tree was grown without. Where the line is flat, more "
        "trees do not predict better; a stable ranking can need many more.",
    )


def _table(best: Importances, n_features: int) -> Table:
    values = fixed(best.values, 5)
    errors = [""] * len(best) if best.standard_error is None else fixed(best.standard_error, 2)
    return Table(
        title="Table",
        columns=(
            Column("rank", "number"),
            Column("feature", "name"),
            Column("importance", "number"),
            Column("standard error", "number"),
            Column("share of the first", "bar"),
        ),
        rows=tuple(
            (str(i + 1), best.names[i], values[i], errors[i], share)
            for i, share in enumerate(shares_of_first(best))
        ),
        note=rows_note(len(best), n_features),
    )


def _known(errors: ArrayLike | None) -> tuple[float, ...] | None:
    if errors is None:
        return None
    known = tuple(np.asarray(errors, dtype=np.float64).tolist())
    return known if any(map(math.isfinite, known)) else None


def _reading(importances: Importances) -> tuple[str, ...]:
    unit = unit_words(importances.unit)
    lines = [
        "The importance of a feature is its mean decrease of impurity (MDI): every split of every "
        "tree lowers the impurity of the target by some amount; the amounts are weighted by the "
        "share of rows that reach the split, added up by feature, and averaged over the trees. "
        f"They are given in {unit} and are not scaled: they can be compared and added.",
    ]
    if importances.standard_error is not None:
        lines.append(
            "The error bars are one standard error over the trees. They tell how much another "
            "forest of the same size on the same data could differ: grow more trees to shrink "
            "them. They do not tell how much other data could differ."
        )
    if importances.by_degree is not None:
        lines.append(
            "The heat map splits an importance up by interaction degree, the number of splits "
            "above. What stands at degree 0 the feature says on its own; what stands further "
            "right it adds once others are known. A feature with little at degree 0 and much "
            "further on acts through interactions."
        )
    return tuple(lines)
