r"""Covariance, correlation and partial correlation of signals (thesis, section 8.3.4).

Of a sparse signal X with T frames the covariance is :math:`(X'X - T m m') / (T - 1)` with the means
m. X'X is a sum over frames: of a frame with c values other than 0, c² products. Frames of bursts,
in which many neurons are active, go through dense products of blocks, the others through a sparse
one.

Neurons whose signal never changes are associated with no other: they are left out of the precision
matrix, and their entries are 0. So is the diagonal, as in a `Network`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from duramen.data.memory import require_memory
from duramen.networks.connectome.filters import Signal, as_signal, blocks
from duramen.results.result import Result
from duramen.results.summary import Column
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

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

    def table(self) -> list[Column]:
        """Return the attributes, one row a component."""
        variances, values = self.explained_variance_ratio, self.singular_value_ratio
        return [
            Column("variance", digits=3, name="explained_variance_ratio", numbers=variances),
            Column("singular value", digits=3, name="singular_value_ratio", numbers=values),
        ]

    _WHAT = "components"

    def _heading(self) -> tuple[str, ...]:
        counts = ", ".join(f"{self.count(k)} explain {100 * k:g} %" for k in (0.5, 0.9, 0.99, 1.0))
        return (f"Components: {len(self.explained_variance_ratio):,}", f"{counts} of the variance")


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


_OWNER = "partial_correlation"
PRECISIONS = ("auto", "exact", "pca", "ledoit_wolf", "oas")
# Beyond it a precision matrix has no correct digits left.
_WORST_CONDITION = 1e14


def correlation(signal: Any) -> FloatArray:
    """Compute Pearson's correlation of the columns of a signal.

    Parameters
    ----------
    signal : array or scipy sparse array of shape (T, p)
        Frames by neurons.

    Returns
    -------
    float64 array of shape (p, p)
        Symmetric; 0 on the diagonal, and for neurons whose signal never changes.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import correlation
    >>> correlation(np.array([[0.0, 2.0], [1.0, 0.0], [2.0, 1.0]]))
    array([[ 0. , -0.5],
           [-0.5,  0. ]])
    """
    covariances = covariance(signal)
    changes = _changing(covariances)
    scale = np.sqrt(np.where(changes, covariances.diagonal(), 1.0))
    result: FloatArray = covariances * np.outer(changes, changes) / np.outer(scale, scale)
    np.fill_diagonal(result, 0.0)
    return result


def partial_correlation(
    signal: Any, *, precision: str = "auto", n_components: int | float = 0.8
) -> FloatArray:
    r"""Compute the correlation of each two columns of a signal given all others.

    .. math:: p_{ij} = -\frac{\Sigma^{-1}_{ij}}{\sqrt{\Sigma^{-1}_{ii} \Sigma^{-1}_{jj}}}

    (8.7). For Gaussian variables it is 0 where i and j are independent given the others.
    `precision` says how the precision matrix :math:`\Sigma^{-1}` is estimated:

    ``"exact"``
        Inverse of the sample covariance.
    ``"pca"``
        Inverse of :math:`V_M (L_M - \sigma^2 I) V_M' + \sigma^2 I` with the M largest principal
        components, and the mean :math:`\sigma^2` of the other eigenvalues (Bishop 2006).
    ``"ledoit_wolf"``, ``"oas"``
        Inverse of a covariance that is shrunk toward a multiple of the identity, by scikit-learn.
    ``"auto"``
        "pca" where more than twice as many frames as neurons hold a signal and its inverse exists,
        "oas" otherwise.

    Parameters
    ----------
    signal : array or scipy sparse array of shape (T, p)
        Frames by neurons.
    precision : {"auto", "exact", "pca", "ledoit_wolf", "oas"}
        Estimator of the precision matrix.
    n_components : int or float
        Number M of components, or fraction of the neurons (rounded down), for "pca".

    Returns
    -------
    float64 array of shape (p, p)
        Symmetric; 0 on the diagonal, and for neurons whose signal never changes.

    Raises
    ------
    ValueError
        If the covariance is singular, or a parameter is not as described.

    Examples
    --------
    A chain: the ends are independent given the middle.

    >>> import numpy as np
    >>> from duramen.networks.connectome import partial_correlation
    >>> noise = np.random.default_rng(0).normal(size=(20000, 3))
    >>> chain = np.cumsum(noise, axis=1)
    >>> partial_correlation(chain, precision="exact").round(1) + 0.0
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0.7],
           [0. , 0.7, 0. ]])
    """
    checks.check_choice(_OWNER, "precision", precision, PRECISIONS)
    covariances = covariance(signal)
    changes = np.flatnonzero(_changing(covariances))
    if len(changes) < 2:
        return np.zeros(covariances.shape)
    part = covariances[np.ix_(changes, changes)]
    n_kept = components_kept(n_components, len(changes))
    n_frames = signal.shape[0]
    if precision == "auto" and sparse.issparse(signal):
        n_frames = np.count_nonzero(np.diff(as_signal(signal).indptr))
    if precision == "pca":
        inverse = _principal(part, n_kept)
    elif precision == "exact":
        inverse = _inverse(part)
    elif precision == "auto" and n_frames > 2 * len(changes):
        try:
            inverse = _principal(part, n_kept)
        except _SingularError:
            inverse = _shrunk(signal, changes, "oas")
    else:
        inverse = _shrunk(signal, changes, "oas" if precision == "auto" else precision)
    scale = np.sqrt(inverse.diagonal())
    result = np.zeros(covariances.shape)
    result[np.ix_(changes, changes)] = -inverse / np.outer(scale, scale)
    result = 0.5 * (result + result.T)
    np.fill_diagonal(result, 0.0)
    return result


def components_kept(asked: int | float, p: int) -> int:
    """Return M in 1..p for a number, or a fraction of p, of components."""
    if checks.is_integer(asked):
        return min(checks.check_integer(_OWNER, "n_components", asked, 1), p)
    return max(1, int(checks.check_real(_OWNER, "n_components", asked, 0.0, 1.0, ends="(]") * p))


def _inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a covariance."""
    try:
        np.linalg.cholesky(matrix)  # fails where an eigenvalue is not above 0
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise _SingularError from None
    if np.linalg.norm(matrix, 1) * np.linalg.norm(inverse, 1) > _WORST_CONDITION:
        raise _SingularError
    return np.asarray(inverse, dtype=np.float64)


