"""Directions of effects beside a ranking, and the association of features with the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.data.strata import adjusted_means, centered_within
from duramen.effects import Direction
from duramen.forests.prediction import concordance
from duramen.plots.effects import AGAINST_TARGET, EFFECT
from duramen.plots.samples import CORRELATIONS, HEAT_MAP, ROW_MAP, VOLCANO
from duramen.reports.report import Section, as_importances
from duramen.results.feature_effect import METHODS
from duramen.results.significance import AdjustedSignificance
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.text import printable

DESCRIBED = 20
"""Features of a ranking whose effects are described, at least."""
_CLASSES = 10  # of more classes, no means are written
_DRAWN = 3  # features with figures
_OF_MAPS = 20  # features of a heat map and a map of rows
_ROWS = 1000  # rows of these, the most
_WIDE = 100  # features from which on there is a volcano plot
_POINTS = 1500  # features of it, the most


def section_of(
    directions: Sequence[Direction], data: LearningSet[EncodedTable], target: str
) -> tuple[Section, str]:
    """Return figures of the first features with a direction, and a legend of directions.

    `data` has the rows by which effects were described, `target` is the name of the target.
    """
    rows, risk = data.exchangeability, data.target.censored
    table, strata = data.table, rows.strata
    later = ' "Risk up" means earlier events with larger values.' * risk
    of = "accumulated local effect in this forest, the other features staying the same"
    if strata is not None:
        of = "effect within strata; curves are least-squares means adjusted for the strata"
    reading = (
        f"A direction is that of the {of}. It is given only where a test of the feature by itself "
        f"on the {'rows' if rows.groups is None else 'groups of rows'} supports it, adjusted for "
        f"the number of features. Effects are not causal.{later}"
    )
    title = "Direction of the effects"
    directed = [direction for direction in directions if direction.kind != "none"]
    if not directed:
        text = "No direction: the data do not support one for any of the first features."
        return Section(title, (text,)), reading
    outcome = np.asarray(data.target.labels)
    if data.target.classes is not None:
        outcome = outcome.astype(str)
    elif strata is not None:
        outcome = _within(outcome, strata)
    charts = list[Section]()
    for direction in directed[:_DRAWN]:
        name, j = direction.name, table.names.index(direction.name)
        effect, output = direction.effect, direction.output
        assert effect is not None  # a feature without values has no direction
        if j in table.labels:
            of_code = np.array([*map(str, table.labels[j].tolist()), None], dtype=object)
        else:
            of_code = np.append(np.asarray(table.values(j), dtype=np.float64), np.nan)
        values = of_code[table.codes(j)]
        if strata is not None:
            values = _within(values, strata)
        by = "by class" if effect.classes else f"and {target}"
        text, caption = f"Values of {name} {by}, one point per row.", f"Values in the data, {by}."
        if risk:
            text = f"Kaplan-Meier curves of {target} by {name}."
            caption = (
                f"Fraction of the rows without the event by {name}: Kaplan-Meier estimate, 95 % "
                "confidence bands (Greenwood, log-log), a tick for each time of a censored row, "
                "and below the number of rows at risk."
            )
            if "entry" in (outcome.dtype.names or ()):
                caption += " Curves begin at the first time with ten rows at risk."
        if strata is not None:
            adjusted = "f" in (values.dtype.kind, outcome.dtype.kind)
            caption += f" Numbers are {'' if adjusted else 'not '}adjusted for the strata."
        options = {"target": outcome, "name": name, "target_name": target, "order": effect.labels}
        options |= {"dates": data.table.dates[name]} if name in data.table.dates else {}
        charts.append(
            Section(
                f"{name}: {direction.words}",
                caption=caption,
                figure=(AGAINST_TARGET, values, options),
                text=text,
            )
        )
        reach = float(np.ptp(effect.values[:, output]))
        of_class = effect.classes[output] if effect.classes else None
        on = f"the probability of {of_class}" if of_class else "risk" if risk else target
        what, heading = METHODS[effect.method].capitalize(), f"{name}: effect on {on}"
        if reach == 0:
            charts.append(
                Section(heading, (f"The predictions of the forest do not change with {name}.",))
            )
            continue
        caption = f"{what}{' in the forest' * (strata is None)}, 0 on average."
        if risk and strata is None:
            on = "expected events"
            caption += " Risk is the number of events expected if all rows were like one."
        if effect.missing is not None:
            caption += f" The dashed line is the effect where {name} is missing."
        charts.append(
            Section(
                heading,
                caption=caption,
                figure=(EFFECT, effect, {"of": of_class, "target_name": on}),
                text=f"{what} of {name} on {on}; largest minus smallest value {reach:.3g}.",
            )
        )
    words = "; ".join(f"{printable(one.name)} {one.words}" for one in directed[:8])
    return Section(title, (f"{words}.",), sections=tuple(charts), tiled=True), reading


def overview_of(
    data: LearningSet[EncodedTable],
    names: Sequence[str],
    first: Any,
    tested: Any,
    associated: Mapping[str, Any],
    target: str,
) -> Section | None:
    """Return figures of the rows and the first features; None where too few have an order.

    Parameters
    ----------
    data : LearningSet
        Rows, of which at most 1,000 are used.
    names : sequence of str
        All features in the order of the ranking.
    first : Importances or Significance
        Measure that orders the features.
    tested : Significance, ErrorRates or None
    associated : mapping of str to array
        The columns of `target_columns`, in the order of `names`.
    target : str
        Name of the target.
    """
    table, place = data.table, {name: j for j, name in enumerate(data.table.names)}
    kinds = table.kinds
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _ROWS)).astype(np.intp)
    ordered = (  # as two categories are in either order
        name
        for name in names
        if kinds[place[name]] != "nominal" or len(table.values(place[name])) == 2
    )
    shown = list(islice(ordered, _OF_MAPS))
    if len(shown) < 2 or len(rows) < 3:
        return None
    X = np.empty((len(rows), len(shown)))
    for name, column in zip(shown, X.T, strict=True):
        codes, n_values = table.codes(place[name])[rows], len(table.values(place[name]))
        column[:] = np.where(codes < n_values, codes, np.nan)
    outcome = np.asarray(data.target.labels)[rows]
    if data.target.classes is not None:
        outcome = outcome.astype(str)
    features = f"the first {len(shown)} features that have an order"
    charts = [
        Section(
            "Heat map of the first features",
            caption="Color is the rank of a value within its feature, from the lowest (vermilion) "
            "over the median to the highest (blue). Rows are in the order of the target, within a "
            "class in that of the first principal component.",
            figure=(HEAT_MAP, X, {"target": outcome, "names": shown, "target_name": target}),
            text=f"Heat map of the values of {features} in the rows, which are ordered by target.",
        ),
        Section(
            "Correlations of the first features",
            caption="Spearman's rank correlation, from -1 (vermilion) to 1 (blue). Correlated "
            "features share their importance.",
            figure=(CORRELATIONS, X, {"names": shown}),
            text=f"Matrix of the rank correlations of {features} with each other.",
        ),
        Section(
            "Map of the rows",
            caption="The first two principal components of the ranks of the same features: rows "
            "that lie near each other have similar values.",
            figure=(ROW_MAP, X, {"target": outcome}),
            text=f"Scatter plot of the rows by two principal components of {features}.",
        ),
    ]
    if len(names) >= _WIDE and len(associated) in (1, 2):
        charts.append(_volcano(data, names, first, tested, associated))
    return Section(
        "Heat map, correlations, map of the rows", sections=tuple(charts), folded=True, tiled=True
    )


def _volcano(
    data: LearningSet[EncodedTable],
    names: Sequence[str],
    first: Any,
    tested: Any,
    associated: Mapping[str, Any],
) -> Section:
    """Return the volcano plot: effect of each feature against its evidence."""
    # The best features, and others at equal distances.
    p, half = len(names), _POINTS // 2
    some = np.arange(p)
    if p > _POINTS:
        some = np.r_[:half, np.linspace(half, p - 1, _POINTS - half).astype(np.intp)]
    chosen = [names[i] for i in some.tolist()]
    effects = {
        title.removeprefix("mean_"): np.asarray(column.to_numpy(zero_copy_only=False))[some]
        for title, column in associated.items()
    }
    if len(effects) == 1:
        ((title, x),) = effects.items()
        xlabel = {"spearman": "Spearman's correlation with the target"}.get(title, title)
    else:
        other, high = effects if str(data.positive) != next(iter(effects)) else reversed(effects)
        x, xlabel = effects[high] - effects[other], f"{high} less {other}, in standard deviations"
        place = {name: j for j, name in enumerate(data.table.names)}
        for i in np.flatnonzero(np.isfinite(x)).tolist():  # numbers, not categories
            codes, values = data.table.codes(place[chosen[i]]), data.table.values(place[chosen[i]])
            weights = np.bincount(codes, minlength=len(values))[: len(values)] / len(codes)
            mean = weights @ values / weights.sum()
            x[i] /= np.sqrt(weights @ (values - mean) ** 2 / weights.sum()) or 1.0
    if isinstance(tested, AdjustedSignificance):
        of_chosen = tested.of(chosen)
        y, ylabel, verdicts = of_chosen.statistics, tested.statistic_title, of_chosen.verdicts()
    else:
        y, ylabel, verdicts = as_importances(first).of(chosen).values, "importance", ()
    seen = np.isfinite(x) & np.isfinite(y)
    options = {
        "evidence": y[seen],
        "names": [name for name, here in zip(chosen, seen, strict=True) if here],
        "verdicts": [word for word, here in zip(verdicts, seen, strict=False) if here],
        "xlabel": xlabel,
        "ylabel": ylabel,
    }
    drawn = f"All {p:,} features" if len(some) == p else f"{len(some):,} of the {p:,} features"
    return Section(
        "Volcano plot: effect against evidence",
        caption=f"{drawn}, each by itself: the farther to a side, the larger the "
        "effect; the higher, the stronger the evidence.",
        figure=(VOLCANO, x[seen], options),
        text=f"Scatter plot of features, {xlabel} against {ylabel}. {drawn} are drawn.",
    )


def _within(values: Any, strata: IntArray) -> Any:
    """Return numbers less their mean in the stratum, plus the overall mean; others as they are."""
    if values.dtype.kind not in "iuf":
        return values
    moved, present = values.astype(np.float64), ~np.isnan(values)
    mean = moved[present].mean()
    moved[present] = centered_within(moved[present][:, None], strata[present])[:, 0] + mean
    return moved


def target_columns(data: LearningSet[EncodedTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the association of features with the target, as columns of the table of results.

    For classes the mean in each class, ``mean_`` and its name; for numbers Spearman's rank
    correlation, ``spearman``; for survival Harrell's concordance, ``concordance``: above .5 where
    events are earlier the larger the feature. Categories have none of these. With strata, means are
    adjusted for them by least squares, the correlation is of ranks less their mean in the stratum,
    and the concordance is of pairs of rows of one stratum.
    """
    table, classes = data.table, data.target.classes
    if classes is not None and len(classes) > _CLASSES:
        return {}
    survival = data.target.censored
    y = np.asarray(data.target.values)
    strata, schema = data.exchangeability.strata, table.schema
    n_values, kinds = np.diff(schema.value_offsets).tolist(), schema.kind_codes
    place = {name: j for j, name in enumerate(schema.names)}
    n_columns = 1 if classes is None else len(classes)
    summary = np.full((len(names), n_columns), np.nan)
    by_rank = classes is None and not survival
    ranks = _ranks(np.unique(y, return_inverse=True)[1]) if by_rank else None
    for row, name in enumerate(names):
        j = place[name]
        codes = table.codes(j)
        present = codes < n_values[j]
        if kinds[j] or not present.any():
            continue
        within = None if strata is None else strata[present]
        if survival:
            summary[row, 0] = concordance(data.target.take(present), codes[present], within)
        elif ranks is not None:
            summary[row, 0] = _correlation(codes[present], ranks[present], within)
        elif within is not None:
            labels, values = y[present].astype(np.int64), table.values(j)[codes[present]]
            means = adjusted_means(labels, values[:, None], within)
            present_labels = np.unique(labels)
            summary[row, present_labels] = means[present_labels, 0]
        else:
            sizes = np.bincount(y[present], minlength=n_columns)
            sums = np.bincount(y[present], table.values(j)[codes[present]], minlength=n_columns)
            np.divide(sums, sizes, out=summary[row], where=sizes > 0)
    alone = "concordance" if survival else "spearman"
    titles = [alone] if classes is None else [f"mean_{label}" for label in classes.tolist()]
    columns = zip(titles, summary.T, strict=True)
    return {title: pa.array(values, mask=np.isnan(values)) for title, values in columns}


def _ranks(codes: Any) -> Any:
    """Return mid-ranks of dense codes."""
    sizes = np.bincount(codes)
    return (np.cumsum(sizes) - sizes / 2)[codes]


def _correlation(codes: Any, ranks: Any, strata: IntArray | None) -> float:
    """Return Spearman's correlation, within strata; NaN where one side is constant there."""
    centred = _ranks(codes) - len(codes) / 2
    other = ranks - ranks.mean()
    if strata is not None:
        centred, other = centered_within(np.column_stack([centred, other]), strata).round(9).T
    scale = np.sqrt((centred @ centred) * (other @ other))
    return float(centred @ other / scale) if scale > 0 else float("nan")
