"""Directions of effects beside a ranking, and the association of features with the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.scores import adjusted_means, centered_within
from duramen.effects import Direction, EffectsDescription
from duramen.forests.prediction import concordance
from duramen.plots.effects import AGAINST_TARGET, EFFECT
from duramen.reports.report import Chart, Group, Part, Plot, Prose, Section, Table
from duramen.results.columns import Column
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.text import fixed, joined, printable

DESCRIBED = 20
"""Features of a ranking whose effects are described, at least."""
NO_DIRECTION = Direction("").words
_CLASSES = 10  # of more classes, no means are written
_DRAWN, _PAIRS = 3, 5  # features with figures, rows of the table of interactions
_DIRECTION = 14  # characters that a narrow terminal leaves to a direction
_READING = (
    'A direction is that of the accumulated local effect in this forest: "up" means that the '
    "prediction increases with the feature while the other features stay the same."
)
_WITHIN = (
    'A direction is that of the effect within strata: "up" means that the target increases with '
    "the feature among rows of the same stratum. Curves are least-squares means of the target, "
    "adjusted for the strata, and not effects in the forest, which does not know the strata."
)
_SUPPORTED = (
    "It is given only where a test of the feature on the rows supports it, adjusted for the number "
    'of features. "By interaction" means that the interaction with the other feature is stronger '
    "than the effect of the feature alone. Effects are not causal."
)
_OF_GROUPS = "The tests of directions allow rows of one group to depend on each other."
_ADJUSTED = (
    "Numbers are adjusted for the strata: less the mean of their stratum, plus the overall mean."
)
_RISK = (
    'Predictions of survival are risks, expected numbers of events: "risk up" means earlier events '
    "with larger values."
)


def direction_column(described: EffectsDescription, names: Sequence[str]) -> Column:
    """Return the directions of features in words; empty for those that are not described."""
    words = {direction.name: direction.words for direction in described.directions}
    cells = [words.get(name, "") for name in names]
    return Column("direction", cells, "words", least=_DIRECTION, name="direction")


def interpretation(data: LearningSet[EncodedTable]) -> str:
    """Return a paragraph on the interpretation of directions."""
    rows = data.exchangeability
    sentences = [
        _READING if rows.strata is None else _WITHIN,
        _SUPPORTED,
        *([] if rows.groups is None else [_OF_GROUPS]),
        *([_RISK] if data.target.censored else []),
    ]
    return " ".join(sentences)


def sections_of(
    described: EffectsDescription, data: LearningSet[EncodedTable], target: str
) -> list[Section]:
    """Return the figures of the first features that have a direction, and interactions.

    `data` has the rows by which effects were described, `target` is the name of the target.
    """
    directed = [direction for direction in described.directions if direction.kind != "none"]
    if not directed:
        text = "No direction: the data do not support one for any of the first features."
        return [Prose("Direction of the effects", (text,))]
    said = "; ".join(f"{printable(one.name)} {one.words}" for one in directed[:8])
    charts = [part for one in directed[:_DRAWN] for part in _charts(described, one, data, target)]
    group = Group(
        "Direction of the effects", tuple(charts), folded=False, note=f"{said}.", tiled=True
    )
    return [group, *_interactions(described, data)]


def _charts(
    described: EffectsDescription,
    direction: Direction,
    data: LearningSet[EncodedTable],
    target: str,
) -> list[Part]:
    name, risk, strata = direction.name, data.target.censored, data.exchangeability.strata
    effect = next(effect for effect in described.effects if effect.name == name)
    output = described.outputs[described.directions.index(direction)]
    of = effect.classes[output] if effect.classes else None
    labels = data.target.labels
    labels = labels if data.target.classes is None else labels.astype(str)
    outcome = _within(np.asarray(labels), strata)
    values = _within(_values(data.table, data.table.names.index(name)), strata)
    by = "by class" if effect.classes else f"and {target}"
    text, caption = f"Values of {name} {by}, one point per row.", f"Values in the data, {by}."
    if risk:
        text = f"Kaplan-Meier curves of {target} by {name}."
        caption = f"Fraction of the rows without the event (Kaplan-Meier estimate), by {name}."
    if strata is not None:
        adjusted = "f" in (values.dtype.kind, outcome.dtype.kind)
        caption += f" {_ADJUSTED if adjusted else 'They are not adjusted for the strata.'}"
    options = {"target": outcome, "name": name, "target_name": target, "order": effect.labels}
    title = f"{name}: {direction.words}"
    charts: list[Part] = [Chart(title, Plot(AGAINST_TARGET, values, options), text, caption)]
    reach = float(np.ptp(effect.values[:, output]))
    if reach > 0:  # without a split on the feature there is nothing to draw
        on = f"the probability of {of}" if of else "risk" if risk else target
        what = effect.title[0].upper() + effect.title[1:]
        charts.append(
            Chart(
                f"{name}: effect on {on}",
                Plot(EFFECT, effect, {"of": of}),
                f"{what} of {name} on {on}; largest minus smallest value {reach:.3g}.",
                f"{what}{' in the forest' * (strata is None)}, 0 on average.",
            )
        )
    return charts


def _values(table: EncodedTable, j: int) -> NDArray[Any]:
    """Return a column as it was, None or NaN where it is missing."""
    if j in table.labels:
        of_code = np.array([*map(str, table.labels[j].tolist()), None], dtype=object)
    else:
        of_code = np.append(np.asarray(table.values(j), dtype=np.float64), np.nan)
    return np.asarray(of_code[table.codes(j)])


def _within(values: NDArray[Any], strata: IntArray | None) -> NDArray[Any]:
    """Return numbers less their mean in the stratum, plus the overall mean; others as they are."""
    if strata is None or values.dtype.kind not in "iuf":
        return values
    moved, present = values.astype(np.float64), ~np.isnan(values)
    mean = moved[present].mean()
    moved[present] = centered_within(moved[present][:, None], strata[present])[:, 0] + mean
    return moved


def _interactions(described: EffectsDescription, data: LearningSet[EncodedTable]) -> list[Table]:
    """Return the table of the pairs whose interaction the data support."""
    interactions, rows = described.interactions, data.exchangeability
    if interactions is None or not described.supported:
        return []
    places = [interactions.pairs.index(pair) for pair in described.supported[:_PAIRS]]
    columns = (
        Column("feature", [interactions.pairs[i][0] for i in places], "name"),
        Column("with", [interactions.pairs[i][1] for i in places], "words"),
        Column("strength", fixed(interactions.strengths[places], 3)),
        Column("H", fixed(interactions.h[places], 2)),
    )
    note = (
        "Pairs of the first features whose interaction is supported by tests on "
        f"{'the rows' if rows.groups is None else 'groups of rows'}"
        f"{'' if rows.strata is None else ' within strata'}. "
        "Strength: the standard deviation of the interaction in the predictions; H (Friedman and "
        "Popescu 2008): the square root of the fraction of the variance of their joint effect."
    )
    return [Table("Interactions", columns, note)]


def directed_noise(directions: Column | None, verdicts: Sequence[str], names: Sequence[str]) -> str:
    """Return why features that a test calls noise have a direction; empty if none has."""
    if directions is None:
        return ""
    rows = zip(names, verdicts, directions.cells, strict=False)
    noise = [name for name, verdict, words in rows if verdict == "noise" and words not in _NONE]
    if not noise:
        return ""
    return (
        f"Features called noise that have a direction: {joined(noise, shown=5)}. A direction is "
        "based on a test of the feature by itself, a verdict on a comparison with all features."
    )


_NONE = ("", NO_DIRECTION)


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
            own, values = y[present].astype(np.int64), table.values(j)[codes[present]]
            taken = np.unique(own)
            summary[row, taken] = adjusted_means(own, values[:, None], within)[taken, 0]
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
