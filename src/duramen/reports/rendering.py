"""A report as one HTML file that needs nothing else, with its figures, and as files of tables."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from duramen.io import write_table
from duramen.plots.canvas import ACCENT, INCHES, INK, LETTER, MUTED, ON_ACCENT, room
from duramen.results.figures import ResultFigure
from duramen.support.arrow import pa
from duramen.support.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_VARIABLES = {
    ACCENT: "var(--accent)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    ON_ACCENT: "var(--on-accent)",
}


@dataclass(frozen=True, eq=False)
class Plot:
    """Figure to be drawn."""

    figure: ResultFigure
    of: Any  # result that it draws
    options: Mapping[str, Any] = field(default_factory=dict)  # its options, by name


def svg(plot: Plot, text: str, prefix: str) -> str:
    """Draw a figure as an ``<svg>`` element.

    `text` says what it shows, for those who cannot see it; `prefix` makes its ids differ from those
    of others on the page.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    figure = plot.figure
    if figure.layout is None:
        raise ValueError(f"reports: the figure {figure.name} needs a layout to be in a report.")
    layout = figure.layout(plot.of, plot.options)
    canvas = Canvas(figsize=(INCHES, layout.height))
    left = (layout.margin + 2) * LETTER
    across = room(layout.margin, layout.right) / INCHES
    up = (layout.height - layout.top - layout.bottom) / layout.height
    ax = canvas.add_axes((left / INCHES, layout.bottom / layout.height, across, up))
    figure.draw(plot.of, **plot.options, ax=ax)
    if layout.finish is not None:
        layout.finish(ax)
    with (
        matplotlib.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": prefix, "font.family": "DejaVu Sans"}
        ),
        warnings.catch_warnings(),
    ):
        # A glyph that matplotlib's font lacks is no loss: the browser draws the text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        return _embedded(_svg(canvas), text, prefix)


def _svg(canvas: Canvas) -> str:
    buffer = StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    canvas.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return buffer.getvalue()


def _embedded(svg: str, text: str, prefix: str) -> str:
    body = svg[svg.index("<svg") :]
    head, body = body.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", body)
    for color, variable in _VARIABLES.items():
        body = body.replace(color, variable)

    said = printable(text, _LONGEST)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box.group(0) if box else ""} role="img" aria-label="{escape(said)}">{body}'
    )


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
        section: svg(section.plot, section.text, f"figure{i}")
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


WORKBOOK = "result.xlsx"
OF_GROUPS = "result-groups.csv"


def write_tables(
    folder: Path,
    table: Mapping[str, Any],
    feature_groups: Mapping[str, Any] | None = None,
    *,
    spreadsheet_safe: bool,
    xlsx: bool = False,
) -> None:
    """Write result.csv and result.parquet, result.xlsx if asked for, and the table of groups."""
    columns = pa.table(dict(table))
    write_table(columns, folder / "result.csv", spreadsheet_safe=spreadsheet_safe)
    write_table(columns, folder / "result.parquet")
    if xlsx:
        write_table(columns, folder / WORKBOOK)
    if feature_groups is not None:
        of_groups = pa.table(dict(feature_groups))
        write_table(of_groups, folder / OF_GROUPS, spreadsheet_safe=spreadsheet_safe)
