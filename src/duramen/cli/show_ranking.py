"""The ranking in the terminal."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, bars, shape_words, show
from duramen.reports import Run
from duramen.reports.facts import unit_words
from duramen.reports.ranking import oob_name
from duramen.results.importances import Importances
from duramen.results.text import fixed


def show_ranking(importances: Importances, run: Run, top: int, out: Path) -> None:
    """Print what was ranked, the best features, and where the results lie."""
    best = importances.top(top)
    errors = [""] * len(best) if best.standard_error is None else fixed(best.standard_error, 2)
    columns = (
        Shown("", [str(i + 1) for i in range(len(best))], right=True, style="dim"),
        Shown("feature", list(best.names)),
        Shown(unit_words(best.unit), fixed(best.values, 4), right=True),
        Shown("std. error", errors, right=True),
        Shown("", bars(best.values.tolist()), style="cyan", wraps=False),
    )
    show([", ".join(_headline(run))], columns, len(importances) - top, out)


def _headline(run: Run) -> list[str]:
    words = [*shape_words(run), f"{run.settings['n_estimators']:,} trees"]
    error = run.results.get("oob_error")
    if error is not None:
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        words.append(f"{oob_name(run.task)} {shown}")
    return words
