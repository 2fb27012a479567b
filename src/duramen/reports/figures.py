"""Plots as SVG that sits inside a page: text stays text, colors follow the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT
from duramen.plots.layout import INCHES, LETTER, room
from duramen.results.figures import ResultFigure
from duramen.support.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_LONGEST = 4000  # characters of what is said of a figure
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
