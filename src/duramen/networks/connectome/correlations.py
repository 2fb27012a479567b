r"""Correlation and partial correlation of signals (thesis, section 8.3.4).

Neurons whose signal never changes are associated with no other: they are left out of the precision
matrix, and their entries are 0. So is the diagonal, as in a `Network`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from duramen.data.memory import require_memory
from duramen.networks.connectome.filters import as_signal
from duramen.networks.connectome.products import covariance
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

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
    if precision == "pca":
        inverse = _principal(part, n_kept)
    elif precision == "exact":
        inverse = _inverse(part)
    elif precision == "auto":
        inverse = _settled(signal, changes, part, n_kept)
    else:
        inverse = _shrunk(signal, changes, precision)
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


def _settled(signal: Any, changes: IntArray, matrix: FloatArray, n_components: int) -> FloatArray:
    """Return the inverse by principal components, or by shrinkage for few frames."""
    frames = signal.shape[0]
    if sparse.issparse(signal):
        frames = np.count_nonzero(np.diff(as_signal(signal).indptr))
    if frames > 2 * len(changes):
        try:
            return _principal(matrix, n_components)
        except _SingularError:
            pass
    return _shrunk(signal, changes, "oas")


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
