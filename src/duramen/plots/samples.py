"""Rows of a table and its first features: heat map, correlations, map of rows, volcano plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.target import midranks
from duramen.plots.canvas import (
    ACCENT,
    AGAINST,
    INK,
    MUTED,
    axes_or_new,
    finish,
    label,
    rows_height,
    tidy,
)
from duramen.plots.curves import COLORS
from duramen.results.result import figure
from duramen.results.significance import CANDIDATE, CONFIRMED
from duramen.results.summary import counted
from duramen.support.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 300  # of a heat map and a map of rows
_CLASSES = tuple(COLORS[k] for k in (2, 4, 3, 5, 0, 1))  # unlike those of low and high values first
_QUARTERS = (0.25, 0.5, 0.75)
_BAR = 1.2  # height of the bar of classes, in rows of a heat map
_NAMED = 6  # features of a volcano plot
_APART = 0.12  # distance of their names, as a fraction of the axes


class _Group(NamedTuple):
    """Rows of one color."""

    title: str
    rows: BoolArray
    color: str
    alpha: float = 1.0


def heat_map(
    X: ArrayLike,
    target: ArrayLike,
    *,
    names: Sequence[str] = (),
    target_name: str = "target",
    ax: Axes | None = None,
) -> Axes:
    """Draw the values of features in all rows as colors, the rows ordered by the target.

    A color is the rank of a value among those of its feature: vermilion is the lowest, the color of
    the page the median, blue the highest; missing values are gray. The bar on top shows the class
    of each row, the quarter of the values of a target of numbers, or whether a row has the event.
    Rows are ordered by class and within it by the first principal component of the ranks, or by
    target or time. Of more than 300 rows, 300 at equal distances are drawn.

    Parameters
    ----------
    X : array-like of shape (n, k)
        Numbers, NaN where missing.
    target : array-like of shape (n,)
        Classes, numbers, or survival as a structured array of fields ``event`` and ``time``.
    names : sequence of str, length k
        Names of the features; by default x0, x1, ...
    target_name : str
        Name of the target.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no row or no feature, or the lengths differ.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[1.0, 5.0], [2.0, 3.0], [3.0, 4.0]]
    >>> ax = dm.plots.heat_map(X, ["ill", "well", "ill"], names=["dose", "age"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['target', 'dose', 'age']
    """
    ranks, y, names = _checked("plots.heat_map", X, target, names)
    groups = _groups(y)
    if y.dtype.names is not None:
        order = np.argsort(y["time"], kind="stable")
    elif y.dtype.kind == "f":
        order = np.argsort(y, kind="stable")
    else:
        place = np.select([group.rows for group in groups], range(len(groups)))
        order = np.lexsort((_components(ranks)[0][:, 0], place))
    n, k = ranks.shape
    ax = axes_or_new(ax, 6.4, 1.4 + 0.24 * k)
    bar = np.zeros((1, n, 4), np.uint8)
    for group in groups:
        bar[0, group.rows] = *_rgb(group.color), round(255 * group.alpha)
        look: dict[str, Any] = {"color": group.color, "alpha": group.alpha}
        ax.plot([], [], "o", **look, linestyle="", label=group.title)
    drawing: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}
    ax.imshow(bar[:, order], extent=(0, n, -0.3, -0.3 - _BAR), **drawing)
    ax.imshow(_colors(ranks[order].T), extent=(0, n, k, 0), **drawing)
    ax.set_xticks([], [])
    middles = [-0.3 - _BAR / 2, *(np.arange(k) + 0.5)]
    ax.set_yticks(middles, [label(name, 16) for name in (target_name, *names)])
    ax.set_xlim(0, n)
    ax.set_ylim(k, -0.3 - _BAR)
    ordered = "" if y.dtype.kind == "U" else " in the order of time" if y.dtype.names else ""
    ax.set_xlabel(f"{counted(n, 'row')}{ordered}")
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4}
    ax.legend(frameon=False, fontsize=8, labelcolor=INK, **above)
    tidy(ax)
    return ax


def correlations(X: ArrayLike, *, names: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Draw Spearman's rank correlations of features with each other as a matrix.

    Blue is positive, vermilion negative, the fuller the larger; correlations from 0.5 on are
    written, in tenths. Missing values count as the median of their feature.

    Parameters
    ----------
    X : array-like of shape (n, k)
        Numbers, NaN where missing.
    names : sequence of str, length k
        Names of the features; by default x0, x1, ...
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no row or no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> ax = dm.plots.correlations([[1.0, 5.0], [2.0, 3.0], [3.0, 4.0]], names=["dose", "age"])
    >>> [text.get_text() for text in ax.texts]
    ['-5', '-5']
    """
    ranks, _, names = _checked("plots.correlations", X, None, names)
    filled = np.nan_to_num(ranks)  # the mean and the median of the ranks are 0
    norms = np.linalg.norm(filled, axis=0)
    r = filled.T @ filled / np.maximum(np.outer(norms, norms), 1e-12)
    k = len(r)
    ax = axes_or_new(ax, 6.4, 1.0 + 0.26 * k)
    drawing: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}
    ax.imshow(_colors(r), extent=(0, k, k, 0), **drawing)
    for i, j in np.argwhere(np.abs(r) >= 0.5 - 1e-9).tolist():
        if i != j:
            tenths = f"{10 * r[i, j]:.0f}"
            place = j + 0.5, i + 0.5
            ax.text(*place, tenths, ha="center", va="center", fontsize=7, color=INK)
    ticks = range(k) if k <= 12 else [0, *range(4, k, 5)]  # names of all would cover each other
    ax.set_xticks([j + 0.5 for j in ticks], [str(j + 1) for j in ticks])
    ax.set_yticks(
        np.arange(k) + 0.5, [f"{label(name, 16)} {j + 1}" for j, name in enumerate(names)]
    )
    ax.set_xlim(0, k)
    ax.set_ylim(k, 0)
    ax.set_xlabel("feature; cells in tenths")
    tidy(ax)
    return ax


def row_map(X: ArrayLike, target: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the rows by the first two principal components of the ranks of some features.

    Rows that lie near each other have similar values. Colors are classes, quarters of a target of
    numbers, or whether a row has the event. Missing values count as the median of their feature. Of
    more than 300 rows, 300 at equal distances are drawn.

    Parameters
    ----------
    X : array-like of shape (n, k)
        Numbers, NaN where missing; k is 2 or more.
    target : array-like of shape (n,)
        Classes, numbers, or survival as a structured array of fields ``event`` and ``time``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are fewer than two rows or features, or the lengths differ.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]
    >>> dm.plots.row_map(X, ["ill", "well", "ill"]).get_xlabel()
    'component 1 (100 % of the variance)'
    """
    ranks, y, _ = _checked("plots.row_map", X, target, (), least=2)
    scores, explained = _components(ranks)
    ax = axes_or_new(ax, 4.4, 3.4)
    for title, rows, color, alpha in _groups(y):
        look: dict[str, Any] = {"color": color, "markersize": 4, "markeredgewidth": 0}
        ax.plot(scores[rows, 0], scores[rows, 1], "o", **look, alpha=0.75 * alpha, label=title)
    first, second = (f"{100 * part:.0f} % of the variance" for part in explained[:2])
    finish(ax, f"component 1 ({first})", f"component 2 ({second})", nbins=5)
    ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    return ax


def volcano(
    effects: ArrayLike,
    evidence: ArrayLike,
    *,
    names: Sequence[str],
    verdicts: Sequence[str] = (),
    xlabel: str = "effect",
    ylabel: str = "evidence",
    ax: Axes | None = None,
) -> Axes:
    """Draw the evidence for features against their effects, a point each.

    Confirmed features are blue, candidates vermilion, others gray. The features of the most
    evidence are named where their names do not cover each other.

    Parameters
    ----------
    effects : array-like of shape (p,)
        Signed effects, such as correlations with the target.
    evidence : array-like of shape (p,)
        The larger the stronger, such as test statistics or -log10 of p-values.
    names : sequence of str, length p
        Names of the features.
    verdicts : sequence of str, length p, optional
        "confirmed", "candidate" or "noise"; by default all features are gray.
    xlabel, ylabel : str
        Names of the axes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no feature, or the lengths differ.

    Examples
    --------
    >>> import duramen as dm
    >>> ax = dm.plots.volcano(
    ...     [0.8, -0.7, 0.1], [9.0, 7.0, 0.2], names=["a", "b", "c"],
    ...     verdicts=["confirmed", "candidate", "noise"])
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', 'c']
    """
    x, y = np.asarray(effects, np.float64), np.asarray(evidence, np.float64)
    words = np.array(list(verdicts) if len(verdicts) else [""] * len(x), dtype=object)
    if not len(x) or x.ndim != 1 or not x.shape == y.shape == words.shape == (len(names),):
        raise ValueError(
            "plots.volcano: effects, evidence, names and verdicts must be of the same length, at "
            f"least 1, got {len(x)}, {len(y)}, {len(names)} and {len(words)}."
        )
    ax = axes_or_new(ax, 6.4, 4.0)
    rest = ~np.isin(words, (CONFIRMED, CANDIDATE))
    for title, rows, color in (
        ("other", rest, MUTED),
        (CANDIDATE, words == CANDIDATE, AGAINST),
        (CONFIRMED, words == CONFIRMED, ACCENT),
    ):
        if rows.any():
            look: dict[str, Any] = {"color": color, "markersize": 3, "markeredgewidth": 0}
            text = f"{title} ({np.count_nonzero(rows):,})" if len(verdicts) else None
            ax.plot(x[rows], y[rows], "o", **look, alpha=0.6, label=text)
    finish(ax, xlabel, ylabel, nbins=5)
    placed = list[tuple[float, float]]()
    width, height = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    for j in np.argsort(-y, kind="stable")[:_NAMED].tolist():
        across, up = float(x[j]) / width, float(y[j]) / height
        if all(abs(across - a) > 3 * _APART or abs(up - b) > _APART / 2 for a, b in placed):
            placed.append((across, up))
            right = across > (float(x.min()) / width + 0.5)
            ax.annotate(
                label(names[j], 18),
                (float(x[j]), float(y[j])),
                xytext=(-5 if right else 5, -3),
                textcoords="offset points",
                ha="right" if right else "left",
                color=INK,
                fontsize=8,
            )
    if len(verdicts):
        ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    return ax


def _checked(
    owner: str, X: ArrayLike, target: ArrayLike | None, names: Sequence[str], *, least: int = 1
) -> tuple[FloatArray, NDArray[Any], list[str]]:
    """Return mid-ranks from -1 to 1, NaN where missing, the target, and names."""
    values = np.asarray(X, dtype=np.float64)
    y = np.zeros(len(values)) if target is None else np.asarray(target)
    if values.ndim != 2 or min(values.shape) < least or y.shape != values.shape[:1]:
        raise ValueError(
            f"{owner}: X must have at least {counted(least, 'row')} and "
            f"{counted(least, 'feature')}, and the target one value a row, got the shapes "
            f"{values.shape} and {y.shape}."
        )
    names = list(names) or [f"x{j}" for j in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise ValueError(
            f"{owner}: names must be one a feature, got {len(names)} for {values.shape[1]}."
        )
    if target is not None:
        some = np.linspace(0, len(values) - 1, min(len(values), _MOST_ROWS)).astype(np.intp)
        values, y = values[some], y[some]
    if y.dtype.names is None:
        y = y.astype(np.float64 if y.dtype.kind in "iuf" else str)
    ranks = np.full(values.shape, np.nan)
    for column, into in zip(values.T, ranks.T, strict=True):
        present = ~np.isnan(column)
        if present.any():
            _, place, sizes = np.unique(column[present], return_inverse=True, return_counts=True)
            into[present] = (midranks(sizes) / sizes.sum())[place]
    return ranks, y, names


def _groups(y: NDArray[Any]) -> list[_Group]:
    """Return the rows of each class, of each quarter of numbers, or with and without the event."""
    if y.dtype.names is not None:
        event = y["event"].astype(bool)
        return [_Group("event", event, _CLASSES[1]), _Group("censored", ~event, MUTED)]
    if y.dtype.kind == "f":
        cuts = np.unique(np.quantile(y, _QUARTERS, method="inverted_cdf"))
        quarter = np.searchsorted(cuts, y)
        titles = [*(f"up to {cut:.4g}" for cut in cuts), f"above {cuts[-1]:.4g}"]
        parts = [
            _Group(title, quarter == k, ACCENT, alpha)
            for k, (title, alpha) in enumerate(
                zip(titles, np.linspace(0.2, 1.0, len(titles)).tolist(), strict=True)
            )
        ]
        return [part for part in parts if part.rows.any()]
    classes, sizes = np.unique(y, return_counts=True)
    shown = np.sort(classes[np.argsort(-sizes, kind="stable")[: len(_CLASSES)]])
    groups = [
        _Group(label(str(value), 16), y == value, color)
        for value, color in zip(shown.tolist(), _CLASSES, strict=False)
    ]
    others = ~np.isin(y, shown)
    n = len(classes) - len(shown)
    return groups + [_Group(f"{n} more", others, MUTED)] * bool(n)


def _components(ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first two principal components of the rows, and all fractions of the variance."""
    left, sizes, right = np.linalg.svd(np.nan_to_num(ranks), full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    scores = (left * sizes * signs)[:, :2]
    return scores, sizes**2 / (float(sizes @ sizes) or 1.0)


def _colors(values: FloatArray) -> NDArray[np.uint8]:
    """Return the colors and opacities of numbers from -1 to 1, shape (..., 4)."""
    image = np.empty((*values.shape, 4), np.uint8)
    image[..., :3] = np.where((values > 0)[..., None], _rgb(ACCENT), _rgb(AGAINST))
    image[..., 3] = np.rint(255 * np.abs(np.nan_to_num(values)))
    image[np.isnan(values)] = *_rgb(MUTED), 110
    return image


def _rgb(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of a color #rrggbb."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def _height(X: ArrayLike, options: Mapping[str, Any]) -> float:
    """Return the inches on a page, a line a feature."""
    return rows_height(np.shape(X)[1], 60) + 0.3


HEAT_MAP = figure(heat_map, (), _height, svg=True)
CORRELATIONS = figure(correlations, (), _height, svg=True)
ROW_MAP = figure(row_map, (), lambda *_: 3.4, svg=True)
VOLCANO = figure(volcano, (), lambda *_: 3.4, svg=True)
