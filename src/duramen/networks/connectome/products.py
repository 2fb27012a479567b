r"""Covariances of signals, dense or sparse.

Of a sparse signal X with T frames the covariance is :math:`(X'X - T m m') / (T - 1)` with the means
m. X'X is a sum over frames: of a frame with c values other than 0, c² products. Frames of bursts,
in which many neurons are active, go through dense products of blocks, the others through a sparse
one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from duramen.networks.connectome.peaks import blocks
from duramen.networks.connectome.sparse_signal import Signal, as_signal
from duramen.support import checks
from duramen.support.arrays import FloatArray

# A product within a sparse matrix takes about as long as so many within a dense block, of which
# there are p² for each frame.
_SPARSE_COST = 100
_NUMBERS = 1 << 21  # of a dense block


def covariance(signal: Any) -> FloatArray:
    """Compute the covariances of the columns of a signal.

    Parameters
    ----------
    signal : array or scipy sparse array of shape (T, p)
        Frames by neurons. A dense one is read in blocks of frames, and may be mapped from a file.

    Returns
    -------
    float64 array of shape (p, p)
        Symmetric, with T - 1 in the denominator.

    Raises
    ------
    ValueError
        If there are fewer than two frames.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import covariance
    >>> covariance(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]))
    array([[4., 0.],
           [0., 0.]])
    """
    signal = signal if sparse.issparse(signal) else np.asarray(signal)
    if signal.ndim != 2 or signal.shape[0] < 2:
        raise checks.refuse("covariance", "signal", "at least two frames, by neurons", signal.shape)
    n, p = signal.shape
    if sparse.issparse(signal):
        signal = as_signal(signal)
        sums = np.bincount(signal.indices, signal.data, minlength=p)
        total = gram(signal) - np.outer(sums, sums / n)
    else:
        mean, total = signal.mean(axis=0, dtype=np.float64), np.zeros((p, p))
        for first, last in blocks(signal, _NUMBERS):
            x = signal[first:last] - mean
            total += x.T @ x
    # Rounding alone sets the two halves apart.
    found: FloatArray = (total + total.T) / (2.0 * (n - 1))
    return found


def gram(x: Signal) -> FloatArray:
    """Return the sums over frames of the products of two neurons, X'X, of shape (p, p)."""
    p = x.shape[1]
    counts = np.diff(x.indptr)
    bursts = counts.astype(np.float64) ** 2 * _SPARSE_COST > float(p) ** 2
    rows = np.flatnonzero(bursts)
    total = np.zeros((p, p))
    step = max(1, _NUMBERS // p)
    for first in range(0, len(rows), step):
        block = x[rows[first : first + step]].toarray()
        total += block.T @ block
    quiet = x[np.flatnonzero(~bursts & (counts > 1))]
    total += (quiet.T @ quiet).toarray()
    alone = np.flatnonzero(~bursts & (counts == 1))
    places = x.indptr[alone]
    np.einsum("ii->i", total)[:] += np.bincount(x.indices[places], x.data[places] ** 2, minlength=p)
    return total
