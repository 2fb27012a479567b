"""Reports: `summarise` gathers plain data, `render` makes one self-contained HTML file of it."""

from duramen.reports.render import render
from duramen.reports.run import Run
from duramen.reports.summary import Report, summarise

__all__ = ["Report", "Run", "render", "summarise"]
