"""Diagnosis of draws of features given the others: a classifier tells them from the data or not.

With X_j drawn from its distribution given the other features, the row with the draw has the
distribution of the row itself. A forest learns on some rows to tell the two, and predicts others:
the area under its ROC curve (AUC) is .5 where the draws are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from duramen.jobs.replicates import replicate_seed
from duramen.significance.conditional_tests.inference import of_units
from duramen.significance.conditional_tests.nodewise import standardized
from duramen.significance.conditional_tests.sampler import Sampler
from duramen.support.arrays import FloatArray, IntArray

_TREES, _LEAF = 50, 5
_FOLDS = 3
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
    dict or None
        ``auc``, the mean area, with its interval from ``low`` to ``high``; ``misfit``, whether
        draws of any hypothesis, or of all together, are told from the data; the area and standard
        error of each hypothesis in ``features``. None if no feature varies.
    """
    from duramen.estimators import RandomForestClassifier

    varies = sampler.scores.widths > 0
    names = list(hypotheses)
    order = np.argsort(np.asarray(p_values), kind="stable").tolist()
    chosen = [
        (names[g], hypotheses[names[g]][varies[hypotheses[names[g]]]])
        for g in order
        if varies[hypotheses[names[g]]].any()
    ][:_MOST_HYPOTHESES]
    if not chosen:
        return None
    random, n = np.random.default_rng(seed), sampler.table.n_rows
    fixed = np.zeros(n, dtype=np.int64) if sampler.strata is None else sampler.strata
    of_unit = random.permutation(n if units is None else int(units.max()) + 1) % _FOLDS
    folds = of_unit if units is None else of_unit[units]
    # Residuals are lent within folds: a forest would know again those of rows it has seen.
    lending = np.unique(np.column_stack([folds, fixed]), axis=0, return_inverse=True)[1].ravel()
    fresh = replace(sampler, seed=seed, lending=lending)
    # A forest tells rows of the data from rows with the features drawn. It sees values and
    # residuals, but no residuals of a feature whose values recur: predicted without the row, they
    # would give away its value, by which the mean of the others differs.
    scores, rows = sampler.scores, list[FloatArray]()
    for _, of in chosen:
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
        for fold in range(_FOLDS):
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
                _TREES, min_samples_leaf=_LEAF, random_state=forest_seed % 2**32, n_jobs=n_threads
            ).fit(np.vstack([part[others] for part in parts]), np.repeat([1, 0], len(others)))
            called = [  # fractions of trees that call rows real
                np.asarray(forest.predict_proba(part[held_out]))[:, 1] for part in parts
            ]
            area[held_out] = _below(called[0], called[1]) + 1.0 - _below(called[1], called[0])
        rows.append(area)
    features = {
        name: {"auc": float(part.mean()) / 2.0, "standard_error": _error(part, units)}
        for (name, _), part in zip(chosen, rows, strict=True)
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
    """Return the hypotheses whose draws a classifier tells, at a family-wise error rate of .01."""
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
        f"a forest tells draws of {count} feature{'' if count == 1 else 's'} from the data with an "
        f"AUC of {fit['auc']:.2f} (95% interval {fit['low']:.2f} to {fit['high']:.2f}; .5 or less "
        "where draws are right)"
    )
    sentence += f", above all those of {', '.join(worst)}" if worst else ""
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
