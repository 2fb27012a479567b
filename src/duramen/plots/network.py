"""Networks as graphs, their scores as curves, and the signals that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.networks.connectome import (
    Components,
    difference,
    emphasize,
    hard_threshold,
    low_pass,
)
from duramen.plots.canvas import (
    ACCENT,
    DASHES,
    INK,
    MUTED,
    axes_or_new,
    canvas_or_new,
    finish,
    label,
)
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.results.result import figure
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
            label_circle(ax, names, where)
        else:
            _label_places(ax, names, where)
    return ax


def label_circle(ax: Axes, names: list[str], where: FloatArray) -> None:
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
    """Write names beside points, toward the middle; leave out those that would cover another."""
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
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(nodes)) / len(nodes)
        points = np.column_stack([np.cos(angles), np.sin(angles)])
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
    named = _named(scores, "precision_recall")
    ax = axes_or_new(ax, 6.4, 3.6)
    for (name, score), dash in zip(named.items(), cycle(DASHES), strict=False):
        _curve(ax, score.recall, score.precision, f"{name}AUPR {score.aupr:.3f}", dash)
    ax.axhline(next(iter(named.values())).random_aupr, color=MUTED, linewidth=1.0)
    return _squared(ax, "recall", "precision")


def roc(scores: Scores, *, ax: Axes | None = None) -> Axes:
    """Draw the ROC curve of one network, or of several by name.

    A gray line shows a random order.

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
    >>> dm.plots.roc({"first": network.score([("b", "c")])}).get_xlabel()
    'false positive rate'
    """
    ax = axes_or_new(ax, 6.4, 3.6)
    for (name, score), dash in zip(_named(scores, "roc").items(), cycle(DASHES), strict=False):
        _curve(ax, score.false_positive_rate, score.recall, f"{name}AUROC {score.auroc:.3f}", dash)
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1.0)
    return _squared(ax, "false positive rate", "true positive rate")


def _named(scores: Scores, function: str) -> dict[str, NetworkScores]:
    """Return the scores by the beginnings of their labels."""
    if isinstance(scores, NetworkScores):
        return {"": scores}
    if not scores:
        raise ValueError(f"plots.{function}: scores must hold at least one network.")
    return {f"{label(name)}: ": score for name, score in scores.items()}


def _curve(ax: Axes, x: FloatArray, y: FloatArray, text: str, dash: str) -> None:
    """Draw a curve of at most so many points."""
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), _POINTS)).astype(np.int64))
    ax.plot(x[some], y[some], color=ACCENT, linewidth=1.6, linestyle=dash, label=text)


def _squared(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK)
    return finish(ax, xlabel, ylabel)


NETWORK_GRAPH = figure(network_graph, (Network,), lambda *_: 6.0)
PRECISION_RECALL = figure(precision_recall, (NetworkScores,), lambda *_: 3.2)
ROC = figure(roc, (NetworkScores,), lambda *_: 3.2)


_STAGES = ("fluorescence", "low-pass", "difference", "threshold", "weighted")


def calcium_stages(
    fluorescence: ArrayLike,
    *,
    neurons: int | Iterable[int] = 0,
    low_pass_filter: str = "f1",
    threshold: float = 0.12,
    frames: tuple[int, int] | None = None,
    frame_time: float | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw the signal of neurons after each filter, one panel a stage (Figure 8.3.1).

    The stages are the fluorescence, the low-pass filter f, the difference g, the threshold h, and
    the weights w. The sums over the network that w takes are those of all neurons given.

    Parameters
    ----------
    fluorescence : array-like of shape (T, p)
        Frames by neurons.
    neurons : int or iterable of int
        Columns to draw.
    low_pass_filter : {"f1", "f2", "f3", "f4"}
        Low-pass filter.
    threshold : float
        Threshold of h.
    frames : (int, int), optional
        First frame and the one after the last to draw; all by default.
    frame_time : float, optional
        Milliseconds between frames, for an axis in seconds; an axis in frames by default.
    figure : matplotlib.figure.Figure, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If a neuron or frame is not in the recording.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> signal = np.random.default_rng(0).random((50, 3))
    >>> len(dm.plots.calcium_stages(signal, neurons=[0, 2]).axes)
    5
    """
    function = "plots.calcium_stages"
    x = np.asarray(fluorescence, dtype=np.float64)
    smooth = low_pass(x, low_pass_filter)
    rises = difference(smooth)
    peaks = hard_threshold(rises, threshold)
    first, last = (0, len(x)) if frames is None else frames
    checks.check_integer(function, "frames", last, 1, most=len(x))
    checks.check_integer(function, "frames", first, 0, most=last - 1)
    asked = [neurons] if checks.is_integer(neurons) else list(neurons)  # type: ignore[arg-type]
    chosen = [checks.check_integer(function, "neurons", i, 0, most=x.shape[1] - 1) for i in asked]
    canvas = canvas_or_new(figure, 6.4, 6.8)
    panels = canvas.subplots(len(_STAGES), 1, sharex=True)
    time = np.arange(first, last) * (1.0 if frame_time is None else frame_time / 1000)
    stages: tuple[Any, ...] = (x, smooth, rises, peaks.toarray(), emphasize(peaks).toarray() + 1)
    for ax, name, stage in zip(panels, _STAGES, stages, strict=True):
        for i, dash in zip(chosen, cycle(DASHES), strict=False):
            ax.plot(time, stage[first:last, i], color=ACCENT, linewidth=0.9, linestyle=dash)
        finish(ax, "", name, nbins=4)
    panels[-1].set_xlabel("frame" if frame_time is None else "time (s)")
    return canvas


def component_spectrum(
    components: Components | Mapping[str, Components],
    *,
    quantity: str = "explained_variance_ratio",
    ax: Axes | None = None,
) -> Axes:
    """Draw the spectrum of a network, or of several by name (Figure 8.C.1).

    Parameters
    ----------
    components : Components, or mapping of str to Components
        From :func:`duramen.networks.connectome.components`.
    quantity : {"explained_variance_ratio", "singular_value_ratio"}
        Ratio to draw by number of the component.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the quantity is unknown, or there is nothing to draw.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> found = dm.networks.connectome.components(np.diag([3.0, 1.0, 0.0]))
    >>> dm.plots.component_spectrum(found).get_ylabel()
    'explained variance ratio'
    """
    function = "plots.component_spectrum"
    allowed = ("explained_variance_ratio", "singular_value_ratio")
    checks.check_choice(function, "quantity", quantity, allowed)
    named = {"": components} if isinstance(components, Components) else dict(components)
    if not named:
        raise ValueError(f"{function}: components must hold at least one network.")
    ax = axes_or_new(ax, 6.4, 3.6)
    for (name, components_), dash in zip(named.items(), cycle(DASHES), strict=False):
        values = getattr(components_, quantity)
        place = np.arange(1, len(values) + 1)
        ax.plot(place, values, color=ACCENT, linewidth=1.6, linestyle=dash, label=label(name))
    if len(named) > 1:
        ax.legend(frameon=False, fontsize=9, labelcolor=INK)
    return finish(ax, "principal component", quantity.replace("_", " "))


COMPONENT_SPECTRUM = figure(component_spectrum, (Components,))
