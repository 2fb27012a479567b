"""Histogram of p-values beside the counts expected under the null hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.plots.canvas import ACCENT, INK, MUTED, axes_or_new, finish
from duramen.plots.layout import Layout
from duramen.results.figures import ResultFigure
from duramen.results.significance import Significance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 20
# p-values are counts divided by counts: one on an edge must not cross it by rounding.
_ROUNDING = 1e-9


def p_values(significance: Significance, *, ax: Axes | None = None) -> Axes:
    """Draw the p-values of all features as a histogram of 20 bins from 0 to 1.

    Bins include their upper edge, so that the first one counts the p-values up to .05. A dashed
    line shows the count expected in each if all features were irrelevant and p-values uniform. A
    first bin that is much higher indicates relevant features; bins that rise towards 1 indicate a
    conservative test.

    Parameters
    ----------
    significance : Significance
        Any test.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Significance(("a", "b"), [2.0, 1.0], [0.01, 0.6], "test", "No association.")
    >>> [int(bar.get_height()) for bar in dm.plots.p_values(result).patches][:2]
    [1, 0]
    """
    if not len(significance):
        raise ValueError("plots.p_values: significance must have a feature, got none.")
    counts = binned(significance.p_values)
    expected = len(significance) / BINS
    ax = axes_or_new(ax, 6.4, 2.8)
    shades = [ACCENT] + [MUTED] * (BINS - 1)
    places = np.arange(BINS) / BINS
    ax.bar(places, counts, width=0.9 / BINS, align="edge", color=shades, alpha=0.85, linewidth=0)
    ax.axhline(expected, color=INK, linewidth=1.2, linestyle="--")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.15 * max(float(counts.max()), expected))
    return finish(ax, "p-value", "features", ticks="y")


def binned(p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the p-values in each of the bins (0, 1/20], (1/20, 2/20] ...; 0 is in the first."""
    place = np.ceil(p * BINS - _ROUNDING).astype(np.int64) - 1
    return np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS).astype(np.int64)


P_VALUES = ResultFigure("p_values", p_values, (Significance,), lambda *_: Layout(2.5, 8))
