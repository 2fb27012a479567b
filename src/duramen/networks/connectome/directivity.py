r"""Direction of links from the order of rises (thesis, appendix 8.A.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from duramen.networks.connectome.filters import Signal, as_signal
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.threads import Pool

RULES = ("weighted", "masked")
_PAIRS = 1 << 20  # compared at a time


def precedence(
    signal: Any, *, low: float = 0.2, high: float = 0.5, n_jobs: int | None = None
) -> IntArray:
    r"""Count how often the rise of a neuron follows that of another one, by one frame.

    .. math:: s_{ij} = \#\{t : \phi_1 < x_j^{t+1} - x_i^t < \phi_2\}

    (8.12), with open bounds as the program of the authors has them.

    Parameters
    ----------
    signal : array-like or scipy sparse array of shape (T, p)
        Rises, nowhere negative; the authors take r h g f2 with the threshold .12.
    low, high : float
        Bounds :math:`0 < \phi_1 < \phi_2`.
    n_jobs : int, optional
        Threads over frames; the result does not depend on it.

    Returns
    -------
    int64 array of shape (p, p)
        Counts, earlier neuron by later one; 0 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import precedence
    >>> precedence(np.array([[0.1, 0.0], [0.0, 0.4], [0.0, 0.0]]))
    array([[0, 1],
           [0, 0]])
    """
    checks.check_real("precedence", "low", low, 0.0, ends="()")
    checks.check_real("precedence", "high", high, low, ends="()")
    x = as_signal(signal if sparse.issparse(signal) else np.asarray(signal))
    if x.nnz and x.data.min() < 0:
        raise checks.refuse("precedence", "signal", "without negative values", float(x.data.min()))
    p = x.shape[1]
    # An earlier value of 0 leaves the later one between the bounds; a later one of 0 never is.
    later = x[1:]
    within = later.copy()
    within.data = ((later.data > low) & (later.data < high)).astype(np.float64)
    active = x[:-1].copy()
    active.data = np.ones_like(active.data)
    counts = within.sum(axis=0)[None, :] - (active.T @ within).toarray()
    n_threads = checks.check_jobs("precedence", n_jobs)
    edges = np.linspace(0, x.shape[0] - 1, 2 * n_threads + 1).astype(np.int64)

    def part(k: int) -> IntArray:
        return _both_active(x, int(edges[k]), int(edges[k + 1]), low, high)

    total: IntArray = counts.astype(np.int64).reshape(p, p)
    with Pool(n_threads) as pool:
        for part_counts in pool.map(part, range(2 * n_threads)):
            total += part_counts
    np.fill_diagonal(total, 0)
    return total


def _both_active(x: Signal, first: int, last: int, low: float, high: float) -> IntArray:
    """Count over frames `first` to `last` the pairs of which neither value is 0."""
    p = x.shape[1]
    counts = np.zeros(p * p, dtype=np.int64)
    held: list[IntArray] = []
    n_held = 0
    for t in range(first, last):
        a, b, c = x.indptr[t : t + 3]
        if a == b or b == c:
            continue
        ahead = x.data[b:c] - x.data[a:b, None]
        i, j = np.nonzero((ahead > low) & (ahead < high))
        held.append(x.indices[a:b][i].astype(np.int64) * p + x.indices[b:c][j])
        n_held += len(i)
        if n_held > _PAIRS:
            counts += np.bincount(np.concatenate(held), minlength=p * p)
            held, n_held = [], 0
    if held:
        counts += np.bincount(np.concatenate(held), minlength=p * p)
    return counts.reshape(p, p)


def directed(
    weights: ArrayLike,
    counts: ArrayLike,
    *,
    rule: str = "weighted",
    weight: float = 0.997,
    excess: float = 0.0,
) -> FloatArray:
    r"""Give the directions of counted precedences to symmetric weights.

    With :math:`z_{ij} = s_{ij} - s_{ji}` and scaled matrices (the smallest entry beside the
    diagonal 0, the largest 1) "weighted" is (8.14); "masked", with the weights as they are, (8.13):

    .. math:: q_{ij} = .997\, p_{ij} + .003\, z_{ij}, \qquad r_{ij} = 1(z_{ij} > \phi_3)\, p_{ij}

    Parameters
    ----------
    weights : array-like of shape (p, p)
        Symmetric weights, such as partial correlations.
    counts : array-like of shape (p, p)
        Counts of :func:`precedence`.
    rule : {"weighted", "masked"}
        Formula.
    weight : float
        Weight of p in the sum.
    excess : float
        Count :math:`\phi_3 \geq 0` that z must exceed, for "masked".

    Returns
    -------
    float64 array of shape (p, p)
        Weights from source to target; 0 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import directed
    >>> weights = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> directed(weights, np.array([[0, 7], [2, 0]]), rule="masked")
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    checks.check_choice("directed", "rule", rule, RULES)
    checks.check_real("directed", "weight", weight, 0.0, 1.0)
    checks.check_real("directed", "excess", excess, 0.0)
    p, s = np.asarray(weights, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or s.shape != p.shape:
        raise checks.refuse("directed", "counts", f"of the shape of weights, {p.shape}", s.shape)
    z = s - s.T
    if rule == "weighted":
        return weight * scaled(p) + (1.0 - weight) * scaled(z)
    result: FloatArray = np.where(z > excess, p, 0.0)
    np.fill_diagonal(result, 0.0)
    return result


def scaled(matrix: FloatArray) -> FloatArray:
    """Return a matrix shifted and divided so that it runs from 0 to 1 beside the diagonal of 0."""
    off = ~np.eye(len(matrix), dtype=np.bool_)
    if len(matrix) < 2:
        return np.zeros(matrix.shape)
    low, high = matrix[off].min(), matrix[off].max()
    return np.asarray(np.where(off, (matrix - low) / ((high - low) or 1.0), 0.0))
