"""Plots as SVG that sits inside a page: text stays text, colours follow the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from duramen.plots import by_degree, oob_error, ranking
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT, label
from duramen.reports.summary import Report
from duramen.results.text import width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_SHOWN = 20
_INCHES = 4.4
_VARIABLES = {
    ACCENT: "var(--accent)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    ON_ACCENT: "var(--on-accent)",
}


@dataclass(frozen=True)
class Figure:
    """A figure of a report."""

    title: str
    svg: str
    caption: str


def figures(report: Report) -> list[Figure]:
    """Draw the figures of a report: ranking, decomposition by degree, out-of-bag error."""
    best = report.best.top(_SHOWN)
    drawn = []
    if len(best):
        drawn.append(_ranking(report))
        if best.by_degree is not None:
            drawn.append(_degrees(report))
    if report.oob_errors is not None:
        drawn.append(_errors(report))
    return drawn


def _ranking(report: Report) -> Figure:
    best = report.best.top(_SHOWN)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in best.top(5))
    return Figure(
        title="Ranking",
        svg=draw(
            lambda ax: ranking(best, k=_SHOWN, ax=ax),
            height=0.75 + 0.24 * len(best),
            margin=max(width(label(name)) for name in best.names),
            text=f"Bar chart of the {len(best)} most important features. First: {listed}.",
            prefix="ranking",
        ),
        caption=f"The {len(best)} most important of {report.n_features:,} features, in "
        f"{report.unit}. Bars: one standard error over the trees.",
    )


def _degrees(report: Report) -> Figure:
    best = report.best.top(_SHOWN)
    return Figure(
        title="By interaction degree",
        svg=draw(
            lambda ax: by_degree(best, k=_SHOWN, ax=ax),
            height=0.75 + 0.24 * len(best),
            margin=max(width(label(name)) for name in best.names),
            text="Heat map of the importance of these features by the number of splits above. "
            "The columns degree_0, degree_1 ... of result.csv hold its numbers.",
            prefix="degrees",
        ),
        caption="What each feature says alone (degree 0), and what it adds after 1, 2, ... splits "
        f"on others, in {report.unit}. Cells below half a percent of the largest are not labelled.",
    )


def _errors(report: Report) -> Figure:
    errors = report.oob_errors or ()
    return Figure(
        title="Error against number of trees",
        svg=draw(
            lambda ax: oob_error(errors, what=report.oob_name, ax=ax),
            height=2.5,
            margin=8,
            text=f"Line chart of the {report.oob_name} against the number of trees; after "
            f"{len(errors)} trees it is {errors[-1]:.3g}.",
            prefix="errors",
        ),
        caption="Error on the rows that a tree was grown without. Where the line is flat, more "
        "trees do not predict better; a stable ranking can need many more.",
    )


def draw(
    plot: Callable[[Axes], Axes], *, height: float, margin: int, text: str, prefix: str
) -> str:
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
