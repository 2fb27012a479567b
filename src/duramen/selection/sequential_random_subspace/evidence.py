"""Evidence of the trees so far about every feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, IntArray

# Trees without any importance that every feature has beside its own: few trees say little.
_SHRINKAGE = 5.0
_FEWEST_COMPARED = 3


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one tree for the q features it was given.

    Where there are decoys, `excess` has what features get beyond theirs, 0 for those that were
    found before; without, it is empty. In `arrays`, the flat arrays of the tree, features are
    numbered among all p; a probe has number p.
    """

    columns: IntArray  # the features, ascending
    values: FloatArray  # their importances in the tree
    probes: FloatArray  # importances of its probes
    excess: FloatArray
    arrays: dict[str, NDArray[Any]]


class Evidence:
    """Counts and sums over the trees, one entry a feature."""

    def __init__(self, n_features: int) -> None:
        self.drawn = np.zeros(n_features, dtype=np.int64)  # trees that were given the feature
        self.wins = np.zeros(n_features, dtype=np.int64)  # those in which it beats each probe
        self.total = np.zeros(n_features)  # sum of its importances
        # Trees in which it was compared with its decoy, that is before it was found; the sum over
        # these of what it gets beyond its decoy, and the most that `advantage` was below 0.
        self.compared = np.zeros(n_features, dtype=np.int64)
        self.excess = np.zeros(n_features)
        self.shortfall = np.zeros(n_features)
        self.n_trees = 0

    @property
    def n_features(self) -> int:
        """Number p of features."""
        return len(self.drawn)

    def add(self, outcome: Outcome, found: BoolArray) -> None:
        """Take a tree into account; `found` tells which features were found before it."""
        self.n_trees += 1
        self.drawn[outcome.columns] += 1
        self.total[outcome.columns] += outcome.values
        if outcome.excess.size:
            new = ~found[outcome.columns]
            columns = outcome.columns[new]
            self.compared[columns] += 1
            self.excess[columns] += outcome.excess[new]
            self.shortfall[columns] = np.maximum(self.shortfall[columns], -self.advantage(columns))
        if outcome.probes.size:
            beaten = outcome.values > outcome.probes.max()
            self.wins[outcome.columns[beaten]] += 1

    def mean_when_drawn(self) -> FloatArray:
        """Mean importance over the trees that were given a feature; 0 where there are none."""
        return self.total / np.maximum(self.drawn, 1)

    def advantage(self, columns: IntArray | slice = slice(None)) -> FloatArray:
        """Importance of features beyond their decoys, shrunk for few trees; 0 below three trees.

        W in the Notes of `SequentialRandomSubspace`; of shape (p,), or that of `columns`.
        """
        times = self.compared[columns]
        means: FloatArray = self.excess[columns] / (times + _SHRINKAGE)
        means[times < _FEWEST_COMPARED] = 0.0
        return means
