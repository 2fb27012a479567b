"""Clusters of correlated features, with those that matter given all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from duramen.plots.canvas import (
    ACCENT,
    INK,
    MUTED,
    axes_or_new,
    feature_axis,
    finish,
    rows_height,
)
from duramen.results.result import figure
from duramen.results.significance import LEVEL, ConditionalSignificance
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 1e-16  # q-values below are drawn as this


def direct_features(
    result: ConditionalSignificance,
    *,
    clusters: Sequence[Sequence[str]] | None = None,
    k: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the evidence that features are direct, correlated features together.

    Bars are -log10 of the q-values given all other features, blue and with a bold name where the
    verdict is "direct"; the dashed line is at q = .1. Circles are -log10 of the q-values of the
    association with the target, whatever the other features tell: a circle to the right of a short
    bar is a feature that shares its association with others.

    Parameters
    ----------
    result : ConditionalSignificance
        As of :func:`duramen.significance.conditional`.
    clusters : sequence of sequences of str, optional
        Features that are drawn together, on a shaded block, from the top; others are not drawn. By
        default all features, those of the smallest p-values on top, without blocks.
    k : int
        Number of features to show.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1, there is no feature, or clusters name one that is not in the result.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> result = dm.significance.ConditionalSignificance(
    ...     ("a", "b"), np.array([3.0, 0.1]), np.array([0.001, 0.4]), "conditional",
    ...     "The feature is independent of the target given all others.",
    ...     association=np.array([0.001, 0.01]), explained_by=((), ("a",)))
    >>> ax = dm.plots.direct_features(result, clusters=[["a", "b"]])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    checks.check_integer("plots.direct_features", "k", k, 1)
    names, sizes = _drawn(result, clusters, k)
    index = checks.places_of(names, result.names, "plots.direct_features: clusters")
    shown = result.take(np.array(index, dtype=np.intp))
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(names))
    ends = np.cumsum(sizes)
    for end, size in list(zip(ends, sizes, strict=True))[::2]:
        ax.axhspan(end - size - 0.5, end - 0.5, color=MUTED, alpha=0.12, linewidth=0)
    given_others, alone = (
        -np.log10(np.maximum(numbers, _LEAST)) for numbers in (shown.q_values, shown.association)
    )
    places, direct = np.arange(len(names)), shown.mask(LEVEL)
    colors = [ACCENT if here else MUTED for here in direct]
    ax.barh(places, given_others, height=0.62, color=colors, alpha=0.85, linewidth=0)
    ax.plot(alone, places, "o", color=INK, markerfacecolor="none", markersize=5, linestyle="none")
    ax.axvline(-np.log10(LEVEL), color=INK, linewidth=1.2, linestyle="--")
    feature_axis(ax, names)
    for text, here in zip(ax.get_yticklabels(), direct, strict=True):
        text.set_fontweight("bold" if here else "normal")
    ax.set_xlim(0, 1.05 * max(float(given_others.max()), float(alone.max()), 1.5))
    return finish(ax, "-log10 of q", grid="x", ticks="x")


def _drawn(
    result: ConditionalSignificance, clusters: Sequence[Sequence[str]] | None, k: int
) -> tuple[list[str], list[int]]:
    """Return the features to draw, from the top, and how many each block has of them."""
    if clusters is None:
        best = list(result.top(k).names)
        if not best:
            raise ValueError("plots.direct_features: result must have a feature, got none.")
        return best, [0]
    names, sizes = list[str](), list[int]()
    for members in clusters:
        here = list(members)[: k - len(names)]
        names += here
        sizes += [len(here)] * bool(here)
    if not names:
        raise ValueError("plots.direct_features: clusters must have a feature, got none.")
    return names, sizes


DIRECT_FEATURES = figure(
    direct_features,
    (ConditionalSignificance,),
    lambda result, options: rows_height(len(result), options.get("k", 20)),
)
