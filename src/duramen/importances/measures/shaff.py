"""SHAFF: Shapley effects from the losses of forests that are projected along many sets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.forests.forest import Forest
from duramen.importances.arguments import (
    forest_of,
    importances_of,
    missing_rows,
    refuse_overlaps,
)
from duramen.importances.measure import SCATTERS, Measure
from duramen.importances.measures.mda import grouped
from duramen.importances.measures.sobol_mda import Projection
from duramen.importances.samples import training_set
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_NAME = "shaff"
_SUBSETS = 500
_ANY_SET = 0.5  # part of the draws that does not follow the paths
_NUMBERS = 1 << 25  # predictions that are held at a time


def shaff(
    forest: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_subsets: int = _SUBSETS,
    feature_groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Importances:
    r"""Estimate the Shapley effects of the features by projected forests (SHAFF).

    .. math:: \hat v(U) = 1 - \frac{1}{\hat V(Y)} \frac1n \sum_i (y_i - \hat f^{(U)}(x_i))^2

    is the fraction of the variance of Y that the features U explain, with :math:`\hat f^{(U)}` the
    out-of-bag prediction of the forest projected on U: the splits on all others are ignored, as in
    :func:`sobol_mda`. The Shapley values of :math:`\hat v` come from a weighted least-squares
    regression on sets U that are drawn where the paths of the trees have them (Bénard, Biau,
    Da Veiga, Scornet 2022). They estimate those of :func:`duramen.theory.shapley_effects`, divided
    by the variance of Y, and add up to the fraction that all features explain.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_subsets : int, default=500
        Number of sets U that are drawn, at least that of the features that the trees split on. If
        there are no more sets than this, as for up to 8 features by default, all are taken and the
        Shapley values of :math:`\hat v` are exact.
    feature_groups : mapping, labels, path, ..., optional
        Columns (:func:`duramen.io.feature_groups` has the forms) that enter a set together; no
        column in two groups. The result has one value a group, and one for each column in none.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="shaff"``, ``unit="fraction of variance"``. `standard_error` has two parts: that
        of the mean over the rows, and that of the draws of sets. Metadata hold ``"r_squared"``, the
        sum of the values, and ``"n_subsets"``, the number of different sets.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package, or `X` is missing.
    ValueError
        If the arguments do not go together, the forest has no out-of-bag rows or was grown with
        weights that the rows do not have, or there are fewer sets than features.

    Notes
    -----
    A set U of k of q features has the weight :math:`w(U) = (q-1) / (C_q^k k (q-k))` in the
    regression of :math:`\hat v(U)` on the members of U, whose coefficients add up to
    :math:`\hat v(V)`; over all sets the coefficients are the Shapley values. Half of the draws
    are paths: the features split on from the root to a node that a random row comes to. The others
    are drawn with the probability w, so that no set is left out and no weight is large; the paper
    draws paths alone. Each set is followed by its complement, and has the weight w(U) divided by
    the probability to draw it. Features that no tree splits on have 0.

    A feature shares what it tells with those that tell the same: of two copies each has half.

    References
    ----------
    C. Bénard, G. Biau, S. Da Veiga, E. Scornet (2022). SHAFF: Fast and consistent SHApley eFfect
    estimates via random Forests. AISTATS, PMLR 151.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(50, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.shaff(forest, data.X, data.y)
    >>> result.unit, result.top(2).names
    ('fraction of variance', ('x0', 'x1'))
    """
    if X is None:
        raise missing_rows(_NAME)
    grown = forest_of(forest, _NAME)
    checks.check_integer(_NAME, "n_subsets", n_subsets, 2)
    seed = checks.draw_seed(random_state)
    threads = checks.check_jobs(_NAME, n_jobs)
    data = training_set(grown, X, y, _NAME, out_of_bag=True)
    names, columns = _players(grown, feature_groups)
    used = np.unique(grown.feature[grown.feature >= 0])
    active = [i for i, group in enumerate(columns) if np.isin(group, used).any()]
    worths = _Worths(grown, data, [columns[i] for i in active], threads)
    sets = _sets(grown, [columns[i] for i in active], n_subsets, seed)
    values, errors = np.zeros(len(names)), np.zeros(len(names))
    values[active], errors[active] = _effects(sets, worths)
    return importances_of(
        grown,
        _NAME,
        values,
        "fraction of variance",
        errors,
        names=names,
        variance=worths.variance,
        r_squared=worths.r_squared,
        n_subsets=len(sets.members),
        exhaustive=sets.draws is None,
        random_state=seed,
    )


def _players(forest: Forest, feature_groups: Any) -> tuple[tuple[str, ...], list[IntArray]]:
    """Return the names and columns of the groups, and after them of each column in none."""
    names, members = grouped(forest, feature_groups, _NAME)
    if members is None:
        return names, [np.array([j]) for j in range(forest.n_features)]
    refuse_overlaps(dict(zip(names, members, strict=True)), forest.names, _NAME)
    alone = np.setdiff1d(np.arange(forest.n_features), np.concatenate(members)).tolist()
    names = (*names, *(forest.names[j] for j in alone))
    if len(set(names)) < len(names):
        raise ValueError(
            f"{_NAME}: feature_groups must not be called like a column in none of them, got "
            f"{', '.join(map(repr, feature_groups or ()))}."
        )
    return names, [*members, *(np.array([j]) for j in alone)]


@dataclass(frozen=True, eq=False)
class _Sets:
    """Sets of players with their weights in the regression."""

    members: BoolArray  # shape (K, q)
    weights: FloatArray  # shape (K,)
    # Shape (K,): how often each set was drawn, followed by its complement, or as that; both are
    # next to each other. None: these are all sets.
    draws: IntArray | None


def _sets(forest: Forest, columns: list[IntArray], n_subsets: int, seed: int) -> _Sets:
    """Return all sets of players but the empty and the full one, or draw some of them."""
    q = len(columns)
    kernel = np.array([(q - 1) / (k * (q - k)) for k in range(1, q)])  # of all sets of a size
    if q < 2 or 2**q - 2 <= n_subsets:
        number = np.arange(1, max(2**q - 1, 1))
        members = (number[:, np.newaxis] >> np.arange(q) & 1).astype(bool)
        sizes = members.sum(axis=1)
        each = kernel[sizes - 1] / np.array([comb(q, int(k)) for k in sizes])
        return _Sets(members, each, None)
    if n_subsets < q:
        raise ValueError(
            f"{_NAME}: n_subsets must be at least {q}, the number of features or groups that the "
            f"trees split on, got {n_subsets}. Hint: put features together with feature_groups."
        )
    random = np.random.default_rng(seed)
    full = (1 << q) - 1
    paths: Counter[int] = Counter()
    for set_, mass in _path_sets(forest, columns).items():
        if 0 < set_ < full:
            paths[min(set_, full ^ set_)] += mass
    on_paths, masses = list(paths), np.array(list(paths.values()), dtype=np.float64)
    masses /= masses.sum() or 1.0
    any_set = _ANY_SET if on_paths else 1.0
    drawn: Counter[int] = Counter()
    n_pairs = n_subsets // 2
    from_paths = int(random.binomial(n_pairs, 1.0 - any_set))
    if from_paths:
        counts = random.multinomial(from_paths, masses)
        for place in np.flatnonzero(counts).tolist():
            drawn[on_paths[place]] += int(counts[place])
    for size in random.choice(np.arange(1, q), n_pairs - from_paths, p=kernel / kernel.sum()):
        set_ = sum(1 << int(j) for j in random.choice(q, size, replace=False))
        drawn[min(set_, full ^ set_)] += 1
    probability_on_paths = dict(zip(on_paths, masses.tolist(), strict=True))
    chosen: list[int] = []
    weights: list[float] = []
    draws: list[int] = []
    for set_, count in sorted(drawn.items()):
        size = set_.bit_count()
        weight = float(kernel[size - 1]) / comb(q, size)
        probability = any_set * 2.0 * weight / float(kernel.sum())  # of a set or its complement
        probability += (1.0 - any_set) * probability_on_paths.get(set_, 0.0)
        for own in (set_, full ^ set_):
            chosen.append(own)
            weights.append(weight / probability / n_pairs)
            draws.append(count)
    width = (q + 7) // 8  # sets as bits to a matrix of members
    raw = np.frombuffer(b"".join(own.to_bytes(width, "little") for own in chosen), np.uint8)
    bits = np.unpackbits(raw.reshape(len(chosen), width), axis=1, bitorder="little")
    return _Sets(bits[:, :q].astype(bool), np.array(weights), np.array(draws))


def _path_sets(forest: Forest, columns: list[IntArray]) -> Counter[int]:
    """Count the rows at all nodes by the set of players, as bits, on the path to the node."""
    bit_of_column = [0] * forest.n_features
    for player, group in enumerate(columns):
        for j in group.tolist():
            bit_of_column[j] = 1 << player
    counted: Counter[int] = Counter()
    for tree in forest:
        features, first = tree.feature.tolist(), tree.child.tolist()
        n_children, rows = tree.n_children.tolist(), tree.rows.tolist()
        sets = [0] * len(features)
        for node, feature in enumerate(features):  # children come after their parent
            counted[sets[node]] += rows[node]
            if feature >= 0:
                below = sets[node] | bit_of_column[feature]
                for child in range(first[node], first[node] + n_children[node]):
                    sets[child] = below
    return counted


class _Worths:
    """Variance of Y that sets of players explain, row by row out of bag."""

    def __init__(
        self,
        forest: Forest,
        data: LearningSet[EncodedTable],
        columns: list[IntArray],
        n_threads: int,
    ) -> None:
        self._forest, self._data, self._n_threads = forest, data, n_threads
        self._columns = columns
        projection = self._projected([np.empty(0, dtype=np.int64)])
        self._truth, self.variance = projection.truth()
        self.of_all = self._explained(projection.predicted())
        self.r_squared = float(self.of_all.mean())

    @property
    def n_rows(self) -> int:
        """Number of rows that are out of bag of some tree."""
        return len(self._truth)

    def of(self, members: BoolArray) -> FloatArray:
        """Return what each set explains in each row, of shape (K, n); the mean is its worth."""
        ignored = [
            np.sort(np.concatenate([self._columns[i] for i in np.flatnonzero(~set_)]))
            for set_ in members
        ]
        projection = self._projected(ignored)
        projection.truth()
        return np.array([self._explained(projection.projected(i)) for i in range(len(ignored))])

    def at_a_time(self) -> int:
        """Number of sets whose predictions are held together."""
        return max(1, _NUMBERS // (self._data.n_rows * self._forest.n_values))

    def _projected(self, groups: list[IntArray]) -> Projection:
        projection = Projection(_NAME, self._forest, self._data, groups)
        projection.add(self._forest, self._n_threads)
        return projection

    def _explained(self, predicted: FloatArray) -> FloatArray:
        centered = self._truth - self._truth.mean(axis=0)
        residual = self._truth - predicted
        gain: FloatArray = (centered**2 - residual**2).sum(axis=1) / self.variance
        return gain


def _effects(sets: _Sets, worths: _Worths) -> tuple[FloatArray, FloatArray]:
    """Return the Shapley effects of the players and their standard errors."""
    q = sets.members.shape[1]
    n, of_all = worths.n_rows, worths.of_all
    if q < 2:
        effects, spread = np.full(q, worths.r_squared), np.full(q, of_all.std(ddof=1))
        return effects, spread / np.sqrt(n)
    X = sets.members.astype(np.float64)
    weights = sets.weights if sets.draws is None else sets.weights * sets.draws
    # Least squares whose coefficients add up to a given sum: linear in the worths.
    system = np.ones((q + 1, q + 1))
    system[:q, :q] = (X.T * weights) @ X
    system[q, q] = 0.0
    inverse = np.linalg.pinv(system, hermitian=True)
    by_set = inverse[:q, :q] @ (X.T * weights)
    in_rows = np.outer(inverse[:q, q], of_all)
    means = np.empty(len(X))
    step = worths.at_a_time()
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        explained = worths.of(sets.members[part])
        means[part] = explained.mean(axis=1)
        in_rows += by_set[:, part] @ explained
    effects = in_rows.mean(axis=1)
    variance = in_rows.var(axis=1, ddof=1) / n if n > 1 else np.zeros(q)
    if sets.draws is not None:
        scores = X * (sets.weights * (means - X @ effects))[:, np.newaxis]
        pairs = (scores[::2] + scores[1::2]) @ inverse[:q, :q]
        variance = variance + (sets.draws[::2, np.newaxis] * pairs**2).sum(axis=0)
    return effects, np.sqrt(variance)


SHAFF = Measure(
    _NAME,
    lambda inputs: shaff(
        inputs.estimator, inputs.data, random_state=inputs.random_state or 0, n_jobs=inputs.n_jobs
    ),
    "SHAFF",
    "SHAFF is the Shapley effect of the feature: the part of the variance of the target, "
    "explained out of bag by all features together, that is due to it. For classes, squared "
    "errors of their probabilities are added up.",
    "SHAFF of features that tell the same is divided among them, so that a feature on which "
    "the target does not depend has some if it is correlated with one on which it does. "
    + SCATTERS,
    reference="C. Bénard, G. Biau, S. Da Veiga, E. Scornet (2022). SHAFF: Fast and consistent "
    "SHApley eFfect estimates via random Forests. AISTATS.",
    rows="out-of-bag",
    spread="rows and sets of features",
)
