"""Ranking: the best features as bars, with error bars where they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.estimators.base import BaseForest
from duramen.forests.forest import Forest
from duramen.importances.measures.fitted.mdi import mdi
from duramen.plots.canvas import ACCENT, INK, axes_or_new, feature_axis, finish
from duramen.plots.layout import beside_names
from duramen.results.figures import ResultFigure
from duramen.results.importances import Importances
from duramen.results.intervals import Intervals
from duramen.results.monte_carlo import MonteCarloSelection
from duramen.results.permuted_importances import PermutedImportances
from duramen.results.result import FeatureResult
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNIT_TITLES = {
    "bits": "importance (bits)",
    "gini": "importance (Gini)",
    "variance": "importance (variance)",
    "1": "importance",
}


def ranking(
    result: FeatureResult[Any] | MonteCarloSelection | PermutedImportances | BaseForest | Forest,
    *,
    k: int = 20,
    threshold: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the `k` best features as bars, the best on top, with their error bars.

    Parameters
    ----------
    result : Importances, Intervals, Significance, ErrorRates, Stability, FirstSplits, \
MonteCarloSelection, PermutedImportances, Forest or fitted estimator
        Bars are the importances, scores, rates, frequencies or depths; of a forest or an
        estimator, its MDI (`duramen.importances.mdi`). Error bars are standard errors, or the ends
        of the intervals, where they are known.
    k : int
        Number of features to show.
    threshold : float, optional
        Where to draw a dashed line, such as the smallest importance that a test selected; by
        default the cut-off of a `MonteCarloSelection` with two shuffled runs or more, and the
        `threshold()` of `PermutedImportances` with 19 permutations or more.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1 or there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("a", "b"), [0.3, 0.1], "mdi", "bits")
    >>> dm.plots.ranking(result).get_xlabel()
    'importance (bits)'
    """
    if isinstance(result, BaseForest | Forest):
        result = mdi(result)
    if isinstance(result, MonteCarloSelection):
        if threshold is None and len(result.maxima) > 1:
            threshold = result.cutoff()
        result = result.importances
    if isinstance(result, PermutedImportances):
        threshold = result.threshold() if threshold is None else threshold
        result = result.importances
    checks.check_integer("plots.ranking", "k", k, 1)
    if not len(result):
        raise ValueError("plots.ranking: result must have a feature, got none.")
    best = result.summary(k)
    names = best.columns[1].cells
    drawn = next(column for column in best.columns if column.bars is not None)
    bars = np.asarray(drawn.bars)
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(names))
    ax.barh(np.arange(len(names)), bars, height=0.62, color=ACCENT, alpha=0.85, linewidth=0)
    if drawn.whiskers is not None:
        low, high = drawn.whiskers
        ax.errorbar(
            bars,
            np.arange(len(names)),
            xerr=np.maximum([bars - low, high - bars], 0.0),
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=2.5,
            capthick=1.2,
        )
    feature_axis(ax, names)
    if threshold is not None and np.isfinite(threshold):
        ax.axvline(threshold, color=INK, linewidth=1.2, linestyle="--")
    title = drawn.title
    if isinstance(result, Importances | Intervals):
        title = UNIT_TITLES.get(result.unit, f"importance ({result.unit})")
    return finish(ax, title, grid="x", ticks="x")


RANKING = ResultFigure(
    "ranking",
    ranking,
    (FeatureResult, MonteCarloSelection, PermutedImportances),
    lambda best, _: beside_names(best.names),
)
