r"""Draws of a feature given all others, as values of other rows of the table.

The row whose value a row takes is its *donor*: a draw is then a value that occurs, whatever the
kind of the column, and missing where that of the donor is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.data import ClassTarget, EncodedTable, Exchangeability
from duramen.data.strata import centered_within
from duramen.jobs.replicates import replicate_seed
from duramen.significance.conditional_tests.inference import of_units
from duramen.significance.conditional_tests.nodewise import (
    Nodewise,
    Scores,
    by_splines,
    curved_in,
    standardized,
)
from duramen.significance.measured import Data
from duramen.support.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_TREES = 100
_DETERMINED = 1e-8  # of an eigenvalue
_FOLDS = 5  # of regressions on the most correlated columns
_FEW_VALUES = 10  # of a number or grade whose draws are values of rows with similar predictions
_SIMILAR = 6  # of these rows
_JITTER = 1e-6  # of predictions of scores, so that equal ones are chosen among by chance


@dataclass(frozen=True, eq=False)
class Sampler:
    """Distribution of each feature given all others, estimated from the rows.

    A numeric or ordinal feature has normal scores with a ridge regression on those of the others,
    or of the most correlated ones; a draw is the prediction without the row plus the residual of
    another row. Where `forests` say so, a forest predicts what the regression leaves. A number or
    grade of at most ten values, whose residuals vary with the prediction, is that of a row with a
    similar prediction (predictive mean matching, Little 1988). A nominal feature, or one of two
    values, is drawn from predicted probabilities.

    Attributes
    ----------
    table : EncodedTable
        n rows of p columns.
    nodewise : Nodewise
        Scores of the columns and what ridge regressions leave of them.
    forests : bool array of shape (p,)
        Features that a forest predicts.
    left : float64 array of shape (n, q)
        What is left of each column of the scores, by the better of regression and forest.
    seed : int
        Seed of all draws; those of a feature depend on it and the feature alone.
    strata : int64 array of shape (n,) or None
        Draws have the values of rows of the stratum.
    folds : int64 array of shape (n,) or None
        Of the regressions on the most correlated columns.
    groups : int64 array of shape (n,) or None
        Rows that may depend on each other: they are predicted without each other.
    lending : int64 array of shape (n,) or None
        Parts of the rows within which residuals are lent, where these are not the strata.
    """

    table: EncodedTable
    nodewise: Nodewise
    forests: BoolArray
    left: FloatArray
    seed: int
    strata: IntArray | None = None
    folds: IntArray | None = None
    groups: IntArray | None = None
    lending: IntArray | None = None

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        kind: str,
        seed: int,
        *,
        strata: IntArray | None = None,
        groups: IntArray | None = None,
        n_threads: int = 1,
    ) -> Sampler:
        """Fit the distribution of every feature.

        Parameters
        ----------
        table : EncodedTable
            The rows.
        kind : {"gaussian", "forest", "auto"}
            Ridge regressions of scores; forests for all; or forests for the features whose
            residuals depend on squares or cubes of others (splines of these, then a forest).
        seed : int
            Seed of forests and draws.
        strata : int64 array of shape (n,), optional
            Rows are exchanged within strata.
        groups : int64 array of shape (n,), optional
            Rows that may depend on each other: a row is predicted without those of its group.
        n_threads : int
            Threads of a forest.
        """
        scores = Scores.of(table, strata)
        units = np.arange(table.n_rows) if groups is None else groups
        folds = folds_of_groups(units, _FOLDS, np.random.default_rng(seed))
        nodewise = Nodewise.of(scores, folds, groups)
        curved = [np.empty(0, dtype=np.int64)] * table.n_columns
        if kind != "gaussian":
            curved = curved_in(scores, nodewise.residuals)
        curves = np.array([len(features) > 0 for features in curved], dtype=np.bool_)
        forests = (scores.widths > 0) & (curves | (kind == "forest"))
        left = np.array(nodewise.residuals)
        for j in np.flatnonzero(forests).tolist():
            block = scores.columns(j)
            if len(curved[j]) and not scores.discrete[j]:
                of_splines = by_splines(nodewise, scores, j, curved[j])
                left[:, block] = centered_within(of_splines, strata)
            of_forest = forest_residuals(
                table,
                scores,
                left[:, block],
                j,
                replicate_seed(seed, j),
                n_threads,
                strata=strata,
                groups=groups,
            )
            if np.square(of_forest).sum() < np.square(left[:, block]).sum():
                left[:, block] = of_forest
        return cls(table, nodewise, forests, left, seed, strata, folds, groups)

    @property
    def scores(self) -> Scores:
        """Scores of the features."""
        return self.nodewise.scores

    def residuals(self, features: IntArray) -> FloatArray:
        """Return the residuals of a feature, or of several given all but these, (n, b)."""
        if len(features) == 1:
            return self.left[:, self.scores.columns(int(features[0]))]
        return self.nodewise.residuals_of(features)

    def explained(self, hypotheses: Sequence[IntArray]) -> FloatArray:
        """Return the fraction of variance that the others predict, of all features of hypotheses.

        Of a group it is that of the column of which they predict the least.
        """
        scores, fractions = self.scores, np.zeros(len(hypotheses))
        for g, features in enumerate(hypotheses):
            members = features[scores.widths[features] > 0]
            if not len(members):
                continue
            total = np.square(scores.of_features(members.tolist()))
            if len(features) == 1:
                left = float(np.square(self.residuals(features)).sum())
                fractions[g] = 1.0 - left / max(float(total.sum()), 1e-300)
            else:
                of_columns = np.square(self.nodewise.residuals_of(members)).sum(axis=0)
                fractions[g] = 1.0 - (of_columns / np.maximum(total.sum(axis=0), 1e-300)).max()
        return np.asarray(np.clip(fractions, 0.0, 1.0))

    def determined(self, features: IntArray) -> bool:
        """Tell whether the other features determine a feature, or several, by a linear equation.

        As other levels do the last indicator of a category, and a column its copy. Of as many
        columns as rows, less the means that were taken away, any are: that tells nothing. With
        groups, whose rows may be equal, different rows count.
        """
        columns = np.concatenate([np.r_[self.scores.columns(j)] for j in features.tolist()])
        values, vectors = self.scores.values, self.nodewise.vectors
        n = len(values) if self.groups is None else len(np.unique(values, axis=0))
        n_means = 1 if self.strata is None else int(self.strata.max()) + 1
        if not len(columns) or vectors.shape[1] >= n - n_means:
            return False
        # Rank of the part of the null space of the scores in these columns.
        own = np.eye(len(columns)) - vectors[columns] @ vectors[columns].T
        return bool(np.linalg.eigvalsh(own)[0] > _DETERMINED)

    def donors(self, features: Sequence[int], n_draws: int, batch: int = 0) -> np.ndarray:
        """Return the row whose value each row takes in each draw, uint32 of (b, n_draws, n).

        The draws of another batch are others. Features that are drawn together, given all but
        these, take the residuals of one row, so that they keep what they have in common; or the
        values of a row with similar predictions, if any of them has few.
        """
        scores, seeds = self.scores, [self.seed, *features]
        members = [j for j in features if scores.widths[j]]
        if len(features) == 1:
            seeds = [replicate_seed(self.seed, self.table.n_columns + features[0])]
        seeds += [batch] if batch else []
        random = np.random.default_rng(seeds if len(seeds) > 1 else seeds[0])
        donors = np.empty((len(features), n_draws, self.table.n_rows), dtype=np.uint32)
        donors[:] = np.arange(self.table.n_rows)
        if not members:
            return donors
        if len(features) == 1:
            residuals = self.residuals(np.array(features))
        else:
            residuals = self.nodewise.residuals_of(np.array(members))
            if any(self._has_few_values(j) for j in members):
                values = scores.of_features(members)
                spread = np.maximum(residuals.std(axis=0), 1e-3)
                everywhere = np.ones(len(values), dtype=np.bool_)
                donors[:] = self.similar((values - residuals) / spread, everywhere, n_draws, random)
                return donors
        part = self.strata if self.lending is None else self.lending
        lenders = Exchangeability(self.table.n_rows, part)
        orders = [lenders.permutation(random) for _ in range(n_draws)]
        parts = iter(np.split(residuals, np.cumsum(scores.widths[members])[:-1], axis=1))
        for place, j in enumerate(features):
            if scores.widths[j]:
                donors[place] = self.drawn(j, next(parts), orders, random)
        return donors

    def drawn_scores(self, features: Sequence[int], n_draws: int, batch: int) -> FloatArray:
        """Return the scores of draws of features, shape (n_draws, n, b)."""
        donors, scores = self.donors(features, n_draws, batch), self.scores
        blocks = [scores.values[:, scores.columns(j)] for j in features]
        parts = zip(blocks, donors, strict=True)
        return np.concatenate([block[rows] for block, rows in parts], axis=2)

    def drawn(
        self, j: int, residuals: FloatArray, orders: list[IntArray], random: np.random.Generator
    ) -> np.ndarray:
        """Return donors of a feature with some residuals, uint32 of shape (orders, n).

        In a draw each row takes the residual of the row that the order names; or, where a number or
        grade has few values, the value of a row with a similar prediction.
        """
        scores = self.scores
        values, codes = scores.values[:, scores.columns(j)], scores.codes[j]
        n, width = values.shape
        donors = np.tile(np.arange(n, dtype=np.uint32), (len(orders), 1))
        if scores.discrete[j]:
            levels = np.unique(codes, return_inverse=True)[1]
            chances = np.column_stack(
                [
                    self._chances(levels == level, values[:, k], residuals[:, k])
                    for k, level in enumerate([1] if width == 1 else range(width))
                ]
            )
            if width == 1:
                chances = np.hstack([1.0 - chances, chances])
            ends = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
            for draw in donors:
                level = (random.random(len(values))[:, None] > ends[:, :-1]).sum(axis=1)
                draw[:] = rows_of_levels(levels, level, random)
            return donors
        missing = codes >= len(self.table.values(j))
        base = values[:, 0] - residuals[:, 0]
        if self._has_few_values(j):
            donors = self.similar(base[:, None], ~missing, len(orders), random)
        else:
            spread = residuals[:, 0] - residuals[:, 0].mean()
            # Residuals of rows left out are too large by as much as the predictions vary by chance.
            left = max(float(values[:, 0].var() - base.var()), 0.0)
            spread *= np.sqrt(left / max(float(spread.var()), 1e-300))
            wanted = np.stack([base + spread[order] for order in orders])
            own = np.where(missing, np.nan, values[:, 0])
            for rows in _parts(self.strata, n):
                if not missing[rows].all():
                    donors[:, rows] = rows[nearest_rows(own[rows], wanted[:, rows], random)]
        if width > 1:
            absent = self._chances(missing, values[:, 1], residuals[:, 1])
            gaps = np.flatnonzero(missing).astype(np.uint32)
            hidden = random.random(donors.shape) < absent
            donors[hidden] = gaps[random.integers(len(gaps), size=int(hidden.sum()))]
        return donors

    def _has_few_values(self, j: int) -> bool:
        """Tell whether a feature has so few values that rows of similar predictions lend them."""
        return bool(self.scores.discrete[j]) or len(np.unique(self.scores.codes[j])) <= _FEW_VALUES

    def _chances(self, flags: BoolArray, scores: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return probabilities of flags, from the residuals of their scores."""
        if self.strata is None:
            return probabilities(scores - residuals, scores)
        indicator = flags.astype(np.float64)
        within = centered_within(indicator[:, None], self.strata)[:, 0]
        size = float(within @ within)
        scale = float(within @ scores) / size if size > 0.0 else 1.0  # of scores without means
        return probabilities(indicator - residuals / scale, indicator)

    def similar(
        self, predicted: FloatArray, present: BoolArray, n_draws: int, random: np.random.Generator
    ) -> np.ndarray:
        """Draw a row with a similar prediction, of the stratum but not of the group of each row.

        Predictions have shape (n, b); only rows that are `present` are drawn.
        """
        from scipy.spatial import cKDTree

        n = len(predicted)
        donors = np.tile(np.arange(n, dtype=np.uint32), (n_draws, 1))
        groups = np.arange(n) if self.groups is None else self.groups
        most = int(np.bincount(groups).max())
        places = predicted + _JITTER * random.normal(size=predicted.shape)  # equal ones by chance
        for rows in _parts(self.strata if self.lending is None else self.lending, n):
            lenders = rows[present[rows]]
            width = min(_SIMILAR, len(lenders) - 1)
            if width < 1:
                continue
            n_near = min(width + most, len(lenders))
            near = lenders[cKDTree(places[lenders]).query(places[rows], n_near)[1]]
            other = groups[near] != groups[rows][:, None]
            near = np.take_along_axis(near, np.argsort(~other, axis=1, kind="stable"), axis=1)
            n_others = other.sum(axis=1)
            chosen = random.integers(width, size=(n_draws, len(rows))) % np.maximum(n_others, 1)
            drawn = near[np.arange(len(rows)), chosen]
            donors[:, rows] = np.where(n_others > 0, drawn, rows)
        return donors


