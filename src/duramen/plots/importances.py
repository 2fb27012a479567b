"""Importances and p-values of features: as bars, a histogram, by degree, by chromosome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.io.groups import UNPLACED, Positions
from duramen.plots.canvas import (
    ACCENT,
    INK,
    MUTED,
    axes_or_new,
    check_shown,
    feature_axis,
    fill_cells,
    finish,
    in_cell,
    label,
    rows_height,
    tidy,
)
from duramen.results.importances import Importances, MonteCarloSelection, PermutedImportances
from duramen.results.result import FeatureResult, figure
from duramen.results.significance import (
    LEVEL,
    AdjustedSignificance,
    ConditionalSignificance,
    Intervals,
    Significance,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 20
# p-values are counts divided by counts: one on an edge must not cross it by rounding.
_ROUNDING = 1e-9


def p_values(significance: Significance, *, ax: Axes | None = None) -> Axes:
    """Draw the p-values of all features as a histogram of 20 bins from 0 to 1.

    Bins include their upper edge, so that the first one counts the p-values up to .05. A dashed
    line shows the count expected in each if all features were irrelevant and p-values uniform. A
    first bin that is much higher indicates relevant features; bins that rise towards 1 indicate a
    conservative test.

    Parameters
    ----------
    significance : Significance
        Any test.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Significance(("a", "b"), [2.0, 1.0], [0.01, 0.6], "test", "No association.")
    >>> [int(bar.get_height()) for bar in dm.plots.p_values(result).patches][:2]
    [1, 0]
    """
    check_shown("plots.p_values", significance, 1)
    # Bins are (0, 1/20], (1/20, 2/20] ...; 0 is in the first.
    place = np.ceil(significance.p_values * BINS - _ROUNDING).astype(np.int64) - 1
    counts = np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS)
    expected = len(significance) / BINS
    ax = axes_or_new(ax, 6.4, 2.8)
    shades = [ACCENT] + [MUTED] * (BINS - 1)
    places = np.arange(BINS) / BINS
    ax.bar(places, counts, width=0.9 / BINS, align="edge", color=shades, alpha=0.85, linewidth=0)
    ax.axhline(expected, color=INK, linewidth=1.2, linestyle="--")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.15 * max(float(counts.max()), expected))
    return finish(ax, "p-value", "features", ticks="y")


P_VALUES = figure(p_values, (Significance,), lambda *_: 2.5, svg=True)


UNIT_TITLES = {
    "bits": "importance (bits)",
    "gini": "importance (Gini)",
    "variance": "importance (variance)",
    "1": "importance",
}


def ranking(
    result: FeatureResult[Any] | MonteCarloSelection | PermutedImportances,
    *,
    k: int = 20,
    threshold: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the `k` best features as bars, the best on top, with their error bars.

    Parameters
    ----------
    result : Importances, Intervals, Significance, ErrorRates, Stability, MonteCarloSelection, \
PermutedImportances
        Bars are the importances, scores, rates, frequencies or depths. Error bars are standard
        errors, or the ends of the intervals, where they are known.
    k : int
        Number of features to show.
    threshold : float, optional
        Where to draw a dashed line, such as the smallest importance that a test selected; by
        default the cut-off of a `MonteCarloSelection` with two shuffled runs or more.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If `k` is less than 1 or there is no feature.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("a", "b"), [0.3, 0.1], "mdi", "bits")
    >>> dm.plots.ranking(result).get_xlabel()
    'importance (bits)'
    """
    if isinstance(result, MonteCarloSelection):
        if threshold is None and len(result.maxima) > 1:
            threshold = result.cutoff()
        result = result.importances
    if isinstance(result, PermutedImportances):
        result = result.importances
    check_shown("plots.ranking", result, k)
    best = result.summary(k)
    names = best.columns[1].cells
    drawn = next(column for column in best.columns if column.bars is not None)
    bars = np.asarray(drawn.bars)
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(names))
    ax.barh(np.arange(len(names)), bars, height=0.62, color=ACCENT, alpha=0.85, linewidth=0)
    if drawn.whiskers is not None:
        low, high = drawn.whiskers
        ax.errorbar(
            bars,
            np.arange(len(names)),
            xerr=np.maximum([bars - low, high - bars], 0.0),
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=2.5,
            capthick=1.2,
        )
    feature_axis(ax, names)
    if threshold is not None and np.isfinite(threshold):
        ax.axvline(threshold, color=INK, linewidth=1.2, linestyle="--")
    title = drawn.title
    if isinstance(result, Importances | Intervals):
        title = UNIT_TITLES.get(result.unit, f"importance ({result.unit})")
    return finish(ax, title, grid="x", ticks="x")


figure(
    ranking,
    (FeatureResult, MonteCarloSelection, PermutedImportances),
    lambda best, _: rows_height(len(best.names)),
)


