"""Choice of the number of components (thesis, appendix 8.C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from duramen.networks.connectome.products import covariance, gram
from duramen.networks.connectome.sparse_signal import as_signal
from duramen.results.columns import Column
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray


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

    def _summary(self, rows: int) -> Summary:
        fractions = (0.5, 0.9, 0.99, 1.0)
        total = len(self.explained_variance_ratio)
        counts = [self.count(fraction) for fraction in fractions]
        shown = [
            Column("variance explained", [f"{100 * one:g} %" for one in fractions]),
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
    given = getattr(matrix, "weights", matrix)
    if not sparse.issparse(given):
        given = np.asarray(given, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] < 2:
        raise checks.refuse("components", "matrix", "two-dimensional, of 2 rows", given.shape)
    variances = np.maximum(np.linalg.eigvalsh(covariance(given))[::-1], 0.0)
    if sparse.issparse(given):
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram(as_signal(given)))[::-1], 0.0))
    else:
        values = np.linalg.svd(given, compute_uv=False)
    return Components(variances / (variances.sum() or 1.0), values / (values.sum() or 1.0))
