"""Independence of two columns: the permutation test of Strasser and Weber from its moments."""

import math

import numpy as np
from scipy import stats


def p_value(a, b, nominal_a=False, nominal_b=False):
    """Test of Strasser and Weber (1999), quadratic form: two lists, NaN where missing.

    The linear statistic is sum_i g(a_i) h(b_i)', g and h the values, or indicators of categories;
    its mean and covariance over all permutations are theirs, eqs. 3.1 and 3.2 written out.
    """
    complete = [i for i in range(len(a)) if not (math.isnan(a[i]) or math.isnan(b[i]))]
    g, h = (
        _influence([a[i] for i in complete], nominal_a),
        _influence([b[i] for i in complete], nominal_b),
    )
    n = len(complete)
    if n < 2:
        return 1.0
    statistic = sum(np.outer(g[i], h[i]) for i in range(n)).ravel()
    centre = h.mean(axis=0)
    spread = sum(np.outer(h[i] - centre, h[i] - centre) for i in range(n)) / n
    squares = sum(np.outer(g[i], g[i]) for i in range(n))
    total = g.sum(axis=0)
    mean = np.outer(total, centre).ravel()
    variance = (n * np.kron(squares, spread) - np.kron(np.outer(total, total), spread)) / (n - 1)
    rank = np.linalg.matrix_rank(variance, tol=1e-9 * np.kron(squares, h.T @ h).max())
    if rank == 0:
        return 1.0
    off = statistic - mean
    return stats.chi2.sf(off @ np.linalg.pinv(variance, rcond=1e-12, hermitian=True) @ off, rank)


def _influence(values, nominal):
    if nominal:
        return np.array([[float(v == u) for u in sorted(set(values))] for v in values])
    return np.array([[float(v)] for v in values])
