"""Entropy, mutual information and decrease of impurity of partitions of weighted rows.

A variable, or a set of variables, enters as the partition of the rows by its values; weights are
the probabilities of the rows. All functions are plug-in formulas, exact up to rounding.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray
from duramen.theory.distributions.variables import Partition

Criterion: TypeAlias = Literal["entropy", "gini", "variance"]

TOLERANCE = 1e-10
"""Information of at most this many bits counts as zero, everywhere in this package."""

CRITERIA: tuple[str, ...] = ("entropy", "gini", "variance")


def conditional_entropy(weights: FloatArray, joint: Partition, given: Partition) -> float:
    r"""Compute the conditional entropy H(A|B) in bits, of rows partitioned by A and B, and by B.

    .. math:: H(A|B) = \sum_{a,b} p(a,b) \log_2 \frac{p(b)}{p(a,b)}
    """
    row = joint.first_rows()
    p = joint.masses(weights)
    return float(np.sum(p * np.log2(given.masses(weights)[given.cell[row]] / p)))


def conditional_information(
    weights: FloatArray, joint: Partition, left: Partition, right: Partition, given: Partition
) -> float:
    r"""Compute the conditional mutual information I(A;C|B) in bits.

    .. math:: I(A;C|B) = \sum_{a,c,b} p(a,c,b) \log_2 \frac{p(a,c,b)\,p(b)}{p(a,b)\,p(c,b)}

    Written as one sum, so that independence gives zero up to the rounding of its terms and not of
    four entropies; what rounding leaves below zero is set to zero. The partitions are those of the
    rows by A, B, C; by A, B; by C, B; and by B.
    """
    row = joint.first_rows()
    p, a, c, b = (part.masses(weights)[part.cell[row]] for part in (joint, left, right, given))
    return max(0.0, float(np.sum(p * np.log2((p / a) * (b / c)))))


def impurity(
    criterion: str,
    weights: FloatArray,
    target: NDArray[np.uint32],
    centered: FloatArray,
    given: Partition,
) -> float:
    r"""Compute the mean impurity of the target in the cells of a partition.

    .. math:: i(Y|B) = \sum_b P(b)\, i(Y|b)

    with i the entropy in bits, Gini's index :math:`1 - \sum_y p_y^2` or the variance (thesis,
    eq. 6.13 and below).

    Parameters
    ----------
    criterion : {"entropy", "gini", "variance"}
    weights : ndarray of float64, shape (N,)
        Probabilities of the rows.
    target : ndarray of uint32, shape (N,)
        Codes of the target.
    centered : ndarray of float64, shape (n_classes,)
        Number that each code stands for, less their mean; used by the variance alone.
    given : Partition
        The rows by B.
    """
    if criterion == "variance":
        numbers = centered[target]
        spread = numbers - _means(weights, numbers, given)[given.cell]
        return float(np.sum(weights * spread**2))
    joint = given.refined(target, len(centered))
    if criterion == "entropy":
        return conditional_entropy(weights, joint, given)
    return max(0.0, 1.0 - _concentration(weights, joint, given))


def impurity_decrease(
    criterion: str,
    weights: FloatArray,
    target: NDArray[np.uint32],
    centered: FloatArray,
    given: Partition,
    finer: Partition,
) -> float:
    r"""Compute the mean decrease of impurity when the cells of a partition are split.

    .. math:: G(Y;X|B) = i(Y|B) - i(Y|B,X)

    The parameters are those of `impurity`, and `finer`, the rows by B and X. What rounding leaves
    below zero is set to zero.
    """
    if criterion == "variance":
        numbers = centered[target]
        row = finer.first_rows()
        coarse = _means(weights, numbers, given)[given.cell[row]]
        fine = _means(weights, numbers, finer)
        return float(np.sum(finer.masses(weights) * (fine - coarse) ** 2))
    left, joint = (part.refined(target, len(centered)) for part in (given, finer))
    if criterion == "entropy":
        return conditional_information(weights, joint, finer, left, given)
    gain = _concentration(weights, joint, finer) - _concentration(weights, left, given)
    return max(0.0, gain)


def _concentration(weights: FloatArray, joint: Partition, given: Partition) -> float:
    """Return the probability that two draws of the same cell agree in the target."""
    p = joint.masses(weights)
    return float(np.sum(p * (p / given.masses(weights)[given.cell[joint.first_rows()]])))


def _means(weights: FloatArray, numbers: FloatArray, part: Partition) -> FloatArray:
    return part.masses(weights * numbers) / part.masses(weights)
