"""Direction of the effects of features, asserted only where the data support it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.effects.association import (
    between_categories,
    highest_category,
    residuals,
    trend,
    turn_p_value,
)
from duramen.effects.curves import (
    POINTS,
    effect_within_strata,
    has_value,
    local_effects,
    read_rows,
)
from duramen.effects.interactions import interaction_p_value, main_effects, pair_strengths
from duramen.forests.forest import Forest
from duramen.importances.arguments import forest_of
from duramen.results.feature_effect import FeatureEffect
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

Kind = Literal["up", "down", "non-monotone", "categories", "interaction", "none"]
_Claim: TypeAlias = tuple[float, Kind, int, str]  # p-value, kind, output and highest category

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
    output : int
        Index of the class that the direction is about; 0 in regression.
    effect : FeatureEffect or None
        Accumulated local effect, or effect within strata; None if the feature has no value.

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
    output: int = 0
    effect: FeatureEffect | None = None

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


def describe_effects(
    forest: Any,
    data: LearningSet[EncodedTable],
    features: Sequence[str],
    *,
    relevant: Collection[str] | None = None,
    pos_label: Any = None,
    max_rows: int = _ROWS,
    n_jobs: int | None = None,
) -> tuple[Direction, ...]:
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
        A forest of this package or of scikit-learn.
    data : LearningSet
        The rows it was grown on.
    features : sequence of str
        The features, the most important first.
    relevant : collection of str, optional
        Those that a test found, which need less evidence of a direction; by default none.
    pos_label : label, optional
        Class that the directions are about. By default ``positive`` of the learning set, else of
        two classes the one whose label is that of cases, such as yes, 1, ill or dead beside no, 0,
        well or alive, or the rarer one where no label is; of more classes for each feature the one
        whose probability depends on it most among those that the data support.
    max_rows : int
        Rows over which effects are averaged.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    tuple of Direction
        One a feature, in the order of `features`.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> data = dm.learning_set(X, 3 * X[:, 0] - X[:, 1])
    >>> forest = dm.RandomForestRegressor(100, random_state=0).fit(data)
    >>> directions = dm.effects.describe_effects(forest, data, ["x0", "x1", "x2"])
    >>> [direction.words for direction in directions]
    ['up', 'down', 'no direction']
    """
    grown = forest_of(forest, _FUNCTION, data, survival=True)
    grown, rows, n_threads = read_rows(grown, data, _FUNCTION, max_rows, n_jobs)
    columns = checks.places_of(features, grown.names, f"{_FUNCTION}: features")
    columns = [j for j in columns if has_value(grown, rows, j).any()]
    relevant = () if relevant is None else relevant
    confirmed = frozenset(j for j in columns if grown.names[j] in relevant)
    # Target of an output: the numbers, the survival, or an indicator of the class.
    values, exchangeability = np.asarray(data.target.values), data.exchangeability
    targets = values[:, None]
    if grown.classes is not None:
        targets = values[:, None] == np.arange(len(grown.classes))
    if not data.target.censored:
        targets = targets.astype(np.float64)
    cells, strata = exchangeability.exchanged(values), exchangeability.strata
    labels = [] if grown.classes is None else list(map(str, grown.classes.tolist()))
    outputs = list(range(targets.shape[1]))
    pos_label = data.positive if pos_label is None else pos_label
    if pos_label is not None:
        if str(pos_label) not in labels:
            shown = ", ".join(labels[:_NAMED]) + ", ..." * (len(labels) > _NAMED)
            raise ValueError(
                f"{_FUNCTION}: pos_label must be a class of the target"
                f"{f', one of {shown}' if labels else ', and None for numbers'}, got {pos_label!r}."
            )
        outputs = [labels.index(str(pos_label))]
    elif len(labels) == 2:
        outputs = [labels.index(data.target.default_positive[0])]
    effects, claims = dict[int, FeatureEffect](), dict[int, list[_Claim]]()
    for j in columns:
        if strata is None:
            effects[j] = local_effects(grown, rows, j, POINTS, n_threads)
        else:
            numbers: FloatArray = targets.astype(np.float64)
            if data.target.censored:
                numbers = residuals(values, cells)[:, None]
            effects[j] = effect_within_strata(grown, data.table, j, numbers, strata)
        claims[j] = _claims(data, effects[j], j, targets, outputs, cells)
    # Benjamini and Hochberg over the features that a test found, Bonferroni for the others.
    ranked = sorted(min((claim[0] for claim in claims[j]), default=1.0) for j in confirmed)
    bounds = enumerate(ranked, 1)
    level_confirmed = max((p for k, p in bounds if p <= LEVEL * k / len(ranked)), default=0.0)
    directions = {name: Direction(name) for name in features}
    for j, effect in effects.items():
        level = level_confirmed if j in confirmed else LEVEL / grown.n_features
        reach = np.ptp(effect.values, axis=0)
        supported = (claim for claim in claims[j] if claim[0] <= level)
        largest = max(outputs, key=reach.__getitem__)
        _, kind, output, category = next(supported, (1.0, "none", largest, ""))
        directions[effect.name] = Direction(
            effect.name,
            kind,
            of=labels[output] if labels and kind != "none" else "",
            partner=category,
            risk=data.target.censored and kind != "none",
            output=output,
            effect=effect,
        )
    # Features without a direction, whose interaction is stronger than they are alone.
    for j, k in _interactions(grown, rows, data, columns, confirmed, n_threads):
        name, partner = grown.names[j], grown.names[k]
        if directions[name].kind == "none":
            directions[name] = replace(directions[name], kind="interaction", partner=partner)
    return tuple(directions[name] for name in features)


