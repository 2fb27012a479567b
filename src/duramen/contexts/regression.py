"""Logistic regression with a ridge penalty, for several values with scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray, IntArray

# Penalty on half the squared coefficients of columns of variance 1. It keeps them finite; a larger
# one, as the 1 of scikit-learn, shrinks strong effects, and what is left of them counts against
# the null hypotheses.
_RIDGE = 0.1
_STEPS, _HALVINGS = 30, 12
_CONVERGED = 1e-8


def log_probabilities(
    columns: FloatArray, codes: IntArray, scores: FloatArray, strata: IntArray | None = None
) -> FloatArray:
    r"""Return fitted log-probabilities of all values, shape (n, L), by Newton's method.

    Those of row i are :math:`\sum_k s_{lk} \beta_k x_i` plus a constant, with scores of the values
    of shape (L, K): for classes, indicators of all but the first. Every stratum has its own
    frequencies of the values, to which one row with the frequencies of all rows is added.
    """
    n = len(codes)
    model = np.column_stack([np.ones(n), columns])
    penalty = np.full(model.shape[1], _RIDGE)
    penalty[0] = 1e-6
    is_value = codes[:, None] == np.arange(len(scores))
    offset = _offset(is_value, strata)
    own, free = scores[codes], scores.shape[1]
    coefficients = np.zeros((model.shape[1], free))

    def fitted(coefficients: FloatArray) -> tuple[FloatArray, float]:
        logs = offset + model @ coefficients @ scores.T
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        loss = -logs[is_value].sum() + 0.5 * float((penalty[:, None] * coefficients**2).sum())
        return logs, float(loss)

    logs, loss = fitted(coefficients)
    for _ in range(_STEPS):
        probabilities = np.exp(logs)
        expected = probabilities @ scores
        gradient = model.T @ (own - expected) - penalty[:, None] * coefficients
        hessian = _hessian(model, probabilities, scores, penalty)
        step = np.linalg.solve(hessian, gradient.T.ravel())
        step, before = step.reshape(free, -1).T, loss
        for halving in range(_HALVINGS):
            logs, loss = fitted(coefficients + step / 2**halving)
            if loss <= before:
                coefficients = coefficients + step / 2**halving
                break
        else:
            return fitted(coefficients)[0]
        if before - loss < _CONVERGED * (1 + abs(loss)):
            break
    return logs


def _hessian(
    model: FloatArray, probabilities: FloatArray, scores: FloatArray, penalty: FloatArray
) -> FloatArray:
    """Return the second derivatives of the loss, coefficients of a score side by side."""
    width, free = model.shape[1], scores.shape[1]
    expected = probabilities @ scores
    hessian = np.zeros((free, width, free, width))
    for b in range(free):
        covariances = (probabilities * (scores[:, b] - expected[:, b : b + 1])) @ scores
        for a in range(free):
            hessian[a, :, b, :] = (model * covariances[:, a : a + 1]).T @ model
        hessian[a, :, a, :] += np.diag(penalty)
    return hessian.reshape(free * width, free * width)


def _offset(is_value: NDArray[np.bool_], strata: IntArray | None) -> FloatArray:
    """Return log-frequencies of the values in the stratum of each row; 0 without strata."""
    if strata is None:
        return np.zeros(is_value.shape)
    overall = is_value.mean(axis=0)
    counts = np.zeros((int(strata.max()) + 1, is_value.shape[1]))
    np.add.at(counts, strata, is_value)
    frequencies = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1)
    offset: FloatArray = np.log(frequencies)[strata]
    return offset
