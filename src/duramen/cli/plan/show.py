"""Terminal output of `duramen plan`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, show
from duramen.reports.plan import OPTION_TITLES, advice_words, assumption_words, option_cells
from duramen.theory.subspaces.planning import Plan


def show_plan(advice: Plan, out: Path) -> None:
    """Print the advice, the trees of each option, reasons, cautions, and where the results lie."""
    cells = [option_cells(option) for option in advice.options]
    columns = [
        Shown(title, [row[i] for row in cells], right=True) for i, title in enumerate(OPTION_TITLES)
    ]
    said = [f"- {words}" for words in advice.reasons + advice.cautions]
    lines = [advice_words(advice) + _kept(advice), assumption_words(advice)]
    show(lines, columns, 0, out, said)


def _kept(advice: Plan) -> str:
    if advice.subspace == advice.n_features:
        return ""
    if not advice.keep:
        return ", all of them drawn anew (alpha = 0)"
    return (
        f", with features found before in up to {advice.keep:.0%} of the places "
        f"(alpha = {advice.keep:g})"
    )
