"""Sections of a report about the direction of the effects of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.effects import EffectsDescription, FeatureEffect
from duramen.plots.effects import AGAINST_TARGET, EFFECT
from duramen.reports.report import Chart, Group, Part, Plot, Prose, Run, Section, Table
from duramen.results.columns import Column
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

    @classmethod
    def of(cls, described: EffectsDescription, data: LearningSet[EncodedTable]) -> Effects:
        """Take the values of the features to be drawn from the learning set."""
        table, labels = data.table, data.target.labels
        directed = [
            direction.name for direction in described.directions if direction.kind != "none"
        ][:_DRAWN]
        drawn = [Drawn(name, _values(table, table.names.index(name))) for name in directed]
        target = labels if data.target.classes is None else labels.astype(str)
        return cls(described, tuple(drawn), np.asarray(target))

    def effect(self, name: str) -> FeatureEffect:
        """Return the accumulated local effect of a feature."""
        return next(effect for effect in self.described.effects if effect.name == name)


def interpretation(run: Run) -> tuple[str, ...]:
    """Return paragraphs on the interpretation of directions."""
    return (f"{_READING} {_RISK}" if run.target_class.censored else _READING,)


def _values(table: EncodedTable, j: int) -> NDArray[Any]:
    """Return a column as it was, None or NaN where it is missing."""
    if j in table.labels:
        of_code = np.array([*map(str, table.labels[j].tolist()), None], dtype=object)
    else:
        of_code = np.append(np.asarray(table.values(j), dtype=np.float64), np.nan)
    return np.asarray(of_code[table.codes(j)])


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
    return [group, *_interactions(described)]


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
                text=f"Accumulated local effect of {drawn.name} on {on}; largest minus smallest "
                f"value {reach:.3g}.",
                caption="Accumulated local effect in the forest, 0 on average.",
            )
        )
    return charts


def _interactions(described: EffectsDescription) -> list[Table]:
    """Return the table of the pairs whose interaction the data support."""
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
        "Pairs of the first features whose interaction is supported by tests on the rows. "
        "Strength: the standard deviation of the interaction in the predictions; H (Friedman and "
        "Popescu 2008): the square root of the fraction of the variance of their joint effect."
    )
    return [Table("Interactions", columns, note)]
