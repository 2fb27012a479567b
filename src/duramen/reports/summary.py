"""What a report says, as plain data: no colour, no tag, no figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from duramen.reports.run import Run
from duramen.results.importances import Importances
from duramen.results.text import fixed

_ROWS = 100

UNIT_WORDS = {
    "bits": "bits of information",
    "gini": "decrease of Gini impurity",
    "variance": "decrease of variance",
    "1": "importance",
}


@dataclass(frozen=True)
class Fact:
    """A name and what stands beside it."""

    name: str
    value: str


@dataclass(frozen=True)
class Row:
    """A feature in the ranking."""

    rank: int
    name: str
    importance: str
    standard_error: str
    share: float


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a report of a ranking says.

    Attributes
    ----------
    title : str
        What the report is about.
    headline : tuple of Fact
        The few figures to see first.
    best : Importances
        The features that the table shows, best first; figures show the top of them.
    oob_errors : tuple of float or None
        Out-of-bag error after each tree.
    oob_name : str
        What that error is.
    rows : tuple of Row
        The table.
    n_features : int
        Number of features that were ranked, shown or not.
    unit : str
        Unit of the importances, in words.
    asked, given, made : tuples of Fact
        What was run; on what; with which versions.
    reading, caveats : tuples of str
        How to read the report, and what not to read into it.
    """

    title: str
    headline: tuple[Fact, ...]
    best: Importances
    oob_errors: tuple[float, ...] | None
    oob_name: str
    rows: tuple[Row, ...]
    n_features: int
    unit: str
    asked: tuple[Fact, ...]
    given: tuple[Fact, ...]
    made: tuple[Fact, ...]
    reading: tuple[str, ...]
    caveats: tuple[str, ...]


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
    best = importances.top(n_rows)
    return Report(
        title=f"Which features matter for {run.target}",
        headline=_headline(importances, run),
        best=best,
        oob_errors=_known(oob_errors),
        oob_name=oob_name(run.task),
        rows=tuple(_rows(best)),
        n_features=len(importances),
        unit=UNIT_WORDS.get(importances.unit, importances.unit),
        asked=(
            Fact("command", run.command),
            Fact("seed", str(run.seed)),
            *(Fact(name, _plain(value)) for name, value in run.settings.items()),
        ),
        given=tuple(_given(run)),
        made=(
            *(Fact(name, number) for name, number in run.versions.items()),
            *(Fact(f"seconds to {step}", f"{took:.3g}") for step, took in run.timings.items()),
        ),
        reading=_reading(importances),
        caveats=_caveats(importances),
    )


def oob_name(task: str) -> str:
    """Return the name of the out-of-bag error of a task."""
    return "out-of-bag error" if task == "classification" else "out-of-bag mean squared error"


def _headline(importances: Importances, run: Run) -> tuple[Fact, ...]:
    facts = [
        Fact("rows", f"{run.n_rows:,}"),
        Fact("features", f"{run.n_features:,}"),
        Fact("trees", f"{run.settings.get('n_estimators', 0):,}"),
        Fact("features used", f"{int(np.count_nonzero(importances.values)):,}"),
    ]
    error = run.results.get("oob_error")
    if error is not None:
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        facts.append(Fact(oob_name(run.task), shown))
    return tuple(facts)


def _rows(best: Importances) -> list[Row]:
    most = float(best.values[0]) if len(best) else 0.0
    values = fixed(best.values, 5)
    errors = [""] * len(best) if best.standard_error is None else fixed(best.standard_error, 2)
    return [
        Row(
            rank=i + 1,
            name=best.names[i],
            importance=values[i],
            standard_error=errors[i],
            share=max(0.0, float(best.values[i]) / most) if most > 0 else 0.0,
        )
        for i in range(len(best))
    ]


def _known(errors: ArrayLike | None) -> tuple[float, ...] | None:
    if errors is None:
        return None
    known = tuple(np.asarray(errors, dtype=np.float64).tolist())
    return known if any(map(math.isfinite, known)) else None


def _given(run: Run) -> list[Fact]:
    facts = [
        Fact("file", run.file),
        Fact("rows", f"{run.n_rows:,}"),
        Fact("features", f"{run.n_features:,}"),
        Fact("target", run.target),
        Fact("task", run.task),
        Fact("fingerprint", run.fingerprint),
    ]
    if run.classes is not None:
        facts.insert(5, Fact("classes", _counted(run.classes)))
    if run.citation:
        facts.append(Fact("please cite", run.citation))
    return facts


def _counted(classes: Mapping[str, int], shown: int = 12) -> str:
    counts = sorted(classes.items(), key=lambda item: -item[1])
    words = [f"{name} ({count:,})" for name, count in counts[:shown]]
    more = [f"and {len(counts) - shown} more"] if len(counts) > shown else []
    return ", ".join(words + more)


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _reading(importances: Importances) -> tuple[str, ...]:
    unit = UNIT_WORDS.get(importances.unit, importances.unit)
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


def _caveats(importances: Importances) -> tuple[str, ...]:
    return (
        "Every feature that is tried often enough gets some importance, relevant or not, since a "
        "tree fits chance too. Features with many distinct values get more of it than those with "
        "few. There is no threshold above which an importance is real.",
        "Features that carry the same information share it: each of several copies looks less "
        "important than one alone would.",
        "An importance says that the forest used a feature, not that the feature causes anything.",
    )
