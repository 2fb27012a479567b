"""Out-of-bag error against the number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from duramen.plots.canvas import ACCENT, INK, axes_or_new, finish
from duramen.plots.layout import Layout
from duramen.results.figures import ResultFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def oob_error(errors: ArrayLike, *, what: str = "out-of-bag error", ax: Axes | None = None) -> Axes:
    """Draw the out-of-bag error after 1, 2, ... trees.

    Parameters
    ----------
    errors : array-like of shape (T,)
        Error after each tree, NaN while no row is out of a bag: `oob_error_curve_` of a fitted
        estimator with ``oob_score=True``.
    what : str
        What the error is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no error to draw.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.plots.oob_error([float("nan"), 0.3, 0.2]).get_ylabel()
    'out-of-bag error'
    """
    error = np.asarray(errors, dtype=np.float64)
    if error.ndim != 1 or not np.isfinite(error).any():
        raise ValueError(
            "plots.oob_error: errors must be one number per tree, not all NaN, got shape "
            f"{error.shape}."
        )
    ax = axes_or_new(ax, 6.4, 2.8)
    trees = np.arange(1, error.size + 1)
    ax.plot(trees, error, color=ACCENT, linewidth=1.6)
    known = np.flatnonzero(np.isfinite(error))
    last = known[-1]
    ax.plot(trees[last], error[last], "o", color=ACCENT, markersize=5)
    ax.annotate(
        f"{error[last]:.3g}",
        (float(trees[last]), float(error[last])),
        xytext=(0, 9),
        textcoords="offset points",
        ha="right",
        color=INK,
        fontsize=9,
        fontweight="bold",
    )
    ax.set_xlim(0, error.size * 1.02)
    ax.set_ylim(0, float(np.nanmax(error)) * 1.12 or 1.0)
    return finish(ax, "number of trees", what)


OOB_ERROR = ResultFigure("oob_error", oob_error, (), lambda *_: Layout(2.5, 8))