_FEW_COLUMNS = 9


def by_degree(
    importances: Importances, *, k: int = 20, columns: int = _FEW_COLUMNS, ax: Axes | None = None
) -> Axes:
    """Draw the importance of the `k` most important features by interaction degree.

    The degree is the number of splits above the one on the feature. With one candidate at a node
    (K = 1), 0 is what it explains alone, more is what it adds given others; with more candidates,
    which feature is at degree 0 depends on its rivals. Where there are more than `columns` degrees,
    the highest have one column together. Color is opacity of one hue, none at 0 and for amounts
    below 0 (of corrected or held-out values). Cells that matter are labeled, in a power of 1000
    that the axis names.

    Parameters
    ----------
    importances : Importances
        A measure with `by_degree`.
    k : int
        Number of features to show.
    columns : int
        The most columns, at least 2.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no decomposition, no feature, `k` is less than 1 or `columns` less than 2.

    Examples
    --------
    >>> import duramen as dm
    >>> parts = [[0.2, 0.1], [0.0, 0.1]]
    >>> result = dm.Importances(("a", "b"), [0.3, 0.1], "mdi", "bits", by_degree=parts)
    >>> dm.plots.by_degree(result).get_xlabel()
    'interaction degree; cells in 0.001 bits'
    """
    if importances.by_degree is None:
        raise ValueError(
            "plots.by_degree: importances must have by_degree, got None. "
            "Hint: mdi(forest, by_degree=True)."
        )
    checks.check_integer("plots.by_degree", "columns", columns, 2)
    check_shown("plots.by_degree", importances, k)
    best = importances.top(k)
    parts = np.asarray(best.by_degree)
    titles = [str(degree) for degree in range(parts.shape[1])]
    if len(titles) > columns:  # the highest degrees have one column together
        last = columns - 1
        parts = np.column_stack([parts[:, :last], parts[:, last:].sum(axis=1)])
        titles[last:] = [f"{last}+"]
    ax = axes_or_new(ax, 6.4, 1.1 + 0.26 * len(best))
    most = float(parts.max()) if parts.max() > 0 else 1.0
    fill_cells(ax, parts, most)
    scale = 10.0 ** (3 * math.floor(math.log10(most) / 3))
    for row, column in np.argwhere(parts >= 0.005 * most):
        amount, size = parts[row, column] / scale, 7.5 if len(titles) <= _FEW_COLUMNS else 6
        text = f"{amount:.0f}" if amount >= 9.95 else f"{amount:.1f}"
        in_cell(ax, row, column, text, strong=parts[row, column] > 0.75 * most, size=size)
    ax.set_xticks(np.arange(len(titles)) + 0.5, titles)
    ax.set_yticks(np.arange(len(best)) + 0.5, [label(name) for name in best.names])
    ax.set_ylim(len(best), 0)
    unit = "" if best.unit == "1" else f" {best.unit}"
    ax.set_xlabel(f"interaction degree; cells in {scale:g}{unit}")
    for edge in range(len(best) + 1):
        ax.axhline(edge, color=MUTED, alpha=0.2, linewidth=0.6)
    tidy(ax)
    return ax


BY_DEGREE = figure(
    by_degree, (Importances,), lambda best, _: rows_height(len(best.names)), svg=True
)


_LOGARITHM = "-log10 of p"
_GAP = 0.01  # between chromosomes, as a fraction of the genome
_LEAST = 0.25  # room of a chromosome, as a fraction of that of the average
_MOST_DRAWN = 3000  # more points than that are an image within a vector graphic
_APART = 0.035, 0.12  # room of the names of a chromosome and of a feature, on an axis from 0 to 1


