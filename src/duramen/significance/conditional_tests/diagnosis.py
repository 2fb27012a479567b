"""Diagnosis of draws of features given the others: a classifier tells them from the data or not.

With X_j drawn from its distribution given the other features, the row with the draw has the
distribution of the row itself. A forest learns on some rows to tell the two, and predicts others:
the area under its ROC curve (AUC) is .5 where the draws are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duramen.jobs.replicates import replicate_seed
from duramen.significance.conditional_tests.inference import of_units
from duramen.significance.conditional_tests.sampler import Sampler, standardized
from duramen.support.arrays import FloatArray, IntArray

_TREES, _LEAF = 50, 5
_FOLDS = 3
_MOST_HYPOTHESES = 12
_BESIDE = 5  # other features that a classifier is given, by each of two criteria
_LEVEL = 0.01  # of the warning
_HARMLESS = 0.52  # area of draws that fit nearly
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Areas under the ROC curve of classifiers that tell draws from the data.

    Attributes
    ----------
    names : tuple of H str
        Hypotheses whose draws were looked at.
    auc, standard_error : float64 arrays of shape (H,)
        Of each.
    overall, overall_error : float
        Their mean and its standard error; the rows are the same for all.
    """

    names: tuple[str, ...]
    auc: FloatArray
    standard_error: FloatArray
    overall: float
    overall_error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the mean area at a confidence level of .95."""
        from scipy.special import ndtri

        reach = float(ndtri((1.0 + _CONFIDENCE) / 2.0)) * self.overall_error
        return self.overall - reach, self.overall + reach

    @property
    def misfits(self) -> tuple[str, ...]:
        """Hypotheses whose draws a classifier tells from the data, family-wise error rate .01."""
        from scipy.special import ndtri

        reach = -float(ndtri(_LEVEL / len(self.names)))
        least = self.auc - reach * self.standard_error
        return tuple(name for name, low in zip(self.names, least, strict=True) if low > _HARMLESS)

    @property
    def is_misfit(self) -> bool:
        """True if draws of any, or of all together, are told from the data."""
        from scipy.special import ndtri

        low = self.overall + float(ndtri(_LEVEL)) * self.overall_error
        return low > _HARMLESS or bool(self.misfits)

    def sentence(self) -> str:
        """Return the areas in a sentence."""
        low, high = self.interval
        count = f"{len(self.names)} feature{'' if len(self.names) == 1 else 's'}"
        return (
            f"a forest tells draws of {count} from the data with an AUC of {self.overall:.2f} (95% "
            f"interval {low:.2f} to {high:.2f}; .5 or less where draws are right)"
        )

    def notes(self, of_knockoffs: bool = False) -> list[str]:
        """Return a warning where draws, or knockoffs, do not fit."""
        if not self.is_misfit:
            return []
        of = f", above all those of {', '.join(self.misfits[:5])}" if self.misfits else ""
        what, consequence = "draws of features given the others", "p-values may be too small"
        hint = (
            "strata, or another sampler or a known distribution with "
            "duramen.significance.conditional"
        )
        if of_knockoffs:
            what, consequence = "knockoffs", "the false discovery rate may be far above alpha"
            hint = 'sampler="forest", or dm.significance.conditional, which warns in the same way'
        return [f"the {what} do not fit: {self.sentence()}{of}; {consequence}. Hint: {hint}"]

    def record(self) -> dict[str, Any]:
        """Return the areas, for metadata."""
        low, high = self.interval
        areas = zip(self.names, self.auc.tolist(), self.standard_error.tolist(), strict=True)
        return {
            "auc": self.overall,
            "low": low,
            "high": high,
            "misfit": self.is_misfit,
            "features": {name: {"auc": area, "standard_error": e} for name, area, e in areas},
        }


def diagnosis(
    sampler: Sampler,
    hypotheses: Mapping[str, IntArray],
    p_values: Sequence[float] | FloatArray,
    seed: int,
    *,
    units: IntArray | None = None,
    n_threads: int = 1,
    donors: np.ndarray | None = None,
) -> Diagnosis | None:
    """Tell draws of features from the data.

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
    Diagnosis or None
        None if no feature varies.
    """
    varies = sampler.scores.widths > 0
    order = np.argsort(np.asarray(p_values), kind="stable")
    names = list(hypotheses)
    chosen = [
        (names[g], hypotheses[names[g]][varies[hypotheses[names[g]]]])
        for g in order.tolist()
        if varies[hypotheses[names[g]]].any()
    ][:_MOST_HYPOTHESES]
    if not chosen:
        return None
    random = np.random.default_rng(seed)
    n = sampler.table.n_rows
    fixed = np.zeros(n, dtype=np.int64) if sampler.strata is None else sampler.strata
    of_unit = random.permutation(n if units is None else int(units.max()) + 1) % _FOLDS
    folds = of_unit if units is None else of_unit[units]
    # Residuals are lent within folds: a forest would know again those of rows it has seen.
    strata = np.unique(np.column_stack([folds, fixed]), axis=0, return_inverse=True)[1]
    fresh = replace(sampler, seed=seed, lending=strata.ravel())
    areas, parts = [], []
    for name, features in chosen:
        task = _Classifier(
            fresh, features, replicate_seed(seed, int(features[0])), n_threads, donors
        )
        area, rows = task.area(folds)
        areas.append((name, area, _error(rows, units)))
        parts.append(rows)
    return Diagnosis(
        tuple(name for name, _, _ in areas),
        np.array([area for _, area, _ in areas]),
        np.array([error for _, _, error in areas]),
        float(np.mean([area for _, area, _ in areas])),
        _error(np.mean(parts, axis=0), units),
    )


def _error(rows: FloatArray, units: IntArray | None) -> float:
    """Return the standard error of an area, from the part that each row has in it."""
    sums = of_units(rows[:, None] - rows.mean(), units)[:, 0]
    return float(np.sqrt(np.square(sums).sum() * len(sums) / max(len(sums) - 1, 1)) / len(rows))


@dataclass(frozen=True, eq=False)
class _Classifier:
    """Classifier of the rows of the data and those with features drawn."""

    sampler: Sampler
    features: IntArray
    seed: int
    n_threads: int
    given: np.ndarray | None = None  # donors of all features

    def area(self, folds: IntArray) -> tuple[float, FloatArray]:
        """Return the area under the ROC curve and the part of each row in it, shape (n,)."""
        columns = self._columns()
        rows = np.zeros(len(folds))
        for fold in range(_FOLDS):
            held_out, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            real, drawn = (
                np.hstack([column, self.sampler.scores.values[:, self._beside(others)]])
                for column in columns
            )
            scores = self._scores(real, drawn, others, held_out)
            own, draws = (_below(scores[k], scores[1 - k]) for k in (0, 1))
            rows[held_out] = (own + 1.0 - draws) / 2.0
        return float(rows.mean()), 2.0 * rows

    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Return values and residuals of the features, as they are and drawn, (n, d) each.

        A feature whose values recur has no residuals: predicted without the row, they would give
        away its value, by which the mean of the others differs.
        """
        scores, features = self.sampler.scores, self.features.tolist()
        if self.given is not None:
            donors = self.given[features][:, None]
        else:
            donors = self.sampler.donors_of(features, 2)
        values = scores.of_features(features)
        predicted = values - self.sampler.residuals(self.features)
        drawn = np.hstack(
            [scores.values[donors[k, 0], scores.columns(j)] for k, j in enumerate(features)]
        )
        n_values = np.array([len(np.unique(column)) for column in values.T])
        continuous = 2 * n_values > len(values)
        rest, of_draws = (values - predicted)[:, continuous], (drawn - predicted)[:, continuous]
        return np.hstack([values, rest]), np.hstack([drawn, of_draws])

    def _beside(self, rows: IntArray) -> IntArray:
        """Return the columns of other features that tell most of these, in the training rows."""
        scores = self.sampler.scores
        own = np.concatenate([np.r_[scores.columns(j)] for j in self.features.tolist()])
        left = np.setdiff1d(np.arange(scores.values.shape[1]), own)
        values = scores.values[np.ix_(rows, left)]
        mine = scores.values[np.ix_(rows, own)]
        rest = self.sampler.residuals(self.features)[rows]
        linear = np.abs(standardized(mine).T @ standardized(values)).max(axis=0)
        squares = standardized(values**2)
        curved = np.max(
            [
                np.abs(standardized(part).T @ other).max(axis=0)
                for part, other in (
                    (rest, squares),
                    (rest, standardized(values**3)),
                    (rest**2, squares),
                )
            ],
            axis=0,
        )
        first = np.argsort(-linear, kind="stable")[:_BESIDE]
        second = np.argsort(-curved, kind="stable")[:_BESIDE]
        return np.asarray(left[np.union1d(first, second)])

    def _scores(
        self, real: FloatArray, drawn: FloatArray, others: IntArray, held_out: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return for rows held out the fraction of trees that call them real, and their draws."""
        from duramen.estimators import RandomForestClassifier

        labels = np.repeat([1, 0], len(others))
        forest = RandomForestClassifier(
            _TREES, min_samples_leaf=_LEAF, random_state=self.seed % 2**32, n_jobs=self.n_threads
        ).fit(np.vstack([real[others], drawn[others]]), labels)
        return (
            np.asarray(forest.predict_proba(real[held_out]))[:, 1],
            np.asarray(forest.predict_proba(drawn[held_out]))[:, 1],
        )


def _below(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return the fraction of other values below each value, equal ones counted by half."""
    ascending = np.sort(others)
    ends = [np.searchsorted(ascending, values, side=side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2.0 * len(others)))