def _parts(labels: IntArray | None, n: int) -> list[IntArray]:
    """Return the rows of each part; all of them without labels."""
    if labels is None:
        return [np.arange(n)]
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def folds_of_groups(groups: IntArray, n_folds: int, random: np.random.Generator) -> IntArray:
    """Return the fold of each row; rows of a group share a fold."""
    of_group = random.permutation(np.arange(int(groups.max(initial=-1)) + 1) % n_folds)
    return np.asarray(of_group[groups], dtype=np.int64)


def nearest_rows(
    numbers: FloatArray, wanted: FloatArray, random: np.random.Generator
) -> np.ndarray:
    """Return rows with the nearest numbers, uint32, of the shape of `wanted`.

    Rows whose number is missing, NaN, are left out; equal ones are shuffled.
    """
    rows = np.flatnonzero(~np.isnan(numbers))
    rows = rows[np.argsort(numbers[rows], kind="stable")]
    ascending = numbers[rows]
    ties = np.cumsum(np.r_[0, ascending[1:] > ascending[:-1]])
    rows = rows[np.lexsort((random.random(len(rows)), ties))].astype(np.uint32)
    return np.asarray(rows[np.searchsorted((ascending[1:] + ascending[:-1]) / 2.0, wanted)])


def rows_of_levels(own: IntArray, level: IntArray, random: np.random.Generator) -> IntArray:
    """Draw a row with the wanted level for each row, shape (n,).

    `own` are the levels of the rows, numbers from 0, and `level` those that are wanted.
    """
    rows = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[rows], np.arange(int(own.max()) + 2))
    width = starts[level + 1] - starts[level]
    return rows[starts[level] + (random.random(len(own)) * width).astype(np.int64)]


