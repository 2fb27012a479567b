"""Effects of a context on features, and on the links between variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    INK,
    MUTED,
    axes_or_new,
    canvas_or_new,
    feature_axis,
    finish,
    label,
    rows_height,
    signed_colors,
    tidy,
)
from duramen.results.context_importances import (
    EFFECTS,
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
    from matplotlib.figure import Figure

MOST_NAMES = 60
"""Matrices of more variables have no names on their axes."""

NAME_LETTERS = 18
"""Names on the axes of matrices are cut to so many letters."""

_PANELS_A_ROW = 3
_FAINTEST = 0.1


def context_effects(
    result: ContextImportances,
    *,
    contexts: Iterable[str] | None = None,
    k: int = 20,
    alpha: float = 0.05,
    control: Control = "fdr",
    figure: Figure | None = None,
) -> Figure:
    """Draw the effects of each context on the `k` features that depend most on it, a panel each.

    A bar is the signed effect: blue above 0, where the feature is less informative in the context;
    vermilion below 0, where it is more informative. The dot at the end of a line is the absolute
    effect: where the bar reaches it, the effect always has that sign. The tick is the importance on
    all rows. Features that do not depend on the context, by `ContextImportances.verdicts`, are
    faint and have a hollow dot.

    Parameters
    ----------
    result : ContextImportances
        Of a sample, or exact.
    contexts : iterable of str, optional
        Values of the context to show, by default all.
    k : int
        Number of features to show, in the order of `ContextImportances.order`.
    alpha : float
        Level of the verdicts.
    control : {"fdr", "fwer", "none"}
        Error rate, over all features and contexts, that `alpha` bounds.
    figure : matplotlib.figure.Figure, optional
        Where to draw; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure
        Its ``axes`` are the panels.

    Raises
    ------
    ValueError
        If `k` is less than 1, there is no feature, or a context is unknown.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y, context = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, [0, 1] * 10
    >>> result = dm.contexts.context_importances(X, y, context, n_permutations=9)
    >>> len(dm.plots.context_effects(result).axes)
    2
    """
    shown = _chosen("context_effects", result.contexts, contexts)
    columns = min(len(shown), _PANELS_A_ROW)
    rows = -(-len(shown) // columns)
    height = 0.9 + rows * (0.9 + 0.26 * min(max(k, 1), max(1, len(result))))
    canvas = canvas_or_new(figure, 2.4 + 2.8 * columns, height)
    panels = canvas.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for panel, value in zip(panels, shown, strict=False):
        effects_in_context(result, value, k=k, alpha=alpha, control=control, ax=panel)
        panel.set_title(label(f"{result.context_name} = {value}"), fontsize=9, color=INK)
    for panel in panels[len(shown) :]:
        panel.remove()
    canvas.legend(
        handles=effect_marks(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
    )
    return canvas


def effects_in_context(
    result: ContextImportances,
    context: str,
    *,
    k: int = 20,
    alpha: float = 0.05,
    control: Control = "fdr",
    ax: Axes | None = None,
) -> Axes:
    """Draw one panel of `context_effects`, whose parameters these are.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y, context = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, [0, 1] * 10
    >>> result = dm.contexts.context_importances(X, y, context, n_permutations=9)
    >>> dm.plots.effects_in_context(result, "0").get_xlabel()
    'effect (bits)'
    """
    (value,) = _chosen("effects_in_context", result.contexts, [context])
    checks.check_integer("plots.context_effects", "k", k, 1)
    if not len(result):
        raise ValueError("plots.context_effects: result must have a feature, got none.")
    c, best = result.contexts.index(value), result.order()[:k]
    dependent = result.verdicts(alpha, control)[c, best] != INDEPENDENT
    signed, absolute = result.signed[c, best], result.absolute[c, best]
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(best))
    place = np.arange(len(best))
    bars = ax.barh(place, signed, height=0.56, linewidth=0)
    for bar, amount, counts in zip(bars, signed, dependent, strict=True):
        bar.set_facecolor(ACCENT if amount > 0 else AGAINST)
        bar.set_alpha(0.85 if counts else 0.25)
    ax.hlines(place, 0, absolute, colors=MUTED, linewidth=0.8)
    for chosen, filling in ((dependent, INK), (~dependent, "none")):
        ax.plot(absolute[chosen], place[chosen], **_mark("o", 5, 0.8, filling))
    ax.plot(result.importances[best], place, **_mark("|", 10, 1.4))
    feature_axis(ax, [result.names[j] for j in best])
    ax.set_xlim(_span(result, best))
    title = "effect" if result.unit == "1" else f"effect ({result.unit})"
    return finish(ax, title, grid="x", ticks="x", nbins=5)


def _span(result: ContextImportances, best: NDArray[np.intp]) -> tuple[float, float]:
    """Return the ends of the axis of effects, equal for all contexts."""
    low = min(0.0, float(result.signed[:, best].min()))
    high = max(float(result.absolute[:, best].max()), float(result.importances[best].max()))
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def effect_marks() -> list[object]:
    """Return handles, with labels, for a legend of `context_effects`."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=ACCENT, alpha=0.85, label="signed effect: less informative there"),
        Patch(facecolor=AGAINST, alpha=0.85, label="signed effect: more informative there"),
        Line2D([], [], **_mark("|", 10, 1.4), label="importance on all rows"),
        Line2D([], [], **_mark("o", 5, 0.8, INK), label="absolute effect: depends"),
        Line2D([], [], **_mark("o", 5, 0.8), label="absolute effect: does not depend"),
    ]


