"""Terminal output of `duramen compare`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, named, shape_words, show
from duramen.evaluation.result import SelectionEvaluation, number
from duramen.reports import Run
from duramen.reports.comparison import enough_words
from duramen.support.text import duration


def show_compare(evaluation: SelectionEvaluation, run: Run, top: int, out: Path) -> None:
    """Print one row a method, the numbers of features that are enough, and where results lie."""
    rows = evaluation.shown_rows()[:top].tolist()
    lines = [
        ", ".join(
            [
                *shape_words(run),
                f"{evaluation.n_resamples:,} splits into {evaluation.n_train:,} training and "
                f"{evaluation.n_test:,} test rows",
            ]
        )
    ]
    columns = [
        named("method", [evaluation.methods[r] for r in rows]),
        Shown("features", [f"{evaluation.n_features[r]:.4g}" for r in rows], right=True),
    ]
    for name in evaluation.scores:
        mean, (low, high) = evaluation.mean(name), evaluation.interval(name)
        texts = [f"{mean[r]:.3f} ({number(low[r])} to {number(high[r])})" for r in rows]
        columns.append(Shown(name.replace("_", " "), texts, right=True))
    columns.append(Shown("stability", [number(evaluation.nogueira[r]) for r in rows], right=True))
    times = [duration(evaluation.seconds[evaluation.methods[r]]) for r in rows]
    columns.append(Shown("time", times, right=True))
    show(lines, columns, 0, out, enough_words(evaluation))
