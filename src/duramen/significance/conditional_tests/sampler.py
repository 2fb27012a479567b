r"""Draws of a feature given all others, as values of other rows of the table.

The row whose value a row takes is its *donor*: a draw is then a value that occurs, whatever the
kind of the column, and missing where that of the donor is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from duramen.data import ClassTarget, EncodedTable, Exchangeability
from duramen.data.scores import centered_within
from duramen.forests.growth import EXHAUSTIVE_CATEGORIES
from duramen.jobs.replicates import replicate_seed
from duramen.significance.conditional_tests.inference import rows_of_units
from duramen.significance.measured import Data
from duramen.support.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_TREES = 100
_FOLDS = 5  # of regressions on the most correlated columns
_KNOWN_DRAWS = 200  # of a distribution that is known, for the mean of a feature
_LEVEL = 0.01  # of the search for features that depend on powers of others
_MOST_CURVED = 5  # of these
_MOST_LINEAR = 50  # other features beside them
_RIDGE = np.logspace(-4.0, 1.0, 11)
_FEW_VALUES = 10  # of a number or grade whose draws are values of rows with similar predictions
_SIMILAR = 6  # of these rows
_JITTER = 1e-6  # of predictions of scores, so that equal ones are chosen among by chance


class KnownDistribution(Protocol):
    """Distribution of the features that is known, such as that of a designed experiment."""

    def sample(self, feature: int, random: np.random.Generator) -> Any:
        """Return a draw of a feature for every row given its other features, shape (n,).

        Numbers of a numeric column, codes of an ordinal or nominal one.
        """
        ...


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
        Scores of the columns and their residuals.
    strata : int64 array of shape (n,) or None
        Draws have the values of rows of the stratum.
    forests : bool array of shape (p,)
        Features that a forest predicts.
    seed : int
        Seed of all draws; those of a feature depend on it and the feature alone.
    folds : int64 array of shape (n,) or None
        Of the regressions on the most correlated columns.
    groups : int64 array of shape (n,) or None
        Rows that may depend on each other: they are predicted without each other.
    lending : int64 array of shape (n,) or None
        Parts of the rows within which residuals are lent, where these are not the strata.
    """

    table: EncodedTable
    nodewise: Nodewise
    strata: IntArray | None
    forests: np.ndarray
    seed: int
    _residuals: FloatArray = field(repr=False)
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
        varies = scores.widths > 0
        curved = [np.empty(0, dtype=np.int64)] * len(varies)
        if kind != "gaussian":
            curved = curved_in(scores, nodewise.residuals)
        forests = varies & np.array([kind == "forest" or len(of) > 0 for of in curved])
        residuals = np.array(nodewise.residuals)
        for j in np.flatnonzero(forests).tolist():
            block = scores.columns(j)
            if len(curved[j]) and not scores.discrete[j]:
                residuals[:, block] = centered_within(
                    by_splines(nodewise, scores, j, curved[j]), strata
                )
            fitted = forest_residuals(
                table,
                scores,
                residuals[:, block],
                j,
                replicate_seed(seed, j),
                n_threads,
                strata=strata,
                groups=groups,
            )
            if np.square(fitted).sum() < np.square(residuals[:, block]).sum():
                residuals[:, block] = fitted
        return cls(table, nodewise, strata, forests, seed, residuals, folds, groups)

    @property
    def scores(self) -> Scores:
        """Scores of the features."""
        return self.nodewise.scores

    def explained(self) -> FloatArray:
        """Return the fraction of each feature's variance that the others predict, shape (p,)."""
        values = self.scores.values
        fractions = np.zeros(self.table.n_columns)
        for j in np.flatnonzero(self.scores.widths).tolist():
            block = self.scores.columns(j)
            total = max(float(np.square(values[:, block]).sum()), 1e-300)
            fractions[j] = 1.0 - float(np.square(self._residuals[:, block]).sum()) / total
        return np.asarray(np.clip(fractions, 0.0, 1.0))

    def donors(self, j: int, n_draws: int, batch: int = 0) -> np.ndarray:
        """Return the row whose value each row takes in each draw, uint32 of shape (n_draws, n).

        The draws of another batch are others.
        """
        random = self._random(j, batch)
        return self.drawn(
            j, self.residuals(np.array([j])), [self._order(random) for _ in range(n_draws)], random
        )

    def _random(self, j: int, batch: int) -> np.random.Generator:
        """Return the source of randomness of a feature's draws."""
        of_feature = replicate_seed(self.seed, self.table.n_columns + j)
        return np.random.default_rng([of_feature, batch] if batch else of_feature)

    def donors_of(self, features: Sequence[int], n_draws: int, batch: int = 0) -> np.ndarray:
        """Return donors of features given all but these, uint32 of shape (b, n_draws, n).

        The residuals of a row are lent together, so that features of a group keep what they have
        in common; or the values of a row with similar predictions, if any of them has few.
        """
        if len(features) == 1:
            return self.donors(features[0], n_draws, batch)[None]
        random = np.random.default_rng([self.seed, *features, *([batch] if batch else [])])
        members = [j for j in features if self.scores.widths[j]]
        residuals = self.nodewise.residuals_of(np.array(members))
        if any(self.few_valued(j) for j in members):
            values = self.scores.of_features(members)
            spread = np.maximum(residuals.std(axis=0), 1e-3)
            everywhere = np.ones(len(values), dtype=np.bool_)
            donors = self._similar((values - residuals) / spread, everywhere, n_draws, random)
            return np.tile(donors, (len(features), 1, 1))
        orders = [self._order(random) for _ in range(n_draws)]
        ends = np.cumsum(self.scores.widths[members])
        parts = dict(zip(members, np.split(residuals, ends[:-1], axis=1), strict=True))
        same = np.tile(np.arange(self.table.n_rows, dtype=np.uint32), (n_draws, 1))
        return np.stack(
            [self.drawn(j, parts[j], orders, random) if j in parts else same for j in features]
        )

    def residuals(self, features: IntArray) -> FloatArray:
        """Return the residuals of a feature, or of several given all but these, (n, b)."""
        if len(features) == 1:
            return self._residuals[:, self.scores.columns(int(features[0]))]
        return self.nodewise.residuals_of(features)

    def determined(self, features: IntArray) -> bool:
        """Tell whether the other features determine a feature, or several, exactly.

        As other levels do the last indicator of a category, and a column its copy.
        """
        columns = np.concatenate([np.r_[self.scores.columns(j)] for j in features.tolist()])
        n_means = 1 if self.strata is None else int(self.strata.max()) + 1
        return self.nodewise.determines(columns, n_means)

    def numbers(self, features: Sequence[int]) -> FloatArray:
        """Return the columns of features that a randomization test compares with draws, (n, b)."""
        return self.scores.of_features(features)

    def drawn_numbers(self, features: Sequence[int], n_draws: int, batch: int) -> FloatArray:
        """Return the same columns of draws, shape (n_draws, n, b)."""
        donors = self.donors_of(features, n_draws, batch)
        blocks = [self.scores.values[:, self.scores.columns(j)] for j in features]
        parts = zip(blocks, donors, strict=True)
        return np.concatenate([block[rows] for block, rows in parts], axis=2)

    def _order(self, random: np.random.Generator) -> IntArray:
        """Draw the row whose residual each row takes."""
        strata = self.strata if self.lending is None else self.lending
        return Exchangeability(self.table.n_rows, strata).permutation(random)

    def drawn(
        self, j: int, residuals: FloatArray, orders: list[IntArray], random: np.random.Generator
    ) -> np.ndarray:
        """Return donors of a feature with some residuals, uint32 of shape (orders, n).

        In a draw each row takes the residual of the row that the order names; or, where a number or
        grade has few values, the value of a row with a similar prediction.
        """
        values = self.scores.values[:, self.scores.columns(j)]
        codes = self.scores.codes[j]
        if not values.shape[1]:
            return np.tile(np.arange(len(codes), dtype=np.uint32), (len(orders), 1))
        if self.scores.discrete[j]:
            return self._levels(codes, values, residuals, len(orders), random)
        missing = None
        if values.shape[1] > 1:
            missing = codes >= len(self.table.values(j))
            absent = self._chances(missing, values[:, 1], residuals[:, 1])
        base = values[:, 0] - residuals[:, 0]
        spread = residuals[:, 0] - residuals[:, 0].mean()
        # Residuals of rows left out are too large by as much as the predictions vary by chance.
        left = max(float(values[:, 0].var() - base.var()), 0.0)
        spread *= np.sqrt(left / max(float(spread.var()), 1e-300))
        own = values[:, 0] if missing is None else np.where(missing, np.nan, values[:, 0])
        if self.few_valued(j):
            donors = self._similar(base[:, None], ~np.isnan(own), len(orders), random)
        else:
            donors = np.tile(np.arange(len(codes), dtype=np.uint32), (len(orders), 1))
            wanted = np.stack([base + spread[order] for order in orders])
            for rows in self._parts():
                nearest = NearestRows.of(own[rows], random)
                if len(nearest.rows):
                    donors[:, rows] = rows[nearest.rows[nearest.places(wanted[:, rows])]]
        if missing is not None:
            gaps = np.flatnonzero(missing).astype(np.uint32)
            hidden = random.random(donors.shape) < absent
            donors[hidden] = gaps[random.integers(len(gaps), size=int(hidden.sum()))]
        return donors

    def _parts(self, lending: bool = False) -> list[IntArray]:
        """Return the rows of each stratum, or of each part that lends residuals."""
        strata = self.lending if lending and self.lending is not None else self.strata
        if strata is None:
            return [np.arange(self.table.n_rows)]
        return [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]

    def _chances(self, flags: BoolArray, scores: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return probabilities of flags, from the residuals of their scores."""
        if self.strata is None:
            return probabilities(scores - residuals, scores)
        indicator = flags.astype(np.float64)
        within = centered_within(indicator[:, None], self.strata)[:, 0]
        size = float(within @ within)
        scale = float(within @ scores) / size if size > 0.0 else 1.0  # of scores without means
        return probabilities(indicator - residuals / scale, indicator)

    def few_valued(self, j: int) -> bool:
        """Tell whether a feature has so few values that rows of similar predictions lend them."""
        return bool(self.scores.discrete[j]) or len(np.unique(self.scores.codes[j])) <= _FEW_VALUES

    def _similar(
        self, predicted: FloatArray, present: BoolArray, n_draws: int, random: np.random.Generator
    ) -> np.ndarray:
        """Draw one of the rows of similar predictions in the stratum, not of the row's group.

        Predictions have shape (n, b); only rows that are `present` are drawn.
        """
        from scipy.spatial import cKDTree

        n = len(predicted)
        donors = np.tile(np.arange(n, dtype=np.uint32), (n_draws, 1))
        groups = np.arange(n) if self.groups is None else self.groups
        most = int(np.bincount(groups).max())
        places = predicted + _JITTER * random.normal(size=predicted.shape)  # equal ones by chance
        for rows in self._parts(lending=True):
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

    def _levels(
        self,
        codes: np.ndarray,
        values: FloatArray,
        residuals: FloatArray,
        n_draws: int,
        random: np.random.Generator,
    ) -> np.ndarray:
        """Draw values of a feature of few values from predicted probabilities."""
        _, own = np.unique(codes, return_inverse=True)
        levels = [1] if values.shape[1] == 1 else range(values.shape[1])
        columns = zip(levels, values.T, residuals.T, strict=True)
        chances = np.column_stack(
            [self._chances(own == level, column, left) for level, column, left in columns]
        )
        if len(levels) == 1:
            chances = np.hstack([1.0 - chances, chances])
        chances /= chances.sum(axis=1, keepdims=True)
        ends = np.cumsum(chances, axis=1)
        drawn = np.empty((n_draws, len(codes)), dtype=np.uint32)
        for draw in drawn:
            level = (random.random(len(codes))[:, None] > ends[:, :-1]).sum(axis=1)
            draw[:] = rows_of_levels(own, level, random)
        return drawn


@dataclass(frozen=True, eq=False)
class KnownSampler(Sampler):
    """Draws from a distribution that is known, as the values of the rows that come nearest."""

    distribution: KnownDistribution | None = None

    @classmethod
    def around(
        cls, table: EncodedTable, distribution: KnownDistribution, seed: int
    ) -> KnownSampler:
        """Return the draws of a distribution."""
        scores = Scores.of(table)
        nodewise = Nodewise.of(scores)
        none = np.zeros(table.n_columns, dtype=bool)
        residuals = np.zeros_like(nodewise.residuals)
        sampler = cls(table, nodewise, None, none, seed, residuals, distribution=distribution)
        for j in np.flatnonzero(scores.widths).tolist():
            block = scores.columns(j)
            donors = sampler.donors(j, _KNOWN_DRAWS)
            residuals[:, block] = scores.values[:, block] - scores.values[donors, block].mean(
                axis=0
            )
        return sampler

    def donors(self, j: int, n_draws: int, batch: int = 0) -> np.ndarray:
        """Return the rows whose values are nearest to draws, uint32 of shape (n_draws, n)."""
        random = self._random(j, batch)
        nearest = NearestRows.of(numbers_of(self.table, j), random)
        return nearest.one_of_equal(self._sampled(j, n_draws, random), random)

    def determined(self, features: IntArray) -> bool:
        """Return False: the distribution says what varies."""
        return False

    def numbers(self, features: Sequence[int]) -> FloatArray:
        """Return numbers, or indicators of a nominal feature, which do not depend on other rows.

        Ranks would: the test is exact if the data and the draws are treated alike.
        """
        return self._columns(features[0], numbers_of(self.table, features[0]))

    def drawn_numbers(self, features: Sequence[int], n_draws: int, batch: int) -> FloatArray:
        """Return the same columns of draws, shape (n_draws, n, b)."""
        sampled = self._sampled(features[0], n_draws, self._random(features[0], batch))
        return self._columns(features[0], sampled)

    def _columns(self, j: int, numbers: FloatArray) -> FloatArray:
        """Return numbers as columns, the last axis: 0 and an indicator where missing."""
        if self.table.kinds[j] == "nominal":
            indicators = numbers[..., None] == np.arange(len(self.table.values(j)))
            return np.asarray(indicators, dtype=np.float64)
        missing = np.isnan(numbers)
        if not self.table.missing[j]:
            return np.asarray(numbers[..., None])
        return np.stack([np.where(missing, 0.0, numbers), missing.astype(np.float64)], axis=-1)

    def _sampled(self, j: int, n_draws: int, random: np.random.Generator) -> FloatArray:
        """Return draws of a feature, shape (n_draws, n)."""
        assert self.distribution is not None
        sample, shape = self.distribution.sample, (self.table.n_rows,)
        drawn = [np.asarray(sample(j, random), dtype=np.float64) for _ in range(n_draws)]
        if any(column.shape != shape for column in drawn):
            raise ValueError(
                f"conditional: sampler.sample({j}, random) must return an array of shape "
                f"{shape}, got {drawn[0].shape}."
            )
        return np.stack(drawn)


def folds_of_groups(groups: IntArray, n_folds: int, random: np.random.Generator) -> IntArray:
    """Return the fold of each row, whatever its target: rows of a group are in one."""
    of_group = random.permutation(np.arange(int(groups.max(initial=-1)) + 1) % n_folds)
    return np.asarray(of_group[groups], dtype=np.int64)


def numbers_of(table: EncodedTable, j: int) -> FloatArray:
    """Return the numbers of a column, codes unless it is numeric, NaN where missing; (n,)."""
    values = np.asarray(table.values(j))
    numbers = values if table.kinds[j] == "numeric" else np.arange(len(values))
    return np.asarray(np.append(numbers, np.nan)[np.asarray(table.codes(j))])


@dataclass(frozen=True, eq=False)
class NearestRows:
    """Rows in the order of their numbers, equal ones shuffled, to look up the nearest number.

    Attributes
    ----------
    rows : uint32 array of shape (m,)
        Rows whose number is not missing.
    ascending : float64 array of shape (m,)
        Their numbers.
    """

    rows: np.ndarray
    ascending: FloatArray

    @classmethod
    def of(cls, numbers: FloatArray, random: np.random.Generator) -> NearestRows:
        """Sort the rows of numbers, shape (n,), NaN where missing."""
        rows = np.flatnonzero(~np.isnan(numbers))
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        ascending = numbers[rows]
        ties = np.cumsum(np.r_[0, ascending[1:] > ascending[:-1]])
        rows = rows[np.lexsort((random.random(len(rows)), ties))].astype(np.uint32)
        return cls(rows, numbers[rows])

    def places(self, drawn: FloatArray) -> IntArray:
        """Return the place of the nearest number in `ascending`."""
        middle = (self.ascending[1:] + self.ascending[:-1]) / 2.0
        return np.searchsorted(middle, drawn)

    def one_of_equal(self, drawn: FloatArray, random: np.random.Generator) -> np.ndarray:
        """Return a row with the nearest number, one of several equal ones by chance."""
        nearest = self.ascending[self.places(drawn)]
        first = np.searchsorted(self.ascending, nearest, side="left")
        width = np.searchsorted(self.ascending, nearest, side="right") - first
        return self.rows[first + (random.random(drawn.shape) * width).astype(np.int64)]


def rows_of_levels(own: IntArray, level: IntArray, random: np.random.Generator) -> IntArray:
    """Return for each row one by chance of those that have a level, shape (n,).

    `own` are the levels of the rows, numbers from 0, and `level` those that are wanted.
    """
    rows = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[rows], np.arange(int(own.max()) + 2))
    width = starts[level + 1] - starts[level]
    return rows[starts[level] + (random.random(len(own)) * width).astype(np.int64)]


def probabilities(predicted: FloatArray, indicator: FloatArray) -> FloatArray:
    """Return probabilities of a value from predictions of its indicator, in whatever units."""
    low, high = float(indicator.min()), float(indicator.max())
    fraction = (predicted - low) / (high - low)
    # An estimate of 0 or 1 is less sure than that: as if a row more had the other value.
    least = 0.5 / len(indicator)
    return np.asarray(np.clip(fraction, least, 1.0 - least))


def curved_in(scores: Scores, residuals: FloatArray) -> list[IntArray]:
    """Return for each feature those others that its residuals depend on, at most five.

    Looked at are a mean that depends on the square or the cube of another feature, and a spread
    that depends on its square.
    """
    from scipy.special import ndtri

    p = len(scores.widths)
    curved = [np.empty(0, dtype=np.int64)] * p
    numbers = np.flatnonzero((scores.widths > 0) & ~scores.discrete)
    if not len(numbers):
        return curved
    values = scores.values[:, scores.first[numbers]]
    residuals = standardized(residuals)
    limit = -ndtri(_LEVEL / (6.0 * len(numbers))) / np.sqrt(len(values))
    squares, cubes = standardized(values**2), standardized(values**3 - 3.0 * values)
    pairs = ((residuals, squares), (residuals, cubes), (standardized(residuals**2), squares))
    sizes = np.max([np.abs(left.T @ right) / len(values) for left, right in pairs], axis=0)
    for j in np.flatnonzero(scores.widths).tolist():
        size = sizes[scores.columns(j)].max(axis=0)
        size[numbers == j] = 0.0
        largest = np.argsort(-size, kind="stable")[:_MOST_CURVED]
        curved[j] = numbers[largest[size[largest] > limit]]
    return curved


def by_splines(nodewise: Nodewise, scores: Scores, j: int, curved: IntArray) -> FloatArray:
    """Return residuals of a feature on splines of others.

    The predictors are the features that matter most in the linear regression, and B-splines of the
    scores of the `curved` ones; the rows are left out one at a time, or a group at a time.
    """
    columns, weights = nodewise.scores.values, np.abs(nodewise.weights(j))
    largest = np.argsort(-weights, kind="stable")[:_MOST_LINEAR]
    linear = columns[:, largest[weights[largest] > 0.0]]
    predictors = standardized(np.hstack([linear, splines_of(scores, curved)]))
    return ridge_residuals(predictors, columns[:, scores.columns(j)], nodewise.groups)


def splines_of(scores: Scores, features: IntArray) -> FloatArray:
    """Return B-splines of the scores of numeric features."""
    from sklearn.preprocessing import SplineTransformer

    basis = SplineTransformer(n_knots=6, knots="quantile", include_bias=False)
    return np.asarray(basis.fit_transform(scores.values[:, scores.first[features]]))


def ridge_residuals(
    columns: FloatArray, responses: FloatArray, groups: IntArray | None = None
) -> FloatArray:
    """Return residuals of ridge regressions without the row, with the best of some penalties.

    With `groups`, the group of the row is left out.
    """
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    n = len(columns)
    best: FloatArray | None = None
    centered_responses = responses - responses.mean(axis=0)
    for penalty in _RIDGE:
        shrunk = singular**2 / (singular**2 + n * penalty)
        fitted = (left * shrunk) @ (left.T @ centered_responses)
        if groups is None:
            leverage = np.square(left) @ shrunk + 1.0 / n
            trial = (centered_responses - fitted) / np.maximum(1.0 - leverage, 1e-9)[:, None]
        else:
            trial = without_groups(centered_responses - fitted, left * np.sqrt(shrunk), groups)
        if best is None or np.square(trial).sum() < np.square(best).sum():
            best = trial
    assert best is not None
    return best


def standardized(columns: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1; constant ones are 0."""
    columns = columns - columns.mean(axis=0)
    return np.asarray(columns / np.maximum(columns.std(axis=0), 1e-300))


def forest_for(data: Data, **settings: Any) -> BaseForest:
    """Return a forest that suits a learning set, with out-of-bag rows."""
    from duramen.estimators import (
        ExtraTreesClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    if not isinstance(data.target, ClassTarget):
        return RandomForestRegressor(max_features=1 / 3, **settings)
    nominal = [j for j, kind in enumerate(data.table.kinds) if kind == "nominal"]
    most = data.table.n_codes()[nominal].max(initial=0)
    if data.target.n_classes > 2 and most > EXHAUSTIVE_CATEGORIES:
        return ExtraTreesClassifier(bootstrap=True, **settings)
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


# --- ridge regression of every feature on all others ----------------------------------------------
# With the scores Z of the features, S = Z^T Z / n and :math:`\Omega = (S + \lambda I)^{-1}`, the
# residuals of the columns B of a feature on those of all others are
#
# .. math:: Z \Omega_{\cdot B} \Omega_{BB}^{-1},
#
# and those of the rows left out follow by the leverages. A singular value decomposition of Z gives
# all of them for each penalty, also where there are more features than rows; each feature takes the
# penalty with the least squared residuals.
#
# Rows of a group, which may depend on each other, are left out together, by the inverse of their
# block of the identity less the hat matrix.
#
# A regression on all others spreads over many columns what few of them explain, above all where
# features are more than rows. So each column is also predicted from those that are most correlated
# with it, rows left out by folds, screening included (sure independence screening, Fan and Lv
# 2008).

_PENALTIES = np.logspace(-3.0, 1.5, 13)
_DETERMINED = 1e-8
_NEIGHBORS = (5, 20)  # numbers of the most correlated columns
_OF_NEIGHBORS = np.logspace(-3.0, 1.0, 7)  # penalties
_OF_CHOICE = 256  # columns that the penalty is chosen for
_BLOCK = 64  # columns that are predicted at once


@dataclass(frozen=True, eq=False)
class Nodewise:
    """Residuals of every feature given all others.

    Attributes
    ----------
    scores : Scores
        The features.
    residuals : float64 array of shape (n, q)
        Of each column of the scores: the row's value less the prediction from the others, by a
        regression without the row, or without its fold; with groups, without those of its group.
    penalties : float64 array of shape (p,)
        Ridge penalty of each feature.
    """

    scores: Scores
    residuals: FloatArray
    penalties: FloatArray
    _vectors: FloatArray  # (q, r) right singular vectors
    _sizes: FloatArray  # (r,) eigenvalues of S
    groups: IntArray | None = None

    @classmethod
    def of(
        cls, scores: Scores, folds: IntArray | None = None, groups: IntArray | None = None
    ) -> Nodewise:
        """Fit the regressions, with `folds` also those on the most correlated columns.

        `folds` are those of the rows, shape (n,), and `groups` the rows that are left out together.
        """
        values, p = scores.values, len(scores.widths)
        n, q = values.shape
        residuals, penalties = np.array(values), np.zeros(p)
        if q == 0:
            return cls(scores, residuals, penalties, np.zeros((0, 0)), np.zeros(0), groups)
        left, singular, right = np.linalg.svd(values, full_matrices=False)
        large = singular > 1e-10 * max(float(singular[0]), 1e-300)
        left, singular, vectors = left[:, large], singular[large], right[large].T
        sizes = singular**2 / n
        outside = np.maximum(1.0 - np.square(vectors).sum(axis=1), 0.0)
        least = np.full(p, np.inf)
        wide = np.flatnonzero(scores.widths > 1).tolist()
        single = np.flatnonzero(scores.widths == 1)
        columns = scores.first[single]
        for penalty in _PENALTIES:
            weights = 1.0 / (sizes + penalty)
            spread = (left * (singular * weights)) @ vectors.T
            leverage = (np.square(left) * (sizes * weights)).sum(axis=1) + 1.0 / n
            diagonal = np.square(vectors) @ weights + outside / penalty
            own, hat = spread[:, columns], left * np.sqrt(sizes * weights)
            if groups is None:
                without = leverage[:, None] - own**2 / (n * diagonal[columns])
                trial = (own / diagonal[columns]) / np.maximum(1.0 - without, 1e-9)
            else:
                trial = _single_without_groups(own, diagonal[columns], hat, groups)
            errors = np.square(trial).mean(axis=0)
            better = errors < least[single]
            least[single[better]] = errors[better]
            penalties[single[better]] = penalty
            residuals[:, columns[better]] = trial[:, better]
            for j in wide:
                block = scores.columns(j)
                trial = _of_block(
                    vectors[block], weights, penalty, spread[:, block], leverage, hat, groups
                )
                error = float(np.square(trial).mean())
                if error < least[j]:
                    least[j], penalties[j], residuals[:, block] = error, penalty, trial
        if folds is not None:
            owners = np.repeat(np.arange(p), scores.widths)
            for trial in residuals_of_neighbors(values, owners, folds):
                errors, of_trial = (
                    np.bincount(owners, np.square(left).mean(axis=0), p)
                    for left in (residuals, trial)
                )
                better = (of_trial < errors)[owners]
                residuals[:, better] = trial[:, better]
        return cls(scores, residuals, penalties, vectors, sizes, groups)

    def residuals_of(self, features: np.ndarray) -> FloatArray:
        """Return the residuals of several features given all but these, shape (n, b)."""
        first = self.scores.first
        columns = np.concatenate([np.arange(first[j], first[j + 1]) for j in features])
        penalty = float(np.median(self.penalties[features]))
        values, v = self.scores.values, self._vectors[columns]
        n, weights = len(values), 1.0 / (self._sizes + penalty)
        projected = values @ self._vectors
        leverage = (np.square(projected) / n * weights).sum(axis=1) + 1.0 / n
        hat = projected * np.sqrt(weights / n)
        own = (projected * weights) @ v.T
        return _of_block(v, weights, penalty, own, leverage, hat, self.groups)

    def determines(self, columns: IntArray, n_means: int = 1) -> bool:
        """Tell whether other columns determine some exactly, by a linear equation.

        Of as many columns as rows, less the means that were taken away, any are: that tells
        nothing. With groups, whose rows may be equal, different rows count.
        """
        n, r = len(self.scores.values), len(self._sizes)
        if self.groups is not None:
            n = len(np.unique(self.scores.values, axis=0))
        if not len(columns) or r >= n - n_means:
            return False
        vectors = self._vectors[columns]
        # Rank of the part of the null space of Z in these columns.
        outside = np.linalg.eigvalsh(np.eye(len(columns)) - vectors @ vectors.T)
        return bool(outside[0] > _DETERMINED)

    def weights(self, j: int) -> FloatArray:
        """Return the coefficients of the first column of a feature on all columns, shape (q,)."""
        weights, penalty = 1.0 / (self._sizes + self.penalties[j]), self.penalties[j]
        v = self._vectors[self.scores.first[j]]
        row = self._vectors @ (weights * v) - (self._vectors @ v) / penalty
        row[self.scores.first[j]] += 1.0 / penalty
        own = float(row[self.scores.first[j]])
        coefficients: FloatArray = -row / own
        coefficients[self.scores.columns(j)] = 0.0
        return coefficients


def residuals_of_neighbors(
    values: FloatArray, owners: IntArray, folds: IntArray
) -> list[FloatArray]:
    """Return what the most correlated columns leave of each column, (n, q), by their number.

    Rows are predicted by ridge regressions without those of their fold. The penalty is the same for
    all columns: the one that leaves the least of up to 256 of them. A penalty for each would fit
    chance.

    Parameters
    ----------
    values : float64 array of shape (n, q)
    owners : int64 array of shape (q,)
        Feature of each column; columns of the same are no neighbors.
    folds : int64 array of shape (n,)
    """
    n, q = values.shape
    sizes = sorted({min(size, q - 1) for size in _NEIGHBORS} - {0})
    some = np.unique(np.linspace(0, q - 1, min(q, _OF_CHOICE)).astype(np.int64))
    errors = {size: np.zeros(len(_OF_NEIGHBORS)) for size in sizes}
    for first in range(0, len(some), _BLOCK):
        block = some[first : first + _BLOCK]
        left = _left(values, owners, folds, block, dict.fromkeys(sizes, _OF_NEIGHBORS))
        for size in sizes:
            errors[size] += np.square(left[size]).sum(axis=(1, 2))
    best = {size: _OF_NEIGHBORS[[np.argmin(errors[size])]] for size in sizes}
    trials = [np.empty((n, q)) for _ in sizes]
    for first in range(0, q, _BLOCK):
        block = np.arange(first, min(first + _BLOCK, q))
        left = _left(values, owners, folds, block, best)
        for trial, size in zip(trials, sizes, strict=True):
            trial[:, block] = left[size][0]
    return trials


def _left(
    values: FloatArray,
    owners: IntArray,
    folds: IntArray,
    block: IntArray,
    penalties: dict[int, FloatArray],
) -> dict[int, FloatArray]:
    """Return what numbers of neighbors leave of some columns, each of shape (penalties, n, b).

    `penalties` are those of each number of neighbors.
    """
    left = {
        size: np.empty((len(of_size), len(values), len(block)))
        for size, of_size in penalties.items()
    }
    for k in range(int(folds.max()) + 1):
        train, test = values[folds != k], values[folds == k]
        mean, spread = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-12)
        train, test = (train - mean) / spread, (test - mean) / spread
        correlations = train[:, block].T @ train / len(train)
        correlations[owners[block][:, None] == owners] = 0.0
        for size, of_size in penalties.items():
            nearest = np.argpartition(-np.abs(correlations), size - 1, axis=1)[:, :size]
            moments = np.take_along_axis(correlations, nearest, axis=1)
            others = (owners[nearest] != owners[block][:, None])[:, :, None]
            columns = train.T[nearest] * others
            gram = columns @ columns.mT / len(train)
            weights = np.linalg.solve(
                gram + of_size[:, None, None, None] * np.eye(size), moments[:, :, None]
            )
            predicted = (weights.mT @ (test.T[nearest] * others))[:, :, 0]
            rest = (test[:, block].T - predicted) * spread[block][:, None]
            left[size][:, folds == k] = rest.mT
    return left


def without_groups(residuals: FloatArray, hat: FloatArray, groups: IntArray) -> FloatArray:
    r"""Return residuals of a regression without the group of the row, shape (n, b).

    `residuals` are those with all rows. `hat` is a square root of the hat matrix, a constant aside,
    shape (n, r).
    """
    left = np.empty_like(residuals)
    for rows in rows_of_units(groups):
        left[rows] = np.linalg.solve(_free(hat[rows], len(hat)), residuals[rows])
    return left


def _free(hat: FloatArray, n: int) -> FloatArray:
    """Return the blocks of the identity less the hat matrix, that of a constant included."""
    size = hat.shape[1]
    return np.asarray((1.0 + 1e-9) * np.eye(size) - hat @ hat.mT - 1.0 / n)


def _single_without_groups(
    own: FloatArray, diagonal: FloatArray, hat: FloatArray, groups: IntArray
) -> FloatArray:
    r"""Return the residuals of single columns given all others, of groups left out, (n, b).

    The regression of column j on the others has the hat matrix of all columns less
    :math:`o_j o_j^	op / (n d_j)`, with `own` o and `diagonal` d.
    """
    left = np.empty_like(own)
    n = len(own)
    for rows in rows_of_units(groups):
        solved = np.linalg.solve(_free(hat[rows], n), own[rows])
        sizes = (own[rows] * solved).sum(axis=1, keepdims=True)
        left[rows] = solved * n / (n * diagonal + sizes)
    return left


def _of_block(
    vectors: FloatArray,
    weights: FloatArray,
    penalty: float,
    own: FloatArray,
    leverage: FloatArray,
    hat: FloatArray,
    groups: IntArray | None,
) -> FloatArray:
    r"""Return the residuals of columns given all others, of rows left out, shape (n, b).

    `vectors` are the rows of the right singular vectors of these columns, `weights` those of the
    eigenvalues of :math:`\Omega`, `own` the columns of :math:`Z \Omega`, and `leverage` that of the
    rows in a regression on all columns, whose hat matrix has the square root `hat`.
    """
    precision = (vectors * weights) @ vectors.T
    precision += (np.eye(len(vectors)) - vectors @ vectors.T) / penalty
    residuals = np.linalg.solve(precision, own.T).T
    if groups is not None:
        left = np.empty_like(residuals)
        for rows in rows_of_units(groups):
            free = _free(hat[rows], len(own)) + residuals[rows] @ own[rows].mT / len(own)
            left[rows] = np.linalg.solve(free, residuals[rows])
        return left
    without = leverage - (residuals * own).sum(axis=1) / len(own)
    return np.asarray(residuals / np.maximum(1.0 - without, 1e-9)[:, None])


# --- columns of a table as numbers ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of the columns of a table, each of mean 0 (within strata) and variance 1, about.

    A numeric or ordinal feature has one column of normal scores of its mid-ranks, and one indicator
    more where values are missing; a feature of two values has an indicator; a nominal one an
    indicator for each value, its missing ones among them. A constant feature has none.

    Attributes
    ----------
    values : float64 array of shape (n, q)
    first : int64 array of shape (p + 1,)
        Where the columns of each feature begin.
    discrete : bool array of shape (p,)
        Whether all columns of a feature are indicators.
    codes : list of p arrays of shape (n,)
        Codes of each feature, that of missing values last.
    """

    values: FloatArray
    first: IntArray
    discrete: np.ndarray
    codes: list[np.ndarray]

    @classmethod
    def of(cls, table: EncodedTable, strata: IntArray | None = None) -> Scores:
        """Return the scores of a table."""
        columns: list[FloatArray] = []
        first, discrete, all_codes = [0], [], []
        for j in range(table.n_columns):
            codes = np.asarray(table.codes(j))
            present = np.bincount(codes, minlength=1) > 0
            here, levels = _columns(codes, present, len(table.values(j)), table.kinds[j])
            columns += here
            first.append(first[-1] + len(here))
            discrete.append(levels)
            all_codes.append(codes)
        values = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))
        return cls(centered_within(values, strata), np.array(first), np.array(discrete), all_codes)

    def columns(self, j: int) -> slice:
        """Return the columns of the j-th feature."""
        return slice(int(self.first[j]), int(self.first[j + 1]))

    def of_features(self, features: Sequence[int]) -> FloatArray:
        """Return the scores of some features beside each other, shape (n, b)."""
        return np.hstack([self.values[:, self.columns(j)] for j in features])

    @property
    def widths(self) -> IntArray:
        """Number of columns of each feature, 0 of a constant one; shape (p,)."""
        return np.diff(self.first)


def _columns(
    codes: np.ndarray, present: np.ndarray, n_values: int, kind: str
) -> tuple[list[FloatArray], bool]:
    """Return the columns of a feature, and whether all are indicators."""
    distinct = np.flatnonzero(present)
    if len(distinct) < 2:
        return [], True
    if len(distinct) == 2:
        return [standardized((codes == distinct[1]).astype(np.float64))], True
    if kind == "nominal":
        return [(codes == value).astype(np.float64) for value in distinct], True
    columns, missing = [], codes >= n_values
    scores = normal_scores(codes[~missing], np.bincount(codes[~missing]))
    column = np.zeros(len(codes))
    column[~missing] = scores
    columns.append(standardized(column))
    if missing.any():
        columns.append(standardized(missing.astype(np.float64)))
    return columns, False


def normal_scores(codes: np.ndarray, counts: IntArray) -> FloatArray:
    """Return the normal quantile of the mid-rank of each row, ties averaged."""
    from scipy.special import ndtri

    middle = np.cumsum(counts) - counts / 2.0
    return np.asarray(ndtri(middle / len(codes))[codes])


def normal_scores_of(columns: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks of each column, shape (n, q); ties by row."""
    from scipy.special import ndtri

    ranks = np.argsort(np.argsort(columns, axis=0, kind="stable"), axis=0)
    return np.asarray(ndtri((ranks + 0.5) / len(columns)))
