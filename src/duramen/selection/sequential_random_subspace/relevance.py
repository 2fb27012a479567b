"""Tests of relevance, which decide the features that a sequential search keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.results.fields import false_discovery
from duramen.support.arrays import BoolArray, FloatArray, IntArray

# A seventh of the features are the tail, at most a hundred; fewer than 50 have none to speak of:
# shadow features are added to these.
_TAIL, _MOST_IN_TAIL = 7, 100
FEWEST_FEATURES, _WITH_SHADOWS = 50, 100
# Importances, in units of the impurity of the target, that rounding alone can make.
_ROUNDING = 1e-9
TESTS = ("decoy", "probe", "binomial", "positive")
"""Names of the tests, the default first."""
PARAMETERS_OF_TESTS = {
    "alpha": ("decoy", "binomial"),
    "min_draws": ("probe",),
    "min_win_rate": ("probe",),
    "n_probes": ("probe", "binomial"),
}
"""Parameters that only some tests have, with these tests."""


@dataclass(frozen=True)
class ProbeShare:
    """Test of the papers (thesis, 7.C.1): a feature beats the probes in most of its trees."""

    min_draws: int  # L: it was given to more trees than that
    min_win_rate: float  # beta: fraction of them in which it must be more important than each probe
    n_probes: int  # of a tree
    decoy: ClassVar[bool] = False

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,)."""
        drawn = evidence.drawn
        # 11 of 20 is 0.55; 0.55 times 20 is a little more than 11.
        share = evidence.wins / np.maximum(drawn, 1)
        return (drawn > self.min_draws) & (share >= self.min_win_rate)


@dataclass(frozen=True)
class ProbeBinomial:
    r"""Exact binomial test of the number of trees in which a feature beats all m probes.

    A feature that is exchangeable with the probes is the most important of the m + 1 with
    probability 1 / (m + 1) at most: :math:`p_j = P(Bin(n_j, 1/(m+1)) \ge w_j)` for w_j wins in n_j
    trees, and the false discovery rate over all p features is controlled after Benjamini and
    Hochberg.
    """

    alpha: float  # false discovery rate
    n_probes: int  # m, of a tree
    decoy: ClassVar[bool] = False

    def p_values(self, evidence: Evidence) -> FloatArray:
        """P-value of each feature, of shape (p,); 1 for one that was never drawn."""
        from scipy.stats import binom

        p_values = np.ones(evidence.n_features)
        some = np.flatnonzero(evidence.wins > 0)
        p_values[some] = binom.sf(
            evidence.wins[some] - 1, evidence.drawn[some], 1 / (self.n_probes + 1)
        )
        return p_values

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,)."""
        p_values = self.p_values(evidence)
        q_values = false_discovery(p_values, "bh", len(p_values))
        return q_values <= self.alpha


@dataclass(frozen=True)
class DecoyTest:
    """Test of the importance beyond decoys against how far other features ever fell short.

    The statistic and its threshold are in the Notes of `SequentialRandomSubspace`.
    """

    alpha: float  # false discovery rate
    n_features: int | None = None  # features before the shadow features; None if there are none
    n_probes: ClassVar[int] = 0
    decoy: ClassVar[bool] = True

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,); shadow features never do."""
        scores = evidence.advantage()
        own = scores[: self.n_features]
        passing = np.zeros(len(scores), dtype=np.bool_)
        passing[: len(own)] = own >= self._threshold(own, evidence.shortfall)
        return passing

    def _threshold(self, scores: FloatArray, shortfall: FloatArray) -> float:
        """Return the least score of a feature that is enough; infinity where none is."""
        k = min(_MOST_IN_TAIL, len(shortfall) // _TAIL)
        if len(shortfall) < FEWEST_FEATURES or self.alpha == 0:
            return math.inf
        tail = np.partition(shortfall, len(shortfall) - k)[len(shortfall) - k :]
        start = float(tail.min())
        spread = float(np.log(tail / start).sum()) if start > 0 else 0.0
        if spread <= 0:
            return math.inf
        above = np.sort(scores[scores > start])[::-1]
        expected = k * (1 + np.log(above / start) / spread) ** (1 - k)
        enough = np.flatnonzero(expected <= self.alpha * np.arange(1, len(above) + 1))
        return float(above[enough[-1]]) if len(enough) else math.inf


@dataclass(frozen=True)
class PositiveImportance:
    """Rule of algorithm 7.1 of the thesis: an importance greater than zero in some tree."""

    impurity: float  # of the target: 1 for classes, its variance for numbers
    n_probes: ClassVar[int] = 0
    decoy: ClassVar[bool] = False

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,)."""
        found: BoolArray = evidence.total > _ROUNDING * self.impurity
        return found


RelevanceTest: TypeAlias = ProbeShare | ProbeBinomial | DecoyTest | PositiveImportance
"""Test of relevance: probes that a tree is given, use of decoys, and the features that pass."""


def shadows_of_each(n_features: int) -> int:
    """Return how many shadow features each feature has in the decoy test: 0 for 50 or more."""
    return 0 if n_features >= FEWEST_FEATURES else -(-_WITH_SHADOWS // n_features) - 1


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
