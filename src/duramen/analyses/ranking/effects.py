"""Directions of effects beside a ranking, and the association of features with the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.data.strata import adjusted_means, centered_within
from duramen.effects import Direction
from duramen.forests.prediction import concordance
from duramen.plots.effects import AGAINST_TARGET, EFFECT
from duramen.reports.report import Section
from duramen.results.feature_effect import METHODS
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.text import printable

DESCRIBED = 20
"""Features of a ranking whose effects are described, at least."""
_CLASSES = 10  # of more classes, no means are written
_DRAWN = 3  # features with figures


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
            charts.append(Section(heading, (f"The forest has no split on {name}.",)))
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
