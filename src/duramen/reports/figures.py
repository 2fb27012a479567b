"""Plots as SVG that sits inside a page: text stays text, colours follow the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import singledispatch
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from duramen.plots import by_degree, found, oob_error, ranking
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT, label
from duramen.reports.report import Bars, ErrorCurve, FoundCurves, HeatMap
from duramen.results.importances import Importances
from duramen.results.text import width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Plot: TypeAlias = "Callable[[Axes], Axes]"

_INCHES = 4.4
_VARIABLES = {
    ACCENT: "var(--accent)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    ON_ACCENT: "var(--on-accent)",
}


@singledispatch
def svg(plot: object, text: str, prefix: str) -> str:
    """Draw what a chart is of as an ``<svg>`` element.

    Parameters
    ----------
    plot : Bars, HeatMap, ErrorCurve or FoundCurves
        What is drawn.
    text : str
        What the figure shows, for those who cannot see it.
    prefix : str
        Makes the ids of the figure differ from those of others on the page.
    """
    raise TypeError(f"a chart cannot be of {type(plot).__name__}")


@svg.register
def _(plot: Bars, text: str, prefix: str) -> str:
    best = plot.importances
    return _by_feature(lambda ax: ranking(best, k=len(best), ax=ax), best, text, prefix)


@svg.register
def _(plot: HeatMap, text: str, prefix: str) -> str:
    best = plot.importances
    return _by_feature(
        lambda ax: by_degree(best, k=len(best), columns=plot.columns, ax=ax), best, text, prefix
    )


@svg.register
def _(plot: ErrorCurve, text: str, prefix: str) -> str:
    return draw(
        lambda ax: oob_error(plot.errors, what=plot.what, ax=ax),
        height=2.5,
        margin=8,
        text=text,
        prefix=prefix,
    )


@svg.register
def _(plot: FoundCurves, text: str, prefix: str) -> str:
    return draw(
        lambda ax: found(plot.curves, best=plot.best, ax=ax),
        height=2.5,
        margin=6,
        text=text,
        prefix=prefix,
    )


def _by_feature(plot: Plot, best: Importances, text: str, prefix: str) -> str:
    return draw(
        plot,
        height=0.75 + 0.24 * len(best),
        margin=max(width(label(name)) for name in best.names),
        text=text,
        prefix=prefix,
    )


def draw(plot: Plot, *, height: float, margin: int, text: str, prefix: str) -> str:
    """Return a plot as an ``<svg>`` element.

    Parameters
    ----------
    plot : callable
        Draws on the axes it is given.
    height : float
        Height in inches.
    margin : int
        Letters that must fit to the left of the axes. Reckoned from the text itself: the fonts
        of the reader's browser are not known here.
    text : str
        What the figure shows, for those who cannot see it.
    prefix : str
        Makes the ids of the figure differ from those of others on the page.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    letter = 0.58 * 9 / 72
    canvas = Canvas(figsize=(_INCHES, height))
    left = (margin + 2) * letter / _INCHES
    ax = canvas.add_axes((left, 0.52 / height, 0.97 - left, 1 - 0.62 / height))
    plot(ax)
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
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, variable)
    from markupsafe import escape

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box.group(0) if box else ""} role="img" aria-label="{escape(text)}">{body}'
    )
