"""Direction of the effects of features, asserted only where the data support it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.target import midranks
from duramen.effects.association import (
    between_categories,
    highest_category,
    residuals,
    trend,
    turn_p_value,
)
from duramen.effects.curves import (
    POINTS,
    Rows,
    effect_within_strata,
    local_effects,
    numbers_of,
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
_AT_ONCE = 1 << 20  # codes of columns that are tested together
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
        """Text of the direction in tables."""
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
    grown = forest_of(forest, _FUNCTION, data, survival=True, boosted=True)
    grown, rows, taken, n_threads = read_rows(grown, data, _FUNCTION, max_rows, n_jobs)
    columns = checks.places_of(features, grown.names, f"{_FUNCTION}: features")
    # Target of an output: the numbers, the survival, or an indicator of the class.
    values, exchangeability = np.asarray(data.target.values), data.exchangeability
    targets = values[:, None]
    if grown.classes is not None:
        targets = (values[:, None] == np.arange(len(grown.classes))).astype(np.int64)
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
    if strata is None:
        effects = local_effects(grown, rows, taken, columns, POINTS, n_threads)
    else:
        numbers: FloatArray = targets.astype(np.float64)
        if data.target.censored:
            numbers = residuals(values, cells)[:, None]
        effects = {
            j: effect_within_strata(grown, data.table, j, numbers, strata)
            for j in columns
            if not np.isnan(numbers_of(grown, rows, taken, [j])).all()
        }
    trends = _trends(data, effects, targets[:, outputs], cells)
    claims = {
        j: _claims(data, effect, j, targets, outputs, cells, trends.get(j))
        for j, effect in effects.items()
    }
    relevant = frozenset(() if relevant is None else relevant)
    confirmed = frozenset(j for j in effects if grown.names[j] in relevant)
    # Benjamini and Hochberg over the features that a test found, Bonferroni for the others.
    ranked = sorted(min((claim[0] for claim in claims[j]), default=1.0) for j in confirmed)
    bounds = enumerate(ranked, 1)
    level_confirmed = max((p for k, p in bounds if p <= LEVEL * k / len(ranked)), default=0.0)
    directions = {name: Direction(name) for name in features}
    for j, effect in effects.items():
        level = level_confirmed if j in confirmed else LEVEL / grown.n_features
        supported = [claim for claim in claims[j] if claim[0] <= level]
        if not supported:
            reach = np.ptp(effect.values, axis=0)
            supported = [(1.0, "none", max(outputs, key=reach.__getitem__), "")]
        _, kind, output, category = supported[0]
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
    undirected = {j for j in effects if directions[grown.names[j]].kind == "none"}
    partners = _interactions(grown, rows, taken, data, [*effects], undirected, confirmed, n_threads)
    for j, k in partners.items():
        name, partner = grown.names[j], grown.names[k]
        directions[name] = replace(directions[name], kind="interaction", partner=partner)
    return tuple(directions[name] for name in features)


def _trends(
    data: LearningSet[EncodedTable],
    effects: Mapping[int, FeatureEffect],
    targets: NDArray[Any],
    cells: IntArray | None,
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return the trends of targets, of shape (n, k), in features that are not nominal."""
    table, groups = data.table, data.exchangeability.groups
    trends = dict[int, tuple[FloatArray, FloatArray]]()
    together = defaultdict[bytes, list[int]](list)  # features that are missing in the same rows
    for j, effect in effects.items():
        if effect.kind != "nominal":
            lacking = table.codes(j) == len(table.values(j)) if table.missing[j] else False
            together[np.packbits(lacking).tobytes()].append(j)
    at_once = max(1, _AT_ONCE // table.n_rows)
    for columns in together.values():
        present = np.flatnonzero(table.codes(columns[0]) < len(table.values(columns[0])))
        rows = [None if array is None else array[present] for array in (cells, groups)]
        for start in range(0, len(columns), at_once):
            some = columns[start : start + at_once]
            codes = np.stack([table.codes(j)[present] for j in some], axis=1).astype(np.int64)
            tests = trend(codes, targets[present], *rows, censored=data.target.censored)
            trends |= dict(zip(some, zip(*tests, strict=True), strict=True))
    return trends


def _claims(
    data: LearningSet[EncodedTable],
    effect: FeatureEffect,
    j: int,
    targets: NDArray[Any],
    outputs: list[int],
    cells: IntArray | None,
    trends: tuple[FloatArray, FloatArray] | None,
) -> list[_Claim]:
    """Return the directions that the effect of one feature by itself may have.

    Those of the output that it has the largest effect on come first; without any effect, the one
    with the smallest p-value. P-values are adjusted for the number of outputs, and of directions.
    `trends` are correlations and p-values of all outputs; none for a nominal feature.
    """
    censored, n, claims = data.target.censored, len(outputs), list[_Claim]()
    reach = effect.values.max(axis=0) - effect.values.min(axis=0)
    flat, in_order = not reach.any(), sorted(range(n), key=lambda i: -reach[outputs[i]])
    if flat and trends is not None:
        tests = zip(outputs, *(part.tolist() for part in trends), strict=True)
        claims = [(2 * n * p, "up" if rho > 0 else "down", k, "") for k, rho, p in tests if rho]
        return sorted(claims, key=lambda claim: claim[0])
    table, codes, y = data.table, data.table.codes(j).astype(np.int64), targets
    rows = [cells, data.exchangeability.groups]
    if table.missing[j]:
        present = codes < len(table.values(j))
        codes, y = codes[present], y[present]
        rows = [None if array is None else array[present] for array in rows]
    if trends is None:
        for output in (outputs[i] for i in in_order):
            own, curve = y[:, output], effect.values[:, output]
            code = highest_category(codes, own, rows[0], censored=censored)
            highest = str(table.labels[j][code])
            if flat or effect.labels[int(curve.argmax())] == highest:
                p_value = between_categories(codes, own, *rows, censored=censored)[1]
                claims.append((n * p_value, "categories", output, highest))
        return sorted(claims, key=lambda claim: claim[0]) if flat else claims
    slopes, turns = _monotonicity(effect, outputs, table, j, np.bincount(codes)), np.ones(n)
    may_turn = np.abs(slopes) < _MONOTONE
    if may_turn.any():
        own = y[:, np.array(outputs)[may_turn]]
        turns[may_turn] = turn_p_value(codes, own, *rows, censored=censored)
    for i in in_order:
        rho, p_value = (float(part[i]) for part in trends)
        claims.append((n * float(turns[i]), "non-monotone", outputs[i], ""))
        if slopes[i] * rho > 0:
            claims.append((2 * n * p_value, "up" if rho > 0 else "down", outputs[i], ""))
    return claims


def _monotonicity(
    effect: FeatureEffect, outputs: list[int], table: EncodedTable, j: int, sizes: IntArray
) -> FloatArray:
    """Return the Gini correlations, over the rows, of effects with the ranks of their feature.

    The sum, over all pairs of rows, of the effect at the larger value less that at the smaller
    one, as a fraction of the sum of absolute differences: 1 where the effect never falls, also if
    it is a single step beyond which few rows lie, whose rank correlation is small (Schechtman and
    Yitzhaki 1987). `sizes` are the numbers of rows of each code.
    """
    values, points = np.arange(len(sizes), dtype=np.float64), effect.points
    if effect.labels:  # ordinal: the codes that occurred, in their order
        place = {str(label): code for code, label in enumerate(table.values(j).tolist())}
        points = np.array([place[label] for label in effect.labels], dtype=np.float64)
    else:
        values = np.asarray(table.values(j)[: len(sizes)], dtype=np.float64)
    at = np.stack([np.interp(values, points, effect.values[:, output]) for output in outputs])
    at -= (at @ sizes / sizes.sum())[:, None]
    order, weighted = np.argsort(at, axis=1), at * sizes
    most = (np.take_along_axis(weighted, order, axis=1) * midranks(sizes[order])).sum(axis=1)
    rising = (weighted * midranks(sizes)).sum(axis=1)
    return np.asarray(np.divide(rising, most, out=np.zeros(len(most)), where=most > 0))


def _interactions(
    forest: Forest,
    rows: Rows,
    taken: IntArray,
    data: LearningSet[EncodedTable],
    columns: list[int],
    undirected: set[int],
    confirmed: Collection[int],
    n_threads: int,
) -> dict[int, int]:
    """Return features without a direction that depend on a partner more than on themselves.

    Of the pairs whose interaction the data support, the strongest counts.
    """
    pairs = [pair for pair in combinations(columns[:_PAIRED], 2) if not undirected.isdisjoint(pair)]
    if not pairs:
        return {}
    # Boosted trees are a prediction all together.
    first = forest.part(0, min(_TREES, forest.n_trees)) if forest.link is None else forest
    at = np.linspace(0, len(taken) - 1, min(_PAIR_ROWS, len(taken))).astype(np.int64)
    pairs, strengths, h, mains = pair_strengths(first, rows, taken[at], pairs, n_threads)
    n_confirmed = len([j for j in columns[:_PAIRED] if j in confirmed])
    partners, model = dict[int, int](), None
    for (j, k), strength, fraction in zip(pairs, strengths.tolist(), h.tolist(), strict=True):
        lacking = [pair for pair in ((j, k), (k, j)) if pair[0] in undirected]
        lacking = [(a, b) for a, b in lacking if a not in partners and strength > mains[a]]
        if fraction < _LEAST_H or not lacking:
            continue
        model = model or main_effects(data, columns)
        n = n_confirmed if j in confirmed and k in confirmed else data.table.n_columns
        if interaction_p_value(data, model, j, k) <= LEVEL / (n * (n - 1) / 2):
            partners |= dict(lacking)
    return partners
