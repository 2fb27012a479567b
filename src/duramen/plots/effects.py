"""Effect of one feature on the predictions of a forest, and its values against the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    DASHES,
    INK,
    MUTED,
    axes_or_new,
    finish,
    label,
    robust_limits,
    rows_height,
)
from duramen.plots.svg import round_numbers
from duramen.results.feature_effect import FeatureEffect
from duramen.results.result import figure
from duramen.support.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from duramen.data.dates import Dates


def effect(
    result: FeatureEffect,
    *,
    of: str | None = None,
    target_name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the effect of a feature against its values, or its categories.

    Categories without an order are points, which no line joins. Of values far from all others the
    axis says how many it leaves out.

    If the feature can be missing, a dashed line shows the effect where it is.

    Parameters
    ----------
    result : FeatureEffect
        Accumulated local effect or partial dependence.
    of : str, optional
        The class whose probability is drawn; by default the second of two, or all.
    target_name : str
        Name of the target for the axis, with its unit, where there are no classes.
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
    outputs = [1] if result.values.shape[1] == 2 else range(result.values.shape[1])
    if of is not None:
        if of not in result.classes:
            allowed = ", ".join(map(repr, result.classes)) or "None: there are no classes"
            raise ValueError(f"plots.effect: of must be one of {allowed}, got {of!r}.")
        outputs = [result.classes.index(of)]
    ax = axes_or_new(ax, 4.4, 2.6)
    for place, c in enumerate(outputs):
        color = ACCENT if place == 0 else INK
        marker = "o" if len(result) <= 12 or result.kind == "nominal" else ""
        ax.plot(
            result.points,
            result.values[:, c],
            color=color,
            linewidth=1.6,
            linestyle="" if result.kind == "nominal" else DASHES[place % len(DASHES)],
            marker=marker,
            markersize=4,
            label=label(result.classes[c]) if result.classes else None,
        )
        if result.missing is not None:
            line: dict[str, Any] = {"color": MUTED, "linewidth": 1.0, "linestyle": "--"}
            title = f"{label(result.name, 16)} missing" if place == 0 else None
            ax.axhline(float(result.missing[c]), **line, label=title)
    if result.method != "partial_dependence":
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
    if len(outputs) > 1 or result.missing is not None:
        ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    named = label(result.classes[outputs[0]] if result.classes else target_name)
    title = f"effect on {named}" if named and len(outputs) == 1 else "effect"
    finish(ax, label(result.name), title, nbins=5)
    if result.labels:
        ax.set_xticks(range(len(result)), [label(name, 12) for name in result.labels])
        ax.set_xlim(-0.4, len(result) - 0.6)
    else:
        robust_limits(ax, result.points, dates=result.dates)
    return ax


EFFECT = figure(effect, (FeatureEffect,), lambda *_: 2.3, svg=True)


_MOST = 300
_SPREAD = 0.3
_NORMAL = 1.959964  # 97.5 % quantile of the normal distribution
_AT_RISK = 10  # rows at risk where a curve with entries begins: fewer may all have the event
_LOOKS = ((ACCENT, "-"), (AGAINST, "--"), (INK, ":"), (MUTED, "-."))


def against_target(
    values: ArrayLike,
    target: ArrayLike,
    *,
    name: str = "feature",
    target_name: str = "target",
    order: Sequence[str] = (),
    dates: Dates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a feature by class or against a target of numbers, or survival by the feature.

    Numbers in classes are drawn as a box plot (median, quartiles, and the most extreme values
    within 1.5 interquartile ranges of them) over a strip of the single rows; numbers against
    numbers as points; numbers by category as box plots by category; classes by category as the
    fraction of each class in each category. Survival is drawn as the Kaplan-Meier curves of the
    lowest, middle and highest third of the values, or of the four largest categories; with entries,
    from the first time with ten rows at risk on. Bands are pointwise 95 % confidence intervals
    (variance by Greenwood's formula, of the logarithm of -log S), ticks on a curve are censored
    rows, and the numbers below are rows at risk. Of numbers far from all others the axis says how
    many it leaves out.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers, or categories as strings; NaN and None are left out.
    target : array-like of shape (n,)
        Numbers, classes as strings, or survival as a structured array of fields ``event``,
        ``time`` and, with left truncation, ``entry``.
    name, target_name : str
        Names for the axes.
    order : sequence of str
        Categories of the feature in the order to draw them in, such as that of their effects;
        others follow in alphabetical order.
    dates : Dates, optional
        How dates are read as the numbers of the feature, as ``data.table.dates`` of a learning set
        has it by name: the axis then has dates.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no row, or the lengths differ.

    Examples
    --------
    >>> import duramen as dm
    >>> ax = dm.plots.against_target([1.0, 2.0, 4.0], ["a", "a", "b"], name="dose")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    x, y = np.asarray(values), np.asarray(target)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            "plots.against_target: values and target must be of the same length, got shapes "
            f"{x.shape} and {y.shape}."
        )
    present = np.array(
        [a is not None and a == a and b is not None and b == b for a, b in zip(x, y, strict=True)]
    )
    if not present.any():
        raise ValueError("plots.against_target: values must have a row with a value, got none.")
    x, y = (
        column
        if column.dtype.names is not None
        else column.astype(np.float64 if column.dtype.kind in "iuf" else str)
        for column in (x[present], y[present])
    )
    ax = axes_or_new(ax, 4.4, 2.6)
    if y.dtype.names is not None:
        return _survival(ax, y, _groups(x, order, dates), label(name, 16), label(target_name))
    if x.dtype.kind == "f" and y.dtype.kind == "f":
        some = _some(len(x))
        ax.plot(x[some], y[some], "o", color=ACCENT, markersize=3, alpha=0.6, markeredgewidth=0)
        finish(ax, label(name), label(target_name), nbins=5)
        robust_limits(ax, x, dates=dates)
        robust_limits(ax, y, "y")
        return ax
    if x.dtype.kind == "f":
        return _boxes(ax, x, y, label(name), label(target_name), np.unique(y).tolist(), dates)
    names = _in_order(x, order)
    if y.dtype.kind == "f":
        return _boxes(ax, y, x, label(target_name), label(name), names)
    classes = np.unique(y)
    thick = 0.8 / len(classes)
    for k, value in enumerate(classes):
        ax.bar(
            np.arange(len(names)) + (k + 0.5) * thick - 0.4,
            [float((y[x == category] == value).mean()) for category in names],
            width=0.92 * thick,
            color=ACCENT,
            alpha=0.35 + 0.6 * k / max(1, len(classes) - 1),
            label=label(str(value), 16),
        )
    finish(ax, label(name), "fraction", ticks="y", nbins=5)
    ax.set_xticks(range(len(names)), [label(str(category), 12) for category in names])
    ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    return ax


def _some(n: int) -> NDArray[np.intp]:
    """Return the indices of at most 300 rows, at equal distances."""
    return np.asarray(np.linspace(0, n - 1, min(n, _MOST)), dtype=np.intp)


def _boxes(
    ax: Axes,
    numbers: FloatArray,
    groups: NDArray[Any],
    xlabel: str,
    ylabel: str,
    names: list[str],
    dates: Dates | None = None,
) -> Axes:
    """Draw a box plot and a strip of rows for each group, from top to bottom."""
    for place, name in enumerate(names):
        part = numbers[groups == name]
        low, middle, high = np.quantile(part, [0.25, 0.5, 0.75])
        reach = 1.5 * (high - low)
        ends = part[(part >= low - reach) & (part <= high + reach)]
        box: dict[str, Any] = {"facecolor": "none", "edgecolor": INK, "linewidth": 1.1}
        ax.barh(place, high - low, left=low, height=0.5, **box)
        ax.vlines(middle, place - 0.25, place + 0.25, color=INK, linewidth=2.0)
        ax.hlines([place] * 2, [ends.min(), high], [low, ends.max()], color=INK, linewidth=1.1)
        shown = part[_some(len(part))]
        # The golden ratio spreads neighbors over the width, the same in every run.
        jitter = ((np.arange(len(shown)) * 0.618034) % 1 - 0.5) * 2 * _SPREAD
        dots: dict[str, Any] = {
            "color": ACCENT,
            "markersize": 3,
            "alpha": 0.5,
            "markeredgewidth": 0,
        }
        ax.plot(shown, place + jitter, "o", **dots)
    finish(ax, xlabel, ylabel, grid="x", ticks="x", nbins=5)
    ax.set_yticks(range(len(names)), [label(str(name), 16) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    robust_limits(ax, numbers, dates=dates)
    return ax


def _in_order(categories: NDArray[Any], order: Sequence[str]) -> list[str]:
    """Return the categories that occur: in `order` first, then by name."""
    here: list[str] = np.unique(categories).tolist()
    return [
        *(value for value in order if value in here),
        *(value for value in here if value not in order),
    ]


def _groups(
    values: NDArray[Any], order: Sequence[str] = (), dates: Dates | None = None
) -> list[tuple[str, BoolArray]]:
    """Return groups of rows with their titles."""
    text = "{:.4g}".format if dates is None else dates.label
    distinct, sizes = np.unique(values, return_counts=True)
    if values.dtype.kind != "f":
        largest = distinct[np.argsort(-sizes, kind="stable")[: len(_LOOKS)]]
        return [(label(str(value), 16), values == value) for value in _in_order(largest, order)]
    if len(distinct) <= 3:
        return [(text(value), values == value) for value in distinct.tolist()]
    low, high = np.quantile(values, [1 / 3, 2 / 3], method="inverted_cdf").tolist()
    parts = [
        (f"up to {text(low)}", values <= low),
        (f"up to {text(high)}", (values > low) & (values <= high)),
        (f"above {text(high)}", values > high),
    ]
    return [(title, rows) for title, rows in parts if rows.any()]


_TIMES = 5  # intervals between the times at which rows at risk are counted
_LINE = 0.14  # height of a line of these counts, on an axis where 1 is everyone


def _survival(
    ax: Axes, y: NDArray[Any], groups: list[tuple[str, BoolArray]], name: str, time: str
) -> Axes:
    """Draw the Kaplan-Meier curves of some groups of rows, and how many are at risk."""
    last = float(y["time"].max())
    ticks = round_numbers(0.0, last, _TIMES)[0] if last > 0 else [0.0]
    for k, (title, rows) in enumerate(groups):
        own, (color, dashes) = y[rows], _LOOKS[k % len(_LOOKS)]
        times, surviving, low, high = kaplan_meier(own)
        look: dict[str, Any] = {"color": color, "linewidth": 1.6, "linestyle": dashes}
        ax.step(times, surviving, where="post", label=title, **look)
        ax.fill_between(times, low, high, step="post", color=color, alpha=0.12, linewidth=0)
        censored = np.unique(own["time"][~own["event"].astype(bool)])
        censored = censored[censored >= times[0]]
        at = np.searchsorted(times, censored, side="right") - 1
        ticked: dict[str, Any] = {"color": color, "markersize": 5, "markeredgewidth": 0.9}
        ax.plot(censored, surviving[at], "|", **ticked, linestyle="")
        entry = own["entry"] if "entry" in (own.dtype.names or ()) else np.full(len(own), -np.inf)
        for tick in ticks:
            n = int(np.count_nonzero((entry < tick) & (own["time"] >= tick)))
            place = tick, -_LINE * (k + 1)
            ax.text(*place, f"{n:,}", ha="center", va="center", fontsize=8, color=color)
    finish(ax, f"{time}; numbers: rows at risk", "fraction without the event", grid="x")
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    fractions = [0.0, 0.25, 0.5, 0.75, 1.0]
    lines = [-_LINE * (k + 1) for k in range(len(groups))]
    titles = [title for title, _ in groups]
    ax.set_yticks([*fractions, *lines], [*(f"{f:g}" for f in fractions), *titles])
    ax.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    ax.set_xlim(-0.03 * (last or 1.0), 1.04 * (last or 1.0))
    ax.set_ylim(-_LINE * (len(groups) + 0.6), 1.03)
    ax.legend(frameon=False, fontsize=8, labelcolor=INK, title=name, title_fontsize=8)
    return ax


def kaplan_meier(y: NDArray[Any]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Estimate the survival function S, with pointwise 95 % confidence limits.

    The limits are ``S ** exp(-+ 1.96 s / log S)``, where ``s ** 2`` is Greenwood's sum of
    ``d / (n (n - d))`` over the times of d events among n rows at risk (Kalbfleisch and Prentice
    2002, section 1.4.1); both are S where S is 1, and NaN where it is 0.

    Parameters
    ----------
    y : structured ndarray of shape (n,)
        Fields ``event``, ``time`` and, with left truncation, ``entry``.

    Returns
    -------
    times, surviving, low, high : ndarrays of float64
        The first time is 0, or with entries the first with ten rows at risk.
    """
    distinct, place, rows = np.unique(y["time"], return_inverse=True, return_counts=True)
    at_risk, start = np.cumsum(rows[::-1])[::-1], 0
    if "entry" in (y.dtype.names or ()):
        entered = np.searchsorted(np.sort(y["entry"]), distinct)  # before each time
        at_risk = at_risk - (len(y) - entered)
        start = int(np.argmax(at_risk >= min(_AT_RISK, at_risk.max())))
    events, n = np.bincount(place, y["event"], len(distinct))[start:], at_risk[start:]
    surviving = np.append(1.0, np.cumprod(1.0 - events / n))
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.append(0.0, np.cumsum(events / (n * (n - events))))
        reach = np.exp(_NORMAL * np.sqrt(variance) / np.log(surviving))  # below 1
        low, high = surviving ** (1 / reach), surviving**reach
    for limit in (low, high):
        limit[surviving == 1.0], limit[surviving == 0.0] = 1.0, np.nan
    first = distinct[start] if start else 0.0
    return np.append(first, distinct[start:]), surviving, low, high


def _height(values: ArrayLike, options: Mapping[str, Any]) -> float:
    """Return the inches on a page, in which each of the box plots has room for its name."""
    x, y = np.asarray(values), np.asarray(options["target"])
    numeric = x.dtype.kind in "iuf"
    if y.dtype.names is not None:
        return 2.3 + 0.24 * min(len(_LOOKS) - numeric, len({*x.tolist()}))
    if numeric == (y.dtype.kind in "iuf"):
        return 2.3
    return max(2.3, rows_height(len({*(y if numeric else x).tolist()})))


AGAINST_TARGET = figure(against_target, (), _height, svg=True)
