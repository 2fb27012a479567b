"""Score and stability of selections against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.evaluation.performance import catalogue as performances
from duramen.evaluation.result import SelectionEvaluation
from duramen.plots.canvas import INK, axes_or_new, finish, label
from duramen.plots.layout import Layout
from duramen.results.figures import ResultFigure
from duramen.results.html import ACCENT, AGAINST
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STABILITY = "stability"
COLORS = (ACCENT, AGAINST, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b8794")
"""Colors of methods that are told apart with color blindness, too (Okabe and Ito)."""
_MARKERS = "osD^v<>"


def selection_curves(
    evaluation: SelectionEvaluation,
    what: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw score or stability of selections against the number of features.

    Rankings are curves over the numbers of features at which they were cut, with a band for the
    interval; selectors are points at their mean number of features, with error bars.

    Parameters
    ----------
    evaluation : SelectionEvaluation
        What `duramen.evaluate_selection` returned.
    what : str, optional
        Name of a score, by default the first, or "stability" for that of Nogueira et al.
    methods : sequence of str, optional
        Names of the methods to draw; all by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such score or method.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     ["mdi", None], data.X, data.y, n_resamples=4, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> dm.plots.selection_curves(result, "stability").get_ylabel()
    'stability'
    """
    owner, scores = "plots.selection_curves", tuple(evaluation.scores)
    what = checks.check_choice(
        owner, "what", scores[0] if what is None else what, (*scores, STABILITY)
    )
    if what == STABILITY:
        middle, title = evaluation.nogueira, STABILITY
        low, high = evaluation.stability_low, evaluation.stability_high
    else:
        middle, title = evaluation.mean(what), performances[what].title
        low, high = evaluation.interval(what)
    ax = axes_or_new(ax, 6.4, 3.6)
    names = list(dict.fromkeys(evaluation.methods if methods is None else methods))
    for place, name in enumerate(names):
        rows = evaluation.rows(name)
        rows = rows[np.isfinite(middle[rows])]
        sizes, color = evaluation.n_features[rows], COLORS[place % len(COLORS)]
        marker = _MARKERS[place % len(_MARKERS)]
        shown: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "markersize": 4,
            "label": label(name),
        }
        if not len(rows):
            continue
        if len(rows) > 1:
            ax.plot(sizes, middle[rows], linewidth=1.6, **shown)
            ax.fill_between(sizes, low[rows], high[rows], color=color, alpha=0.12, linewidth=0)
        else:
            reach = np.nan_to_num(
                [[middle[rows[0]] - low[rows[0]]], [high[rows[0]] - middle[rows[0]]]]
            )
            ax.errorbar(sizes, middle[rows], yerr=np.abs(reach), linewidth=1.2, **shown)
    finish(ax, "number of features", title, ticks="y")
    sizes = evaluation.n_features
    if sizes.min() < 1:
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
    else:
        ax.set_xscale("log")
    ticks = [k for k in _ticks(float(sizes.max())) if k >= min(1, sizes.min())]
    ax.set_xticks(ticks, [f"{k:,}" for k in ticks])
    ax.minorticks_off()
    if ax.has_data():
        ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    return ax


def _ticks(most: float) -> list[int]:
    """Return 0, 1, 10, 100, ... up to a number of features, with 2 and 5 between if few."""
    steps = (1, 2, 5) if most <= 200 else (1,)
    return [0, *(s * 10**e for e in range(9) for s in steps if s * 10**e <= max(1.0, most))]


SELECTION_CURVES = ResultFigure(
    "selection_curves", selection_curves, (SelectionEvaluation,), lambda *_: Layout(3.4, 6)
)
