"""Weights of links between p variables, as a dense or a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LinkWeights: TypeAlias = Any  # a NumPy array or a sparse `csr_array`
_ROWS = 256  # rows that are looked at together


def checked(owner: str, what: str, weights: Any, p: int) -> Any:
    """Return a read-only matrix of finite numbers; it is copied where it can be changed.

    Parameters
    ----------
    owner, what : str
        Class and field, for errors.
    given : array-like or sparse matrix of shape (p, p)
        Numbers; those that are neither float32 nor float64 become float64.
    p : int
        Number of variables.

    Raises
    ------
    ValueError
        If the shape is another, a number is not finite, or other numbers than weights are sparse.
    """
    from scipy.sparse import csr_array, issparse  # the help of commands needs no SciPy

    sparse: bool = issparse(weights)
    if sparse and what != "weights":
        raise ValueError(f"{owner}: {what} must be a dense matrix, got a sparse one.")
    array: Any = csr_array(weights) if sparse else np.asarray(weights)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.shape != (p, p):
        raise ValueError(f"{owner}: {what} must have shape ({p}, {p}), got {array.shape}.")
    if sparse:
        array = array.copy()
        array.sum_duplicates()
        array.eliminate_zeros()
        parts = [array.data, array.indices, array.indptr]
    else:
        array = array.copy() if array.flags.writeable else array
        parts = [array]
    for rows in (parts[0][k : k + _ROWS] for k in range(0, len(parts[0]), _ROWS)):
        if not np.isfinite(rows).all():
            raise ValueError(f"{owner}: {what} must be finite, got NaN or infinity.")
    for part in parts:
        part.setflags(write=False)
    return array


def _is_sparse(weights: LinkWeights) -> bool:
    return hasattr(weights, "indptr")


def outside(weights: LinkWeights, sources: BoolArray, targets: BoolArray) -> bool:
    """Tell whether a link that is no candidate has a weight other than 0."""
    if _is_sparse(weights):
        i, j = weights.nonzero()
        return bool((~sources[i] | ~targets[j] | (i == j)).any())
    places = range(0, len(weights), _ROWS)
    return bool(
        weights.diagonal().any()
        or any(weights[k : k + _ROWS][~sources[k : k + _ROWS]].any() for k in places)
        or any(weights[k : k + _ROWS, ~targets].any() for k in places)
    )


def rows_of(weights: LinkWeights, rows: IntArray) -> NDArray[Any]:
    """Return some rows as a dense matrix."""
    some: Any = weights[rows]
    return np.asarray(some.toarray() if _is_sparse(some) else some)


def dense(weights: LinkWeights) -> NDArray[Any]:
    """Return the weights as a dense matrix."""
    return np.asarray(weights.toarray() if _is_sparse(weights) else weights)


def at(weights: LinkWeights, i: IntArray, j: IntArray) -> FloatArray:
    """Return some entries of a dense or sparse matrix, shape (m,)."""
    if not len(i):  # of which SciPy makes a sparse array
        return np.empty(0)
    return np.asarray(weights[i, j], dtype=np.float64).ravel()


def larger(weights: LinkWeights) -> Any:
    """Return the larger weight of the two directions of each pair."""
    if _is_sparse(weights):
        return weights.maximum(weights.T)
    return np.maximum(weights, weights.T)


def only(weights: LinkWeights, i: IntArray, j: IntArray) -> csr_array[Any]:
    """Return a sparse matrix of the weights of some links, of the same type of numbers."""
    from scipy.sparse import csr_array

    values = at(weights, i, j).astype(weights.dtype)
    return csr_array((values, (i, j)), shape=weights.shape)
