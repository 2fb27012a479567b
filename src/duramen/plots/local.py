"""Local importances: the features of one row, and of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import encode
from duramen.data.learning_sets import table_of
from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    INK,
    MUTED,
    axes_or_new,
    check_shown,
    feature_axis,
    finish,
    label,
    rows_height,
    signed_colors,
)
from duramen.results.local_importances import LocalImportances
from duramen.results.result import figure
from duramen.results.summary import counted
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.checks import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 60  # of a swarm
_NUMBERS = 0.32  # room for the numbers beside a waterfall, as a fraction of what the bars span
_REACH = 0.38  # half the width of a swarm


def beeswarm(
    result: LocalImportances, *, k: int = 20, X: TableLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the importances in all rows, a point a row, of the `k` features of largest mean size.

    Parameters
    ----------
    result : LocalImportances
        Importances in n rows.
    k : int
        Number of features to show.
    X : table of shape (n, p), optional
        The rows: points are then colored from the lowest value of a feature (vermilion) over the
        median to the highest (blue), by rank; missing values are gray.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1, or `X` is of another shape than the result.

    Examples
    --------
    >>> import duramen as dm
    >>> local = dm.theory.population_local_mdi(dm.theory.examples.xor())
    >>> dm.plots.beeswarm(local).get_xlabel()
    'population local mdi (bits)'
    """
    best = _largest("plots.beeswarm", result, k)
    colors = None if X is None else _ranks(X, result, best)
    ax = axes_or_new(ax, 6.4, 0.9 + 0.3 * len(best))
    values = result.dense(columns=best)
    for place in range(len(best)):
        shade: dict[str, Any] = {"color": ACCENT}
        if colors is not None:
            shade = {
                "c": colors[:, place],
                "cmap": signed_colors(0.25).with_extremes(bad=MUTED),
                "vmin": -1.0,
                "vmax": 1.0,
                "plotnonfinite": True,
            }
        height = place + _REACH * swarm(values[:, place])
        ax.scatter(values[:, place], height, s=7, alpha=0.8, linewidth=0, **shade)
    feature_axis(ax, [result.names[j] for j in best])
    return finish(ax, f"{result.measure} ({result.unit})", grid="x", ticks="x")


def swarm(values: FloatArray) -> FloatArray:
    """Return heights from -1 to 1 at which the points of equal or near values lie apart.

    The points of each of 60 bins are spread evenly, over a width that is proportional to their
    number.
    """
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if high == low:
        place = np.zeros(len(values), dtype=np.int64)
    else:
        place = np.minimum((values - low) / (high - low) * _BINS, _BINS - 1).astype(np.int64)
    counts = np.bincount(place, minlength=_BINS)
    order = np.argsort(place, kind="stable")
    within = np.empty(len(values))
    within[order] = np.arange(len(values)) - (np.cumsum(counts) - counts)[place[order]]
    heights: FloatArray = (2 * within - counts[place] + 1) / max(1, int(counts.max(initial=1)))
    return heights


def _ranks(X: Any, result: LocalImportances, columns: NDArray[np.intp]) -> FloatArray:
    """Return the ranks of the values of some columns, from -1 to 1; NaN where missing."""
    table = encode(table_of(X))
    if (table.n_rows, table.n_columns) != (len(result), len(result.names)):
        raise ValueError(
            f"plots.beeswarm: X must have the shape ({len(result)}, {len(result.names)}) of the "
            f"result, got ({table.n_rows}, {table.n_columns})."
        )
    ranks = np.empty((table.n_rows, len(columns)))
    for place, j in enumerate(columns.tolist()):
        codes, values = np.asarray(table.codes(j)), len(table.values(j))
        ranks[:, place] = 2.0 * codes / max(1, values - 1) - 1.0
        ranks[codes == values, place] = np.nan
    return ranks


def waterfall(
    result: LocalImportances,
    row: int = 0,
    *,
    k: int = 10,
    name: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importances of one row as bars; each bar begins at the end of the bar above.

    They lead from `start` to `end` of the row, dashed lines; the numbers on the right are the
    importances. The features that are not shown are one bar, the last.

    Parameters
    ----------
    result : LocalImportances
        Importances in n rows.
    row : int
        Number of the row, from 0.
    k : int
        Number of features to show, those of largest size.
    name : str, optional
        Name of the row, for the axis; its number by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such row, or `k` is less than 1.

    Examples
    --------
    >>> import duramen as dm
    >>> local = dm.theory.population_local_mdi(dm.theory.examples.xor())
    >>> dm.plots.waterfall(local, 3).get_xlabel()
    'row 3: population local mdi (bits)'
    """
    function = "plots.waterfall"
    check_integer(function, "row", row, 0, most=len(result) - 1)
    check_integer(function, "k", k, 1)
    values = result.row(row).values
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[: max(1, int(np.count_nonzero(values)))]
    shown, others = order[:k], order[k:]
    names, steps = [result.names[j] for j in shown], list(values[shown])
    if others.size:
        names.append(counted(int(others.size), "other feature"))
        steps.append(float(values[others].sum()))
    ends = result.start[row] + np.cumsum(steps)
    ax = axes_or_new(ax, 6.4, 0.9 + 0.28 * len(names))
    shades = [ACCENT if step >= 0 else AGAINST for step in steps]
    places = np.arange(len(names))
    ax.barh(places, steps, left=ends - steps, height=0.62, color=shades, alpha=0.85, linewidth=0)
    reached = np.append(ends, result.start[row])
    low, high = float(reached.min()), float(reached.max())
    room = high - low or 1.0
    for place, step in zip(places.tolist(), steps, strict=True):
        look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8, "color": INK}
        ax.text(high + _NUMBERS * room, place, f"{step:+.3g}", **look)
    feature_axis(ax, names)
    ax.set_xlim(low - 0.05 * room, high + (_NUMBERS + 0.02) * room)
    for edge in (float(result.start[row]), float(ends[-1])):
        ax.axvline(edge, color=INK, linewidth=1.0, linestyle="--")
    named = row if name is None else label(name)
    return finish(ax, f"row {named}: {result.measure} ({result.unit})", grid="x", ticks="x")


def _largest(function: str, result: LocalImportances, k: int) -> NDArray[np.intp]:
    """Return the indices of the features of largest mean size."""
    check_shown(function, result.names if len(result) else (), k)
    return np.argsort(-result.mean_absolute(), kind="stable")[:k]


def _height(result: LocalImportances, options: Mapping[str, Any]) -> float:
    return rows_height(len(result.names), options.get("k", 20) + 1)


BEESWARM = figure(beeswarm, (LocalImportances,), _height)
WATERFALL = figure(waterfall, (LocalImportances,), _height)
