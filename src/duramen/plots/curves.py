"""Curves: features found, errors out of bag, and scores of selections by their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.evaluation.result import SelectionEvaluation, performances
from duramen.plots.canvas import ACCENT, AGAINST, INK, axes_or_new, finish, label
from duramen.results.result import figure
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400
_DASHES = ((4.0, 2.0), (1.0, 1.5), (6.0, 2.0, 1.0, 2.0), (2.0, 3.0))


def found_curves(
    curves: Mapping[str, ArrayLike],
    *,
    best: str | None = None,
    step: str = "tree",
    ax: Axes | None = None,
) -> Axes:
    """Draw the number of features found after 0, 1, 2, ... trees, one line a setting.

    Parameters
    ----------
    curves : mapping of str to array-like of shape (T + 1,)
        Expected number found after each tree, as of `duramen.theory.found_curve`, by the name of
        the setting.
    best : str, optional
        The setting that stands out; by default the first.
    step : str
        What the curves count on, in the singular, such as "round" for those of Boruta.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no curve, one holds no finite number, or `best` is none of them.

    Examples
    --------
    >>> import duramen as dm
    >>> curves = {"alpha = 0": [0, 1, 1.5], "alpha = 1": [0, 1, 2]}
    >>> ax = dm.plots.found_curves(curves, best="alpha = 1")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of trees', 'features found')
    """
    lines = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
    for name, line in lines.items():
        if line.ndim != 1 or not line.size or not np.isfinite(line).all():
            raise ValueError(
                f"plots.found_curves: each curve must be finite numbers, one per tree; {name!r} "
                "is not."
            )
    if not lines:
        raise ValueError("plots.found_curves: curves must hold at least one curve, got none.")
    chosen = next(iter(lines)) if best is None else best
    if chosen not in lines:
        raise ValueError(f"plots.found_curves: best must be one of {list(lines)}, got {best!r}.")
    ax = axes_or_new(ax, 6.4, 2.8)
    others = 0
    for name, line in lines.items():
        trees = _places(line.size)
        stands_out = name == chosen
        ax.plot(
            trees,
            line[trees],
            color=ACCENT if stands_out else INK,
            linewidth=2.2 if stands_out else 1.2,
            linestyle="-" if stands_out else (0, _DASHES[others % len(_DASHES)]),
            zorder=3 if stands_out else 2,
            label=label(name),
        )
        others += not stands_out
    ax.set_xlim(0, max(1, *(line.size - 1 for line in lines.values())) * 1.02)
    ax.set_ylim(0, max(float(line.max()) for line in lines.values()) * 1.1 or 1.0)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK, loc="best", handlelength=2.6)
    return finish(ax, f"number of {step}s", "features found")


def _places(n: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the points of a line of n that are drawn: all of a short one, the ends of any."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))


FOUND = figure(found_curves, (), lambda *_: 2.5, svg=True)


def oob_error(errors: ArrayLike, *, what: str = "out-of-bag error", ax: Axes | None = None) -> Axes:
    """Draw the out-of-bag error after 1, 2, ... trees.

    Parameters
    ----------
    errors : array-like of shape (T,)
        Error after each tree, NaN while no row is out of a bag: `oob_error_curve_` of a fitted
        estimator with ``oob_score=True``.
    what : str
        What the error is.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no error to draw.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.plots.oob_error([float("nan"), 0.3, 0.2]).get_ylabel()
    'out-of-bag error'
    """
    error = np.asarray(errors, dtype=np.float64)
    if error.ndim != 1 or not np.isfinite(error).any():
        raise ValueError(
            "plots.oob_error: errors must be one number per tree, not all NaN, got shape "
            f"{error.shape}."
        )
    ax = axes_or_new(ax, 6.4, 2.8)
    trees = np.arange(1, error.size + 1)
    ax.plot(trees, error, color=ACCENT, linewidth=1.6)
    finite = np.flatnonzero(np.isfinite(error))
    last = finite[-1]
    ax.plot(trees[last], error[last], "o", color=ACCENT, markersize=5)
    ax.annotate(
        f"{error[last]:.3g}",
        (float(trees[last]), float(error[last])),
        xytext=(0, 9),
        textcoords="offset points",
        ha="right",
        color=INK,
        fontsize=9,
        fontweight="bold",
    )
    ax.set_xlim(0, error.size * 1.02)
    ax.set_ylim(0, float(np.nanmax(error)) * 1.12 or 1.0)
    return finish(ax, "number of trees", what)


OOB_ERROR = figure(oob_error, (), lambda *_: 2.5, svg=True)


STABILITY = "stability"
COLORS = (ACCENT, AGAINST, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b8794")
"""Colors of methods that are told apart with color blindness, too (Okabe and Ito)."""
_MARKERS = "osD^v<>"


def selection_curves(
    evaluation: SelectionEvaluation,
    what: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw score or stability of selections against the number of features.

    Rankings are curves over the numbers of features at which they were cut, with a band for the
    interval; selectors are points at their mean number of features, with error bars.

    Parameters
    ----------
    evaluation : SelectionEvaluation
        What `duramen.evaluate_selection` returned.
    what : str, optional
        Name of a score, by default the first, or "stability" for that of Nogueira et al.
    methods : sequence of str, optional
        Names of the methods to draw; all by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such score or method.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     ["mdi", None], data.X, data.y, n_resamples=4, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> dm.plots.selection_curves(result, "stability").get_ylabel()
    'stability'
    """
    owner, scores = "plots.selection_curves", tuple(evaluation.scores)
    what = checks.check_choice(
        owner, "what", scores[0] if what is None else what, (*scores, STABILITY)
    )
    if what == STABILITY:
        middle, title = evaluation.nogueira, STABILITY
        low, high = evaluation.stability_low, evaluation.stability_high
    else:
        middle, title = evaluation.mean(what), performances[what].title
        low, high = evaluation.interval(what)
    ax = axes_or_new(ax, 6.4, 3.6)
    names = list(dict.fromkeys(evaluation.methods if methods is None else methods))
    for place, name in enumerate(names):
        rows = evaluation.rows(name)
        rows = rows[np.isfinite(middle[rows])]
        sizes, color = evaluation.n_features[rows], COLORS[place % len(COLORS)]
        marker = _MARKERS[place % len(_MARKERS)]
        shown: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "markersize": 4,
            "label": label(name),
        }
        if not len(rows):
            continue
        if len(rows) > 1:
            ax.plot(sizes, middle[rows], linewidth=1.6, **shown)
            ax.fill_between(sizes, low[rows], high[rows], color=color, alpha=0.12, linewidth=0)
        else:
            reach = np.nan_to_num(
                [[middle[rows[0]] - low[rows[0]]], [high[rows[0]] - middle[rows[0]]]]
            )
            ax.errorbar(sizes, middle[rows], yerr=np.abs(reach), linewidth=1.2, **shown)
    finish(ax, "number of features", title, ticks="y")
    sizes = evaluation.n_features
    if sizes.min() < 1:
        ax.set_xscale("symlog", linthresh=1, linscale=0.3)
    else:
        ax.set_xscale("log")
    ticks = [k for k in _ticks(float(sizes.max())) if k >= min(1, sizes.min())]
    ax.set_xticks(ticks, [f"{k:,}" for k in ticks])
    ax.minorticks_off()
    if ax.has_data():
        ax.legend(frameon=False, fontsize=8, labelcolor=INK)
    return ax


def _ticks(most: float) -> list[int]:
    """Return 0, 1, 10, 100, ... up to a number of features, with 2 and 5 between if few."""
    steps = (1, 2, 5) if most <= 200 else (1,)
    return [0, *(s * 10**e for e in range(9) for s in steps if s * 10**e <= max(1.0, most))]


SELECTION_CURVES = figure(selection_curves, (SelectionEvaluation,), lambda *_: 3.4)
