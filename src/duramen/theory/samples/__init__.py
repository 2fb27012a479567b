r"""Plug-in information in finite samples: bias, null distribution, and a test of a node.

Plug-in information of N rows is never negative, so that it is positive on average for
independent variables. For X with :math:`|X|` values, Y with :math:`|Y|` and a condition Z with
:math:`|Z|`,

.. math:: 2 N \ln 2 \cdot \hat I(X; Y | Z) \to \chi^2_\nu, \qquad \nu = |Z| (|X|-1) (|Y|-1)

in bits, for large N. The mean of the right side gives the bias, its tail the p-value of a node of
a tree. A split that is the best of K candidates is a maximum: its p-value is multiplied by K
(Bonferroni).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer, check_real, refuse
from duramen.theory.samples.importances import ImportanceDistribution, importance_distribution

__all__ = [
    "ImportanceDistribution",
    "NodeTest",
    "degrees_of_freedom",
    "expected_information",
    "importance_distribution",
    "information_p_value",
    "information_threshold",
    "miller_madow",
    "node_test",
]

_NATS = math.log(2.0)  # in a bit


# --- distribution for given numbers of values -----------------------------------------------------


def degrees_of_freedom(n_values: int, n_classes: int, n_conditions: int = 1) -> int:
    r"""Return :math:`|Z| (|X|-1) (|Y|-1)`.

    Parameters
    ----------
    n_values, n_classes : int
        Numbers of values of X and of Y.
    n_conditions : int, default=1
        Number of values (cells) of the condition Z; 1 without one.

    Raises
    ------
    ValueError
        If a number is below 1.

    Examples
    --------
    >>> from duramen.theory.samples import degrees_of_freedom
    >>> degrees_of_freedom(3, 2, n_conditions=4)
    8
    """
    function = "degrees_of_freedom"
    x = check_integer(function, "n_values", n_values, 1)
    y = check_integer(function, "n_classes", n_classes, 1)
    return check_integer(function, "n_conditions", n_conditions, 1) * (x - 1) * (y - 1)


def expected_information(
    n_rows: int, n_values: int, n_classes: int, n_conditions: int = 1
) -> float:
    r"""Return the mean of the plug-in information of independent variables, to order 1/N.

    .. math:: \frac{|Z| (|X|-1) (|Y|-1)}{2 N \ln 2}

    in bits. Rows are drawn from the variables' joint distribution.

    Parameters
    ----------
    n_rows : int
        Number N of rows.
    n_values, n_classes, n_conditions : int
        As for `degrees_of_freedom`.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Thesis, eq. 5.13; Geurts 2016, slide on finite samples. Subtracted from an importance it
    gives one that is right on average, and can be negative.

    Examples
    --------
    >>> from duramen.theory.samples import expected_information
    >>> round(expected_information(n_rows=100, n_values=5, n_classes=2), 4)
    0.0289
    """
    function = "expected_information"
    rows = check_integer(function, "n_rows", n_rows, 1, most=inf)
    freedom = degrees_of_freedom(n_values, n_classes, n_conditions)
    return freedom / (2.0 * rows * _NATS)


def information_p_value(
    information: ArrayLike,
    n_rows: ArrayLike,
    n_values: int,
    n_classes: int,
    n_conditions: int = 1,
    *,
    n_candidates: int = 1,
) -> FloatArray | float:
    r"""Compute the p-value of plug-in information under independence.

    Parameters
    ----------
    information : array_like
        Plug-in information in bits.
    n_rows : array_like
        Number N of rows that it was computed from; one number, or one for each value.
    n_values, n_classes, n_conditions : int
        As for `degrees_of_freedom`.
    n_candidates : int, default=1
        Number K of candidates of which this was the best: the p-value is multiplied by it, up
        to 1, which holds however the candidates depend on each other (Bonferroni).

    Returns
    -------
    float, or ndarray of float64
        With the shape of the arguments. 1 without degrees of freedom.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Thesis, eq. 5.14. The chi-square distribution is that of large samples: it is inaccurate
    below five expected rows a cell.

    Examples
    --------
    >>> from duramen.theory.samples import information_p_value
    >>> round(information_p_value(0.05, n_rows=100, n_values=5, n_classes=2), 4)
    0.1396
    """
    from scipy import special

    function = "information_p_value"
    K = check_integer(function, "n_candidates", n_candidates, 1, most=inf)
    freedom = degrees_of_freedom(n_values, n_classes, n_conditions)
    shared, rows = np.asarray(information, np.float64), np.asarray(n_rows, np.float64)
    if not np.all(np.isfinite(shared)):
        raise refuse(function, "information", "finite numbers", information)
    if not np.all(rows >= 1):
        raise refuse(function, "n_rows", "at least 1", n_rows)
    statistic = 2.0 * rows * _NATS * shared
    tail = special.chdtrc(freedom, statistic) if freedom else np.ones_like(statistic)
    p_values = np.minimum(1.0, K * tail)
    return float(p_values) if p_values.ndim == 0 else p_values


def information_threshold(
    alpha: float,
    n_rows: int,
    n_values: int,
    n_classes: int,
    n_conditions: int = 1,
    *,
    n_candidates: int = 1,
) -> float:
    """Return the information that independent variables exceed with probability `alpha`.

    Parameters
    ----------
    alpha : float
        Probability, in (0, 1).
    n_rows, n_values, n_classes, n_conditions, n_candidates
        As for `information_p_value`; with K candidates it is the probability that any of them
        exceeds the threshold, at the most.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from duramen.theory.samples import information_threshold
    >>> round(information_threshold(0.05, n_rows=100, n_values=5, n_classes=2), 4)
    0.0684
    """
    from scipy import special

    function = "information_threshold"
    alpha = check_real(function, "alpha", alpha, 0.0, 1.0, ends="()")
    rows = check_integer(function, "n_rows", n_rows, 1, most=inf)
    K = check_integer(function, "n_candidates", n_candidates, 1, most=inf)
    freedom = degrees_of_freedom(n_values, n_classes, n_conditions)
    scale = 2.0 * rows * _NATS
    return float(special.chdtri(freedom, alpha / K)) / scale if freedom else 0.0


# --- tables of counts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeTest:
    """Chi-square test of the information between the split of a node and the target.

    Parameters
    ----------
    information : float
        Plug-in information in bits, conditional when there is more than one cell Z.
    n_rows : int
        Number N of rows.
    freedom : int
        Degrees of freedom: the sum over cells of (rows in use - 1)(columns in use - 1).
    expected : float
        Mean of `information` were there none, in bits.
    p_value : float
        Probability of as much or more were there none, corrected for the candidates.
    n_candidates : int
        Number of candidates that the split was the best of.

    Examples
    --------
    >>> from duramen.theory.samples import node_test
    >>> test = node_test([[30, 10], [10, 30]])
    >>> round(test.information, 4), round(test.corrected, 4)
    (0.1887, 0.1797)
    """

    information: float
    n_rows: int
    freedom: int
    expected: float
    p_value: float
    n_candidates: int

    @property
    def corrected(self) -> float:
        """Information minus its mean under independence, in bits; can be negative."""
        return self.information - self.expected

    def __repr__(self) -> str:
        best = f", best of {self.n_candidates}" if self.n_candidates > 1 else ""
        return (
            f"NodeTest: {self.information:.4g} bits from {self.n_rows} rows{best}; "
            f"{self.expected:.4g} expected by chance, p = {self.p_value:.3g} "
            f"(chi-square, {self.freedom} df)"
        )


def node_test(counts: ArrayLike, *, n_candidates: int = 1) -> NodeTest:
    r"""Test the independence of the split feature and the target at a node.

    Rows and columns without any count are left out: a value that does not occur at the node takes
    no degree of freedom.

    Parameters
    ----------
    counts : array_like of numbers, shape (\|X\|, \|Y\|) or (\|Z\|, \|X\|, \|Y\|)
        Whole numbers of rows, with one such table for each value of a condition Z.
    n_candidates : int, default=1
        Number K of candidates that the split was the best of.

    Returns
    -------
    NodeTest

    Raises
    ------
    ValueError
        If counts have another shape, are negative or not whole, or are all zero.

    Examples
    --------
    >>> from duramen.theory.samples import node_test
    >>> node_test([[30, 10], [10, 30]])
    NodeTest: 0.1887 bits from 80 rows; 0.009017 expected by chance, p = 4.76e-06 (chi-square, 1 df)
    """
    from scipy import special

    function = "node_test"
    K = check_integer(function, "n_candidates", n_candidates, 1, most=inf)
    cells = _checked_counts(function, counts)
    n = int(cells.sum())
    freedom = sum(_freedom(cell) for cell in cells)
    nats = math.fsum(_information(cell) * float(cell.sum()) for cell in cells) / n
    tail = float(special.chdtrc(freedom, 2.0 * n * nats)) if freedom else 1.0
    return NodeTest(
        information=nats / _NATS,
        n_rows=n,
        freedom=freedom,
        expected=freedom / (2.0 * n * _NATS),
        p_value=min(1.0, K * tail),
        n_candidates=K,
    )


def miller_madow(counts: ArrayLike) -> float:
    r"""Return the information in bits of a table of counts, corrected after Miller and Madow.

    .. math:: \hat I - \frac{m_{XY} - m_X - m_Y + 1}{2 N \ln 2}

    with m the number of occupied cells of the table, of its rows and of its columns.

    Parameters
    ----------
    counts : array_like of numbers, shape (\|X\|, \|Y\|)
        Whole numbers of rows.

    Raises
    ------
    ValueError
        If counts have another shape, are negative or not whole, or are all zero.

    Examples
    --------
    >>> from duramen.theory.samples import miller_madow
    >>> round(miller_madow([[30, 10], [10, 30]]), 4)
    0.1797
    """
    if np.ndim(counts) != 2:
        raise refuse("miller_madow", "counts", "a table with two axes", counts)
    table = _checked_counts("miller_madow", counts)[0]
    occupied = [np.count_nonzero(sums) for sums in (table, table.sum(axis=1), table.sum(axis=0))]
    excess = occupied[0] - occupied[1] - occupied[2] + 1
    return float(_information(table) - excess / (2.0 * table.sum())) / _NATS


def _checked_counts(function: str, counts: ArrayLike) -> FloatArray:
    """Return counts as an array with axes Z, X, Y."""
    table = np.asarray(counts)
    if table.ndim not in (2, 3) or table.dtype.kind not in "biuf":
        raise refuse(function, "counts", "numbers with axes (X, Y) or (Z, X, Y)", counts)
    cells = table.astype(np.float64).reshape(-1, *table.shape[-2:])
    whole = np.all((cells >= 0) & (cells == np.floor(cells)) & np.isfinite(cells))
    if not whole or not cells.sum() > 0:
        allowed = "whole numbers >= 0, some of them above 0"
        raise refuse(function, "counts", allowed, counts, "give rows, not fractions or weights")
    return cells


def _freedom(table: FloatArray) -> int:
    values = int(np.count_nonzero(table.sum(axis=1)))
    classes = int(np.count_nonzero(table.sum(axis=0)))
    return max(values - 1, 0) * max(classes - 1, 0)


def _information(table: FloatArray) -> float:
    """Return the plug-in information of one table in nats, never below 0."""
    total = table.sum()
    if total == 0:
        return 0.0
    outer = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    seen = table > 0
    terms = table[seen] * np.log(table[seen] * total / outer[seen])
    return max(0.0, float(terms.sum() / total))
