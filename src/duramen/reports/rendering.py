"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from duramen.reports import figures
from duramen.support.text import printable

_LONGEST = 4000  # characters of a text on the page; sentences and commands hold many names


def render(report: Any) -> str:
    """Return a report as one self-contained HTML page.

    Figures and styles are inside; it loads nothing, runs nothing, follows the reader's choice of
    light or dark, and can be printed. Names from the data are escaped, control characters in them
    are shown as such, and long text is cut in its middle.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = files("duramen.reports") / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    drawn = {
        section: figures.svg(section.plot, section.text, f"figure{i}")
        for i, section in enumerate(report.walk())
        if section.layout == "chart"
    }
    tables = (section for section in report.walk() if section.layout == "table")
    columns = (column for table in tables for column in table.columns)
    bars = {column: column.drawn() for column in columns if column.bars is not None}
    return environment.get_template("report.html").render(report=report, drawn=drawn, bars=bars)


def _shown(value: object) -> object:
    """Return what the page shows of a value; markup, of a class of its own, stays as it is."""
    return printable(value, _LONGEST) if type(value) is str else value