def manhattan(
    result: Importances | Significance,
    positions: Any,
    *,
    threshold: float | None = None,
    k: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw scores of features along the genome, chromosomes in alternate shades.

    Parameters
    ----------
    result : Importances or Significance
        Heights are importances, or -log10 of p-values; of an `AdjustedSignificance`, the
        statistics that its verdicts compare.
    positions : table, mapping or ColumnStore
        Columns ``chromosome`` and ``position`` in base pairs, one row a feature: by ``name`` where
        there is such a column, else in the order of the features; of a store, its `variants`.
    threshold : float, optional
        Where to draw a dashed line: an importance, a p-value, or a statistic.
    k : int, default=5
        Number of features, the highest first, that are named.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `result` is something else, or `positions` no table.
    ValueError
        If there is no feature, `k` is negative, or a position is missing.

    Notes
    -----
    Chromosomes are drawn as long as the stretch between their first and last feature. Variants
    without a place (chromosome 0) come last.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("rs1", "rs2", "rs3"), [0.3, 0.1, 0.2], "mdi", "bits")
    >>> positions = {"chromosome": ["1", "1", "2"], "position": [10, 20, 5]}
    >>> ax = dm.plots.manhattan(result, positions)
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['1', '2']
    """
    owner = "plots.manhattan"
    heights: FloatArray
    if isinstance(result, AdjustedSignificance):
        heights, title = result.statistics, result.statistic_title
    elif isinstance(result, Significance):
        heights, title = -np.log10(np.maximum(result.p_values, 1e-300)), _LOGARITHM
    elif isinstance(result, Importances):
        title = UNIT_TITLES.get(result.unit, f"importance ({result.unit})")
        heights = result.values
    else:
        kind = type(result).__name__
        raise TypeError(f"{owner}: result must be Importances or Significance, got {kind}.")
    checks.check_integer(owner, "k", k, 0)
    if not len(heights):
        raise ValueError(f"{owner}: result must have a feature, got none.")
    places = Positions.of(positions, result.names, owner)
    x, middles = _along(places)
    ax = axes_or_new(ax, 8.0, 3.2)
    for chromosome in range(len(places.chromosomes)):
        here = places.chromosome == chromosome
        shade = ACCENT if chromosome % 2 == 0 else MUTED
        image = len(x) > _MOST_DRAWN
        ax.scatter(x[here], heights[here], s=7, c=shade, linewidths=0, rasterized=image)
    if threshold is not None:
        line = -np.log10(threshold) if title == _LOGARITHM else threshold
        ax.axhline(line, color=INK, linewidth=1.2, linestyle="--")
    of_chromosome, of_feature = _APART
    named = list[float]()  # places of names, which must not cover each other
    for j in np.argsort(-heights, kind="stable")[:k].tolist():
        at = float(x[j])
        if all(abs(at - other) > of_feature for other in named):
            named.append(at)
            ax.annotate(
                label(result.names[j], 16),
                (at, float(heights[j])),
                xytext=(0, 4),
                textcoords="offset points",
                ha="right" if at > 0.9 else "left" if at < 0.1 else "center",
                color=INK,
                fontsize=8,
            )
    ax.margins(y=0.14)
    ax.set_xlim(-_GAP, 1 + _GAP)
    finish(ax, "chromosome", title, ticks="y")
    ticks = dict[float, str]()
    for name, middle in zip(places.chromosomes, middles, strict=True):
        if not ticks or middle - max(ticks) >= of_chromosome:
            ticks[middle] = "?" if name == UNPLACED else label(name, 8)
    ax.set_xticks(list(ticks), list(ticks.values()))
    ax.tick_params(axis="x", labelsize=8)
    return ax


def _along(places: Positions) -> tuple[FloatArray, list[float]]:
    """Return the positions of features on an axis from 0 to 1, and the middles of chromosomes."""
    x, middles, begin = np.empty(len(places.position)), list[float](), 0.0
    spans = []
    for chromosome in range(len(places.chromosomes)):
        here = places.position[places.chromosome == chromosome]
        spans.append((int(here.min()), int(here.max())))
    total = max(sum(last - first for first, last in spans), 1)
    # A chromosome with a single feature, or few, still has room; less than that of a human one.
    least = _LEAST * total / len(spans)
    for chromosome, (first, last) in enumerate(spans):
        here = places.chromosome == chromosome
        length = max(last - first, least)
        x[here] = begin + (places.position[here] - first) + (length - (last - first)) / 2
        middles.append(begin + length / 2)
        begin += length + _GAP * total
    whole = begin - _GAP * total
    return x / whole, [middle / whole for middle in middles]


MANHATTAN = figure(manhattan, (), lambda *_: 2.8)


_LEAST_Q = 1e-16  # q-values below are drawn as this


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
    owner = "plots.direct_features"
    check_shown(owner, result if clusters is None else list(chain.from_iterable(clusters)), k)
    blocks = [list(result.top(k).names)] if clusters is None else clusters
    names, sizes = list[str](), list[int]()
    for members in blocks:
        here = list(members)[: k - len(names)]
        names += here
        sizes += [len(here)] if clusters is not None and here else []
    index = checks.places_of(names, result.names, f"{owner}: clusters")
    shown = result.take(np.array(index, dtype=np.intp))
    ax = axes_or_new(ax, 6.4, 0.9 + 0.26 * len(names))
    ends = np.cumsum(sizes)
    for end, size in list(zip(ends, sizes, strict=True))[::2]:
        ax.axhspan(end - size - 0.5, end - 0.5, color=MUTED, alpha=0.12, linewidth=0)
    given_others, alone = (
        -np.log10(np.maximum(numbers, _LEAST_Q)) for numbers in (shown.q_values, shown.association)
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


DIRECT_FEATURES = figure(
    direct_features,
    (ConditionalSignificance,),
    lambda result, options: rows_height(len(result), options.get("k", 20)),
)
