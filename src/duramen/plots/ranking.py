"""The ranking: the most important features with their standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from duramen import checks
from duramen.plots.canvas import ACCENT, INK, MUTED, axes_or_new, label, tidy
from duramen.results.importances import Importances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNIT_TITLES = {
    "bits": "importance (bits)",
    "gini": "importance (Gini)",
    "variance": "importance (variance)",
    "1": "importance",
}


def ranking(
    importances: Importances,
    *,
    k: int = 20,
    threshold: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the `k` most important features as bars, the best on top, with standard errors.

    Parameters
    ----------
    importances : Importances
        Any measure. Error bars are drawn where it has standard errors.
    k : int
        Number of features to show.
    threshold : float, optional
        Where to draw a dashed line, such as the smallest importance that a test selected.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1 or there is no feature.
    """
    best = shown(importances, k, "ranking")
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(best))
    place = np.arange(len(best))
    ax.barh(place, best.values, height=0.62, color=ACCENT, alpha=0.85, linewidth=0)
    if best.standard_error is not None:
        ax.errorbar(
            best.values,
            place,
            xerr=best.standard_error,
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=2.5,
            capthick=1.2,
        )
    ax.set_yticks(place, [label(name) for name in best.names])
    ax.set_ylim(len(best) - 0.4, -0.6)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    if threshold is not None:
        ax.axvline(threshold, color=INK, linewidth=1.2, linestyle="--")
    ax.set_xlabel(UNIT_TITLES.get(best.unit, f"importance ({best.unit})"))
    ax.locator_params(axis="x", nbins=6)
    ax.grid(axis="x", color=MUTED, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    tidy(ax)
    return ax


def shown(importances: Importances, k: int, function: str) -> Importances:
    """Return the `k` best features for a plot."""
    checks.check_integer(f"plots.{function}", "k", k, 1)
    if not len(importances):
        raise ValueError(f"plots.{function}: importances must have a feature, got none.")
    return importances.top(k)
