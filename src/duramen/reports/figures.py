"""Plots as SVG that sits inside a page: text stays text, colors follow the page."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import singledispatch
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from duramen.plots import (
    by_degree,
    found,
    oob_error,
    parallel_ranks,
    rank_correlations,
    ranking,
)
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT, label
from duramen.plots.context import (
    MOST_NAMES,
    NAME_LETTERS,
    color_bar,
    color_words,
    effects_in_context,
    links_in_context,
    name_size,
)
from duramen.plots.p_values import p_values
from duramen.reports.report import (
    Bars,
    ContextEffects,
    ContextLinks,
    Correlations,
    ErrorCurve,
    FoundCurves,
    HeatMap,
    ParallelRanks,
    PValues,
)
from duramen.results.importances import Importances
from duramen.results.text import printable, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Plot: TypeAlias = "Callable[[Axes], Axes]"

_INCHES = 4.4
_LONGEST = 4000  # characters of what is said of a figure
_RIGHT = 0.13
_LETTER = 0.58 * 9 / 72
_LINE = 0.14
_LEVEL, _SLANTED, _STEEP = 0, 35, 65
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
    plot : Bars, HeatMap, ErrorCurve, FoundCurves, Correlations, ParallelRanks, PValues, \
ContextEffects or ContextLinks
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
    return _by_feature(
        lambda ax: ranking(best, k=len(best), threshold=plot.threshold, ax=ax), best, text, prefix
    )


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
def _(plot: PValues, text: str, prefix: str) -> str:
    return draw(
        lambda ax: p_values(plot.significance, ax=ax),
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


@svg.register
def _(plot: Correlations, text: str, prefix: str) -> str:
    measures = plot.comparison.measures
    margin = _longest(measures)
    cell = _room(margin, _RIGHT) / len(measures)
    slant = _slant(cell)
    bottom = 0.42 + math.sin(math.radians(slant)) * margin * _LETTER
    return draw(
        lambda ax: _correlations(plot, slant, cell < 5 * _LETTER, ax),
        height=bottom + 0.1 + 0.3 * len(measures),
        margin=margin,
        bottom=bottom,
        text=text,
        prefix=prefix,
    )


@svg.register
def _(plot: ParallelRanks, text: str, prefix: str) -> str:
    measures = plot.comparison.measures
    names = plot.comparison.top(plot.k).names
    longest = _longest(measures) * _LETTER
    margin = max(len(f"not among the first {plot.k}"), *(width(label(name)) + 4 for name in names))
    right = max(_RIGHT, 0.5 * longest)
    room = _room(margin, right) / max(1, len(measures) - 1)
    slant = _LEVEL if longest + _LETTER <= room else _slant(room)
    top = 0.15 + max(_LETTER, math.sin(math.radians(slant)) * longest)
    return draw(
        lambda ax: _ranks(plot, slant, ax),
        height=top + 0.1 + 0.24 * (len(names) + 1),
        margin=margin,
        top=top,
        right=_RIGHT if slant else right,
        bottom=0.1,
        text=text,
        prefix=prefix,
    )


@svg.register
def _(plot: ContextEffects, text: str, prefix: str) -> str:
    result = plot.result
    best = [result.names[j] for j in result.order()[: plot.k]]
    return draw(
        lambda ax: effects_in_context(
            result, plot.context, k=plot.k, alpha=plot.alpha, control=plot.control, ax=ax
        ),
        height=0.75 + 0.24 * len(best),
        margin=max(width(label(name)) for name in best),
        text=text,
        prefix=prefix,
    )


@svg.register
def _(plot: ContextLinks, text: str, prefix: str) -> str:
    network = plot.network
    p, n_targets = len(network.names), len(network.targets)
    named = p <= MOST_NAMES
    letters = min(NAME_LETTERS, max(map(width, network.names))) if named else 0
    size = name_size(p) / 9
    bottom = 0.4 + letters * size * _LETTER
    cell = 0.2 if p <= 16 else 3.2 / min(p, MOST_NAMES)
    return draw(
        lambda ax: _links(plot, ax),
        height=bottom + 0.2 + max(1.2, cell * (n_targets if named else 0.7 * MOST_NAMES)),
        margin=math.ceil(letters * size) + 2,
        right=3 * _RIGHT,
        bottom=bottom,
        text=text,
        prefix=prefix,
    )


def _links(plot: ContextLinks, ax: Axes) -> Axes:
    network = plot.network
    links_in_context(
        network,
        plot.context,
        effect=plot.effect,
        alpha=plot.alpha,
        control=plot.control,
        limit=plot.limit,
        ax=ax,
    )
    color_bar(ax, plot.limit, color_words(network, [plot.effect]))
    return ax


def _longest(titles: Sequence[str]) -> int:
    """Return the letters of the longest title of a measure, which are cut at 18."""
    return min(18, max(map(width, titles)))


def _room(margin: int, right: float) -> float:
    """Return the width of the axes, in inches."""
    return _INCHES - (margin + 2) * _LETTER - right


def _slant(room: float) -> int:
    """Return the angle, in degrees, at which titles do not touch that are `room` inches apart."""
    return _SLANTED if room * math.sin(math.radians(_SLANTED)) > _LINE else _STEEP


def _correlations(plot: Correlations, slant: int, small: bool, ax: Axes) -> Axes:
    rank_correlations(plot.comparison, ax=ax)
    for title in ax.get_xticklabels():
        title.set_rotation(slant)
    if small:
        for cell in ax.texts:
            cell.set_fontsize(6)
    return ax


def _ranks(plot: ParallelRanks, slant: int, ax: Axes) -> Axes:
    parallel_ranks(plot.comparison, k=plot.k, ax=ax)
    for line in ax.lines:
        line.set_clip_on(False)  # dots at the edges stay round
    if slant:  # down to the right, over the names, where there is room
        for title in ax.get_xticklabels():
            title.set(rotation=-slant, ha="right", va="bottom", rotation_mode="anchor")
    return ax


def _by_feature(plot: Plot, best: Importances, text: str, prefix: str) -> str:
    return draw(
        plot,
        height=0.75 + 0.24 * len(best),
        margin=max(width(label(name)) for name in best.names),
        text=text,
        prefix=prefix,
    )


def draw(
    plot: Plot,
    *,
    height: float,
    margin: int,
    text: str,
    prefix: str,
    top: float = 0.1,
    right: float = _RIGHT,
    bottom: float = 0.52,
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
    top, right, bottom : float
        Inches around the axes.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(_INCHES, height))
    left = (margin + 2) * _LETTER
    across, up = _room(margin, right) / _INCHES, (height - top - bottom) / height
    ax = canvas.add_axes((left / _INCHES, bottom / height, across, up))
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
    for color, variable in _VARIABLES.items():
        body = body.replace(color, variable)
    from markupsafe import escape

    said = printable(text, _LONGEST)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box.group(0) if box else ""} role="img" aria-label="{escape(said)}">{body}'
    )
