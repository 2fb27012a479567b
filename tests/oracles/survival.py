"""Survival by definition: risk sets counted afresh, every cut and every pair looked at."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def log_rank(
    time: Floats, event: Bools, weight: Floats, first: Bools, entry: Floats | float = -1.0
) -> float:
    """Return the log-rank statistic of two groups; 0 where its variance is 0."""
    excess = variance = 0.0
    for t in np.unique(time[event & (weight > 0)]):
        at_risk, died = (entry < t) & (time >= t), (time == t) & event
        y, d = weight[at_risk].sum(), weight[died].sum()
        y_first, d_first = weight[at_risk & first].sum(), weight[died & first].sum()
        excess += d_first - d * y_first / y
        if y > 1:
            fraction = y_first / y
            variance += d * fraction * (1 - fraction) * (y - d) / (y - 1)
    return excess**2 / variance if variance > 1e-9 else 0.0


def best_cuts(
    X: Floats, time: Floats, event: Bools, weight: Floats, entry: Floats | float = -1.0
) -> tuple[float, set[tuple[int, float]]]:
    """Return the largest statistic of all cuts, and the cuts (column, last value) that have it."""
    scores = {}
    for j in range(X.shape[1]):
        for value in np.unique(X[weight > 0, j])[:-1]:
            first = X[:, j] <= value
            sizes = [np.count_nonzero(side & (weight > 0)) for side in (first, ~first)]
            if min(sizes) >= 1:
                scores[j, float(value)] = log_rank(time, event, weight, first, entry)
    best = max(scores.values(), default=0.0)
    return best, {cut for cut, score in scores.items() if score >= best - 1e-9 * (best + 1)}


def nelson_aalen(
    time: Floats, event: Bools, weight: Floats, at: Floats, entry: Floats | float = -1.0
) -> Floats:
    """Return the cumulative hazard at some times."""
    return np.array([sum(_hazards(time, event, weight, t, entry)) for t in at])


def kaplan_meier(
    time: Floats, event: Bools, weight: Floats, at: Floats, entry: Floats | float = -1.0
) -> Floats:
    """Return the survival function at some times."""
    return np.array([np.prod([1 - h for h in _hazards(time, event, weight, t, entry)]) for t in at])


def _hazards(
    time: Floats, event: Bools, weight: Floats, until: float, entry: Floats | float
) -> list[float]:
    held = weight > 0
    return [
        weight[(time == t) & event].sum() / weight[(entry < t) & (time >= t)].sum()
        for t in np.unique(time[event & held])
        if t <= until
    ]


def concordance(time: Floats, event: Bools, risk: Floats, entry: Floats | float = -1.0) -> float:
    """Return Harrell's concordance by looking at every pair of rows."""
    concordant, comparable, entry = 0.0, 0.0, np.broadcast_to(entry, len(time))
    for i in range(len(time)):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and later and i != j and entry[j] < time[i]:
                comparable += 1
                concordant += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    return concordant / comparable


def cox_z(X: Floats, time: Floats, event: Bools, entry: Floats | float = -1.0) -> Floats:
    """Return the Wald statistics of Cox's model, with Breslow's ties, by Newton's method."""
    beta = np.zeros(X.shape[1])
    for _ in range(30):
        risk, score, information = np.exp(X @ beta), np.zeros(len(beta)), np.zeros((len(beta),) * 2)
        for i in np.flatnonzero(event):
            at_risk = (entry < time[i]) & (time >= time[i])
            weight = risk[at_risk] / risk[at_risk].sum()
            mean = weight @ X[at_risk]
            score += X[i] - mean
            information += (X[at_risk].T * weight) @ X[at_risk] - np.outer(mean, mean)
        beta += np.linalg.solve(information, score)
    return beta / np.sqrt(np.diag(np.linalg.inv(information)))
