"""Kernel weights: what the rows near a point of a numeric context count there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support import checks
from duramen.support.arrays import FloatArray

UNIT = 64
"""Parts of a row that weights are whole numbers of, so that their sums are exact."""
_MOST_VALUES = 128  # values of a context that are told apart
AUTO = "auto"


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a numeric context, and the weights of its values at each."""

    values: FloatArray  # (C,): numbers of the points, ascending
    codes: NDArray[np.uint32]  # (n,): which of L values a row has
    weights: NDArray[np.uint8]  # (L, C): parts of a row of each value at each point
    bandwidth: float


def checked_bandwidth(bandwidth: Any, owner: str, name: str) -> float | str:
    """Check a bandwidth: "auto" or a fraction of the rows."""
    if isinstance(bandwidth, str) and bandwidth == AUTO:
        return bandwidth
    if not checks.is_real(bandwidth) or not 0 < bandwidth <= 1:
        raise checks.refuse(owner, name, "'auto' or a number in (0, 1]", bandwidth)
    return float(bandwidth)


@dataclass(frozen=True)
class KernelWeights:
    """Kernel weights of the rows at points of a numeric context, in place of bins.

    Each row counts at the points near it; see the notes of
    :func:`duramen.contexts.context_importances`, whose `context_bins` it may be.

    Parameters
    ----------
    n_points : int, default=3
        Points of the context, at the middles of as many quantile bins.
    bandwidth : float in (0, 1] or "auto", default="auto"
        Bandwidth as a fraction of the rows; "auto" is 1 / n_points, the distance of the points.

    Raises
    ------
    ValueError
        If a parameter is not as described.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> smooth = dm.contexts.KernelWeights(4)
    >>> result = dm.contexts.context_importances(
    ...     X, X[:, 0], np.arange(80), context_bins=smooth, n_permutations=0, random_state=0)
    >>> len(result.contexts)
    4
    """

    n_points: int = 3
    bandwidth: float | str = AUTO

    def __post_init__(self) -> None:
        checks.check_integer("KernelWeights", "n_points", self.n_points, 2)
        checked_bandwidth(self.bandwidth, "KernelWeights", "bandwidth")


def points_of(numbers: FloatArray, kernel: KernelWeights) -> Points:
    r"""Divide the rows among points at the quantiles (g + 1/2) / C of a context.

    The weight of a row at quantile u is :math:`K((u - u_g) / h)` over its sum for all points, with
    the triangular kernel :math:`K(t) = \max(0, 1 - |t|)`; a row that is farther than h from all
    points has all its weight at the nearest. More than 128 distinct values are taken together in as
    many quantile bins. Equal quantiles are one point.
    """
    positions, codes = _values(numbers)
    quantiles = (np.arange(kernel.n_points) + 0.5) / kernel.n_points
    values = np.quantile(numbers, quantiles)
    values, point = np.unique(values, return_inverse=True)
    centers = np.bincount(point.reshape(-1), quantiles) / np.bincount(point.reshape(-1))
    bandwidth = kernel.bandwidth
    width = 1 / kernel.n_points if isinstance(bandwidth, str) else float(bandwidth)
    weights = _in_parts(_triangular(positions, centers, width))
    used = weights.any(axis=0)
    return Points(values[used], codes, np.ascontiguousarray(weights[:, used]), width)


def _values(numbers: FloatArray) -> tuple[FloatArray, NDArray[np.uint32]]:
    """Return the quantiles of the values that are told apart, and which of them each row has."""
    _, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    middle = (np.cumsum(counts) - counts / 2) / len(numbers)
    if len(counts) > _MOST_VALUES:
        binned = np.floor(middle * _MOST_VALUES).astype(np.int64)
        binned = np.unique(binned, return_inverse=True)[1].reshape(-1)
        middle = np.bincount(binned, counts * middle) / np.bincount(binned, counts)
        codes = binned[codes]
    return middle, np.ascontiguousarray(codes, dtype=np.uint32)


def _triangular(positions: FloatArray, centers: FloatArray, width: float) -> FloatArray:
    distance = np.abs(positions[:, None] - centers)
    weights = np.maximum(0.0, 1 - distance / width)
    far = ~weights.any(axis=1)
    weights[far, distance[far].argmin(axis=1)] = 1.0
    normalized: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return normalized


def _in_parts(weights: FloatArray) -> NDArray[np.uint8]:
    """Round weights to parts of a row, those with the largest remainders up."""
    parts = np.floor(weights * UNIT)
    missing = UNIT - parts.sum(axis=1)
    rank = np.argsort(np.argsort(parts - weights * UNIT, axis=1, kind="stable"), axis=1)
    rounded: NDArray[np.uint8] = (parts + (rank < missing[:, None])).astype(np.uint8)
    return rounded
