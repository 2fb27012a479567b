"""Logistic regression with a ridge penalty, for several classes."""

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
    columns: FloatArray, codes: IntArray, count: int, strata: IntArray | None = None
) -> FloatArray:
    """Return fitted log-probabilities of all classes, shape (n, count), by Newton's method.

    Every stratum has its own frequencies of the classes, to which one row with the frequencies of
    all rows is added.
    """
    n = len(codes)
    model = np.column_stack([np.ones(n), columns])
    penalty = np.full(model.shape[1], _RIDGE)
    penalty[0] = 1e-6
    is_class = codes[:, None] == np.arange(count)
    offset = _offset(is_class, strata)
    free = count - 1
    coefficients = np.zeros((model.shape[1], free))

    def fitted(coefficients: FloatArray) -> tuple[FloatArray, float]:
        logs = offset + np.column_stack([np.zeros(n), model @ coefficients])
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        loss = -logs[is_class].sum() + 0.5 * float((penalty[:, None] * coefficients**2).sum())
        return logs, float(loss)

    logs, loss = fitted(coefficients)
    for _ in range(_STEPS):
        probabilities = np.exp(logs[:, 1:])
        gradient = model.T @ (is_class[:, 1:] - probabilities) - penalty[:, None] * coefficients
        step = np.linalg.solve(_hessian(model, probabilities, penalty), gradient.T.ravel())
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


def _hessian(model: FloatArray, probabilities: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return the second derivatives of the loss, coefficients of a class side by side."""
    width, free = model.shape[1], probabilities.shape[1]
    hessian = np.zeros((free, width, free, width))
    for a in range(free):
        for b in range(free):
            weights = probabilities[:, a] * (float(a == b) - probabilities[:, b])
            hessian[a, :, b, :] = (model * weights[:, None]).T @ model
        hessian[a, :, a, :] += np.diag(penalty)
    return hessian.reshape(free * width, free * width)


def _offset(is_class: NDArray[np.bool_], strata: IntArray | None) -> FloatArray:
    """Return log-frequencies of the classes in the stratum of each row; 0 without strata."""
    if strata is None:
        return np.zeros(is_class.shape)
    overall = is_class.mean(axis=0)
    counts = np.zeros((int(strata.max()) + 1, is_class.shape[1]))
    np.add.at(counts, strata, is_class)
    frequencies = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1)
    offset: FloatArray = np.log(frequencies)[strata]
    return offset
