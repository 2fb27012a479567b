"""Measures beside each other: how their ranks correlate, and where each puts the best features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from duramen.importances.after.comparison import Comparison
from duramen.plots.canvas import (
    ACCENT,
    LETTER,
    MUTED,
    RIGHT,
    Layout,
    Options,
    axes_or_new,
    in_cell,
    label,
    room,
    signed_colors,
    slant,
    tidy,
)
from duramen.results.figures import figure
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDEST = 18
_DASHES = ((1.0, 0.0), (4.0, 2.0), (1.0, 1.5), (6.0, 2.0, 1.0, 2.0))


def rank_correlations(
    comparison: Comparison,
    *,
    correlation: Literal["spearman", "kendall"] = "spearman",
    ax: Axes | None = None,
) -> Axes:
    """Draw the rank correlation of every two measures as a heat map.

    Color is opacity of one hue for positive correlations and of another for negative ones, from
    nothing at 0. Cells without a correlation, because a measure is constant, hold a dash.

    Parameters
    ----------
    comparison : Comparison
        What `duramen.importances.compare` returns.
    correlation : {"spearman", "kendall"}
        Which one.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `correlation` is another.

    Examples
    --------
    >>> import duramen as dm
    >>> one = dm.Importances(("a", "b", "c"), [0.3, 0.2, 0.1], "mdi", "bits")
    >>> other = dm.Importances(("a", "b", "c"), [2.0, 3.0, 1.0], "mda", "accuracy")
    >>> ax = dm.plots.rank_correlations(dm.importances.compare([one, other]))
    >>> ax.get_xlabel()
    "Spearman's rank correlation, 3 features"
    """
    checks.check_choice(
        "plots.rank_correlations", "correlation", correlation, ("spearman", "kendall")
    )
    matrix = comparison.spearman if correlation == "spearman" else comparison.kendall
    m = len(matrix)
    ax = axes_or_new(ax, 2.2 + 0.8 * m, 1.2 + 0.5 * m)
    ax.pcolormesh(np.nan_to_num(matrix), cmap=signed_colors(), vmin=-1, vmax=1, snap=True)
    for row, column in np.ndindex(m, m):
        r = matrix[row, column]
        text = "–" if np.isnan(r) else "1" if row == column else f"{r:.2f}"
        in_cell(ax, row, column, text, strong=bool(abs(r) > 0.75))
    names = [label(name, _WIDEST) for name in comparison.measures]
    middles = np.arange(m) + 0.5
    ax.set_xticks(middles, names, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(middles, names)
    ax.set_ylim(m, 0)
    name = "Spearman's rank correlation" if correlation == "spearman" else "Kendall's tau"
    ax.set_xlabel(f"{name}, {len(comparison)} features")
    tidy(ax)
    return ax


def parallel_ranks(
    comparison: Comparison, *, k: int = 20, by: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw where every measure ranks the `k` best features of one of them, a line a feature.

    That measure stands on the left. The best rank is on top; ranks beyond `k` are drawn below a
    rule, all at one height, and features that come there are grey.

    Parameters
    ----------
    comparison : Comparison
        What `duramen.importances.compare` returns.
    k : int
        Number of features to show.
    by : str, optional
        The measure whose best features are shown, by default the first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1, `by` is no measure, or there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> one = dm.Importances(("a", "b", "c"), [0.3, 0.2, 0.1], "mdi", "bits")
    >>> other = dm.Importances(("a", "b", "c"), [2.0, 3.0, 1.0], "mda", "accuracy")
    >>> ax = dm.plots.parallel_ranks(dm.importances.compare([one, other]), k=2)
    >>> len(ax.get_yticks())
    3
    """
    if not len(comparison):
        raise ValueError("plots.parallel_ranks: comparison must have a feature, got none.")
    best = comparison.top(k, by)
    k = len(best)
    first = best.measures[0] if by is None else by
    measures = [first, *(name for name in best.measures if name != first)]
    places = _places(comparison, best, measures)
    below = k + 1.5
    ax = axes_or_new(ax, 2.4 + 1.5 * len(measures), 1.2 + 0.24 * k)
    columns = np.arange(len(measures))
    for i, row in enumerate(places):
        height = np.where(row > k, below, row)
        stays = bool((row <= k).all())
        (drawn,) = ax.plot(
            columns,
            height,
            color=ACCENT if stays else MUTED,
            alpha=0.9 if stays else 0.7,
            linewidth=1.4,
            marker="o",
            markersize=4,
            label=label(best.names[i]),
        )
        if stays and i % len(_DASHES):  # tells lines apart that cross
            drawn.set_dashes(_DASHES[i % len(_DASHES)])
    ax.axhline(k + 0.75, color=MUTED, linewidth=0.6, alpha=0.5)
    names = [f"{label(name)}  {i + 1}" for i, name in enumerate(best.names)]
    ax.set_yticks([*range(1, k + 1), below], [*names, f"not among the first {k}"])
    ax.set_xticks(columns, [label(name, _WIDEST) for name in measures])
    ax.xaxis.tick_top()
    ax.set_xlim(-0.1, len(measures) - 0.9)
    ax.set_ylim(below + 0.5, 0.4)
    tidy(ax)
    return ax


