"""Effect of one feature on the predictions of a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from duramen.plots.canvas import ACCENT, INK, MUTED, axes_or_new, finish, label, robust_limits
from duramen.plots.layout import Layout
from duramen.results.feature_effect import FeatureEffect
from duramen.results.figures import ResultFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", "--", ":", "-.")


def effect(result: FeatureEffect, *, of: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the effect of a feature against its values, or its categories.

    Categories without an order are points, which no line joins. Of values far from all others the
    axis says how many it leaves out.

    A dashed line shows the effect where the feature is missing, if it can be.

    Parameters
    ----------
    result : FeatureEffect
        Accumulated local effect or partial dependence.
    of : str, optional
        The class whose probability is drawn; by default the second of two, or all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such class.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[float(i), float(i % 3)] for i in range(30)]
    >>> forest = dm.RandomForestRegressor(20, random_state=0).fit(X, [row[0] for row in X])
    >>> local = dm.effects.accumulated_local_effects(forest, X, "x0")
    >>> dm.plots.effect(local).get_xlabel()
    'x0'
    """
    outputs = _outputs(result, of)
    ax = axes_or_new(ax, 4.4, 2.6)
    for place, c in enumerate(outputs):
        color = ACCENT if place == 0 else INK
        marker = "o" if len(result) <= 12 or result.kind == "nominal" else ""
        ax.plot(
            result.points,
            result.values[:, c],
            color=color,
            linewidth=1.6,
            linestyle="" if result.kind == "nominal" else _DASHES[place % len(_DASHES)],
            marker=marker,
            markersize=4,
            label=label(result.classes[c]) if result.classes else None,
        )
        if result.missing is not None:
            ax.axhline(float(result.missing[c]), color=MUTED, linewidth=1.0, linestyle="--")
    if result.method == "ale":
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
    if len(outputs) > 1:
        ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    named = f" on {label(result.classes[outputs[0]])}" if result.classes else ""
    finish(ax, label(result.name), f"effect{named if len(outputs) == 1 else ''}", nbins=5)
    if result.labels:
        ax.set_xticks(range(len(result)), [label(name, 12) for name in result.labels])
        ax.set_xlim(-0.4, len(result) - 0.6)
    else:
        robust_limits(ax, result.points)
    return ax


def _outputs(result: FeatureEffect, of: str | None) -> list[int]:
    """Return the outputs to draw."""
    if of is not None:
        if of not in result.classes:
            allowed = ", ".join(map(repr, result.classes)) or "None: there are no classes"
            raise ValueError(f"plots.effect: of must be one of {allowed}, got {of!r}.")
        return [result.classes.index(of)]
    n = result.values.shape[1]
    return [1] if n == 2 else np.arange(n).tolist()


EFFECT = ResultFigure("effect", effect, (FeatureEffect,), lambda *_: Layout(2.3, 8))
