"""Networks as graphs, and their scores as curves; interactions of pairs as a graph."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    DASHES,
    INK,
    MUTED,
    axes_or_new,
    circle,
    finish,
    label,
)
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.results.pair_interactions import PairInteractions
from duramen.results.result import figure
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 2000  # of a curve
_NAMED = 40  # nodes whose names fit
_FONT = 8

Scores = NetworkScores | Mapping[str, NetworkScores]


def network_graph(
    network: Network, *, n: int = 50, positions: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the variables of the heaviest links, and these links, the wider the heavier.

    Parameters
    ----------
    network : Network
        Any network.
    n : int
        Number of links.
    positions : array-like of shape (p, 2), optional
        Place of each variable, such as that of a neuron; all are then drawn. By default those that
        have a link stand on a circle, in their order.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the network has no candidates, or `positions` have another shape.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> network = dm.Network(("a", "b", "c"), np.triu(np.ones((3, 3)), 1))
    >>> len(dm.plots.network_graph(network, n=2).texts)
    5
    """
    n = min(checks.check_integer("plots.network_graph", "n", n, 1), network.n_candidates)
    if not n:
        raise ValueError("plots.network_graph: network must have a candidate link, got none.")
    sources, targets = network.ranked(n)
    nodes, place = _placed(network, sources, targets, positions)
    ax = axes_or_new(ax, 6.4, 6.4)
    weights = np.abs(network.weights[sources, targets]).astype(np.float64)
    widths = 0.4 + 2.6 * weights / (weights.max() or 1.0)
    for i, j, wide in zip(sources.tolist(), targets.tolist(), widths.tolist(), strict=True):
        ax.annotate(
            "",
            xy=place[j],
            xytext=place[i],
            arrowprops={
                "arrowstyle": "-|>" if network.directed else "-",
                "color": ACCENT,
                "alpha": 0.6,
                "linewidth": wide,
                "shrinkA": 5,
                "shrinkB": 5,
                "connectionstyle": "arc3,rad=0.08" if network.directed else "arc3,rad=0",
            },
        )
    where = np.array([place[i] for i in nodes])
    ax.plot(where[:, 0], where[:, 1], "o", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    if len(nodes) <= _NAMED:
        names = [label(network.names[i]) for i in nodes]
        if positions is None:
            _label_circle(ax, names, where)
        else:
            _label_places(ax, names, where)
    return ax


def _label_circle(ax: Axes, names: list[str], where: FloatArray) -> None:
    """Write names along the radii of a circle, outside of it."""
    for name, (x, y) in zip(names, where.tolist(), strict=True):
        angle = np.degrees(np.arctan2(y, x))
        left = x < -1e-9
        ax.annotate(
            name,
            (x, y),
            xytext=(7 * x, 7 * y),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            rotation=angle + 180 if left else angle,
            rotation_mode="anchor",
            color=INK,
            fontsize=_FONT,
        )


def _label_places(ax: Axes, names: list[str], where: FloatArray) -> None:
    """Write names beside points, toward the middle; leave out names that would overlap."""
    figure: Any = ax.get_figure(root=True)
    figure.draw_without_rendering()
    middle, taken = float(where[:, 0].mean()), list[Any]()
    for name, at in zip(names, where.tolist(), strict=True):
        text = ax.annotate(
            name,
            at,
            xytext=(5 if at[0] <= middle else -5, 4),
            textcoords="offset points",
            ha="left" if at[0] <= middle else "right",
            color=INK,
            fontsize=_FONT,
        )
        text.set_in_layout(False)
        box = text.get_window_extent()
        if any(map(box.overlaps, taken)):
            text.remove()
        else:
            taken.append(box)


def _placed(
    network: Network,
    sources: IntArray,
    targets: IntArray,
    positions: ArrayLike | None,
) -> tuple[list[int], dict[int, tuple[float, float]]]:
    """Return the variables that are drawn, and their places."""
    if positions is None:
        nodes = np.unique(np.concatenate([sources, targets])).tolist()
        points = circle(len(nodes))
    else:
        nodes = list(range(len(network.names)))
        points = np.asarray(positions, dtype=np.float64)
        if points.shape != (len(nodes), 2) or not np.isfinite(points).all():
            raise ValueError(
                f"plots.network_graph: positions must be finite, of shape ({len(nodes)}, 2), got "
                f"shape {points.shape}."
            )
    pairs = zip(nodes, points.tolist(), strict=True)
    return nodes, {i: (x, y) for i, (x, y) in pairs}


def precision_recall(scores: Scores, *, ax: Axes | None = None) -> Axes:
    """Draw precision against recall of one network, or of several by name.

    A gray line shows the precision of a random order.

    Parameters
    ----------
    scores : NetworkScores, or mapping of str to NetworkScores
        From :meth:`duramen.Network.score`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are no scores.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> network = dm.Network(("a", "b", "c"), np.triu(np.arange(9.0).reshape(3, 3), 1))
    >>> dm.plots.precision_recall(network.score([("b", "c")])).get_ylabel()
    'precision'
    """
    named = {"": scores} if isinstance(scores, NetworkScores) else scores
    if not named:
        raise ValueError("plots.precision_recall: scores must hold at least one network.")
    ax = axes_or_new(ax, 6.4, 3.6)
    for (name, score), dash in zip(named.items(), cycle(DASHES), strict=False):
        n = len(score.recall)
        some = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).astype(np.int64))
        text = f"{label(name)}: AUPR {score.aupr:.3f}" if name else f"AUPR {score.aupr:.3f}"
        points = score.recall[some], score.precision[some]
        ax.plot(*points, color=ACCENT, linewidth=1.6, linestyle=dash, label=text)
    ax.axhline(next(iter(named.values())).random_aupr, color=MUTED, linewidth=1.0)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK)
    return finish(ax, "recall", "precision")


