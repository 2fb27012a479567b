r"""Second-order Gaussian knockoffs of numeric columns (Candes et al. 2018).

With the covariance S of the columns Z and a diagonal matrix D, knockoffs are normal with mean
:math:`Z (I - S^{-1} D)` and covariance :math:`2 D - D S^{-1} D`: then (Z, its knockoffs) have the
same covariances when columns are swapped with their knockoffs. D is a multiple of the variance
of each column given all others, that with the least sum of the variances of each column and each
knockoff given all other columns and knockoffs (Spector and Janson 2022).

Of groups of columns, covariances must stay when all columns of a group are swapped with their
knockoffs: D may have blocks (Dai and Barber 2016). They are a multiple of the covariance of each
group given all other columns, so that the knockoffs of columns that are nearly copies of each other
need not be nearly copies of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.support.arrays import FloatArray, IntArray

MOST_DENSE = 1000
"""Columns up to which matrices of all pairs are computed."""

LEAST_SHRINKAGE = 1e-3
"""Least fraction by which a covariance is shrunken."""


@dataclass(frozen=True, eq=False)
class SecondOrder:
    r"""Joint distribution of columns and their knockoffs.

    The covariance of the scaled columns is :math:`V diag(\mu) V^T`, and `outside` times the
    identity on what is orthogonal to V, so that a draw of q columns takes n q r operations. Beyond
    `MOST_DENSE` columns V are the right singular vectors of n rows, and D a multiple of I, which is
    right for groups too.

    Attributes
    ----------
    values : float64 array of shape (n, q)
        Columns of mean 0 and variance 1, about.
    scale : float64 array of shape (q,), or of shape (q, q) for groups
        Standard deviation of each column given the others, in whose multiples V is; or ones. Of
        groups the square root of their covariance given the others, a symmetric matrix of blocks.
    vectors : float64 array of shape (q, r)
        V.
    sizes : float64 array of shape (r,)
        :math:`\mu`.
    outside : float
    strength : float
        Multiple of the square of `scale` that is D.
    """

    values: FloatArray
    scale: FloatArray
    vectors: FloatArray
    sizes: FloatArray
    outside: float
    strength: float

    @classmethod
    def of(cls, values: FloatArray, labels: IntArray | None = None) -> SecondOrder:
        """Estimate the covariance of columns of mean 0 and variance 1, about, and choose D.

        `labels` are the groups of the q columns; None for columns that are swapped by themselves.
        """
        n, q = values.shape
        if not q:
            return cls(values, np.ones(0), np.zeros((0, 0)), np.ones(0), 1.0, 1.0)
        shrinkage = max(ledoit_wolf(values), LEAST_SHRINKAGE)
        if q <= MOST_DENSE:
            covariance = (1.0 - shrinkage) * values.T @ values / n + shrinkage * np.eye(q)
            precision = np.linalg.inv(covariance)
            if labels is None:
                scale = 1.0 / np.sqrt(precision.diagonal())
                sizes, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
            else:
                scale, whitening = _roots_of_blocks(precision, labels)
                sizes, vectors = np.linalg.eigh(whitening @ covariance @ whitening)
        else:
            _, singular, right = np.linalg.svd(values, full_matrices=False)
            scale, vectors = np.ones(q), right.T
            sizes = (1.0 - shrinkage) * singular**2 / n + shrinkage
        strength = _strength(scale, vectors, sizes, shrinkage)
        return cls(values, scale, vectors, sizes, shrinkage, strength)

    @property
    def mean(self) -> FloatArray:
        """Mean of the knockoffs of each row given its columns, shape (n, q)."""
        scaled = self._scaled
        inside = scaled @ self.vectors
        shrunk = self.strength * inside * (1.0 / self.sizes - 1.0 / self.outside)
        scaled = (1.0 - self.strength / self.outside) * scaled - shrunk @ self.vectors.T
        return self._unscaled(scaled)

    def noise(self, random: np.random.Generator) -> FloatArray:
        """Draw knockoffs less their mean, shape (n, q)."""
        inside, outside = self._deviations
        normal = random.normal(size=self.values.shape)
        of_vectors = (normal @ self.vectors) * (inside - outside)
        return self._unscaled(outside * normal + of_vectors @ self.vectors.T)

    @property
    def noise_deviation(self) -> FloatArray:
        """Standard deviation of the noise of each column, shape (q,)."""
        inside, outside = self._deviations
        if self.scale.ndim == 1:
            variance = outside**2 + np.square(self.vectors) @ (inside**2 - outside**2)
            return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * self.scale)
        mixed = np.square(self.scale @ self.vectors) @ (inside**2 - outside**2)
        variance = outside**2 * np.square(self.scale).sum(axis=1) + mixed
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    @property
    def _scaled(self) -> FloatArray:
        """Columns on the scale on which D is a multiple of I, shape (n, q)."""
        if self.scale.ndim == 1:
            return np.asarray(self.values / self.scale)
        return np.asarray(np.linalg.solve(self.scale, self.values.T).T)

    def _unscaled(self, scaled: FloatArray) -> FloatArray:
        """Return columns of the scale of D on their own, shape (n, q)."""
        if self.scale.ndim == 1:
            return np.asarray(scaled * self.scale)
        return np.asarray(scaled @ self.scale)

    @property
    def _deviations(self) -> tuple[FloatArray, float]:
        """Standard deviations of the scaled noise along V, and orthogonal to it."""
        gamma = self.strength
        inside = np.sqrt(np.maximum(2.0 * gamma - gamma**2 / self.sizes, 0.0))
        return inside, float(np.sqrt(max(2.0 * gamma - gamma**2 / self.outside, 0.0)))


def _strength(scale: FloatArray, vectors: FloatArray, sizes: FloatArray, outside: float) -> float:
    r"""Return the multiple g of D that has the least :math:`tr D^{-1} + tr (2 S - D)^{-1}`."""
    from scipy.optimize import minimize_scalar

    if scale.ndim == 1:
        weights = np.square(vectors).T @ (1.0 / scale**2)
        total = float((1.0 / scale**2).sum())
    else:
        whitening = np.linalg.inv(scale)
        weights = np.square(whitening @ vectors).sum(axis=0)
        total = float(np.square(whitening).sum())
    rest = max(len(scale) - len(sizes), 0)
    least = min(float(sizes.min()), outside) if rest else float(sizes.min())

    def variance(g: float) -> float:
        orthogonal = rest / (2.0 * outside - g) if rest else 0.0
        return total / g + float((weights / (2.0 * sizes - g)).sum()) + orthogonal

    best = minimize_scalar(variance, bounds=(0.0, 2.0 * least), method="bounded")
    return float(best.x)


def _roots_of_blocks(precision: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the roots of the covariances of groups given all others, and their inverses, (q, q).

    The covariance of a group given all others is the inverse of its block of the precision matrix.
    """
    root, whitening = np.zeros_like(precision), np.zeros_like(precision)
    for label in np.unique(labels):
        block = np.ix_(labels == label, labels == label)
        sizes, vectors = np.linalg.eigh(precision[block])
        root[block] = (vectors / np.sqrt(sizes)) @ vectors.T
        whitening[block] = (vectors * np.sqrt(sizes)) @ vectors.T
    return root, whitening


def ledoit_wolf(values: FloatArray) -> float:
    """Return how far to shrink the covariance of centered columns to a multiple of the identity.

    The fraction of Ledoit and Wolf (2004), with the smaller of both Gram matrices.
    """
    n, q = values.shape
    gram = values @ values.T if n < q else values.T @ values
    squares = float(np.square(gram).sum()) / n**2
    trace = float(np.square(values).sum()) / n
    distance = squares - trace**2 / q
    variation = (float(np.square(np.square(values).sum(axis=1)).sum()) / n - squares) / n
    return float(np.clip(variation / distance, 0.0, 1.0)) if distance > 0.0 else 1.0