def context_links(
    network: ContextNetwork,
    *,
    effects: Sequence[str] = ("absolute",),
    contexts: Iterable[str] | None = None,
    alpha: float = 0.05,
    control: Control = "fdr",
    figure: Figure | None = None,
) -> Figure:
    """Draw which links depend on a context as matrices (thesis, figure 6.1).

    A row of panels for each effect, a column for each context. The cell in row i and column j of a
    panel is what the context does to the link from source j to target i: empty where it is not
    significant, blue where the context takes from the link (redundant), vermilion where it adds to
    it (complementary), the fuller the more. Links that are significant by "absolute" have the
    color of the signed effect, those by "plain" that of the plain one. A variable and itself is
    grey. All panels share the scale of the colors.

    Parameters
    ----------
    network : ContextNetwork
        With p-values.
    effects : sequence of {"absolute", "signed", "plain"}
        Effects whose significance counts; those with p-values only.
    contexts : iterable of str, optional
        Values of the context to show, by default all.
    alpha : float
        Level, in [0, 1].
    control : {"fdr", "fwer", "none"}
        Error rate over all links and contexts that `alpha` bounds.
    figure : matplotlib.figure.Figure, optional
        Where to draw; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure
        Its ``axes`` are the panels, and that of the color bar.

    Raises
    ------
    ValueError
        If there is no effect, one is unknown or has no p-values, or a context is unknown.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 5
    >>> network = dm.contexts.context_network(X, [0, 1] * 10, n_permutations=9)
    >>> len(dm.plots.context_links(network).axes)  # a panel a context, and the scale of colors
    3
    """
    shown = _chosen("context_links", network.contexts, contexts)
    rows = _chosen("context_links", EFFECTS, [effects] if isinstance(effects, str) else effects)
    limit = link_limit(network, rows, shown, alpha, control)
    p, n_targets = len(network.names), len(network.analyses)
    cell = 0.16 if p <= MOST_NAMES else 6.0 / p
    width = 0.8 + len(shown) * (1.2 + max(1.6, cell * p))
    canvas = canvas_or_new(figure, width, 0.5 + len(rows) * (1.4 + max(1.0, cell * n_targets)))
    panels = canvas.subplots(len(rows), len(shown), squeeze=False, sharex=True, sharey=True)
    for i, effect in enumerate(rows):
        for panel, value in zip(panels[i], shown, strict=True):
            links_in_context(
                network, value, effect=effect, alpha=alpha, control=control, limit=limit, ax=panel
            )
            title = f"{network.context_name} = {value}"
            title = f"{title}, {effect}" if len(rows) > 1 else title
            panel.set_title(label(title), fontsize=9, color=INK)
            panel.label_outer()
    color_bar(panels.ravel().tolist(), limit, color_words(network, rows))
    return canvas


