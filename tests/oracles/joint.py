"""Joint linear statistics by their definition, model by model. Nothing from duramen is used."""

import numpy as np
from scipy import linalg, stats
from tests.oracles.marginal import midranks, normal_score

PENALTIES = [10 ** (k / 2) for k in range(-8, 5)]


def columns_of(values, kind, strata=None):
    """Uncorrelated columns of a feature: scores of its values, and whether it is missing."""
    missing = np.array([v is None or v != v for v in values])
    if kind == "nominal":
        given = ["missing" if gone else v for v, gone in zip(values, missing, strict=True)]
        raw = [np.array([float(v == u) for v in given]) for u in dict.fromkeys(given)]
    else:
        own = np.array(midranks(values) if kind == "ordinal" else values, dtype=float)
        if kind == "numeric":
            own = cut_of(own, own[~missing])
        own[missing] = own[~missing].mean()
        raw = [own, missing.astype(float)]
    return spanning(np.stack(raw, axis=1), strata)


def cut_of(numbers, rows=None):
    """Numbers cut at four robust standard deviations from the median of the rows."""
    rows = numbers if rows is None else rows
    low, middle, high = np.quantile(rows, [0.16, 0.5, 0.84])
    spread = (high - low) / 2 or rows.std()
    return np.clip(numbers, middle - 4 * spread, middle + 4 * spread)


def spanning(columns, strata=None):
    """Orthogonal columns with a mean square of 1 that span others, centered within strata."""
    strata = np.zeros(len(columns), dtype=int) if strata is None else strata
    centered = columns.astype(float)
    for s in set(strata.tolist()):
        centered[strata == s] -= centered[strata == s].mean(axis=0)
    return linalg.orth(centered, rcond=1e-7) * len(columns) ** 0.5 if centered.any() else None


def scores_of_numbers(y):
    """Normal scores of mid-ranks."""
    return stats.norm.ppf((stats.rankdata(y) - 0.5) / len(y))[:, None]


def statistics(features, h, freedom, penalties=None):
    """Normal score of each feature, from its columns (None: it does not vary) and scores (n, q).

    The penalty is that of the least criterion of generalized cross-validation.
    """
    Z = np.concatenate([x for x in features if x is not None], axis=1)
    mean_square = np.linalg.eigvalsh(Z.T @ Z).sum() / Z.shape[1]
    n, q = h.shape
    best = None
    for penalty in PENALTIES if penalties is None else penalties:
        M = residual_maker(Z, penalty * mean_square)
        left = freedom - (n - np.trace(M))
        criterion = np.sum((M @ h) ** 2) / left**2
        if best is None or criterion < best[0]:
            best = criterion, penalty * mean_square, M
    _, penalty, M = best
    degrees = freedom - (n - np.trace(M @ M))
    root = np.linalg.inv(np.linalg.cholesky(h.T @ M @ M @ h / degrees))
    h = h @ root.T
    P = np.linalg.inv(Z.T @ Z + penalty * np.eye(Z.shape[1]))
    b, V = P @ Z.T @ h, P @ Z.T @ Z @ P
    result, first = [], 0
    for x in features:
        if x is None:
            result.append(0.0)
            continue
        own = slice(first, first + x.shape[1])
        first = own.stop
        others = np.delete(Z, own, axis=1)
        rest = residual_maker(others, penalty) @ h
        variance = np.sum(rest**2) / (q * degrees)
        F = np.trace(b[own].T @ np.linalg.solve(V[own, own], b[own])) / variance
        result.append(normal_score(F, x.shape[1] * q))
    return result


def residual_maker(Z, penalty):
    """I - Z (Z'Z + penalty)^-1 Z'."""
    inverse = np.linalg.inv(Z.T @ Z + penalty * np.eye(Z.shape[1]))
    return np.eye(len(Z)) - Z @ inverse @ Z.T
