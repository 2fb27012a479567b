"""Finite distributions: how they are made, specified and asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import N, numbers, uniform
from tests.contracts.registry import case

from duramen import theory

Distribution = theory.FiniteDistribution


def empirical(context: bool = False, y: Any = None) -> Any:
    """Rows of four small columns, taken for all there is."""
    X = (uniform(N, 4, seed=2) * 3).astype(int)
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 1)) % 3 if y is None else y
    options = np.where(X[:, 3] > 0, "in", "out") if context else None
    return Distribution.from_table(X[:, : 3 if context else 4], y, context=options)


@case("FiniteDistribution/from_table")
@case("FiniteDistribution/from_table with a context", context=True)
@case("FiniteDistribution/from_table of numbers", y=numbers().round(0))
def _from_table(**options: Any) -> Any:
    return extracts.distribution(empirical(**options))


@case("FiniteDistribution/sample")
def _sample() -> Any:
    drawn = empirical(context=True).sample(30, 3)
    return (np.asarray(drawn.X).tolist(), drawn.y.tolist(), [str(text) for text in drawn.context])
