"""Sections of a report about its run, and words that reports have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from duramen.importances import Measure, catalogue
from duramen.importances.measure import Measured
from duramen.plots.importances import BY_DEGREE, RANKING
from duramen.reports.report import (
    DRAWN,
    Chart,
    Fact,
    Facts,
    Plot,
    Prose,
    Report,
    Run,
    Section,
)
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.results.summary import counted
from duramen.support.text import joined, printable

ReportT = TypeVar("ReportT", bound=Report)
LEVEL = 0.05
"""False discovery rate at which features are counted as significant."""
UNIT_WORDS = {
    "bits": "bits of information",
    "gini": "decrease of Gini impurity",
    "variance": "decrease of variance",
    "chi-square": "sum of log-rank statistics",
    "1": "importance",
    "fraction": "fraction of the sum of all importances",
}


OTHER_METHODS = (
    "duramen rank, duramen select and Boruta may find different features in one file, because they "
    "control different errors: rank the probability that any confirmed feature is false; select "
    "the false discovery rate of a search, against a permuted copy of each feature; Boruta the "
    "errors of counting in how many forests a feature exceeds the largest permuted copy."
)
"""Why commands disagree, for the reports of each."""


def unit_words(unit: str) -> str:
    """Return what a unit of importance is, in words."""
    return UNIT_WORDS.get(unit, unit)


def subject(run: Run, *more: str) -> tuple[str, ...]:
    """Return what table it was, its target, and more, as a line."""
    target = f"target {printable(run.target or '')}"
    if run.classes is not None:
        target += f" of {len(run.classes)} classes"
    shape = f"{counted(run.n_rows or 0, 'row')} x {counted(run.n_features or 0, 'feature')}"
    return (", ".join([f"{printable(run.file or '')}: {shape}", target, *more]),)


def looked_at(run: Run) -> tuple[Prose, ...]:
    """Return the section that begins a report: what a look at the data found, if anything."""
    lines = tuple(f"{finding['message']}. Hint: {finding['hint']}." for finding in run.findings)
    lines = tuple(line[0].upper() + line[1:] for line in lines)
    return (Prose("Look at the data", lines, points=True, caution=True),) if lines else ()


def sizes(run: Run) -> dict[str, str]:
    """Return the numbers of rows and features, for the head of a report."""
    return {"rows": thousands(run.n_rows), "features": thousands(run.n_features)}


def page(
    report_class: type[ReportT],
    run: Run,
    *,
    facts: Mapping[str, str],
    sections: Sequence[Section],
    reading: Sequence[str],
    cautions: Sequence[str],
    **fields: Any,
) -> ReportT:
    """Return a report whose sections lie between the look at the data and the settings."""
    return report_class(
        run=run,
        headline=tuple(Fact(name, value) for name, value in facts.items()),
        sections=(
            *looked_at(run),
            *sections,
            Prose("Interpretation", tuple(reading)),
            Prose("Limitations", tuple(cautions), points=True, caution=True),
            *about(run),
        ),
        **fields,
    )


def about(run: Run) -> tuple[Facts, ...]:
    """Return the sections that end a report: what was run, on what data, with what."""
    asked = [Fact("command", run.command)]
    if run.seed is not None:
        asked.append(Fact("seed", str(run.seed)))
    asked += [Fact(name, plain(value)) for name, value in run.settings.items()]
    made = [Fact(name, number) for name, number in run.versions.items()]
    made += [Fact(f"seconds to {step}", f"{took:.3g}") for step, took in run.timings.items()]
    sections = [Facts("Command and settings", tuple(asked))]
    if run.file is not None:
        classes = sorted((run.classes or {}).items(), key=lambda item: -item[1])
        data = {
            "file": run.file,
            "rows": thousands(run.n_rows),
            "features": thousands(run.n_features),
            "target": run.target,
            "task": run.task,
            "classes": joined([f"{name} ({count:,})" for name, count in classes], shown=12),
            "fingerprint": run.fingerprint,
            "please cite": run.citation,
        }
        facts = tuple(Fact(name, value) for name, value in data.items() if value)
        sections.append(Facts("Data", facts))
    return (*sections, Facts("Versions and times", tuple(made)))


def plain(value: object) -> str:
    """Return a setting as a reader would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(part)}" for name, part in value.items()) or "none"
    return str(value)


