"""Calcium signals between recording and association, and spectra of networks."""

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
from duramen.plots.canvas import ACCENT, INK, axes_or_new, finish, label
from duramen.results.figures import ResultFigure
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = ("-", "--", ":", "-.")
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
    if figure is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 6.8), layout="constrained")
    panels = figure.subplots(len(_STAGES), 1, sharex=True)
    time = np.arange(first, last) * (1.0 if frame_time is None else frame_time / 1000)
    stages: tuple[Any, ...] = (x, smooth, rises, peaks.toarray(), emphasize(peaks).toarray() + 1)
    for ax, name, stage in zip(panels, _STAGES, stages, strict=True):
        for i, dash in zip(chosen, cycle(_DASHES), strict=False):
            ax.plot(time, stage[first:last, i], color=ACCENT, linewidth=0.9, linestyle=dash)
        finish(ax, "", name, nbins=4)
    panels[-1].set_xlabel("frame" if frame_time is None else "time (s)")
    return figure


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
    for (name, one), dash in zip(named.items(), cycle(_DASHES), strict=False):
        values = getattr(one, quantity)
        place = np.arange(1, len(values) + 1)
        ax.plot(place, values, color=ACCENT, linewidth=1.6, linestyle=dash, label=label(name))
    if len(named) > 1:
        ax.legend(frameon=False, fontsize=9, labelcolor=INK)
    return finish(ax, "principal component", quantity.replace("_", " "))


COMPONENT_SPECTRUM = ResultFigure("component_spectrum", component_spectrum, (Components,))
