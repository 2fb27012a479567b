"""Reports: plain data first, then one self-contained HTML file of it."""

from duramen.reports.report import Report, Run, render

__all__ = ["Report", "Run", "render"]