def probabilities(predicted: FloatArray, indicator: FloatArray) -> FloatArray:
    """Return probabilities of a value from predictions of its indicator in any unit."""
    low, high = float(indicator.min()), float(indicator.max())
    fraction = (predicted - low) / (high - low)
    # An estimate of 0 or 1 is less sure than that: as if a row more had the other value.
    least = 0.5 / len(indicator)
    return np.asarray(np.clip(fraction, least, 1.0 - least))


def forest_for(data: Data, **settings: Any) -> BaseForest:
    """Return a forest that suits a learning set, with out-of-bag rows."""
    from duramen.estimators import RandomForestClassifier, RandomForestRegressor

    if not isinstance(data.target, ClassTarget):
        return RandomForestRegressor(max_features=1 / 3, **settings)
    return RandomForestClassifier(**settings)


def forest_residuals(
    table: EncodedTable,
    scores: Scores,
    residuals: FloatArray,
    j: int,
    seed: int,
    n_threads: int,
    *,
    strata: IntArray | None = None,
    groups: IntArray | None = None,
) -> FloatArray:
    """Return the residuals of a feature after a forest, out of bag, shape (n, b).

    They are less their means in the strata.
    """
    from duramen.data import learning_set

    others = table.take_columns(np.delete(np.arange(table.n_columns), j))
    settings: dict[str, Any] = {
        "n_estimators": _TREES,
        "oob_score": True,
        "min_samples_leaf": 5,
        "random_state": seed % 2**32,
        "n_jobs": n_threads,
    }
    if scores.discrete[j]:
        levels, labels = np.unique(scores.codes[j], return_inverse=True)
        data = learning_set(others, labels, task="classification", groups=groups)
        forest = forest_for(data, **settings).fit(data)
        chances = np.asarray(forest.oob_decision_function_)
        left = (labels[:, None] == np.arange(len(levels))) - chances
        if len(levels) == 2:
            left = left[:, 1:] / max(float((labels == 1).std()), 1e-300)
        return left if strata is None else centered_within(left, strata)
    residuals = np.array(residuals)
    for k in range(residuals.shape[1]):
        data = learning_set(others, residuals[:, k], task="regression", groups=groups)
        forest = forest_for(data, **settings).fit(data)
        residuals[:, k] -= np.asarray(forest.oob_prediction_)
    return centered_within(residuals, strata)


