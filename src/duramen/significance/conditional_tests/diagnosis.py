"""Diagnosis of draws of features given the others: a classifier tells them from the data or not.

With X_j drawn from its distribution given the other features, the row with the draw has the
distribution of the row itself. A forest learns on some rows to tell the two, and predicts others:
the area under its ROC curve (AUC) is .5 where the draws are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
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
        reach = NormalDist().inv_cdf((1.0 + _CONFIDENCE) / 2.0) * self.overall_error
        return self.overall - reach, self.overall + reach

    @property
    def misfits(self) -> tuple[str, ...]:
        """Hypotheses whose draws a classifier tells from the data, family-wise error rate .01."""
        least = self.auc + NormalDist().inv_cdf(_LEVEL / len(self.names)) * self.standard_error
        return tuple(name for name, low in zip(self.names, least, strict=True) if low > _HARMLESS)

    @property
    def is_misfit(self) -> bool:
        """True if draws of any, or of all together, are told from the data."""
        low = self.overall + NormalDist().inv_cdf(_LEVEL) * self.overall_error
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
        what, consequence, hint = (
            "draws of features given the others",
            "p-values may be too small",
            "strata, or another sampler or a known distribution with "
            "duramen.significance.conditional",
        )
        if of_knockoffs:
            what, consequence, hint = (
                "knockoffs",
                "the false discovery rate may be far above alpha",
                'sampler="forest", or dm.significance.conditional, which warns in the same way',
            )
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
    rows = [
        _rows_of_area(
            fresh, features, replicate_seed(seed, int(features[0])), n_threads, donors, folds
        )
        for _, features in chosen
    ]
    areas = np.array([float(part.mean()) / 2.0 for part in rows])
    return Diagnosis(
        tuple(name for name, _ in chosen),
        areas,
        np.array([_error(part, units) for part in rows]),
        float(areas.mean()),
        _error(np.mean(rows, axis=0), units),
    )


def _error(rows: FloatArray, units: IntArray | None) -> float:
    """Return the standard error of an area, from the part that each row has in it."""
    sums = of_units(rows[:, None] - rows.mean(), units)[:, 0]
    return float(np.sqrt(np.square(sums).sum() * len(sums) / max(len(sums) - 1, 1)) / len(rows))


def _rows_of_area(
    sampler: Sampler,
    features: IntArray,
    seed: int,
    n_threads: int,
    donors: np.ndarray | None,
    folds: IntArray,
) -> FloatArray:
    """Return twice the part of each row in the area under the ROC curve of a classifier, (n,).

    It is a forest that tells rows of the data from rows with the features drawn.
    """
    from duramen.estimators import RandomForestClassifier

    columns = _columns(sampler, features, donors)
    rows = np.zeros(len(folds))
    for fold in range(_FOLDS):
        held_out, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        beside = sampler.scores.values[:, _beside(sampler, features, others)]
        real, drawn = (np.hstack([column, beside]) for column in columns)
        forest = RandomForestClassifier(
            _TREES, min_samples_leaf=_LEAF, random_state=seed % 2**32, n_jobs=n_threads
        ).fit(np.vstack([real[others], drawn[others]]), np.repeat([1, 0], len(others)))
        of_real, of_drawn = (  # fractions of trees that call them real
            np.asarray(forest.predict_proba(part[held_out]))[:, 1] for part in (real, drawn)
        )
        rows[held_out] = _below(of_real, of_drawn) + 1.0 - _below(of_drawn, of_real)
    return rows


def _columns(
    sampler: Sampler, features: IntArray, donors: np.ndarray | None
) -> tuple[FloatArray, FloatArray]:
    """Return values and residuals of features, as they are and drawn, (n, d) each.

    A feature whose values recur has no residuals: predicted without the row, they would give away
    its value, by which the mean of the others differs.
    """
    scores, members = sampler.scores, features.tolist()
    given = sampler.donors_of(members, 2)[:, 0] if donors is None else donors[members]
    values = scores.of_features(members)
    predicted = values - sampler.residuals(features)
    drawn = np.hstack(
        [scores.values[rows, scores.columns(j)] for rows, j in zip(given, members, strict=True)]
    )
    n_values = np.array([len(np.unique(column)) for column in values.T])
    continuous = 2 * n_values > len(values)
    rest, of_draws = (values - predicted)[:, continuous], (drawn - predicted)[:, continuous]
    return np.hstack([values, rest]), np.hstack([drawn, of_draws])


def _beside(sampler: Sampler, features: IntArray, rows: IntArray) -> IntArray:
    """Return the columns of other features that tell most of these, in the training rows."""
    scores = sampler.scores
    own = np.concatenate([np.r_[scores.columns(j)] for j in features.tolist()])
    left = np.setdiff1d(np.arange(scores.values.shape[1]), own)
    values, rest = scores.values[np.ix_(rows, left)], sampler.residuals(features)[rows]

    def related(mine: FloatArray, others: FloatArray) -> FloatArray:
        return np.asarray(np.abs(standardized(mine).T @ standardized(others)).max(axis=0))

    linear = related(scores.values[np.ix_(rows, own)], values)
    pairs = ((rest, values**2), (rest, values**3), (rest**2, values**2))
    curved = np.max([related(mine, others) for mine, others in pairs], axis=0)
    most = [np.argsort(-sizes, kind="stable")[:_BESIDE] for sizes in (linear, curved)]
    return np.asarray(left[np.union1d(*most)])


def _below(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return the fraction of other values below each value, equal ones counted by half."""
    ascending = np.sort(others)
    ends = [np.searchsorted(ascending, values, side=side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / (2.0 * len(others)))
