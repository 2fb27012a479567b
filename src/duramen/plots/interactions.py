"""Interactions of pairs of features, as a matrix and as a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    INK,
    axes_or_new,
    in_cell,
    label,
    rows_height,
    signed_colors,
    tidy,
)
from duramen.plots.network import label_circle
from duramen.results.archive import is_sparse
from duramen.results.pair_interactions import PairInteractions
from duramen.results.result import figure
from duramen.support.checks import check_integer, check_real

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 12  # features up to which cells have numbers


def interaction_matrix(result: PairInteractions, *, k: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the interactions of the `k` features with the strongest ones as a matrix.

    Synergy is blue, redundancy vermilion.

    Parameters
    ----------
    result : PairInteractions
        Interactions of pairs.
    k : int
        Number of features to show, by the largest size of an interaction of each.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1, or there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> pairs = dm.theory.population_interactions(dm.theory.examples.xor())
    >>> dm.plots.interaction_matrix(pairs).get_xlabel()
    'population interaction (bits); full color at 1'
    """
    check_integer("plots.interaction_matrix", "k", k, 1)
    if not result.names:
        raise ValueError("plots.interaction_matrix: result must have a feature, got none.")
    strength = abs(result.values).max(axis=1)
    strength = np.asarray(strength.toarray() if is_sparse(result.values) else strength).ravel()
    best = np.argsort(-strength, kind="stable")[:k]
    values = result.values[best][:, best]
    values = np.asarray(values.toarray() if is_sparse(values) else values)
    most = float(np.abs(values).max()) or 1.0
    size = 1.6 + 0.3 * len(best)
    ax = axes_or_new(ax, size + 1.0, size)
    ax.pcolormesh(values, cmap=signed_colors(), vmin=-most, vmax=most, snap=True)
    if len(best) <= _MOST_NUMBERS:
        for row, column in np.argwhere(np.abs(values) >= 0.005 * most):
            value = values[row, column]
            in_cell(ax, row, column, f"{value:.2g}", strong=abs(value) > 0.75 * most, size=7)
    names = [label(result.names[j]) for j in best]
    middles = np.arange(len(best)) + 0.5
    ax.set_xticks(middles, names, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(middles, names)
    ax.set_ylim(len(best), 0)
    ax.set_xlabel(f"{result.measure} ({result.unit}); full color at {most:.2g}")
    tidy(ax)
    return ax


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
    check_integer(owner, "n", n, 1)
    check_real(owner, "alpha", alpha, 0, 1)
    first, second = (index[:n] for index in result.order())
    if not len(first):
        raise ValueError(f"{owner}: result must have a pair, got none.")
    columns = {what: column[:n] for what, column in result.columns().items()}
    values = np.asarray(columns["interaction"])
    most = float(np.abs(values).max()) or 1.0
    clear = np.asarray(columns.get("p_adjusted", np.zeros(len(values)))) <= alpha
    nodes, ends = np.unique(np.r_[first, second], return_inverse=True)
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(nodes)) / len(nodes)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
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
    label_circle(ax, [label(result.names[j]) for j in nodes], places)
    return ax


INTERACTION_MATRIX = figure(
    interaction_matrix,
    (PairInteractions,),
    lambda result, options: 1.0 + rows_height(len(result.names), options.get("k", 20)),
)
INTERACTION_NETWORK = figure(interaction_network, (PairInteractions,), lambda *_: 6.0)
