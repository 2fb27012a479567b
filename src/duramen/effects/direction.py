"""Direction of the effects of features, asserted only where the data support it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.effects.association import (
    categories_p_value,
    highest_category,
    interaction_p_value,
    turn_p_value,
)
from duramen.effects.curves import POINTS, local_effects
from duramen.effects.interactions import strengths_of
from duramen.effects.response import FloatArray, Numbers, Response, Survival
from duramen.effects.rows import Rows, column_of
from duramen.forests.forest import Forest
from duramen.importances.arguments import forest_of
from duramen.results.feature_effect import FeatureEffect
from duramen.results.interaction_strengths import InteractionStrengths
from duramen.tables import EncodedTable, LearningSet

Kind = Literal["up", "down", "non-monotone", "categories", "interaction", "none"]

LEVEL = 0.05
_MONOTONE = 0.7  # rank correlation of a feature with its effect from which on it has a direction
_ROWS = 500
_TREES = 200
_PAIRED = 6
_PAIR_ROWS = 50
_LEAST_H = 0.1  # a hundredth of the variance of the joint effect
_FUNCTION = "describe_effects"


@dataclass(frozen=True)
class Direction:
    """Direction of the effect of a feature on the predictions.

    Attributes
    ----------
    name : str
        The feature.
    kind : {"up", "down", "non-monotone", "categories", "interaction", "none"}
        Whether predictions rise or fall with it; both; they differ between its categories; they
        depend on it mostly by an interaction; or none of these is supported by the data.
    of : str
        Class whose probability it is; empty in regression and where there is no direction.
    partner : str
        Other feature of the interaction, or category with the largest effect.
    risk : bool
        Whether predictions are risks of survival.

    Examples
    --------
    >>> from duramen.effects import Direction
    >>> Direction("age", "up", "ill").words
    'up for ill'
    >>> Direction("x1", "interaction", partner="x2").words
    'by interaction with x2'
    >>> Direction("age", "up", risk=True).words
    'risk up'
    """

    name: str
    kind: Kind = "none"
    of: str = ""
    partner: str = ""
    risk: bool = False

    @property
    def words(self) -> str:
        """The direction as it stands in tables."""
        toward = f" for {self.of}" if self.of else ""
        if self.kind == "interaction":
            return f"by interaction with {self.partner}"
        if self.kind == "none":
            return "no direction"
        if self.kind == "categories":
            return f"highest{' risk' if self.risk else toward} at {self.partner}"
        return f"risk {self.kind}" if self.risk else f"{self.kind}{toward}"


@dataclass(frozen=True, eq=False)
class EffectsDescription:
    """Effects of the first features of a ranking.

    Attributes
    ----------
    directions : tuple of Direction
        One a feature, in the order of the ranking.
    effects : tuple of FeatureEffect
        Accumulated local effects of the features that were not excluded.
    interactions : InteractionStrengths or None
        Of the first of them; None for fewer than two.
    outputs : tuple of int
        Class that each direction is about; 0 in regression.
    supported : tuple of (str, str)
        Pairs whose interaction the data support.
    """

    directions: tuple[Direction, ...]
    effects: tuple[FeatureEffect, ...]
    interactions: InteractionStrengths | None
    outputs: tuple[int, ...]
    supported: tuple[tuple[str, str], ...] = ()


def describe_effects(
    forest: Any,
    data: LearningSet[EncodedTable],
    features: Sequence[str],
    *,
    relevant: Collection[str] | None = None,
    max_rows: int = _ROWS,
    n_jobs: int | None = None,
) -> EffectsDescription:
    """Describe the direction of the effects of some features, and their interactions.

    A direction is that of the accumulated local effect, and is asserted only where the data
    support it at the level .05, adjusted (Bonferroni) for the number of features described that a
    test found; for others, which were picked by their importances on the same data, for the number
    of all features of the table. What supports a direction: for "up" and "down"
    Spearman's rank correlation with the target, or with each class, of the same sign;
    for "non-monotone" and "categories" the test of Kruskal and Wallis between intervals or
    categories. Where none of these is supported, a feature is described by its interaction with
    another if that is stronger than its partial dependence by itself (`interaction_strength`), and
    tests on three groups of each feature support it: the F-test of the interaction, and Kruskal
    and Wallis' test of each feature within the groups of the other.

    Of survival, the direction is that of the effect on the risk, which is the expected number of
    events (mortality; Ishwaran et al. 2008), and log-rank tests support it: that for trend, of the
    ranks of the feature, in place of Spearman's correlation, that between groups in place of the
    test of Kruskal and Wallis, and martingale residuals in the F-test.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    data : LearningSet
        The rows it was grown on.
    features : sequence of str
        The features, the most important first.
    relevant : collection of str, optional
        Those that a test found, which need less evidence of a direction; by default none.
    max_rows : int
        Rows over which effects are averaged.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    EffectsDescription

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> data = dm.learning_set(X, 3 * X[:, 0] - X[:, 1])
    >>> forest = dm.RandomForestRegressor(100, random_state=0).fit(data)
    >>> found = dm.effects.describe_effects(forest, data, ["x0", "x1", "x2"])
    >>> [one.words for one in found.directions]
    ['up', 'down', 'no direction']
    """
    grown = forest_of(forest, _FUNCTION, survival=True)
    rows = Rows.of(grown, data, _FUNCTION, max_rows, n_jobs)
    columns = [column_of(grown, name, _FUNCTION) for name in features]
    columns = [j for j in columns if rows.present(j).any()]
    found_before = {j for j in columns if relevant is not None and grown.names[j] in relevant}
    levels = {
        j: LEVEL / (len(found_before) if j in found_before else grown.n_features) for j in columns
    }
    targets = _targets(grown, data)
    effects = [local_effects(rows, j, POINTS, _FUNCTION) for j in columns]
    found = [
        _main(grown, data.table, one, j, targets, levels[j])
        for one, j in zip(effects, columns, strict=True)
    ]
    known = {one.name: (one, output) for one, output in found}
    interactions, pairs = _interactions(rows, data, columns[:_PAIRED], targets, found_before)
    for name, partner in _dominated(interactions, pairs).items():
        if known[name][0].kind == "none":
            known[name] = (Direction(name, "interaction", partner=partner), known[name][1])
    shown = [known.get(name, (Direction(name), 0)) for name in features]
    return EffectsDescription(
        directions=tuple(one for one, _ in shown),
        effects=tuple(effects),
        interactions=interactions,
        outputs=tuple(output for _, output in shown),
        supported=tuple(pairs),
    )


def _targets(forest: Forest, data: LearningSet[EncodedTable]) -> list[Response]:
    """Return the numbers, the survival, or an indicator of each class: one an output."""
    values = np.asarray(data.target.values)
    if data.task == "survival":
        return [Survival((values // 2).astype(np.int64), values % 2 == 1)]
    if forest.classes is None:
        return [Numbers(values.astype(np.float64))]
    return [Numbers((values == k).astype(np.float64)) for k in range(len(forest.classes))]


def _order(forest: Forest, effect: FeatureEffect) -> list[int]:
    """Return the outputs, the one that the feature has the largest effect on first."""
    if forest.classes is None:
        return [0]
    if len(forest.classes) == 2:
        return [1]  # the effect on the other class is the same with another sign
    order: list[int] = np.argsort(-np.ptp(effect.values, axis=0), kind="stable").tolist()
    return order


def _main(
    forest: Forest,
    table: EncodedTable,
    effect: FeatureEffect,
    j: int,
    targets: list[Response],
    level: float,
) -> tuple[Direction, int]:
    """Return the direction of the effect of one feature by itself, and the output it is about."""
    codes, known = table.codes(j), table.codes(j) < len(table.values(j))
    codes, targets = codes[known].astype(np.int64), [one.take(known) for one in targets]
    order = _order(forest, effect)
    for output in order:
        name = "" if forest.classes is None else str(forest.classes[output])
        said = Direction(effect.name, of=name, risk=isinstance(targets[0], Survival))
        curve, y, limit = effect.values[:, output], targets[output], level / len(order)
        if effect.kind == "nominal":
            best = effect.labels[int(curve.argmax())]
            agree = best == str(table.labels[j][highest_category(codes, y)])
            if agree and categories_p_value(codes, y) <= limit:
                return replace(said, kind="categories", partner=best), output
            continue
        slope = _monotonicity(effect, curve, table, j, codes)
        rho, p_value = y.trend(codes)
        if abs(slope) >= _MONOTONE and slope * rho > 0 and p_value <= limit / 2:
            return replace(said, kind="up" if slope > 0 else "down"), output
        if abs(slope) < _MONOTONE and turn_p_value(codes, y) <= limit:
            return replace(said, kind="non-monotone"), output
    return Direction(effect.name), order[0]


def _monotonicity(
    effect: FeatureEffect, curve: FloatArray, table: EncodedTable, j: int, codes: NDArray[Any]
) -> float:
    """Return the rank correlation, over the rows, of a feature with its effect."""
    values = codes if effect.labels else np.asarray(table.values(j), dtype=np.float64)[codes]
    points = effect.points
    if effect.labels:  # ordinal: the codes that occurred, in their order
        place = {str(label): code for code, label in enumerate(table.values(j).tolist())}
        points = np.array([place[label] for label in effect.labels], dtype=np.float64)
    return Numbers(np.interp(values, points, curve)).trend(codes)[0]


def _interactions(
    rows: Rows,
    data: LearningSet[EncodedTable],
    columns: list[int],
    targets: list[Response],
    found_before: Collection[int],
) -> tuple[InteractionStrengths | None, list[tuple[str, str]]]:
    """Return the interactions of pairs, and the pairs where the data support one."""
    if len(columns) < 2:
        return None, []
    first = rows.forest.part(0, min(_TREES, rows.forest.n_trees))
    taken = np.asarray(np.linspace(0, len(rows) - 1, min(_PAIR_ROWS, len(rows))), dtype=np.intp)
    few = Rows(first, rows.values[taken], rows.n_threads)
    strengths = strengths_of(few, columns)
    table = data.table
    n_found = len([j for j in columns if j in found_before])
    index = {table.names[j]: j for j in columns}

    def supported(pair: tuple[str, str]) -> bool:
        places = [index[name] for name in pair]
        kinds = [table.kinds[j] == "nominal" for j in places]
        codes = [table.codes(j).astype(np.int64) for j in places]
        n = n_found if all(j in found_before for j in places) else table.n_columns
        level = LEVEL / (n * (n - 1) / 2)
        return interaction_p_value(codes[0], codes[1], targets, kinds) <= level

    strong = zip(strengths.pairs, strengths.h.tolist(), strict=True)
    return strengths, [pair for pair, h in strong if h >= _LEAST_H and supported(pair)]


def _dominated(
    interactions: InteractionStrengths | None, supported: list[tuple[str, str]]
) -> dict[str, str]:
    """Return the features whose interaction is stronger than they are alone, with the other."""
    partners: dict[str, str] = {}
    if interactions is None:
        return partners
    for pair, strength in zip(interactions.pairs, interactions.strengths.tolist(), strict=True):
        if pair in supported:
            for name, other in (pair, pair[::-1]):
                if strength > interactions.mains[name]:
                    partners.setdefault(name, other)
    return partners
