r"""Covariances of signals, dense or sparse.

Of a sparse signal X with T frames the covariance is :math:`(X'X - T m m') / (T - 1)` with the means
m. X'X is a sum over frames: of a frame with c values other than 0, c² products. Frames of bursts,
in which many neurons are active, go through dense products of blocks, the others through a sparse
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from duramen.networks.connectome.filters import Signal, as_signal, blocks
from duramen.results.columns import Column
from duramen.results.result import Result
from duramen.results.summary import Summary
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
    return np.asarray((total + total.T) / (2.0 * (n - 1)))


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


@dataclass(frozen=True, eq=False, repr=False)
class Components(Result):
    """Spectrum of a network or of signals, by decreasing size.

    Attributes
    ----------
    explained_variance_ratio : float64 array of shape (p,)
        Eigenvalues of the covariance of the columns over their sum (PCA).
    singular_value_ratio : float64 array of shape (p,)
        Singular values of the matrix over their sum (SVD).
    """

    explained_variance_ratio: FloatArray
    singular_value_ratio: FloatArray

    def count(self, explained: float = 0.99) -> int:
        """Return the fewest components that explain a fraction of the variance.

        Parameters
        ----------
        explained : float
            Fraction in (0, 1].
        """
        checks.check_real("Components.count", "explained", explained, 0.0, 1.0, ends="(]")
        reached = np.cumsum(self.explained_variance_ratio) >= explained - 1e-12
        return int(reached.argmax()) + 1 if reached.any() else len(reached)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a component: the attributes."""
        return {
            "explained_variance_ratio": self.explained_variance_ratio.copy(),
            "singular_value_ratio": self.singular_value_ratio.copy(),
        }

    def _summary(self, rows: int) -> Summary:
        fractions = (0.5, 0.9, 0.99, 1.0)
        total = len(self.explained_variance_ratio)
        counts = [self.count(fraction) for fraction in fractions]
        shown = [
            Column("variance explained", [f"{100 * fraction:g} %" for fraction in fractions]),
            Column("components", [str(k) for k in counts]),
            Column("of all", [f"{k / total:.2f}" for k in counts]),
        ]
        return Summary((f"Components: {total:,}",), shown)


def components(matrix: Any) -> Components:
    """Compute the spectrum of a network, of weights, or of signals.

    The thesis (appendix 8.C) found that 80 % of the components explain the networks of the
    challenge, and took as many for the precision matrix.

    Parameters
    ----------
    matrix : Network, array or scipy sparse array of shape (n, p)
        True or inferred links, or signals of frames by neurons.

    Returns
    -------
    Components

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import components
    >>> components(np.diag([3.0, 1.0, 0.0])).singular_value_ratio
    array([0.75, 0.25, 0.  ])
    """
    weights = getattr(matrix, "weights", matrix)
    if not sparse.issparse(weights):
        weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] < 2:
        raise checks.refuse("components", "matrix", "two-dimensional, of 2 rows", weights.shape)
    variances = np.maximum(np.linalg.eigvalsh(covariance(weights))[::-1], 0.0)
    if sparse.issparse(weights):
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram(as_signal(weights)))[::-1], 0.0))
    else:
        values = np.linalg.svd(weights, compute_uv=False)
    return Components(variances / (variances.sum() or 1.0), values / (values.sum() or 1.0))