NETWORK_GRAPH = figure(network_graph, (Network,), lambda *_: 6.4, width=7.0)
PRECISION_RECALL = figure(precision_recall, (NetworkScores,), lambda *_: 3.2)


def interaction_network(
    result: PairInteractions, *, n: int = 30, alpha: float = 0.05, ax: Axes | None = None
) -> Axes:
    """Draw the `n` strongest pairs as lines between their features, the wider the stronger.

    Synergy is blue, redundancy vermilion; pairs with an adjusted p-value above `alpha` are faint.

    Parameters
    ----------
    result : PairInteractions
        Interactions of pairs.
    n : int
        Number of pairs to show.
    alpha : float
        Family-wise error rate, for results with adjusted p-values.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `n` is less than 1, `alpha` is not in [0, 1], or there is no pair.

    Examples
    --------
    >>> import duramen as dm
    >>> pairs = dm.theory.population_interactions(dm.theory.examples.xor())
    >>> len(dm.plots.interaction_network(pairs).lines)
    2
    """
    owner = "plots.interaction_network"
    checks.check_integer(owner, "n", n, 1)
    checks.check_real(owner, "alpha", alpha, 0, 1)
    first, second = (index[:n] for index in result.order())
    if not len(first):
        raise ValueError(f"{owner}: result must have a pair, got none.")
    columns = {what: column[:n] for what, column in result.columns().items()}
    values = np.asarray(columns["interaction"])
    most = float(np.abs(values).max()) or 1.0
    clear = np.asarray(columns.get("p_adjusted", np.zeros(len(values)))) <= alpha
    nodes, ends = np.unique(np.r_[first, second], return_inverse=True)
    places = circle(len(nodes))
    ax = axes_or_new(ax, 6.4, 6.4)
    for k, value in enumerate(values.tolist()):
        line = places[ends[[k, k + len(values)]]]
        ax.plot(
            line[:, 0],
            line[:, 1],
            color=ACCENT if value > 0 else AGAINST,
            linewidth=0.4 + 3.0 * abs(value) / most,
            alpha=0.8 if clear[k] else 0.2,
            solid_capstyle="round",
        )
    ax.plot(places[:, 0], places[:, 1], "o", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    _label_circle(ax, [label(result.names[j]) for j in nodes], places)
    return ax


INTERACTION_NETWORK = figure(interaction_network, (PairInteractions,), lambda *_: 6.4, width=7.0)
