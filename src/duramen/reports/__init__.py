"""Reports: plain data first, then one self-contained HTML file of it."""

from duramen.reports.report import Report, ReportFigure, Run, render

__all__ = ["Report", "ReportFigure", "Run", "render"]
