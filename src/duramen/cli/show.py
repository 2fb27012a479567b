"""The ranking in the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duramen.reports import Run
from duramen.reports.summary import UNIT_WORDS, oob_name
from duramen.results.importances import Importances
from duramen.results.text import fixed, printable

_BAR = 16
_EIGHTHS = " ▏▎▍▌▋▊▉"


def show_ranking(importances: Importances, run: Run, top: int, out: Path) -> None:
    """Print what was ranked, the best features, and where the results lie."""
    console = Console()
    console.print(Text(_headline(run)), soft_wrap=True)
    if top:
        console.print(_table(importances.top(top)))
        left = len(importances) - top
        if left > 0:
            console.print(Text(f"... and {left:,} more features", style="dim"))
    console.print(Text(f"Wrote {out}: report.html, result.csv, result.parquet, run.json"))


def _headline(run: Run) -> str:
    shape = f"{printable(run.file)}: {run.n_rows:,} rows x {run.n_features:,} features"
    target = f"target {printable(run.target)}"
    if run.classes is not None:
        target += f" of {len(run.classes)} classes"
    words = [shape, target, f"{run.settings['n_estimators']:,} trees"]
    error = run.results.get("oob_error")
    if error is not None:
        shown = f"{error:.1%}" if run.task == "classification" else f"{error:.4g}"
        words.append(f"{oob_name(run.task)} {shown}")
    return ", ".join(words)


def _table(best: Importances) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("", justify="right", style="dim")
    table.add_column("feature", overflow="fold")
    table.add_column(UNIT_WORDS.get(best.unit, best.unit), justify="right")
    table.add_column("std. error", justify="right")
    table.add_column("", no_wrap=True)
    most = float(best.values[0]) if len(best) else 0.0
    values = fixed(best.values, 4)
    errors = [""] * len(best) if best.standard_error is None else fixed(best.standard_error, 2)
    for i, name in enumerate(best.names):
        bar = _bar(float(best.values[i]) / most) if most > 0 else ""
        table.add_row(
            str(i + 1), Text(printable(name)), values[i], errors[i], Text(bar, style="cyan")
        )
    return table


def _bar(share: float) -> str:
    eighths = round(8 * _BAR * max(0.0, share))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
