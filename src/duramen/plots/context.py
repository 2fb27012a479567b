"""Effects of a context on features, and on the links between variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    tidy,
)
from duramen.results.context_importances import (
    INDEPENDENT,
    ContextImportances,
    ContextNetwork,
    Control,
)
from duramen.results.result import figure
from duramen.support import checks
from duramen.support.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 60
"""Matrices of more variables have no names on their axes."""

_LETTERS = 18  # of a name beside a matrix
_FAINTEST = 0.1


def context_effects(
    result: ContextImportances,
    context: str | None = None,
    *,
    k: int = 20,
    alpha: float = 0.05,
    control: Control = "fdr",
    ax: Axes | None = None,
) -> Axes:
    """Draw the effects of a context on the `k` features that depend most on any context.

    A bar is the change of the importance, the signed effect with the opposite sign: vermilion to
    the right, where the feature is more informative in the context; blue to the left, where it is
    less informative. The dot at the end of a line is the absolute effect: where the bar reaches it,
    the change always has that sign. The tick is the importance on all rows. Features that do not
    depend on the context, by `ContextImportances.verdicts`, are faint and have a hollow dot. The
    axes of all contexts of a result are equal.

    Parameters
    ----------
    result : ContextImportances
        Of a sample, or exact.
    context : str, optional
        Value of the context; by default the first.
    k : int
        Number of features to show, in the order of `ContextImportances.order`.
    alpha : float
        Level of the verdicts.
    control : {"fdr", "fwer", "none"}
        Error rate, over all features and contexts, that `alpha` bounds.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1, there is no feature, or the context is unknown.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y, context = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, [0, 1] * 10
    >>> result = dm.contexts.context_importances(X, y, context, n_permutations=9)
    >>> dm.plots.context_effects(result, "0").get_xlabel()
    'less important here  <  0  <  more important here (bits)'
    """
    owner = "plots.context_effects"
    check_shown(owner, result, k)
    value = _value(owner, result, context)
    c, best = result.contexts.index(value), result.order()[:k]
    dependent = result.verdicts(alpha, control)[c, best] != INDEPENDENT
    change = -result.signed
    reach = np.where(change < 0, -result.absolute, result.absolute)
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(best))
    place = np.arange(len(best))
    for bar, amount, counts in zip(
        ax.barh(place, change[c, best], height=0.56, linewidth=0),
        change[c, best],
        dependent,
        strict=True,
    ):
        bar.set_facecolor(AGAINST if amount > 0 else ACCENT)
        bar.set_alpha(0.85 if counts else 0.25)
    ax.hlines(place, 0, reach[c, best], colors=MUTED, linewidth=0.8)
    mark: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK}
    for chosen, filling in ((dependent, INK), (~dependent, "none")):
        dot = {**mark, "markersize": 5, "markeredgewidth": 0.8, "markerfacecolor": filling}
        ax.plot(reach[c, best][chosen], place[chosen], "o", **dot)
    ax.plot(result.importances[best], place, "|", **mark, markersize=10, markeredgewidth=1.4)
    feature_axis(ax, [result.names[j] for j in best])
    low = min(0.0, float(reach[:, best].min()))
    high = max(float(reach[:, best].max()), float(result.importances[best].max()))
    room = 0.04 * (high - low) or 1.0
    ax.set_xlim(low - room, high + room)
    unit = "" if result.unit == "1" else f" ({result.unit})"
    title = f"less important here  <  0  <  more important here{unit}"
    return finish(ax, title, grid="x", ticks="x", nbins=5)


def context_links(
    network: ContextNetwork,
    context: str | None = None,
    *,
    effect: str = "absolute",
    alpha: float = 0.05,
    control: Control = "fdr",
    limit: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the matrix of the links that depend on a context (thesis, figure 6.1).

    The cell in row i and column j is what the context does to the link from source j to target i:
    empty where it is not significant, blue where the context takes from the link (redundant),
    vermilion where it adds to it (complementary), the fuller the more. Links that are significant
    by "absolute" have the color of the signed effect. A variable and itself is grey.

    Parameters
    ----------
    network : ContextNetwork
        With p-values.
    context : str, optional
        Value of the context; by default the first.
    effect : {"absolute", "signed", "plain"}
        Effect whose significance counts.
    alpha : float
        Level, in [0, 1].
    control : {"fdr", "fwer", "none"}
        Error rate over all links and contexts that `alpha` bounds.
    limit : float, optional
        Effect of the fullest color; by default the largest one of this matrix.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the effect is unknown or has no p-values, or the context is unknown.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 5
    >>> network = dm.contexts.context_network(X, [0, 1] * 10, n_permutations=9)
    >>> dm.plots.context_links(network, "0").get_xlabel()
    'source'
    """
    from matplotlib.collections import PolyCollection

    value = _value("plots.context_links", network, context)
    targets = [network.names.index(name) for name in network.analyses]
    significant = network.mask(effect, value, alpha, control).T[targets]
    amounts = network.in_context(value, _colored(effect)).weights.T[targets]
    n_targets, p = significant.shape
    most = float(np.abs(amounts[significant]).max(initial=0)) or 1.0 if limit is None else limit
    ax = axes_or_new(ax, 2.8 + 0.16 * p, 1.2 + 0.16 * n_targets)
    drawn = PolyCollection(
        _squares(np.argwhere(significant)),
        array=amounts[significant],
        cmap=signed_colors(_FAINTEST),
        edgecolors=MUTED,
        linewidths=0.25,
    )
    drawn.set_clim(-most, most)
    ax.add_collection(drawn)
    own = np.column_stack([np.arange(n_targets), targets])
    ax.add_collection(PolyCollection(_squares(own), facecolors=MUTED, alpha=0.2, linewidths=0))
    ax.set_xlim(0, p)
    ax.set_ylim(n_targets, 0)
    ax.set_xlabel("source")
    ax.set_ylabel("target")
    tidy(ax)
    ax.set_xticks([])
    ax.set_yticks([])
    if p <= MOST_NAMES:
        sources = [label(name, _LETTERS) for name in network.names]
        ax.set_xticks(np.arange(p) + 0.5, sources, rotation=90)
        rows = [label(name, _LETTERS) for name in network.analyses]
        ax.set_yticks(np.arange(n_targets) + 0.5, rows)
        ax.tick_params(labelsize=9.0 if p <= 12 else 7.0 if p <= 32 else 5.0)
    for spine in ax.spines.values():
        spine.set(visible=True, color=MUTED, linewidth=0.6)

    canvas: Any = ax.figure
    bar = canvas.colorbar(drawn, ax=ax, shrink=0.7, aspect=24, pad=0.05)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelcolor=INK, labelsize=8)
    bar.ax.set_title("less\ninformative", color=MUTED, fontsize=8)
    bar.ax.set_xlabel("more\ninformative", color=MUTED, fontsize=8)
    units = {analysis.unit for analysis in network.analyses.values()}
    unit = f" ({units.pop()})" if len(units) == 1 else ""
    bar.set_label(f"{_colored(effect)} effect{unit}", color=MUTED, fontsize=8)
    return ax


def _colored(effect: str) -> str:
    """Return the effect that the color shows."""
    return "signed" if effect == "absolute" else effect


def _squares(cells: NDArray[np.intp]) -> list[FloatArray]:
    """Return the corners, each of shape (4, 2), of cells that are given by row and column."""
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)
    return [np.array([column, row]) + corners for row, column in cells]


def _value(owner: str, result: ContextImportances | ContextNetwork, context: str | None) -> str:
    """Return the value of the context that is asked for, by default the first."""
    if context is None:
        return result.contexts[0]
    return str(checks.check_choice(owner, "context", context, result.contexts))


CONTEXT_EFFECTS = figure(
    context_effects,
    (ContextImportances,),
    lambda result, options: rows_height(len(result), options["k"]),
)
figure(context_links, (ContextNetwork,))