def _claims(
    data: LearningSet[EncodedTable],
    effect: FeatureEffect,
    j: int,
    targets: NDArray[Any],
    outputs: list[int],
    cells: IntArray | None,
) -> list[_Claim]:
    """Return the directions that the effect of one feature by itself may have.

    Those of the output that it has the largest effect on come first; without any effect, the one
    with the smallest p-value. P-values are adjusted for the number of outputs, and of directions.
    """
    table, groups = data.table, data.exchangeability.groups
    codes, present = table.codes(j), table.codes(j) < len(table.values(j))
    codes = codes[present].astype(np.int64)
    strata, groups = (None if rows is None else rows[present] for rows in (cells, groups))
    claims, n = list[_Claim](), len(outputs)
    reach, censored = np.ptp(effect.values, axis=0), data.target.censored
    flat = not reach.any()
    for output in sorted(outputs, key=lambda output: -reach[output]):
        curve, y = effect.values[:, output], targets[present, output]
        if effect.kind == "nominal":
            code = highest_category(codes, y, strata, censored=censored)
            highest = str(table.labels[j][code])
            if flat or effect.labels[int(curve.argmax())] == highest:
                p_value = between_categories(codes, y, strata, groups, censored=censored)[1]
                claims.append((n * p_value, "categories", output, highest))
            continue
        slope = 0.0 if flat else _monotonicity(effect, curve, table, j, codes)
        rho, p_value = trend(codes, y, strata, groups, censored=censored)
        if not flat and abs(slope) < _MONOTONE:
            turn = turn_p_value(codes, y, strata, groups, censored=censored)
            claims.append((n * turn, "non-monotone", output, ""))
        if (rho if flat else slope) * rho > 0:
            claims.append((2 * n * p_value, "up" if rho > 0 else "down", output, ""))
    return sorted(claims, key=lambda claim: claim[0]) if flat else claims


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
    forest: Forest,
    rows: FloatArray,
    data: LearningSet[EncodedTable],
    columns: list[int],
    confirmed: Collection[int],
    n_threads: int,
) -> list[tuple[int, int]]:
    """Return features whose interaction with a partner is stronger than they are alone.

    Of the pairs whose interaction the data support, the strongest first.
    """
    if len(columns) < 2:
        return []
    first = forest.part(0, min(_TREES, forest.n_trees))
    taken = np.asarray(np.linspace(0, len(rows) - 1, min(_PAIR_ROWS, len(rows))), dtype=np.intp)
    pairs, strengths, h, mains = pair_strengths(first, rows[taken], columns[:_PAIRED], n_threads)
    n_confirmed = len([j for j in columns[:_PAIRED] if j in confirmed])
    interactions, model = list[tuple[int, int]](), None
    for (j, k), strength, fraction in zip(pairs, strengths.tolist(), h.tolist(), strict=True):
        if fraction < _LEAST_H:
            continue
        model = model or main_effects(data, columns)
        n = n_confirmed if j in confirmed and k in confirmed else data.table.n_columns
        if interaction_p_value(data, model, j, k) <= LEVEL / (n * (n - 1) / 2):
            interactions += [(a, b) for a, b in ((j, k), (k, j)) if strength > mains[a]]
    return interactions
