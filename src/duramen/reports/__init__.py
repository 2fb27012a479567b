"""Reports: plain data first, then one self-contained HTML file of it."""

from duramen.reports.context import Level, summarize_context, summarize_context_network
from duramen.reports.effects import Effects
from duramen.reports.ranking import summarise
from duramen.reports.report import Report, Run, render

__all__ = [
    "Effects",
    "Level",
    "Report",
    "Run",
    "render",
    "summarise",
    "summarize_context",
    "summarize_context_network",
]