def _places(comparison: Comparison, best: Comparison, measures: list[str]) -> FloatArray:
    """Return the ranks of the best features by each measure among all, shape (k, m).

    Those by the first measure are 1 .. k, so that lines start where their names stand.
    """
    place = {name: j for j, name in enumerate(comparison.names)}
    index = [place[name] for name in best.names]
    rows = [comparison.ranks[comparison.measures.index(name), index] for name in measures]
    rows[0] = np.arange(1.0, len(best) + 1)
    return np.column_stack(rows)


def _longest(titles: Sequence[str]) -> int:
    """Return the letters of the longest title of a measure."""
    return min(_WIDEST, max(map(width, titles)))


def _layout_of_correlations(comparison: Comparison, _: Options) -> Layout:
    measures = comparison.measures
    margin = _longest(measures)
    cell = room(margin) / len(measures)
    angle = slant(cell)
    bottom = 0.42 + math.sin(math.radians(angle)) * margin * LETTER

    def finish(ax: Axes) -> None:
        for title in ax.get_xticklabels():
            title.set_rotation(angle)
        if cell < 5 * LETTER:
            for number in ax.texts:
                number.set_fontsize(6)

    return Layout(bottom + 0.1 + 0.3 * len(measures), margin, bottom=bottom, finish=finish)


def _layout_of_ranks(comparison: Comparison, options: Options) -> Layout:
    measures, k = comparison.measures, options["k"]
    names = comparison.top(k).names
    longest = _longest(measures) * LETTER
    margin = max(len(f"not among the first {k}"), *(width(label(name)) + 4 for name in names))
    right = max(RIGHT, 0.5 * longest)
    distance = room(margin, right) / max(1, len(measures) - 1)
    angle = 0 if longest + LETTER <= distance else slant(distance)
    top = 0.15 + max(LETTER, math.sin(math.radians(angle)) * longest)

    def finish(ax: Axes) -> None:
        for line in ax.lines:
            line.set_clip_on(False)  # dots at the edges stay round
        if angle:  # down to the right, over the names, where there is room
            for title in ax.get_xticklabels():
                title.set(rotation=-angle, ha="right", va="bottom", rotation_mode="anchor")

    height = top + 0.1 + 0.24 * (len(names) + 1)
    return Layout(height, margin, top, RIGHT if angle else right, 0.1, finish)


RANK_CORRELATIONS = figure(rank_correlations, (Comparison,), _layout_of_correlations)
PARALLEL_RANKS = figure(parallel_ranks, (Comparison,), _layout_of_ranks)
