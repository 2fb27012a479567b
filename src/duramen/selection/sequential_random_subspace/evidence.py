"""Evidence of the trees so far about every feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Trees without any importance that every feature has beside its own: few trees say little.
_SHRINKAGE = 5.0
_FEWEST_COMPARED = 3

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one tree for the features it was given.

    Attributes
    ----------
    columns : int64 array of shape (q,)
        The features, ascending.
    values : float64 array of shape (q,)
        Their importances in the tree.
    probes : float64 array of shape (m,)
        Importances of its probes.
    excess : float64 array of shape (q,) or (0,)
        What they get beyond their decoys, 0 for those that were found before; empty where there
        are no decoys.
    arrays : dict
        The flat arrays of the tree; `feature` is the number of the feature among all p, and p for a
        probe.
    """

    columns: IntArray
    values: FloatArray
    probes: FloatArray
    excess: FloatArray
    arrays: dict[str, NDArray[Any]]


class Evidence:
    """Counts and sums over the trees, one entry a feature.

    Attributes
    ----------
    drawn : int64 array of shape (p,)
        Trees that were given the feature.
    wins : int64 array of shape (p,)
        Those in which it is more important than each of the probes.
    total : float64 array of shape (p,)
        Sum of its importances.
    compared : int64 array of shape (p,)
        Trees in which the feature was compared with its decoy, that is before it was found.
    excess : float64 array of shape (p,)
        Sum over these of what it gets beyond its decoy.
    shortfall : float64 array of shape (p,)
        The most that `advantage` was below 0 after any of these trees.
    n_trees : int
        Number of trees.
    """

    def __init__(self, n_features: int) -> None:
        self.drawn = np.zeros(n_features, dtype=np.int64)
        self.wins = np.zeros(n_features, dtype=np.int64)
        self.total = np.zeros(n_features)
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
