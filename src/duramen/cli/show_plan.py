"""The plan in the terminal."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, show
from duramen.reports.plan import OPTION_TITLES, advice_words, option_cells
from duramen.theory.planning import Plan


def show_plan(advice: Plan, out: Path) -> None:
    """Print the advice, what other shares would take, the reasons, and where the results lie."""
    cells = [option_cells(option) for option in advice.options]
    columns = [
        Shown(title, [row[i] for row in cells], right=True) for i, title in enumerate(OPTION_TITLES)
    ]
    reasons = [f"- {reason}" for reason in advice.reasons]
    show([advice_words(advice) + _kept(advice)], columns, 0, out, reasons)


def _kept(advice: Plan) -> str:
    if advice.subspace == advice.n_features:
        return ""
    if not advice.keep:
        return ", all of them drawn anew (alpha = 0)"
    return (
        f", with features found before in up to {advice.keep:.0%} of the places "
        f"(alpha = {advice.keep:g})"
    )
