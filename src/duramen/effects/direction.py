"""Direction of the effects of features, asserted only where the data support it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.effects.curves import POINTS, effect_within_strata, local_effects
from duramen.effects.interactions import interaction_p_value, main_effects, strengths_of
from duramen.effects.response import (
    Numbers,
    Response,
    Survival,
    categories_p_value,
    highest_category,
    turn_p_value,
)
from duramen.effects.rows import Rows, column_of
from duramen.forests.forest import Forest
from duramen.importances.arguments import forest_of
from duramen.results.feature_effect import FeatureEffect, InteractionStrengths
from duramen.support.arrays import FloatArray

Kind = Literal["up", "down", "non-monotone", "categories", "interaction", "none"]

LEVEL = 0.05
_MONOTONE = 0.7  # monotonicity of an effect from which on a test for turns is not needed
_ROWS = 500
_TREES = 200
_PAIRED = 6
_PAIR_ROWS = 50
_NAMED = 10  # classes that a message lists
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
            most = f"{self.of} most likely" if self.of else f"highest{' risk' * self.risk}"
            return f"{most} at {self.partner}"
        return f"risk {self.kind}" if self.risk else f"{self.kind}{toward}"


@dataclass(frozen=True, eq=False)
class EffectsDescription:
    """Effects of the first features of a ranking.

    Attributes
    ----------
    directions : tuple of Direction
        One a feature, in the order of the ranking.
    effects : tuple of FeatureEffect
        Accumulated local effects, or effects within strata, of the features that have a value.
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
    pos_label: Any = None,
    max_rows: int = _ROWS,
    n_jobs: int | None = None,
) -> EffectsDescription:
    """Describe the direction of the effects of some features, and their interactions.

    A direction is that of the accumulated local effect, and is asserted only where the data
    support it at the level .05. Of the features that a test found, this is the false discovery
    rate of their directions (Benjamini and Hochberg 1995, Benjamini and Bogomolov 2014); for
    others, which were picked by their importances on the same data, it is adjusted (Bonferroni)
    for the number of all features of the table. What supports a direction: for "up" and "down"
    Spearman's rank correlation with the target, or with a class, of the same sign; for
    "non-monotone" opposite trends in two parts of the rows; for "categories" the test of Kruskal
    and Wallis. An effect that is not monotone in the forest, but for which neither opposite trends
    are supported, has the direction of the trend if their signs agree: trees also follow noise.
    A feature on which no tree splits has no effect in the forest, and the direction of its trend.
    Where none of these is supported, a feature is described by its interaction with
    another if that is stronger than its partial dependence by itself (`interaction_strength`), and
    a score test on three groups of each feature supports it: it asks whether the mean of the
    target, or the log-odds of its classes, is more than the sum of the main effects of the features
    that are described.

    Of survival, the direction is that of the effect on the risk, which is the expected number of
    events (mortality; Ishwaran et al. 2008), and log-rank tests support it: that for trend, of the
    ranks of the feature, in place of Spearman's correlation, that between groups in place of the
    test of Kruskal and Wallis, and the log-hazard in the score test.

    Strata and groups of the learning set are those of its significance tests. With strata, a
    direction is that of the effect within strata: of the least-squares means of the target in
    intervals or categories of the feature, with an effect of each stratum. The forest, which need
    not know the strata, has no part in it. All tests are then of ranks less their mean in the
    stratum, or of log-rank scores within strata. With groups the tests are score tests whose
    variance is that of sums over groups (Liang and Zeger 1986), so that rows of a group may depend
    on each other. If groups have several values of the target, rows at the same place in groups of
    the same size are compared, as by the permutations of the significance tests.

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
    pos_label : label, optional
        Class that the directions are about. By default the rarer one of two classes, which is the
        case class of most studies, and of more classes for each feature the one whose probability
        depends on it most among those that the data support.
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
    # One response an output: the numbers, the survival, or an indicator of each class.
    values, exchanged = np.asarray(data.target.values), data.exchangeability
    restrictions = exchanged.exchanged(values), exchanged.groups
    targets: list[Response]
    if data.target.censored:
        targets = [Survival((values // 2).astype(np.int64), values % 2 == 1, *restrictions)]
    elif grown.classes is None:
        targets = [Numbers(values.astype(np.float64), *restrictions)]
    else:
        classes = range(len(grown.classes))
        targets = [Numbers((values == k).astype(np.float64), *restrictions) for k in classes]
    outputs = _outputs(grown, values, pos_label)
    if exchanged.strata is None:
        effects = [local_effects(rows, j, POINTS, _FUNCTION) for j in columns]
    else:
        numbers = np.column_stack([target.numbers for target in targets])
        effects = [
            effect_within_strata(grown, data.table, j, numbers, exchanged.strata) for j in columns
        ]
    claims = {
        j: _claims(grown, data.table, effect, j, targets, outputs)
        for j, effect in zip(columns, effects, strict=True)
    }
    # Benjamini and Hochberg over the features that a test found, Bonferroni for the others.
    least = {j: min((claim.p_value for claim in some), default=1.0) for j, some in claims.items()}
    ranked = sorted(least[j] for j in columns if j in found_before)
    bounds = enumerate(ranked, 1)
    level_found = max((p for k, p in bounds if p <= LEVEL * k / len(ranked)), default=0.0)
    by_name: dict[str, tuple[Direction, int]] = {}
    for j, effect in zip(columns, effects, strict=True):
        level = level_found if j in found_before else LEVEL / grown.n_features
        by_name[effect.name] = Direction(effect.name), _order(effect, outputs)[0]
        for claim in claims[j]:
            if claim.p_value <= level:
                by_name[effect.name] = claim.direction, claim.output
                break
    interactions, supported = _interactions(rows, data, columns, found_before)
    # Features without a direction, whose interaction is stronger than they are alone.
    if interactions is not None:
        for pair, strength in zip(interactions.pairs, interactions.strengths.tolist(), strict=True):
            for name, partner in (pair, pair[::-1]) if pair in supported else ():
                kind, output = by_name[name][0].kind, by_name[name][1]
                if kind == "none" and strength > interactions.mains[name]:
                    by_name[name] = Direction(name, "interaction", partner=partner), output
    shown = [by_name.get(name, (Direction(name), 0)) for name in features]
    return EffectsDescription(
        directions=tuple(direction for direction, _ in shown),
        effects=tuple(effects),
        interactions=interactions,
        outputs=tuple(output for _, output in shown),
        supported=tuple(supported),
    )


def _outputs(forest: Forest, values: NDArray[Any], pos_label: Any) -> list[int]:
    """Return the outputs that directions may be about."""
    labels = [] if forest.classes is None else list(map(str, forest.classes.tolist()))
    if pos_label is not None:
        if str(pos_label) not in labels:
            shown = ", ".join(labels[:_NAMED]) + ", ..." * (len(labels) > _NAMED)
            raise ValueError(
                f"{_FUNCTION}: pos_label must be a class of the target"
                f"{f', one of {shown}' if labels else ', and None for numbers'}, got {pos_label!r}."
            )
        return [labels.index(str(pos_label))]
    if len(labels) == 2:
        sizes = np.bincount(values, minlength=2)
        return [int(sizes[1] <= sizes[0])]
    return list(range(max(1, len(labels))))


def _order(effect: FeatureEffect, outputs: list[int]) -> list[int]:
    """Return the outputs, the one that the feature has the largest effect on first."""
    reach = np.ptp(effect.values, axis=0)
    return sorted(outputs, key=lambda output: -reach[output])


class _Claim(NamedTuple):
    """Direction that an effect may have, and the p-value of the test that may support it."""

    direction: Direction
    output: int
    p_value: float  # adjusted for the number of outputs, and of directions


def _claims(
    forest: Forest,
    table: EncodedTable,
    effect: FeatureEffect,
    j: int,
    targets: list[Response],
    outputs: list[int],
) -> list[_Claim]:
    """Return the directions that the effect of one feature by itself may have.

    Those of the output that it has the largest effect on come first; without any effect, the one
    with the smallest p-value.
    """
    codes, present = table.codes(j), table.codes(j) < len(table.values(j))
    codes = codes[present].astype(np.int64)
    targets = [response.take(present) for response in targets]
    claims, n = list[_Claim](), len(outputs)
    flat = not np.ptp(effect.values, axis=0).any()
    for output in _order(effect, outputs):
        name = "" if forest.classes is None else str(forest.classes[output])
        said = Direction(effect.name, of=name, risk=isinstance(targets[0], Survival))
        curve, y = effect.values[:, output], targets[output]
        if effect.kind == "nominal":
            highest = str(table.labels[j][highest_category(codes, y)])
            if flat or effect.labels[int(curve.argmax())] == highest:
                best = replace(said, kind="categories", partner=highest)
                claims.append(_Claim(best, output, n * categories_p_value(codes, y)))
            continue
        slope = 0.0 if flat else _monotonicity(effect, curve, table, j, codes)
        rho, p_value = y.trend(codes)
        if not flat and abs(slope) < _MONOTONE:
            turn = n * turn_p_value(codes, y)
            claims.append(_Claim(replace(said, kind="non-monotone"), output, turn))
        if (rho if flat else slope) * rho > 0:
            trend = replace(said, kind="up" if rho > 0 else "down")
            claims.append(_Claim(trend, output, 2 * n * p_value))
    return sorted(claims, key=lambda claim: claim.p_value) if flat else claims


def _monotonicity(
    effect: FeatureEffect, curve: FloatArray, table: EncodedTable, j: int, codes: NDArray[Any]
) -> float:
    """Return the Gini correlation, over the rows, of an effect with the ranks of its feature.

    The sum, over all pairs of rows, of the effect at the larger value less that at the smaller
    one, as a fraction of the sum of absolute differences: 1 where the effect never falls, also if
    it is a single step beyond which few rows lie, whose rank correlation is small (Schechtman and
    Yitzhaki 1987).
    """
    from scipy.stats import rankdata

    values = codes if effect.labels else np.asarray(table.values(j), dtype=np.float64)[codes]
    points = effect.points
    if effect.labels:  # ordinal: the codes that occurred, in their order
        place = {str(label): code for code, label in enumerate(table.values(j).tolist())}
        points = np.array([place[label] for label in effect.labels], dtype=np.float64)
    at = np.interp(values, points, curve)
    at -= at.mean()
    most = float(at @ rankdata(at))
    return float(at @ rankdata(codes)) / most if most > 0 else 0.0


def _interactions(
    rows: Rows,
    data: LearningSet[EncodedTable],
    columns: list[int],
    found_before: Collection[int],
) -> tuple[InteractionStrengths | None, list[tuple[str, str]]]:
    """Return the interactions of pairs, and the pairs where the data support one."""
    if len(columns) < 2:
        return None, []
    first = rows.forest.part(0, min(_TREES, rows.forest.n_trees))
    taken = np.asarray(np.linspace(0, len(rows) - 1, min(_PAIR_ROWS, len(rows))), dtype=np.intp)
    few = Rows(first, rows.values[taken], rows.n_threads)
    strengths = strengths_of(few, columns[:_PAIRED])
    table = data.table
    n_found = len([j for j in columns[:_PAIRED] if j in found_before])
    index = {table.names[j]: j for j in columns}
    strong = [
        pair for pair, h in zip(strengths.pairs, strengths.h.tolist(), strict=True) if h >= _LEAST_H
    ]
    if not strong:
        return strengths, []
    model, supported = main_effects(data, columns), []
    for pair in strong:
        places = [index[name] for name in pair]
        n = n_found if all(j in found_before for j in places) else table.n_columns
        if interaction_p_value(data, model, *places) <= LEVEL / (n * (n - 1) / 2):
            supported.append(pair)
    return strengths, supported
