"""Sections of a report about the direction of the effects of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, Exchangeability, LearningSet
from duramen.data.scores import centered_within
from duramen.effects import EffectsDescription, FeatureEffect
from duramen.plots.effects import AGAINST_TARGET, EFFECT
from duramen.reports.report import Chart, Group, Part, Plot, Prose, Run, Section, Table
from duramen.results.columns import Column
from duramen.support.arrays import IntArray
from duramen.support.text import fixed, printable

DESCRIBED = 20
"""Features of a ranking whose effects are described."""

_DRAWN = 3
_PAIRS = 5
_READING = (
    'A direction is that of the accumulated local effect in this forest: "up" means that the '
    "prediction increases with the feature while the other features stay the same. It is given "
    "only where a test of the feature on the rows supports it, adjusted for the number of "
    'features. "By interaction" means that the interaction with the other feature is stronger '
    "than the effect of the feature alone. Effects describe the forest and are not causal."
)
_WITHIN = (
    'A direction is that of the effect within strata: "up" means that the target increases with '
    "the feature among rows of the same stratum. It is given only where a test of the feature "
    "within strata supports it, adjusted for the number of features. Curves are least-squares "
    "means of the target, adjusted for the strata, and not effects in the forest, which does not "
    'know the strata. "By interaction" means that the interaction with the other feature in the '
    "forest is stronger than the effect of the feature alone. Effects are associations and not "
    "causal."
)
_OF_GROUPS = (
    "The tests of directions and interactions allow rows of one group to depend on each other."
)
_ADJUSTED = (
    "Numbers are adjusted for the strata: less the mean of their stratum, plus the overall mean."
)
_RISK = (
    "Predictions of survival are risks: the expected number of events among rows that are all like "
    'this one, so that "risk up" means earlier events with larger values.'
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Values of a feature, with missing ones as None, to be drawn against the target."""

    name: str
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of the first features, and what figures show of the data."""

    described: EffectsDescription
    drawn: tuple[Drawn, ...]  # the first features that have a direction
    target: NDArray[Any]  # numbers, classes as strings, or events and times
    rows: Exchangeability  # strata and groups

    @classmethod
    def of(cls, described: EffectsDescription, data: LearningSet[EncodedTable]) -> Effects:
        """Take the values of the features to be drawn from the learning set."""
        table, labels = data.table, data.target.labels
        directed = [
            direction.name for direction in described.directions if direction.kind != "none"
        ][:_DRAWN]
        strata = data.exchangeability.strata
        drawn = [
            Drawn(name, _within(_values(table, table.names.index(name)), strata))
            for name in directed
        ]
        target = labels if data.target.classes is None else labels.astype(str)
        return cls(
            described, tuple(drawn), _within(np.asarray(target), strata), data.exchangeability
        )

    def effect(self, name: str) -> FeatureEffect:
        """Return the accumulated local effect of a feature."""
        return next(effect for effect in self.described.effects if effect.name == name)


def interpretation(effects: Effects, run: Run) -> tuple[str, ...]:
    """Return paragraphs on the interpretation of directions."""
    sentences = [
        _READING if effects.rows.strata is None else _WITHIN,
        *([] if effects.rows.groups is None else [_OF_GROUPS]),
        *([_RISK] if run.target_class.censored else []),
    ]
    return (" ".join(sentences),)


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


def effect_sections(effects: Effects, run: Run) -> list[Section]:
    """Return the sections: figures of the first features, and interactions."""
    described = effects.described
    directed = [drawn for drawn in described.directions if drawn.kind != "none"]
    if not directed:
        text = "No direction: the data do not support one for any of the first features."
        return [Prose("Direction of the effects", (text,))]
    said = "; ".join(f"{printable(drawn.name)} {drawn.words}" for drawn in directed[:8])
    charts: list[Part] = []
    for drawn in effects.drawn:
        charts += _charts(effects, drawn, run)
    group = Group(
        "Direction of the effects", tuple(charts), folded=False, note=f"{said}.", tiled=True
    )
    return [group, *_interactions(effects)]


def _charts(effects: Effects, drawn: Drawn, run: Run) -> list[Part]:
    index = [direction.name for direction in effects.described.directions].index(drawn.name)
    direction = effects.described.directions[index]
    effect = effects.effect(drawn.name)
    of = effect.classes[effects.described.outputs[index]] if effect.classes else None
    target = run.target or "target"
    risk = run.target_class.censored
    by = "by class" if effect.classes else f"and {target}"
    on = f"the probability of {of}" if of else "risk" if risk else target
    values = f"Values of {drawn.name} {by}, one point per row.", f"Values in the data, {by}."
    if risk:
        values = (
            f"Kaplan-Meier curves of {target} by {drawn.name}.",
            f"Fraction of the rows without the event (Kaplan-Meier estimate), by {drawn.name}.",
        )
    if effects.rows.strata is not None:
        adjusted = "f" in (drawn.values.dtype.kind, effects.target.dtype.kind)
        said = _ADJUSTED if adjusted else "They are not adjusted for the strata."
        values = f"{values[0]} {said}", f"{values[1]} {said}"
    title = effect.title[0].upper() + effect.title[1:]
    where = " in the forest" * (effects.rows.strata is None)
    reach = float(np.ptp(effect.values[:, effects.described.outputs[index]]))
    options = {
        "target": effects.target,
        "name": drawn.name,
        "target_name": target,
        "order": effect.labels,
    }
    charts: list[Part] = [
        Chart(
            title=f"{drawn.name}: {direction.words}",
            plot=Plot(AGAINST_TARGET, drawn.values, options),
            text=values[0],
            caption=values[1],
        )
    ]
    if reach > 0:  # without a split on the feature there is nothing to draw
        charts.append(
            Chart(
                title=f"{drawn.name}: effect on {on}",
                plot=Plot(EFFECT, effect, {"of": of}),
                text=f"{title} of {drawn.name} on {on}; largest minus smallest value {reach:.3g}.",
                caption=f"{title}{where}, 0 on average.",
            )
        )
    return charts


def _interactions(effects: Effects) -> list[Table]:
    """Return the table of the pairs whose interaction the data support."""
    described, rows = effects.described, effects.rows
    interactions = described.interactions
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
