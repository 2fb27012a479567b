"""Decreases of impurity between partitions of the rows of a distribution."""

from __future__ import annotations

from typing import cast

import numpy as np

from duramen.support.arrays import FloatArray
from duramen.theory.distributions import information
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.information import Criterion
from duramen.theory.distributions.partition import Partition


def check_distribution(function: str, dist: object) -> None:
    """Refuse anything but a distribution."""
    if not isinstance(dist, FiniteDistribution):
        raise TypeError(
            f"{function}: dist must be a FiniteDistribution, got {type(dist).__name__}. Hint: "
            "FiniteDistribution.from_table(X, y) makes one."
        )


def centered_numbers(dist: FiniteDistribution) -> FloatArray:
    """Return the numbers of the classes less their mean, shape (n_classes,)."""
    numbers: FloatArray = dist.class_numbers - dist.class_numbers[0]
    numbers -= np.sum(dist.weights * numbers[dist.target])
    return numbers


class Decrease:
    """Mean decrease of the impurity of Y from one partition of the rows to a finer one."""

    def __init__(self, function: str, dist: FiniteDistribution, criterion: str) -> None:
        check_distribution(function, dist)
        self.numbers = dist.numbers_of_classes(function, criterion)
        self.dist = dist
        self.criterion = cast("Criterion", criterion)

    def __call__(self, given: Partition, finer: Partition) -> float:
        """Return G(Y; X | B) for the rows by B and the rows by B and X."""
        dist = self.dist
        return information.impurity_decrease(
            self.criterion, dist.weights, dist.target, self.numbers, given, finer
        )