def _principal(matrix: FloatArray, n_components: int) -> FloatArray:
    """Return the inverse of the covariance with equal eigenvalues but for the largest."""
    values, vectors = np.linalg.eigh(matrix)
    others = len(values) - n_components
    if others:
        values[:others] = values[:others].mean()
    if values[0] * _WORST_CONDITION <= values[-1]:
        raise _SingularError
    # V_M L_M^-1 V_M' + (I - V_M V_M') / s2, as one product of a matrix with its transpose.
    rest = 1.0 / values[0]
    scaled = vectors[:, others:] * np.sqrt(np.maximum(rest - 1.0 / values[others:], 0.0))
    return np.asarray(rest * np.eye(len(values)) - scaled @ scaled.T)


def _shrunk(signal: Any, changes: IntArray, kind: str) -> FloatArray:
    """Return the inverse of a shrunk covariance, by scikit-learn."""
    from sklearn.covariance import OAS, LedoitWolf

    n, p = signal.shape[0], len(changes)
    require_memory(
        16 * n * p,
        what=f"a shrunk covariance of {n} frames x {p} neurons",
        function=_OWNER,
        hint='use precision="exact" or "pca", which work on sparse signals',
    )
    dense = np.asarray(as_signal(signal).toarray() if sparse.issparse(signal) else signal)
    estimator = {"oas": OAS, "ledoit_wolf": LedoitWolf}[kind](store_precision=True)
    return np.asarray(estimator.fit(dense[:, changes].astype(np.float64)).precision_)


class _SingularError(ValueError):
    """Error for a covariance without an inverse."""

    def __init__(self) -> None:
        super().__init__(
            f"{_OWNER}: the covariance must have an inverse, but some neurons have equal signals, "
            'or there are too few frames. Hint: use precision="oas".'
        )


def _changing(matrix: FloatArray) -> BoolArray:
    """Tell which variances are above 0, but for rounding."""
    variances = matrix.diagonal()
    return np.asarray(variances > 1e-14 * variances.max(initial=0.0))
