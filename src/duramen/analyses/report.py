"""Record of an analysis, and its end by Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duramen.analyses.execution import Execution
from duramen.data import LearningSet
from duramen.reports import Report, Run
from duramen.support.provenance import versions


def run_of(
    data: LearningSet[Any],
    execution: Execution,
    command: str,
    *,
    settings: Mapping[str, Any],
    results: Mapping[str, Any],
) -> Run:
    """Return the record of a run."""
    return Run(
        **data.facts(),
        command=command,
        seed=execution.random_state,
        settings=settings,
        versions=versions("pyarrow", "matplotlib"),
        results=results,
        timings=dict(execution.clock.seconds),
    )


class AnalysisInterrupted(KeyboardInterrupt):
    """Ctrl-C during an analysis of which a part is done.

    Attributes
    ----------
    report : Report
        Results so far; its notes say what is left out.
    stop : KeyboardInterrupt or None
        The stop, such as Ctrl-C, that ended the work.
    """

    def __init__(self, report: Report, stop: KeyboardInterrupt | None = None) -> None:
        super().__init__("interrupted; the attribute report of this exception has what is done")
        self.report = report
        self.stop = stop