def links_in_context(
    network: ContextNetwork,
    context: str,
    *,
    effect: str = "absolute",
    alpha: float = 0.05,
    control: Control = "fdr",
    limit: float | None = None,
    scale: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw one panel of `context_links`, whose parameters these are.

    Parameters
    ----------
    limit : float, optional
        Effect of the fullest color; by default the largest one of this panel.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 5
    >>> network = dm.contexts.context_network(X, [0, 1] * 10, n_permutations=9)
    >>> dm.plots.links_in_context(network, "0").get_xlabel()
    'source'
    """
    from matplotlib.collections import PolyCollection

    (value,) = _chosen("links_in_context", network.contexts, [context])
    targets = [network.names.index(name) for name in network.analyses]
    significant = network.mask(effect, value, alpha, control).T[targets]
    amounts = network.in_context(value, _colored(effect)).weights.T[targets]
    most = link_limit(network, [effect], [value], alpha, control) if limit is None else limit
    n_targets, p = significant.shape
    ax = axes_or_new(ax, 2.0 + 0.16 * p, 1.2 + 0.16 * n_targets)
    cells = np.argwhere(significant)
    drawn = PolyCollection(
        _squares(cells),
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
    _names(ax, network)
    ax.set_xlabel("source")
    ax.set_ylabel("target")
    tidy(ax)
    if p <= MOST_NAMES:
        ax.tick_params(labelsize=9.0 if p <= 12 else 7.0 if p <= 32 else 5.0)
    for spine in ax.spines.values():
        spine.set(visible=True, color=MUTED, linewidth=0.6)
    if scale:
        color_bar(ax, most, color_words(network, [effect]))
    return ax


def link_limit(
    network: ContextNetwork,
    effects: Iterable[str],
    contexts: Iterable[str],
    alpha: float,
    control: Control,
) -> float:
    """Return the largest size of the effects that are drawn in color, 1 where there are none."""
    most = 0.0
    for effect, value in product(effects, contexts):
        amounts = network.in_context(value, _colored(effect)).weights
        significant = network.mask(effect, value, alpha, control)
        most = max(most, float(np.abs(amounts[significant]).max(initial=0)))
    return most or 1.0


def color_words(network: ContextNetwork, effects: Sequence[str]) -> str:
    """Return what the colors are of, and its unit if all targets have the same."""
    units = {analysis.unit for analysis in network.analyses.values()}
    what = {_colored(effect) for effect in effects}
    name = f"{what.pop()} effect" if len(what) == 1 else "effect"
    return f"{name} ({units.pop()})" if len(units) == 1 else name


def color_bar(panels: Axes | Sequence[Axes], limit: float, words: str) -> Axes:
    """Draw the scale of the colors beside panels of links; `words` say what it is of."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    first = panels[0] if isinstance(panels, Sequence) else panels
    scale = ScalarMappable(Normalize(-limit, limit), signed_colors(_FAINTEST))
    bar = first.figure.colorbar(
        scale, ax=panels, shrink=0.7, aspect=24, pad=0.05, ticks=MaxNLocator(5), drawedges=False
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelcolor=INK, labelsize=8)
    bar.ax.set_title("less\ninformative", color=MUTED, fontsize=8)
    bar.ax.set_xlabel("more\ninformative", color=MUTED, fontsize=8)
    bar.set_label(words, color=MUTED, fontsize=8)
    return bar.ax


def _colored(effect: str) -> str:
    """Return the effect whose sign and size give the color."""
    return "signed" if effect == "absolute" else effect


def _squares(cells: NDArray[np.intp]) -> list[FloatArray]:
    """Corners, each of shape (4, 2), of cells that are given by row and column."""
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)
    return [np.array([column, row]) + corners for row, column in cells]


def _names(ax: Axes, network: ContextNetwork) -> None:
    p, n_targets = len(network.names), len(network.analyses)
    if p > MOST_NAMES:
        ax.set_xticks([])
        ax.set_yticks([])
        return
    sources = [label(name, NAME_LETTERS) for name in network.names]
    targets = [label(name, NAME_LETTERS) for name in network.analyses]
    ax.set_xticks(np.arange(p) + 0.5, sources, rotation=90)
    ax.set_yticks(np.arange(n_targets) + 0.5, targets)


def _mark(marker: str, size: float, width: float, filling: str = "none") -> dict[str, Any]:
    return {
        "marker": marker,
        "markersize": size,
        "markerfacecolor": filling,
        "markeredgecolor": INK,
        "markeredgewidth": width,
        "linestyle": "none",
    }


def _chosen(function: str, allowed: Sequence[str], asked: Iterable[str] | None) -> list[str]:
    """Return the names that were asked for, in their order; all by default."""
    chosen = list(allowed) if asked is None else list(asked)
    unknown = [name for name in chosen if name not in allowed]
    if unknown or not chosen:
        raise ValueError(
            f"plots.{function}: what is shown must be some of {list(allowed)}, got {unknown[0]!r}."
            if unknown
            else f"plots.{function}: there is nothing to show."
        )
    return chosen


CONTEXT_EFFECTS = figure(context_effects, (ContextImportances,), panels=True)
CONTEXT_LINKS = figure(context_links, (ContextNetwork,), panels=True)
EFFECTS_IN_CONTEXT = figure(
    effects_in_context,
    (ContextImportances,),
    lambda result, options: rows_height(len(result), options["k"]),
)
LINKS_IN_CONTEXT = figure(
    links_in_context,
    (ContextNetwork,),
    lambda network, _: 2.0 + min(3.2, 0.2 * len(network.analyses)),
)
