"""Analyses of proximities: a map of the rows, and outliers within classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import ClassTarget
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer


def classical_scaling(proximity: ArrayLike, n_components: int = 2) -> FloatArray:
    r"""Place the rows in a space where they are as far apart as their proximities are low.

    The squared distance of rows i and j is taken to be 1 - s_ij (Breiman and Cutler), so that
    their scalar products about the center are

    .. math:: b_{ij} = \tfrac12 (s_{ij} - \bar s_{i\cdot} - \bar s_{\cdot j} + \bar s_{\cdot\cdot}).

    Proximities over all trees are means of indicators of common leaves: b has no negative
    eigenvalues, and all its components together give the distances exactly. R's ``MDSplot`` takes
    1 - s for the distance itself, which has neither property.

    Parameters
    ----------
    proximity : array-like of shape (n, n)
        As ``forest.proximity(X)`` returns it: symmetric, 1 on the diagonal.
    n_components : int
        Number d of coordinates, from 1 to n.

    Returns
    -------
    ndarray of float64, shape (n, d)
        Principal coordinates, the widest first, each with its largest absolute entry positive;
        0 where there is no further spread.

    Raises
    ------
    ValueError
        If `proximity` is not as described, or holds NaN, as out-of-bag proximities of few trees
        do, or `n_components` is not.

    Examples
    --------
    >>> from duramen.forests import classical_scaling
    >>> classical_scaling([[1.0, 0.0], [0.0, 1.0]], n_components=1).round(2)
    array([[ 0.5],
           [-0.5]])
    """
    matrix = _checked(proximity, "classical_scaling")
    n = len(matrix)
    d = check_integer("classical_scaling", "n_components", n_components, 1, most=n)
    from scipy.linalg import eigh

    means = matrix.mean(axis=0)
    products = 0.5 * (matrix - means - means[:, np.newaxis] + means.mean())
    spreads, directions = eigh(products, subset_by_index=[n - d, n - 1])
    spreads, directions = spreads[::-1], directions[:, ::-1]
    spreads = np.where(spreads > 1e-12 * n, spreads, 0.0)
    farthest = np.abs(directions).argmax(axis=0)
    signs = np.where(directions[farthest, np.arange(d)] < 0, -1.0, 1.0)
    places: FloatArray = directions * signs * np.sqrt(spreads)
    return places


def outlier_measure(proximity: ArrayLike, y: Any) -> FloatArray:
    r"""Measure the distance of each row from the other rows of its class (Breiman and Cutler).

    .. math:: o_i = \frac{r_i - \mathrm{med}_c}{\mathrm{mad}_c}, \qquad
       r_i = \frac{n}{\sum_{j \ne i,\, y_j = y_i} s_{ij}^2}

    with the median of r over the class c of row i, and the mean of absolute deviations from it. A
    row with a value above 10 deserves a look.

    Parameters
    ----------
    proximity : array-like of shape (n, n)
        As ``forest.proximity(X)`` returns it: symmetric, 1 on the diagonal.
    y : array-like of shape (n,)
        Classes of the rows.

    Returns
    -------
    ndarray of float64, shape (n,)
        0 for all rows of a class in which r does not vary, as in one of a single row; infinite for
        a row that has no leaf in common with its class, where others do.

    Raises
    ------
    ValueError
        If `proximity` is not as described, or holds NaN, or `y` does not fit it.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.forests import outlier_measure
    >>> outlier_measure(np.eye(4), ["a", "a", "b", "b"])
    array([0., 0., 0., 0.])
    """
    matrix = _checked(proximity, "outlier_measure")
    codes = ClassTarget.encode(
        y, n_rows=len(matrix), allow_one_class=True, function="outlier_measure"
    ).values
    measure = np.zeros(len(matrix))
    for label in np.unique(codes):
        rows = np.flatnonzero(codes == label)
        near = (matrix[np.ix_(rows, rows)] ** 2).sum(axis=1) - matrix[rows, rows] ** 2
        measure[rows] = _standardized(len(matrix) * _inverse(near))
    return measure


def _inverse(near: FloatArray) -> FloatArray:
    inverse: FloatArray = np.full(near.shape, np.inf)
    np.divide(1.0, near, out=inverse, where=near > 1e-12)
    return inverse


def _standardized(raw: FloatArray) -> FloatArray:
    finite = raw[np.isfinite(raw)]
    if not finite.size:
        return np.zeros(raw.size)
    middle = np.median(finite)
    spread = np.abs(finite - middle).mean()
    result: FloatArray = np.where(np.isfinite(raw), 0.0, np.inf)
    if spread > 1e-12 * abs(middle):
        result = (raw - middle) / spread
    return result


def _checked(proximity: ArrayLike, function: str) -> FloatArray:
    matrix = np.asarray(proximity, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(
            f"{function}: proximity must be of shape (n, n), as forest.proximity(X) returns it, "
            f"got {matrix.shape}."
        )
    if np.isnan(matrix).any():
        raise ValueError(
            f"{function}: proximity holds NaN: for some pairs of rows, no tree has both out of "
            "bag. Hint: grow more trees, or use the proximities over all trees (oob=False)."
        )
    if not np.allclose(matrix, matrix.T) or not np.allclose(np.diagonal(matrix), 1.0):
        raise ValueError(f"{function}: proximity must be symmetric with 1 on its diagonal.")
    return matrix
