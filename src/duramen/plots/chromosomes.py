"""Manhattan plot: scores of features along a genome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.positions import UNPLACED, Positions
from duramen.plots.canvas import ACCENT, INK, MUTED, axes_or_new, finish, label
from duramen.plots.layout import Layout
from duramen.plots.rankings import UNIT_TITLES
from duramen.results.adjusted_significance import AdjustedSignificance
from duramen.results.figures import ResultFigure
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOGARITHM = "-log10 of p"
_FUNCTION = "plots.manhattan"
_GAP = 0.01  # between chromosomes, as a fraction of the genome
_LEAST = 0.25  # room of a chromosome, as a fraction of that of the average
_MOST_DRAWN = 3000  # more points than that are an image within a vector graphic
_LETTER = 0.075  # inches that a letter takes
_HEIGHT_OF_LETTER = 0.09  # the same
_EDGE = 0.12  # part of the axis at its ends where names are not centered


def manhattan(
    result: Importances | Significance,
    positions: Any,
    *,
    threshold: float | None = None,
    k: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw scores of features along the genome, chromosomes in alternate shades.

    Parameters
    ----------
    result : Importances or Significance
        Heights are importances, or -log10 of p-values; of an `AdjustedSignificance`, the
        statistics that its verdicts compare.
    positions : table, mapping or ColumnStore
        Columns ``chromosome`` and ``position`` in base pairs, one row a feature: by ``name`` where
        there is such a column, else in the order of the features; of a store, its `variants`.
    threshold : float, optional
        Where to draw a dashed line: an importance, a p-value, or a statistic.
    k : int, default=5
        Number of features, the highest first, that are named.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `result` is something else, or `positions` no table.
    ValueError
        If there is no feature, `k` is negative, or a position is missing.

    Notes
    -----
    Chromosomes are drawn as long as the stretch between their first and last feature. Variants
    without a place (chromosome 0) come last.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("rs1", "rs2", "rs3"), [0.3, 0.1, 0.2], "mdi", "bits")
    >>> positions = {"chromosome": ["1", "1", "2"], "position": [10, 20, 5]}
    >>> ax = dm.plots.manhattan(result, positions)
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['1', '2']
    """
    heights, title = _heights(result)
    checks.check_integer(_FUNCTION, "k", k, 0)
    if not len(heights):
        raise ValueError(f"{_FUNCTION}: result must have a feature, got none.")
    places = Positions.of(positions, result.names, _FUNCTION)
    x, middles = _along(places)
    best = np.argsort(-heights, kind="stable")[:k].tolist()
    ax = axes_or_new(ax, 8.0, 3.2)
    image = len(x) > _MOST_DRAWN
    for chromosome in range(len(places.chromosomes)):
        here = places.chromosome == chromosome
        shade = ACCENT if chromosome % 2 == 0 else MUTED
        ax.scatter(x[here], heights[here], s=7, c=shade, linewidths=0, rasterized=image)
    if threshold is not None:
        line = -np.log10(threshold) if title == _LOGARITHM else threshold
        ax.axhline(line, color=INK, linewidth=1.2, linestyle="--")
    figure: Any = ax.figure
    letter = _LETTER / (ax.get_position().width * figure.get_figwidth())
    for j, name in _named(x, heights, [label(result.names[j], 16) for j in best], best, letter):
        ax.annotate(
            name,
            (float(x[j]), float(heights[j])),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right" if x[j] > 1 - _EDGE else "left" if x[j] < _EDGE else "center",
            color=INK,
            fontsize=8,
        )
    ax.margins(y=0.14)
    ax.set_xlim(-_GAP, 1 + _GAP)
    finish(ax, "chromosome", title, ticks="y")
    shown = _apart(places.chromosomes, middles, letter)
    names = ["?" if name == UNPLACED else label(name, 8) for name in places.chromosomes]
    ax.set_xticks([middles[i] for i in shown], [names[i] for i in shown])
    ax.tick_params(axis="x", labelsize=8)
    return ax


def _heights(result: Any) -> tuple[NDArray[np.float64], str]:
    """Return what is drawn, and what it is."""
    if isinstance(result, AdjustedSignificance):
        return result.statistics, result.statistic_title
    if isinstance(result, Significance):
        return -np.log10(np.maximum(result.p_values, 1e-300)), _LOGARITHM
    if isinstance(result, Importances):
        return result.values, UNIT_TITLES.get(result.unit, f"importance ({result.unit})")
    raise TypeError(
        f"{_FUNCTION}: result must be Importances or Significance, got {type(result).__name__}."
    )


def _along(places: Positions) -> tuple[NDArray[np.float64], list[float]]:
    """Return where features lie on an axis from 0 to 1, and the middles of the chromosomes."""
    x, middles, begin = np.empty(len(places.position)), list[float](), 0.0
    spans = []
    for chromosome in range(len(places.chromosomes)):
        here = places.position[places.chromosome == chromosome]
        spans.append((int(here.min()), int(here.max())))
    total = max(sum(last - first for first, last in spans), 1)
    # A chromosome with a single feature, or few, still has room; less than that of a human one.
    least = _LEAST * total / len(spans)
    for chromosome, (first, last) in enumerate(spans):
        here = places.chromosome == chromosome
        length = max(last - first, least)
        x[here] = begin + (places.position[here] - first) + (length - (last - first)) / 2
        middles.append(begin + length / 2)
        begin += length + _GAP * total
    whole = begin - _GAP * total
    return x / whole, [middle / whole for middle in middles]


def _named(
    x: NDArray[np.float64],
    heights: NDArray[np.float64],
    names: list[str],
    best: list[int],
    letter: float,
) -> list[tuple[int, str]]:
    """Return the features to name, with their names: those that cover no name before."""
    height = _HEIGHT_OF_LETTER * (float(np.ptp(heights)) or 1.0)
    shown = list[tuple[int, str]]()
    for j, name in zip(best, names, strict=True):
        free = all(
            abs(x[j] - x[other]) > letter * (len(name) + len(text) + 1) / 2
            or abs(heights[j] - heights[other]) > height
            for other, text in shown
        )
        if free:
            shown.append((j, name))
    return shown


def _apart(names: tuple[str, ...], middles: list[float], letter: float) -> list[int]:
    """Return the chromosomes whose names do not touch that of one before."""
    shown, end = list[int](), -1.0
    for i, (name, middle) in enumerate(zip(names, middles, strict=True)):
        half = letter * (len(name) + 1) / 2
        if middle - half >= end:
            shown.append(i)
            end = middle + half
    return shown


MANHATTAN = ResultFigure("manhattan", manhattan, (), lambda *_: Layout(2.8, 8))