def thousands(number: int | None) -> str:
    """Return a count with separators, nothing where there is none."""
    return "" if number is None else f"{number:,}"


_ADJUSTED = {
    "bh": "Benjamini and Hochberg",
    "by": "Benjamini and Yekutieli",
    "storey": "Storey, Taylor and Siegmund",
}


def words_of(measured: Measured) -> Measure:
    """Return the record of a measure; one with its name alone if it is not in the catalogue."""
    name = name_of(measured)
    if name in catalogue:
        return catalogue[name]
    return Measure("unlisted", lambda _: measured, name.replace("_", " "))


def name_of(measured: Measured) -> str:
    """Return the name of a measure, as its function is called."""
    return measured.measure if isinstance(measured, Importances) else measured.method


def as_importances(measured: Measured) -> Importances:
    """Return a measure as importances: of a test, its scores."""
    if isinstance(measured, Importances):
        return measured
    return Importances(measured.names, measured.scores, measured.method, measured.unit)


def adjusted_words(result: Significance) -> str:
    """Say what q-values are."""
    adjusted = _ADJUSTED.get(result.adjustment, result.adjustment)
    return (
        f"q is p adjusted for the number of features (after {adjusted}): of the features with q "
        f"up to {LEVEL:g}, at most {LEVEL:.0%} are expected to be false discoveries, if the "
        "p-values are valid."
    )


def rows_note(shown: int, n_features: int) -> str:
    """Say how many features a table shows, and where all of them are."""
    if shown < n_features:
        return (
            f"The first {shown:,} of {n_features:,} features; result.csv and result.parquet hold "
            "them all."
        )
    return f"All {counted(n_features, 'feature')}, as in result.csv and result.parquet."


def importance_charts(importances: Importances, columns: int = 9) -> list[Chart]:
    """Return the ranking of the first features, and their parts by degree where known."""
    if not len(importances):
        return []
    best = importances.top(DRAWN)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in best.top(5))
    bars = "" if best.standard_error is None else " Bars: one standard error over the trees."
    chart = Chart(
        "Ranking",
        Plot(RANKING, best, {"k": len(best)}),
        f"Bar chart of the {len(best)} most important features. First: {listed}.",
        f"The {len(best)} most important of {len(importances):,} features, in "
        f"{unit_words(best.unit)}.{bars}",
    )
    return [chart, *degree_charts(importances, columns)]


def degree_charts(importances: Importances, columns: int = 9) -> list[Chart]:
    """Return the parts of the first features by degree, where known."""
    if importances.by_degree is None or not len(importances):
        return []
    best = importances.top(DRAWN)
    settings = importances.metadata.get("forest") or importances.metadata.get("population") or {}
    meaning = (
        "Nodes are split on the best of several candidates (K > 1): a weaker feature has little "
        "importance at degree 0 even if no features interact. Deep nodes hold few rows, where "
        "noise features have importance by chance: this is no evidence of an interaction."
    )
    if settings.get("max_features") == 1:
        meaning = (
            "Each node has one random candidate (K = 1): degree 0 holds the information of a "
            "feature by itself, higher degrees the information that it adds given other features."
        )
    chart = Chart(
        "By interaction degree",
        Plot(BY_DEGREE, best, {"k": len(best), "columns": columns}),
        "Heat map of the importance of these features by the number of splits above. The columns "
        "degree_0, degree_1 ... of result.csv hold its numbers.",
        "The importance of each feature by the number of splits above, in "
        f"{unit_words(importances.unit)}. {meaning}",
    )
    return [chart]