# --- diagnosis of draws --------------------------------------------------------------------------
# With X_j drawn from its distribution given the other features, the row with the draw has the
# distribution of the row itself. A forest learns on some rows to tell the two, and predicts others:
# the area under its ROC curve (AUC) is .5 where the draws are right.

_CLASSIFIER_TREES = 50
_CLASSIFIER_FOLDS = 3
_MOST_HYPOTHESES = 12
_BESIDE = 5  # other features that a classifier is given, by each of two criteria
_LEVEL = 0.01  # of the warning
_HARMLESS = 0.52  # area of draws that fit nearly
_CONFIDENCE = 0.95
_OF_DRAWS = (
    "the draws of features given the others do not fit: {}; p-values may be too small. Hint: "
    "strata, or another sampler with duramen.significance.conditional"
)
_OF_KNOCKOFFS = (
    "the knockoffs do not fit: {}; the false discovery rate may be far above alpha. Hint: "
    'sampler="forest", or dm.significance.conditional, which warns in the same way'
)


def diagnosis(
    sampler: Sampler,
    hypotheses: Mapping[str, IntArray],
    p_values: Sequence[float] | FloatArray,
    seed: int,
    *,
    units: IntArray | None = None,
    n_threads: int = 1,
    donors: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """Test whether a classifier can separate draws of features from the data.

    Looked at are the hypotheses with the smallest p-values, whose verdicts depend on the draws.
    A classifier sees the columns of the drawn features, their residuals after the prediction from
    the others, and those other features that either are related to them linearly, or have a square
    or cube that is related to their residuals or the squares of these, in the training rows.

    Parameters
    ----------
    sampler : Sampler
    hypotheses : mapping of str to int64 array
        Features that are drawn together.
    p_values : array-like of shape (H,)
    seed : int
        Seed of draws, folds and forests, other than those of the test.
    units : int64 array of shape (n,), optional
        Groups of rows that may depend on each other.
    n_threads : int
        Threads of a forest.
    donors : uint32 array of shape (p, n), optional
        Rows whose values are the draws of each feature, such as knockoffs: a row with one knockoff
        in place of its feature has the distribution of the row itself. None: the sampler draws.

    Returns
    -------
    dict or None
        ``auc``, the mean area, with its interval from ``low`` to ``high``; ``misfit``, whether
        draws of any hypothesis, or of all together, are told from the data; the area and standard
        error of each hypothesis in ``features``. None if no feature varies.
    """
    from duramen.estimators import RandomForestClassifier

    varies = sampler.scores.widths > 0
    names = list(hypotheses)
    order = np.argsort(np.asarray(p_values), kind="stable").tolist()
    varying = [
        (names[g], hypotheses[names[g]][varies[hypotheses[names[g]]]])
        for g in order
        if varies[hypotheses[names[g]]].any()
    ][:_MOST_HYPOTHESES]
    if not varying:
        return None
    random, n = np.random.default_rng(seed), sampler.table.n_rows
    fixed = np.zeros(n, dtype=np.int64) if sampler.strata is None else sampler.strata
    of_unit = random.permutation(n if units is None else int(units.max()) + 1) % _CLASSIFIER_FOLDS
    folds = of_unit if units is None else of_unit[units]
    # Residuals are lent within folds: a forest would know again those of rows it has seen.
    lending = np.unique(np.column_stack([folds, fixed]), axis=0, return_inverse=True)[1].ravel()
    fresh = replace(sampler, seed=seed, lending=lending)
    # A forest tells rows of the data from rows with the features drawn. It sees values and
    # residuals, but no residuals of a feature whose values recur: predicted without the row, they
    # would give away its value, by which the mean of the others differs.
    scores, rows = sampler.scores, list[FloatArray]()
    for _, of in varying:
        members, forest_seed = of.tolist(), replicate_seed(seed, int(of[0]))
        draws = fresh.donors(members, 2)[:, 0] if donors is None else donors[members]
        values, residuals = scores.of_features(members), fresh.residuals(of)
        predicted = values - residuals
        of_draws = np.hstack(
            [scores.values[own, scores.columns(j)] for own, j in zip(draws, members, strict=True)]
        )
        n_values = np.array([len(np.unique(column)) for column in values.T])
        continuous = 2 * n_values > len(values)
        real, drawn = (
            np.hstack([part, (part - predicted)[:, continuous]]) for part in (values, of_draws)
        )
        own = np.concatenate([np.r_[scores.columns(j)] for j in members])
        left = np.setdiff1d(np.arange(scores.values.shape[1]), own)
        area = np.zeros(n)  # twice the part of each row in the area under the ROC curve
        for fold in range(_CLASSIFIER_FOLDS):
            held_out, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            # Other columns that tell most of these, in the training rows.
            beside, rest = scores.values[np.ix_(others, left)], residuals[others]
            linear = _related(scores.values[np.ix_(others, own)], beside)
            pairs = ((rest, beside**2), (rest, beside**3), (rest**2, beside**2))
            curved = np.max([_related(mine, powers) for mine, powers in pairs], axis=0)
            most = [np.argsort(-sizes, kind="stable")[:_BESIDE] for sizes in (linear, curved)]
            columns = scores.values[:, left[np.union1d(*most)]]
            parts = [np.hstack([part, columns]) for part in (real, drawn)]
            forest = RandomForestClassifier(
                _CLASSIFIER_TREES,
                min_samples_leaf=5,
                random_state=forest_seed % 2**32,
                n_jobs=n_threads,
            ).fit(np.vstack([part[others] for part in parts]), np.repeat([1, 0], len(others)))
            called = [  # fractions of trees that call rows real
                np.asarray(forest.predict_proba(part[held_out]))[:, 1] for part in parts
            ]
            area[held_out] = _below(called[0], called[1]) + 1.0 - _below(called[1], called[0])
        rows.append(area)
    features = {
        name: {"auc": float(part.mean()) / 2.0, "standard_error": _error(part, units)}
        for (name, _), part in zip(varying, rows, strict=True)
    }
    overall = float(np.mean([area["auc"] for area in features.values()]))
    error = _error(np.mean(rows, axis=0), units)
    reach = NormalDist().inv_cdf((1.0 + _CONFIDENCE) / 2.0) * error
    low = overall + NormalDist().inv_cdf(_LEVEL) * error
    return {
        "auc": overall,
        "low": overall - reach,
        "high": overall + reach,
        "misfit": low > _HARMLESS or bool(misfits(features)),
        "features": features,
    }


def misfits(features: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the hypotheses whose draws a classifier recognizes, at an FWER of .01."""
    z = NormalDist().inv_cdf(_LEVEL / len(features))
    return [
        name
        for name, area in features.items()
        if area["auc"] + z * area["standard_error"] > _HARMLESS
    ]


def misfit_notes(fit: Mapping[str, Any] | None, *, of_knockoffs: bool = False) -> list[str]:
    """Return a warning where draws, or knockoffs, do not fit."""
    if fit is None or not fit["misfit"]:
        return []
    count, worst = len(fit["features"]), misfits(fit["features"])[:5]
    sentence = (
        f"a forest separates draws of {count} feature{'' if count == 1 else 's'} from the data "
        f"with an AUC of {fit['auc']:.2f} (95% interval {fit['low']:.2f} to {fit['high']:.2f}; "
        ".5 or less if the draws are right)"
    )
    sentence += f", above all for {', '.join(worst)}" if worst else ""
    return [(_OF_KNOCKOFFS if of_knockoffs else _OF_DRAWS).format(sentence)]


def _error(rows: FloatArray, units: IntArray | None) -> float:
    """Return the standard error of an area, from the part that each row has in it."""
    sums = of_units(rows[:, None] - rows.mean(), units)[:, 0]
    return float(np.sqrt(np.square(sums).sum() * len(sums) / max(len(sums) - 1, 1)) / len(rows))


def _related(mine: FloatArray, others: FloatArray) -> FloatArray:
    """Return the largest correlation of each other column with columns, times the rows."""
    return np.asarray(np.abs(standardized(mine).T @ standardized(others)).max(axis=0))


def _below(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return the fraction of other values below each value, equal ones counted by half."""
    ascending = np.sort(others)
    ends = [np.searchsorted(ascending, values, side=side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2.0 * len(others)))
