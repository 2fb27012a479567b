"""Plots as SVG that sits inside a page: text stays text, colors follow the page."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen import plots
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT, label
from duramen.plots.context import MOST_NAMES, NAME_LETTERS, color_bar, color_words, name_size
from duramen.reports.report import Plot
from duramen.support.text import printable, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from duramen.importances.after.comparison import Comparison
    from duramen.results.context_importances import ContextImportances
    from duramen.results.context_network import ContextNetwork

Options: TypeAlias = Mapping[str, Any]

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


@dataclass(frozen=True)
class _Layout:
    """Room of a figure: inches, and letters to the left of the axes.

    The letters must fit. They are reckoned from the text itself: the fonts of the reader's browser
    are not known here.
    """

    height: float
    margin: int
    top: float = 0.1
    right: float = _RIGHT
    bottom: float = 0.52
    finish: Callable[[Axes], object] | None = None
    """Change of the axes once they are drawn."""


def svg(plot: Plot, text: str, prefix: str) -> str:
    """Draw a figure as an ``<svg>`` element.

    `text` says what it shows, for those who cannot see it; `prefix` makes its ids differ from those
    of others on the page.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    layout = _LAYOUTS[plot.figure](plot.of, plot.options)
    canvas = Canvas(figsize=(_INCHES, layout.height))
    left = (layout.margin + 2) * _LETTER
    across = _room(layout.margin, layout.right) / _INCHES
    up = (layout.height - layout.top - layout.bottom) / layout.height
    ax = canvas.add_axes((left / _INCHES, layout.bottom / layout.height, across, up))
    getattr(plots, plot.figure)(plot.of, **plot.options, ax=ax)
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


def _beside_names(names: Sequence[str]) -> _Layout:
    return _Layout(0.75 + 0.24 * len(names), max(width(label(name)) for name in names))


def _effects(result: ContextImportances, options: Options) -> _Layout:
    return _beside_names([result.names[j] for j in result.order()[: options["k"]]])


def _correlations(comparison: Comparison, _: Options) -> _Layout:
    measures = comparison.measures
    margin = _longest(measures)
    cell = _room(margin, _RIGHT) / len(measures)
    slant = _slant(cell)
    bottom = 0.42 + math.sin(math.radians(slant)) * margin * _LETTER

    def finish(ax: Axes) -> None:
        for title in ax.get_xticklabels():
            title.set_rotation(slant)
        if cell < 5 * _LETTER:
            for number in ax.texts:
                number.set_fontsize(6)

    return _Layout(bottom + 0.1 + 0.3 * len(measures), margin, bottom=bottom, finish=finish)


def _parallel_ranks(comparison: Comparison, options: Options) -> _Layout:
    measures, k = comparison.measures, options["k"]
    names = comparison.top(k).names
    longest = _longest(measures) * _LETTER
    margin = max(len(f"not among the first {k}"), *(width(label(name)) + 4 for name in names))
    right = max(_RIGHT, 0.5 * longest)
    room = _room(margin, right) / max(1, len(measures) - 1)
    slant = _LEVEL if longest + _LETTER <= room else _slant(room)
    top = 0.15 + max(_LETTER, math.sin(math.radians(slant)) * longest)

    def finish(ax: Axes) -> None:
        for line in ax.lines:
            line.set_clip_on(False)  # dots at the edges stay round
        if slant:  # down to the right, over the names, where there is room
            for title in ax.get_xticklabels():
                title.set(rotation=-slant, ha="right", va="bottom", rotation_mode="anchor")

    height = top + 0.1 + 0.24 * (len(names) + 1)
    return _Layout(height, margin, top, _RIGHT if slant else right, 0.1, finish)


def _links(network: ContextNetwork, options: Options) -> _Layout:
    p, n_targets = len(network.names), len(network.analyses)
    named = p <= MOST_NAMES
    letters = min(NAME_LETTERS, max(map(width, network.names))) if named else 0
    size = name_size(p) / 9
    bottom = 0.4 + letters * size * _LETTER
    cell = 0.2 if p <= 16 else 3.2 / min(p, MOST_NAMES)
    height = bottom + 0.2 + max(1.2, cell * (n_targets if named else 0.7 * MOST_NAMES))

    def finish(ax: Axes) -> None:
        color_bar(ax, options["limit"], color_words(network, [options["effect"]]))

    margin = math.ceil(letters * size) + 2
    return _Layout(height, margin, right=3 * _RIGHT, bottom=bottom, finish=finish)


_LAYOUTS: dict[str, Callable[[Any, Options], _Layout]] = {
    "ranking": lambda best, options: _beside_names(best.names),
    "by_degree": lambda best, options: _beside_names(best.names),
    "effect": lambda effect, options: _Layout(2.3, 8),
    "against_target": lambda values, options: _Layout(2.3, _classes(options["target"])),
    "oob_error": lambda errors, options: _Layout(2.5, 8),
    "p_values": lambda significance, options: _Layout(2.5, 8),
    "selection_curves": lambda evaluation, options: _Layout(3.4, 6),
    "found": lambda curves, options: _Layout(2.5, 6),
    "manhattan": lambda result, options: _Layout(2.8, 8),
    "network_graph": lambda network, options: _Layout(6.0, 2, bottom=0.1),
    "precision_recall": lambda scores, options: _Layout(3.2, 6),
    "roc": lambda scores, options: _Layout(3.2, 6),
    "rank_correlations": _correlations,
    "parallel_ranks": _parallel_ranks,
    "effects_in_context": _effects,
    "links_in_context": _links,
}


def _classes(target: NDArray[Any]) -> int:
    """Return the letters beside the axes: of the longest class, or of numbers (survival)."""
    return 8 if target.dtype.kind in "fV" else max(6, min(16, max(map(width, np.unique(target)))))


def _longest(titles: Sequence[str]) -> int:
    """Return the letters of the longest title of a measure, which are cut at 18."""
    return min(18, max(map(width, titles)))


def _room(margin: int, right: float) -> float:
    """Return the width of the axes, in inches."""
    return _INCHES - (margin + 2) * _LETTER - right


def _slant(room: float) -> int:
    """Return the angle, in degrees, at which titles do not touch that are `room` inches apart."""
    return _SLANTED if room * math.sin(math.radians(_SLANTED)) > _LINE else _STEEP


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
