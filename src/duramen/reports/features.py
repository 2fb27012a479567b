"""Figures and parts of tables that reports of importances have in common."""

from __future__ import annotations

from duramen.plots.importances import BY_DEGREE, RANKING
from duramen.reports.facts import unit_words
from duramen.reports.report import DRAWN, Chart, Plot
from duramen.reports.significance import Verdict
from duramen.results.columns import counted
from duramen.results.importances import Importances


def rows_note(shown: int, n_features: int) -> str:
    """Say how many features a table shows, and where all of them are."""
    if shown < n_features:
        return (
            f"The first {shown:,} of {n_features:,} features; result.csv and result.parquet hold "
            "them all."
        )
    return f"All {counted(n_features, 'feature')}, as in result.csv and result.parquet."


def importance_charts(
    importances: Importances,
    *,
    columns: int = 9,
    spread: str = "the trees",
    tested: Verdict | None = None,
) -> list[Chart]:
    """Return the ranking of the first features, and their parts by degree where known.

    `columns` is the most of the heat map by degree, `spread` what the standard errors are over.
    """
    if not len(importances):
        return []
    ranking = ranking_chart(importances, spread=spread, tested=tested)
    return [ranking, *degree_charts(importances, columns)]


def degree_charts(importances: Importances, columns: int = 9) -> list[Chart]:
    """Return the parts of the first features by degree, where known."""
    drawable = importances.by_degree is not None and len(importances)
    return [_degrees(importances, columns)] if drawable else []


def ranking_chart(
    importances: Importances,
    *,
    by: str = "",
    spread: str = "the trees",
    most: int = DRAWN,
    tested: Verdict | None = None,
) -> Chart:
    """Return the ranking of the first features, `most` of them.

    `by` names the measure, where it has to be told from others; `spread` is what the standard
    errors are over; a line shows how far down the features are significant in `tested`.
    """
    best = importances.top(most)
    threshold = None if tested is None else tested.threshold(importances)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in best.top(5))
    by = by and f" by {by}"
    unit = "" if by and best.unit == "1" else f", in {unit_words(best.unit)}"
    bars = "" if best.standard_error is None else f" Bars: one standard error over {spread}."
    return Chart(
        title=f"Ranking{by}",
        plot=Plot(RANKING, best, {"k": len(best), "threshold": threshold}),
        text=f"Bar chart of the {len(best)} most important features{by}. First: {listed}.",
        caption=f"The {len(best)} most important of {len(importances):,} features{by}{unit}.{bars}"
        + ("" if tested is None else f" {tested.line(importances, best.names)}"),
    )


def _degrees_words(importances: Importances) -> str:
    """Return what the parts of an importance by degree are, which depends on K."""
    settings = importances.metadata.get("forest") or importances.metadata.get("population") or {}
    if settings.get("max_features") == 1:
        return (
            "Each node has one random candidate (K = 1): degree 0 holds the information of a "
            "feature by itself, higher degrees the information that it adds given other features."
        )
    return (
        "Each node is split on the best of several candidates (K > 1): degree 0 holds the "
        "decrease of impurity when a feature is chosen for the first split, not its information "
        "by itself. A weaker feature has little importance at degree 0 even if no features "
        "interact; to see interactions, use K = 1."
    )


def _degrees(importances: Importances, columns: int) -> Chart:
    best = importances.top(DRAWN)
    return Chart(
        title="By interaction degree",
        plot=Plot(BY_DEGREE, best, {"k": len(best), "columns": columns}),
        text="Heat map of the importance of these features by the number of splits above. "
        "The columns degree_0, degree_1 ... of result.csv hold its numbers.",
        caption="The importance of each feature by the number of splits above, in "
        f"{unit_words(importances.unit)}. {_degrees_words(importances)} Cells below half a percent "
        "of the largest are not labeled.",
    )
