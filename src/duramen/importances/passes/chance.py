"""Expected information between independent variables, over permutations of the labels."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray, IntArray

# Terms of hypergeometric sums that are held in memory at once.
_TERMS = 2_000_000


def xlog2x(counts: IntArray) -> FloatArray:
    """Return n log2 n of every count, 0 for n = 0."""
    n = np.arange(int(counts.max(initial=0)) + 1, dtype=np.float64)
    table: FloatArray = n * np.log2(np.maximum(n, 1.0))
    return table[counts]


def mean_xlog2x(total: IntArray, drawn: IntArray, marked: IntArray) -> FloatArray:
    """Return the mean of n log2 n, n being hypergeometric; shape (m,).

    n is the number of marked rows among `drawn` rows taken without replacement from `total` rows of
    which `marked` are marked: a cell of a table of two variables when one of them is permuted. Sums
    run over ten standard deviations and forty counts to either side of the mean, outside of which
    the probability is below 1e-20.
    """
    from scipy.special import gammaln

    cells, place = _distinct(total, drawn, marked)
    n, a, b = cells
    mean = a * b / np.maximum(n, 1)
    variance = mean * (1 - b / np.maximum(n, 1)) * (n - a) / np.maximum(n - 1, 1)
    reach = 10 * np.sqrt(np.maximum(variance, 0.0)) + 40
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - reach).astype(np.int64))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach).astype(np.int64))
    log_factorial = gammaln(np.arange(int(n.max(initial=0)) + 2) + 1.0)
    means = np.empty(n.size)
    ends = np.cumsum(high - low + 1)
    start = 0
    while start < n.size:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _TERMS, side="right")))
        run = slice(start, stop)
        means[run] = _mean_over(low[run], high[run], n[run], a[run], b[run], log_factorial)
        start = stop
    return means[place]


def _mean_over(
    low: IntArray,
    high: IntArray,
    n: IntArray,
    a: IntArray,
    b: IntArray,
    log_factorial: FloatArray,
) -> FloatArray:
    sizes = high - low + 1
    starts = np.cumsum(sizes) - sizes
    x = np.repeat(low - starts, sizes) + np.arange(int(sizes.sum()))
    n, a, b = (np.repeat(count, sizes) for count in (n, a, b))
    weight = -(
        log_factorial[x]
        + log_factorial[a - x]
        + log_factorial[b - x]
        + log_factorial[n - a - b + x]
    )
    weight = np.exp(weight - np.repeat(np.maximum.reduceat(weight, starts), sizes))
    mean: FloatArray = np.add.reduceat(weight * xlog2x(x), starts)
    return mean / np.add.reduceat(weight, starts)


def _distinct(
    total: IntArray, drawn: IntArray, marked: IntArray
) -> tuple[tuple[IntArray, IntArray, IntArray], IntArray]:
    """Return the distinct triples, and the place of each given one among them."""
    base = int(total.max(initial=0)) + 1
    if base**3 > np.iinfo(np.int64).max:
        return (total, drawn, marked), np.arange(total.size)
    small, large = np.minimum(drawn, marked), np.maximum(drawn, marked)
    keys, place = np.unique((total * base + large) * base + small, return_inverse=True)
    return (keys // base**2, keys // base % base, keys % base), place
