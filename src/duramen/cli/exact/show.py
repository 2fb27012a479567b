"""Terminal output of `duramen exact`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.exact.population import Found
from duramen.cli.show import Shown, bars, named, ranks, shape_words, show
from duramen.reports import Run
from duramen.reports.exact import (
    conditionings_words,
    degree_words,
    impurity_words,
    loss_words,
    population_words,
    relevance_of,
    trees_words,
)
from duramen.reports.report import joined
from duramen.support.text import fixed, printable

_BOUNDARIES = 3
_MEMBERS = 12
_BAR = 8


def show_exact(found: Found, run: Run, top: int, out: Path) -> None:
    """Print what was found about the best features, the boundaries, and where the results lie."""
    best = found.importances.top(top)
    ranked = relevance_of(best, found.relevance)
    columns = (
        ranks(len(best)),
        named("feature", best.names),
        Shown("importance" if best.unit == "1" else best.unit, fixed(best.values, 4), right=True),
        Shown("relevance", [one.relevance for one in ranked]),
        Shown("degree", [degree_words(one) for one in ranked], right=True),
        Shown("given", [conditionings_words(one, shown=1) for one in ranked]),
        Shown("", bars(best.values.tolist(), _BAR), style="cyan", wraps=False),
    )
    before = [population_words(run), ", ".join(shape_words(run)), *_information(found, run)]
    after = [*_boundary_lines(found), *found.left_out]
    show(before, columns, len(found.importances) - top, out, after)


def _information(found: Found, run: Run) -> list[str]:
    words = impurity_words(found.importances)
    total = float(found.importances.values.sum())
    what = f"{total:.4f} in all"
    if found.is_mda:
        what = f"{loss_words(found.importances)} when permuted"
    return [
        f"All features together account for {found.information:.4f} of {found.impurity:.4f} "
        f"{words} of {printable(run.target or '')}",
        f"Importances of {trees_words(run)}: {what}",
    ]


def _boundary_lines(found: Found) -> list[str]:
    if found.boundaries is None:
        return []
    n = len(found.boundaries)
    lines = [f"{n:,} Markov boundar{'y' if n == 1 else 'ies'}:"]
    for one in found.boundaries[:_BOUNDARIES]:
        names = joined([printable(name) for name in one], shown=_MEMBERS) or "the empty set"
        lines.append(f"  {len(one)}: {names}")
    if n > _BOUNDARIES:
        lines.append(f"  and {n - _BOUNDARIES:,} more in report.html and run.json")
    return lines
