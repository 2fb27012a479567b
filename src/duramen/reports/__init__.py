"""Reports: plain data first, then one self-contained HTML file of it."""

from duramen.reports.effects import Effects
from duramen.reports.ranking import summarise
from duramen.reports.report import Report, Run, render

__all__ = [
    "Effects",
    "Report",
    "Run",
    "render",
    "summarise",
]
