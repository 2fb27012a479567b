"""Tests of what goes up or down with a feature: slopes of what the others leave of both.

What is left of the target, after a prediction without the feature, is regressed on what the others
leave of the feature, in normal scores and in values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from duramen.data.scores import centered_within
from duramen.significance.conditional_tests.cross_fitted import Design
from duramen.significance.conditional_tests.inference import (
    Predictions,
    combined,
    covariance_p_value,
    robust_p_value,
    size_correlation,
)
from duramen.significance.conditional_tests.lines import Lines, after
from duramen.significance.conditional_tests.nodewise import Nodewise
from duramen.significance.conditional_tests.sampler import (
    KnownSampler,
    Sampler,
    by_splines,
    curved_in,
)
from duramen.significance.conditional_tests.scores import normal_scores_of
from duramen.support.arrays import FloatArray, IntArray

MANY_FEATURES = 500
"""Features from which on forests that predict each of them take long."""

OF_LINES = 0.95
"""Weight of the linear test where a forest predicts no better than lines."""

_VARIES, _VARIES_WITH_ALL = 2.0, 1.0  # standard errors of correlations of sizes, and of their mean


@dataclass(frozen=True, eq=False)
class Slopes:
    """Residuals of the target and of each feature, or group of features.

    Attributes
    ----------
    hypotheses : tuple of H int arrays
    observed : Predictions
        Of the target, with and without the features of each hypothesis.
    lines : Lines or None
        Least squares in place of these predictions.
    residuals : list of 2 lists of H float64 arrays of shape (n, b)
        What the other features leave of scores, and of values.
    strata : int64 array of shape (n,) or None
        Within which what forests leave of the target is centered.
    """

    hypotheses: tuple[IntArray, ...]
    observed: Predictions
    lines: Lines | None
    residuals: tuple[list[FloatArray], list[FloatArray]]
    strata: IntArray | None = None

    @classmethod
    def of(
        cls,
        fitted: Sampler,
        design: Design,
        hypotheses: tuple[IntArray, ...],
        observed: Predictions,
        lines: Lines | None,
    ) -> Slopes:
        """Take what the others leave of the features, or predict their values."""
        scores = [fitted.residuals_together(features) for features in hypotheses]
        of_values = residuals_of_values(fitted, design, hypotheses, curves=lines is not None)
        values = [
            of_values.get(g, scores[g])
            if lines is not None or not fitted.forests[features].any()
            else scores[g]
            for g, features in enumerate(hypotheses)
        ]
        return cls(hypotheses, observed, lines, (scores, values), fitted.strata)

    def left(self, kind: int, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is left of the target and of the features, and a basis of what was fit."""
        own = self.residuals[kind][g]
        if self.lines is None:
            rest = self.observed.rest(g)
            if self.strata is not None:
                rest = centered_within(rest, self.strata)
            return rest, own, np.zeros((len(own), 0))
        basis = self.lines.basis(g)
        return after(basis, self.lines.response), after(basis, own), basis

    def p_value(self, kind: int, g: int) -> float:
        """Return the p-value of a hypothesis if the noise does not grow with its features."""
        rest, own, basis = self.left(kind, g)
        n_means, noise = 1 if self.strata is None else int(self.strata.max()) + 1, 0.0
        if self.lines is not None:
            n_means, noise = self.lines.n_means, self.lines.noise
        n_fitted = basis.shape[1] + n_means - 1
        return covariance_p_value(rest, own, self.observed.units, n_fitted, basis, noise)

    def p_values(self) -> FloatArray:
        """Return the p-values of scores and values together, shape (H,)."""
        shape = 2, len(self.hypotheses)
        p_values, sizes = np.ones(shape), np.zeros(shape)
        for kind, g in np.ndindex(shape):
            p_values[kind, g] = self.p_value(kind, g)
            rest, own, basis = self.left(kind, g)
            if rest.shape[1] == own.shape[1] == 1 and self.observed.units is None:
                sizes[kind, g] = size_correlation(rest[:, 0], own[:, 0], basis)
        common = sizes.sum(axis=1) / np.maximum(np.count_nonzero(sizes, axis=1), 1)
        varying = (sizes != 0.0) & ((sizes > _VARIES) | (common > _VARIES_WITH_ALL)[:, None])
        for kind, g in np.argwhere(varying).tolist():
            rest, own, basis = self.left(kind, g)
            robust = robust_p_value(rest[:, 0], own[:, 0], basis)
            p_values[kind, g] = max(p_values[kind, g], robust)
        weight = 0.5
        if self.lines is not None:
            weight = 1.0 - OF_LINES if self.lines.of_values else OF_LINES
        return combined(p_values[0], p_values[1], weight)


def residuals_of_values(
    fitted: Sampler, design: Design, hypotheses: tuple[IntArray, ...], curves: bool
) -> dict[int, FloatArray]:
    """Return residuals of values, in place of scores, of each hypothesis about numbers.

    The effect of a value is larger than that of its rank, above all where tails are heavy. Values
    are predicted along lines, or with `curves` by splines of the others where the ranks of what
    lines leave depend on squares or cubes of these. A known distribution has residuals of its own.
    """
    scores = fitted.scores
    numbers = (scores.widths > 0) & ~scores.discrete
    if isinstance(fitted, KnownSampler) or not numbers.any():
        return {}
    columns = centered_within(design.columns, fitted.strata)
    nodewise = Nodewise.of(replace(scores, values=columns), fitted.folds, fitted.groups)
    residuals = np.array(nodewise.residuals)
    by_forests = np.flatnonzero(numbers & fitted.forests).tolist() if curves else []
    curved = curved_in(scores, normal_scores_of(residuals)) if by_forests else []
    for j in by_forests:
        if len(curved[j]):
            block = scores.columns(j)
            residuals[:, block] = centered_within(
                by_splines(nodewise, scores, j, curved[j]), fitted.strata
            )
    of_values = replace(fitted, nodewise=nodewise, _residuals=residuals)
    return {
        g: of_values.residuals_together(features)
        for g, features in enumerate(hypotheses)
        if numbers[features].all()
    }
